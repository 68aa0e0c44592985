"""Right answers to problem set 13."""
