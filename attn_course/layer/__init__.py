"""The inside of the attention layer: fast paths, masks, biases, a cache."""
