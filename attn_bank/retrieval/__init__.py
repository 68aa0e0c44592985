"""Problem set 01: from SELECT to a soft lookup."""

NUMBER = "01"
