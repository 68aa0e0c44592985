"""Right answers to problem set 10."""
