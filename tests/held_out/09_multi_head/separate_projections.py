import torch


def wrong_bias_left(weight, bias, num_heads, by_head):
    """The rows of the weight are put in order, those of the bias are not."""
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
