"""Through nbgrader's exchange: what is handed in, and the feedback."""
