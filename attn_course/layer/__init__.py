"""What the attention layer is made of inside: fast paths, masks, biases, a cache."""
