"""Right answers to the second half of part E: each earns every point."""

from torch import nn


def by_one_formula(d_model, num_heads, num_key_heads, bias):
    d_shared = d_model * num_key_heads // num_heads
    return 1 + num_heads + 2 * num_key_heads, 2 * (d_model + d_shared) * (d_model + int(bias))


def by_small_layers(d_model, num_heads, num_key_heads, bias):
    small = num_heads + 2 * num_key_heads
    numbers = small * (d_model + bias) * (d_model // num_heads) + (d_model + bias) * d_model
    return small + 1, numbers


def by_making_them(d_model, num_heads, num_key_heads, bias):
    d_head = d_model // num_heads
    layers = [nn.Linear(d_model, d_head, bias=bias) for _ in range(num_heads + 2 * num_key_heads)]
    layers.append(nn.Linear(num_heads * d_head, d_model, bias=bias))
    return len(layers), sum(w.numel() for layer in layers for w in layer.parameters())


def by_loops(d_model, num_heads, num_key_heads, bias):
    layers = numbers = 0
    for heads in (num_heads, num_key_heads, num_key_heads):
        for _ in range(heads):
            layers += 1
            for _ in range(d_model // num_heads):
                numbers += d_model + (1 if bias else 0)
    numbers += d_model * d_model
    return [layers + 1, numbers + d_model if bias else numbers]
