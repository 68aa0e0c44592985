"""Right answers to problem set 09."""
