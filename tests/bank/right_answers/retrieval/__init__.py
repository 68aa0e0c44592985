"""Right answers to problem set 01."""
