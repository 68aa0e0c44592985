import torch
from torch import Tensor


def wrong_bias_left(weight, bias, num_heads, by_head):
    """The rows of the weight are put in order, the rows of the bias are not."""
    if by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


def wrong_other_direction(weight, bias, num_heads, by_head):
    """It cuts the rows into (3, num_heads, d_head), and so packs by head instead of unpacking."""
    if by_head:
        weight, bias = (
            one.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten(0, 2)
            for one in (weight, bias)
        )
    return *weight.chunk(3), *bias.chunk(3)


def wrong_always_as_pytorch(weight, bias, num_heads, by_head):
    """It never looks at by_head."""
    return *weight.chunk(3), *bias.chunk(3)


def wrong_every_third_row(weight, bias, num_heads, by_head):
    """By head, it takes every third row, as if a head were one row wide."""
    if not by_head:
        return *weight.chunk(3), *bias.chunk(3)
    return *(weight[part::3] for part in range(3)), *(bias[part::3] for part in range(3))


def wrong_biases_between(weight, bias, num_heads, by_head):
    """It returns each weight with its bias, where the three weights should come first."""
    if by_head:
        weight, bias = (
            one.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
            for one in (weight, bias)
        )
    pairs = zip(weight.chunk(3), bias.chunk(3), strict=True)
    return tuple(one for pair in pairs for one in pair)


def wrong_values_before_keys(weight, bias, num_heads, by_head):
    """It returns queries, values and keys, in this order."""
    if by_head:
        weight, bias = (
            one.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
            for one in (weight, bias)
        )
    (q, k, v), (b_q, b_k, b_v) = weight.chunk(3), bias.chunk(3)
    return q, v, k, b_q, b_v, b_k


def right_list_of_rows(weight, bias, num_heads, by_head):
    """It writes the numbers of the rows down, and picks them."""
    d_head = len(bias) // (3 * num_heads)
    parts = []
    for part in range(3):
        rows = []
        for head in range(num_heads):
            block = head * 3 + part if by_head else part * num_heads + head
            rows.extend(range(block * d_head, (block + 1) * d_head))
        parts.append(torch.tensor(rows))
    return tuple(one.index_select(0, rows) for one in (weight, bias) for rows in parts)


def wrong_bias_left_as_it_is(weight, bias, num_heads, by_head):
    """Reorders the weight but cuts the bias as if it were always in PyTorch's order."""
    if by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1))
        weight = weight.transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


def wrong_direction(weight, bias, num_heads, by_head):
    """Reorders the wrong way round: cuts rows packed by head into (3, num_heads, d_head)."""

    def reorder(packed):
        cut = packed.unflatten(0, (3, num_heads, -1))
        return cut.transpose(0, 1).flatten(0, 2)

    if by_head:
        weight, bias = reorder(weight), reorder(bias)
    w_query, w_key, w_value = weight.chunk(3)
    b_query, b_key, b_value = bias.chunk(3)
    return w_query, w_key, w_value, b_query, b_key, b_value


def wrong_layouts_exchanged_and_bias(weight, bias, num_heads, by_head):
    """Two mistakes: reorders when it is not packed by head, and never reorders the bias."""
    if not by_head:
        d_head = weight.shape[0] // (3 * num_heads)
        cut = weight.reshape(num_heads, 3, d_head, -1)
        weights = [cut[:, i].reshape(num_heads * d_head, -1) for i in range(3)]
    else:
        weights = list(torch.chunk(weight, 3, dim=0))
    return tuple(weights) + tuple(torch.chunk(bias, 3, dim=0))


def right_list_of_rows_again(weight, bias, num_heads, by_head):
    """Writes down the numbers of the rows of each part, and picks them from weight and bias."""
    d_head = weight.shape[0] // (3 * num_heads)
    rows = []
    for part in range(3):
        mine = []
        for head in range(num_heads):
            block = 3 * head + part if by_head else part * num_heads + head
            mine += range(block * d_head, (block + 1) * d_head)
        rows.append(torch.tensor(mine, device=weight.device))
    return (
        *(weight.index_select(0, mine) for mine in rows),
        *(bias.index_select(0, mine) for mine in rows),
    )


