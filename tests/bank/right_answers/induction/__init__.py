"""Right answers to problem set 12."""
