"""Grids of images, captioners that look at one place, and what is compared with them."""