def wrong_key_before_query(weight, bias, num_heads, by_head):
    """It returns the key's part first and the query's second."""
    if by_head:
        w = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(1, 2)
        b = bias.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    else:
        w, b = weight.unflatten(0, (3, -1)), bias.unflatten(0, (3, -1))
    return w[1], w[0], w[2], b[1], b[0], b[2]


def wrong_bias_never_by_head(weight, bias, num_heads, by_head):
    """It unpacks the weights by head, and the biases in PyTorch's way."""
    if by_head:
        w = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    else:
        w = weight.unflatten(0, (3, -1))
    b = bias.unflatten(0, (3, -1))
    return *w, *b


def wrong_bias_as_it_was(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Puts the rows of the weight in order, but not the numbers of the bias."""
    if by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


def wrong_direction_sixth(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Unfolds the rows as (3, num_heads), which turns PyTorch's layout into the other."""
    if by_head:
        weight = weight.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten(0, 2)
        bias = bias.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten()
    return *weight.chunk(3), *bias.chunk(3)


def wrong_pairs_of_each_part(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Returns weight and bias of the queries, then of the keys, then of the values."""
    if by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
        bias = bias.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten()
    w_query, w_key, w_value = weight.chunk(3)
    b_query, b_key, b_value = bias.chunk(3)
    return w_query, b_query, w_key, b_key, w_value, b_value


def right_sections(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Cuts into sections of d_head rows, and joins those that belong to a part."""
    parts = []
    for packed in (weight, bias):
        sections = packed.split(len(packed) // (3 * num_heads))
        for part in range(3):
            if by_head:
                chosen = sections[part::3]
            else:
                chosen = sections[part * num_heads : (part + 1) * num_heads]
            parts.append(torch.cat(chosen))
    return tuple(parts)


def wrong_bias_left_packed(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Reorders the rows of the weight, but leaves the bias packed by head."""
    if by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


def wrong_other_direction_seventh(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Unfolds rows by head as (3, num_heads, d_head), which would pack them, not unpack them."""
    if by_head:
        weight = weight.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten(0, 2)
        bias = bias.unflatten(0, (3, num_heads, -1)).transpose(0, 1).flatten()
    return *weight.chunk(3), *bias.chunk(3)


def wrong_flag_inverted(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Reads `by_head` as what is wanted: it reorders PyTorch's layout, and not the other."""
    if not by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
        bias = bias.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten()
    return *weight.chunk(3), *bias.chunk(3)


def right_lists_of_rows(
    weight: Tensor, bias: Tensor, num_heads: int, by_head: bool
) -> tuple[Tensor, ...]:
    """Numbers the rows, finds each part's, and picks them from weight and bias."""
    rows = torch.arange(len(bias), device=bias.device)
    if by_head:
        parts = rows.reshape(num_heads, 3, -1).unbind(1)
    else:
        parts = rows.reshape(3, num_heads, -1).unbind(0)
    parts = [part.flatten() for part in parts]
    return tuple(packed[part] for packed in (weight, bias) for part in parts)


def wrong_width_of_the_input(weight, bias, num_heads, by_head):
    """The width of a head is taken from the columns of the weight."""
    if by_head:
        d_head = weight.shape[1] // num_heads
        parts = weight.view(num_heads, 3, d_head, -1), bias.view(num_heads, 3, d_head)
        weight, bias = (t.transpose(0, 1).flatten(0, 2) for t in parts)
    return (*weight.chunk(3), *bias.chunk(3))


def wrong_width_of_the_input_in_slices(weight, bias, num_heads, by_head):
    """Likewise, by slices of rows."""
    d_model = weight.shape[1]
    d_head = d_model // num_heads
    if not by_head:
        return (*weight.chunk(3), *bias.chunk(3))
    found = []
    for packed in (weight, bias):
        for part in range(3):
            heads = []
            for head in range(num_heads):
                start = (3 * head + part) * d_head
                heads.append(packed[start : start + d_head])
            found.append(torch.cat(heads))
    return tuple(found)
