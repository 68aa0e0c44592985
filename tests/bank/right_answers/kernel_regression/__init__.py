"""Right answers to problem set 02."""
