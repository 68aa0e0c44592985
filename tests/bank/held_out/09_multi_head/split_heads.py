import torch
from torch import Tensor


def wrong_plain_reshape(tokens, num_heads):
    """It cuts the numbers in the order in which they lie, and mixes tokens with features."""
    *batch, length, width = tokens.shape
    return tokens.reshape(*batch, num_heads, length, width // num_heads)


def wrong_neighbours_apart(tokens, num_heads):
    """It cuts the features into (d_head, num_heads), so neighbours go to different heads."""
    d_head = tokens.shape[-1] // num_heads
    return tokens.unflatten(-1, (d_head, num_heads)).transpose(-1, -3).transpose(-1, -2)


def wrong_axes_one_and_two(tokens, num_heads):
    """It counts the axes from the left, which fits exactly one batch axis."""
    heads = tokens.unflatten(-1, (num_heads, -1))
    return heads.transpose(1, 2)


def wrong_heads_not_moved(tokens, num_heads):
    """The axis of the heads stays behind the axis of the tokens."""
    return tokens.unflatten(-1, (num_heads, -1))


def wrong_heads_in_front(tokens, num_heads):
    """The axis of the heads stands before the batch."""
    return tokens.unflatten(-1, (num_heads, -1)).movedim(-2, 0)


def right_stacked_slices(tokens, num_heads):
    """It cuts a slice for each head and stacks them on a new axis."""
    d_head = tokens.shape[-1] // num_heads
    slices = [tokens[..., j * d_head : (j + 1) * d_head] for j in range(num_heads)]
    return torch.stack(slices, dim=-3)


def wrong_plain_view(tokens, num_heads):
    """Reshapes straight to the wanted shape, which mixes tokens and features."""
    *batch, length, width = tokens.shape
    return tokens.reshape(*batch, num_heads, length, width // num_heads)


def wrong_one_batch_axis(tokens, num_heads):
    """Swaps axes 1 and 2, which are tokens and heads only with exactly one batch axis."""
    heads = tokens.unflatten(-1, (num_heads, -1))
    return heads.transpose(1, 2)


def wrong_interleaved_and_four_axes(tokens, num_heads):
    """Two mistakes: cuts the features into (d_head, num_heads), so a head gets every h-th, and
    permutes four fixed axes."""
    d_head = tokens.shape[-1] // num_heads
    cut = tokens.reshape(*tokens.shape[:-1], d_head, num_heads)
    return cut.permute(0, 3, 1, 2)


def right_slices_stacked(tokens, num_heads):
    """Cuts a slice of features for each head and stacks the slices on a new axis."""
    d_head = tokens.shape[-1] // num_heads
    slices = [tokens[..., head * d_head : (head + 1) * d_head] for head in range(num_heads)]
    return torch.stack(slices, dim=-3)


def wrong_features_interleaved(tokens, num_heads):
    """It gives feature 0 to head 0, feature 1 to head 1, and so on in turn."""
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


def wrong_view_without_transpose(tokens, num_heads):
    """It views the tokens as heads, without moving the axis of heads."""
    *batch, length, width = tokens.shape
    return tokens.reshape(*batch, num_heads, length, width // num_heads)


def wrong_plain_reshape_sixth(tokens: Tensor, num_heads: int) -> Tensor:
    """Reshapes straight to the result's shape, so a head gets whole tokens, not features."""
    *batch, length, width = tokens.shape
    return tokens.reshape(*batch, num_heads, length, width // num_heads)


def wrong_every_other_feature(tokens: Tensor, num_heads: int) -> Tensor:
    """Cuts the features into (d_head, num_heads), so neighbours go to different heads."""
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


def wrong_axes_from_the_left(tokens: Tensor, num_heads: int) -> Tensor:
    """Swaps axes 1 and 2, which is right only with exactly one batch axis."""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def right_chunks(tokens: Tensor, num_heads: int) -> Tensor:
    """Cuts the features into one chunk for each head, and stacks the chunks."""
    return torch.stack(tokens.chunk(num_heads, -1), -3)


def wrong_cut_in_memory_order(tokens: Tensor, num_heads: int) -> Tensor:
    """Reshapes at once, which cuts the numbers as they lie in memory and mixes tokens."""
    *batch, length, width = tokens.shape
    return tokens.reshape(*batch, num_heads, length, width // num_heads)


def wrong_every_second_feature(tokens: Tensor, num_heads: int) -> Tensor:
    """Cuts into (d_head, num_heads), so a head gets every num_heads-th feature, not neighbours."""
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


def wrong_axes_from_the_left_seventh(tokens: Tensor, num_heads: int) -> Tensor:
    """Swaps the axes 1 and 2, which are tokens and heads only after exactly one batch axis."""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def right_chunks_stacked(tokens: Tensor, num_heads: int) -> Tensor:
    """Cuts the features into one chunk for each head, and stacks the chunks before the tokens."""
    return torch.stack(tokens.chunk(num_heads, -1), -3)
