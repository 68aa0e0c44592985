"""Right answers to problem set 03."""
