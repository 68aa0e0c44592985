"""The data of the course: made from a seed, or read from a pinned package; never downloaded."""
