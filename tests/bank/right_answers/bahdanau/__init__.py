"""Right answers to problem set 04."""
