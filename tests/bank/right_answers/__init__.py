"""Right answers to the problem sets, written in other ways than the references."""
