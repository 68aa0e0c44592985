"""Right answers to problem set 08."""
