"""Right answers to problem set 11."""
