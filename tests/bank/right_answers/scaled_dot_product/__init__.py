"""Right answers to problem set 07."""
