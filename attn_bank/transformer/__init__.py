"""Problem set 11: a Transformer from its block to a model that writes."""

NUMBER = "11"
