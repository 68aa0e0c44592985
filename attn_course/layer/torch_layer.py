"""Weights of the layer of several heads, carried to PyTorch's layer and back."""

import torch
from torch import Tensor, nn


def make_torch_layer(
    num_heads: int, dropout: float, *projections: nn.Linear
) -> nn.MultiheadAttention:
    """PyTorch's layer with the weights of four projections: of query, key, value and output.

    Raises:
        ValueError: Its heads are narrower or wider than `d_model / num_heads`, its output is as
            wide as no query, or only some projections have a bias.
    """
    query, key, value, output = projections
    widths = {query.in_features, query.out_features, output.in_features, output.out_features}
    if len(widths) > 1:
        d_head = query.out_features // num_heads
        raise ValueError(
            "nn.MultiheadAttention has one width for the query, all heads and the output, "
            f"not d_query={query.in_features}, {num_heads} heads of {d_head=} "
            f"and d_output={output.out_features}"
        )
    if len({part.bias is None for part in projections}) > 1:
        raise ValueError("nn.MultiheadAttention has a bias in all four projections, or in none")
    other = nn.MultiheadAttention(
        output.out_features,
        num_heads,
        dropout=dropout,
        bias=output.bias is not None,
        kdim=key.in_features,
        vdim=value.in_features,
        batch_first=True,
    ).to(output.weight)
    copy_weights(projections, other, to_torch=True)
    return other


def copy_weights(
    projections: tuple[nn.Linear, ...], other: nn.MultiheadAttention, *, to_torch: bool
) -> None:
    """Copy all weights of four projections to PyTorch's layer, or all of its weights to them.

    What is frozen stays frozen; weights that PyTorch keeps in one tensor are if all of them are.
    """
    ours = [part.weight for part in projections]
    ours += [part.bias for part in projections if part.bias is not None]
    if to_torch:
        other.requires_grad_(False)
    for one, two in zip(ours, _slices(other), strict=True):
        learns, whole = one.requires_grad, two if two._base is None else two._base
        if to_torch:
            whole.requires_grad_(whole.requires_grad or learns)
        else:
            one.requires_grad_(two.requires_grad)
        with torch.no_grad():
            (two if to_torch else one).copy_(one if to_torch else two)


def _slices(other: nn.MultiheadAttention) -> list[Tensor]:
    """The parameters of PyTorch's layer: weights of query, key, value, output, then biases."""
    if other._qkv_same_embed_dim:
        weights = other.in_proj_weight.chunk(3)
    else:
        weights = other.q_proj_weight, other.k_proj_weight, other.v_proj_weight
    if other.in_proj_bias is None:
        return [*weights, other.out_proj.weight]
    return [*weights, other.out_proj.weight, *other.in_proj_bias.chunk(3), other.out_proj.bias]
