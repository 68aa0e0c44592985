"""Problem set 12: heads that find what followed last time, measured, built, and silenced."""

NUMBER = "12"
