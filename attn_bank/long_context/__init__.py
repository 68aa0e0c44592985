"""Problem set 13: attention over long texts, one change at a time."""

NUMBER = "13"
