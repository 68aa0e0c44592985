"""Right answers to problem set 14."""
