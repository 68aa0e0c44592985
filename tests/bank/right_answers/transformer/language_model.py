"""Right answers to part B: each earns every point."""

import torch
from torch import nn
from torch.nn import functional

from attn_course.multi_head import merge_heads, split_heads
from attn_course.scaled_dot_product import attention, causal_mask
from attn_course.self_attention import rotate_by_position


def _look_back(tokens, state, number, num_heads):
    """Attend as the cell does that is given with the task."""

    def project(tokens, part):
        name = f"blocks.{number}.attention.project_{part}"
        return functional.linear(tokens, state[f"{name}.weight"], state[f"{name}.bias"])

    query, key, value = (
        split_heads(project(tokens, part), num_heads) for part in ("query", "key", "value")
    )
    query, key = rotate_by_position(query), rotate_by_position(key)
    heads = attention(query, key, value, causal_mask(tokens.shape[1]))
    return project(merge_heads(heads), "output")


def block_by_block(tokens, state, num_heads, num_layers, input_scale):
    def normed(x, name):
        gain = state[name + ".weight"]
        return functional.layer_norm(x, (len(gain),), gain, state[name + ".bias"])

    stream = functional.embedding(tokens, state["embedding.weight"]) * input_scale
    for i in range(num_layers):
        own = f"blocks.{i}."
        stream = stream + _look_back(normed(stream, own + "norm_attention"), state, i, num_heads)
        hidden = normed(stream, own + "norm_maps") @ state[own + "widen.weight"].T
        hidden = functional.relu(hidden + state[own + "widen.bias"])
        stream = stream + hidden @ state[own + "narrow.weight"].T + state[own + "narrow.bias"]
    return normed(stream, "norm") @ state["embedding.weight"].T


def by_layers_of_torch(tokens, state, num_heads, num_layers, input_scale):
    def layer(name):
        weight = state[f"{name}.weight"]
        kind = nn.Linear(*weight.shape[::-1]) if weight.ndim == 2 else nn.LayerNorm(len(weight))
        kind.to(weight.dtype).load_state_dict({k: state[f"{name}.{k}"] for k in ("weight", "bias")})
        return kind

    stream = input_scale * nn.Embedding.from_pretrained(state["embedding.weight"])(tokens)
    for i in range(num_layers):
        looked = _look_back(layer(f"blocks.{i}.norm_attention")(stream), state, i, num_heads)
        stream = stream + looked
        maps = nn.Sequential(
            layer(f"blocks.{i}.norm_maps"),
            layer(f"blocks.{i}.widen"),
            nn.ReLU(),
            layer(f"blocks.{i}.narrow"),
        )
        stream = maps(stream) + stream
    return torch.einsum("bld,vd->blv", layer("norm")(stream), state["embedding.weight"])


def by_the_numbers_in_the_names(tokens, state, num_heads, num_layers, input_scale):
    numbers = sorted({int(name.split(".")[1]) for name in state if name.startswith("blocks.")})
    one_hot = functional.one_hot(tokens, len(state["embedding.weight"]))
    stream = one_hot.to(state["embedding.weight"]) @ (input_scale * state["embedding.weight"])
    for i in numbers:
        own = {n.split(".", 2)[2]: w for n, w in state.items() if n.startswith(f"blocks.{i}.")}
        stream = stream + _look_back(_norm(stream, own, "norm_attention"), state, i, num_heads)
        read = _norm(stream, own, "norm_maps")
        hidden = torch.relu(read @ own["widen.weight"].mT + own["widen.bias"])
        stream = stream + (hidden @ own["narrow.weight"].mT + own["narrow.bias"])
    return functional.linear(_norm(stream, state, "norm"), state["embedding.weight"])


def _norm(x, weights, name):
    """Normalize by hand: the variance is the mean of the squares, and 1e-5 is added to it."""
    centred = x - x.mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    return centred * scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def by_recursion(tokens, state, num_heads, num_layers, input_scale):
    def behind(number):
        if number < 0:
            return input_scale * state["embedding.weight"][tokens]
        stream = behind(number - 1)
        own = {name.removeprefix(f"blocks.{number}."): weight for name, weight in state.items()}
        looked = _look_back(_norm(stream, own, "norm_attention"), state, number, num_heads)
        hidden = functional.linear(
            _norm(stream + looked, own, "norm_maps"), own["widen.weight"], own["widen.bias"]
        )
        maps = functional.linear(hidden.clamp_min(0), own["narrow.weight"], own["narrow.bias"])
        return stream + looked + maps

    return _norm(behind(num_layers - 1), state, "norm") @ state["embedding.weight"].mT
