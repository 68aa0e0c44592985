import torch
from torch import Tensor


def wrong_plain_reshape(heads):
    """It reads the numbers in the order in which they lie, and mixes tokens."""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


def wrong_features_interleaved(heads):
    """The first features of all heads come first, then the second ones."""
    return heads.movedim(-3, -1).flatten(-2)


def wrong_axes_one_and_two(heads):
    """It counts the axes from the left, which fits exactly one batch axis."""
    return heads.transpose(1, 2).flatten(-2)


def wrong_too_flat(heads):
    """It makes one axis of tokens, heads and features."""
    return heads.transpose(-2, -3).flatten(-3)


def right_last_two_swapped(heads):
    """It joins heads and features, tokens last, and turns the table round.

    It was written down as a wrong answer, and the statement allows it.
    """
    swapped = heads.transpose(-1, -2)
    return swapped.flatten(-3, -2).transpose(-1, -2)


def right_joined_heads(heads):
    """It takes the heads apart and joins them along the features."""
    return torch.cat(heads.unbind(-3), dim=-1)


def wrong_reshape_without_swap(heads):
    """Reshapes without moving the axis of the heads first, which mixes tokens."""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


def wrong_one_batch_axis(heads):
    """Swaps axes 1 and 2, which are heads and tokens only with exactly one batch axis."""
    swapped = heads.transpose(1, 2).contiguous()
    return swapped.flatten(-2)


def wrong_features_before_heads_and_four_axes(heads):
    """Two mistakes: puts the heads behind their features, so features of all heads alternate, and
    permutes four fixed axes."""
    batch, num_heads, length, d_head = heads.shape
    moved = heads.permute(0, 2, 3, 1)
    return moved.reshape(batch, length, num_heads * d_head)


def right_concatenate(heads):
    """Takes the heads apart and puts them side by side with cat."""
    return torch.cat(heads.unbind(dim=-3), dim=-1)


def wrong_no_transpose(heads):
    """It reshapes without moving the axis of heads back."""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


def wrong_interleaves(heads):
    """It interleaves the features of the heads."""
    return heads.movedim(-3, -1).flatten(-2)


def wrong_plain_reshape_sixth(heads: Tensor) -> Tensor:
    """Reads the numbers in order without swapping axes first, and mixes the tokens."""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


def wrong_heads_last(heads: Tensor) -> Tensor:
    """Moves the heads behind the features, so the heads' features alternate."""
    return heads.movedim(-3, -1).flatten(-2)


def wrong_flattens_the_texts(heads: Tensor) -> Tensor:
    """Swaps the axes, but then makes one of tokens and heads: the rows are too short."""
    return heads.transpose(-3, -2).flatten(-3, -2)


def right_cat(heads: Tensor) -> Tensor:
    """Puts the heads side by side, one after the other."""
    return torch.cat(heads.unbind(-3), -1)


def wrong_read_in_memory_order(heads: Tensor) -> Tensor:
    """Reshapes without swapping first, so that tokens are mixed."""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


def wrong_features_interleaved_seventh(heads: Tensor) -> Tensor:
    """Moves the heads behind the features, so the heads take turns feature by feature."""
    return heads.movedim(-3, -1).flatten(-2)


def wrong_first_axis_is_heads(heads: Tensor) -> Tensor:
    """Joins along the first axis, which holds the heads only if there is no batch."""
    return torch.cat(list(heads), -1)


def right_side_by_side(heads: Tensor) -> Tensor:
    """Takes the heads one by one, and puts their features side by side."""
    return torch.cat(heads.unbind(-3), -1)


def wrong_features_before_heads(heads):
    """Features and tokens are exchanged, and then heads and tokens are joined."""
    return heads.transpose(-2, -1).flatten(-3, -2)


def wrong_features_come_as_tokens(heads):
    """Heads and features are exchanged; the tokens are joined with the heads."""
    return heads.transpose(-3, -1).flatten(-2)


def wrong_tokens_and_features_swapped(heads):
    """Tokens and features are exchanged before the heads move."""
    return heads.mT.transpose(-3, -2).flatten(-2)
