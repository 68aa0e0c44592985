"""Right answers to part A: each earns every point."""

import torch
from torch.nn import functional


def in_two_lines(stream, norm_attention, attend, norm_maps, widen, narrow):
    stream = stream + attend(norm_attention(stream))
    return stream + narrow(functional.relu(widen(norm_maps(stream))))


def step_by_step(stream, norm_attention, attend, norm_maps, widen, narrow):
    normed = norm_attention(stream)
    looked = attend(normed)
    after_attention = torch.add(stream, looked)
    hidden = widen(norm_maps(after_attention)).clamp(min=0)
    thought = narrow(hidden)
    return after_attention + thought


def by_a_loop_over_the_parts(stream, norm_attention, attend, norm_maps, widen, narrow):
    def think(tokens):
        hidden = widen(tokens)
        return narrow(hidden * (hidden > 0))

    for norm, part in ((norm_attention, attend), (norm_maps, think)):
        stream = part(norm(stream)) + stream
    return stream


def by_the_three_terms(stream, norm_attention, attend, norm_maps, widen, narrow):
    looked = attend(norm_attention(stream))
    hidden = torch.maximum(widen(norm_maps(looked + stream)), torch.zeros(1, dtype=stream.dtype))
    return sum((stream, looked, narrow(hidden)))


def by_layers_of_torch(stream, norm_attention, attend, norm_maps, widen, narrow):
    bend = torch.nn.ReLU()
    road = stream.clone()
    road = road.add(attend(norm_attention(road)))
    return road.add(narrow(bend(widen(norm_maps(road)))))
