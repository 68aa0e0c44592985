"""Problem set 01: least squares, with answers that are arrays, and a dictionary of them."""

NUMBER = "01"
