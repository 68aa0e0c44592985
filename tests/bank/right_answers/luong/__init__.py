"""Right answers to problem set 05."""
