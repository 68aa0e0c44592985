import torch


def _layer(num_heads, d_value, num_roles, roles, signs, sharp, asks=0):
    unit = torch.eye(d_value + num_roles)
    w_query = unit[d_value + asks].repeat(num_heads, 1)
    w_key = sharp * unit[[d_value + role for role in roles[:num_heads]]]
    w_value = unit[:d_value].repeat(num_heads, 1)
    blocks = [sign * torch.eye(d_value) for sign in signs[:num_heads]]
    return w_query, w_key, w_value, torch.cat(blocks, 1)


def wrong_not_sharp(num_heads, d_value, num_roles, first, second):
    """The scores are 1 and 0, so a head returns little more than the mean of the text."""
    return _layer(num_heads, d_value, num_roles, (first, second), (1, -1), 1.0)


def wrong_no_minus(num_heads, d_value, num_roles, first, second):
    """Both heads count plus."""
    return _layer(num_heads, d_value, num_roles, (first, second), (1, 1), 100.0)


def wrong_roles_from_one(num_heads, d_value, num_roles, first, second):
    """Roles are counted from 1, so each head looks at the role before the right one."""
    return _layer(num_heads, d_value, num_roles, (first - 1, second - 1), (1, -1), 100.0)


def wrong_half_and_half(num_heads, d_value, num_roles, first, second):
    """The single head puts half its weight on each of the two tokens."""
    layer = list(_layer(num_heads, d_value, num_roles, (first, second), (1, -1), 100.0))
    if num_heads == 1:
        layer[1][0, d_value + second] = 100.0
    return tuple(layer)


def wrong_signs_exchanged(num_heads, d_value, num_roles, first, second):
    """The first value counts minus and the second plus."""
    return _layer(num_heads, d_value, num_roles, (first, second), (-1, 1), 100.0)


def wrong_float64(num_heads, d_value, num_roles, first, second):
    """The matrices are in float64."""
    layer = _layer(num_heads, d_value, num_roles, (first, second), (1, -1), 100.0)
    return tuple(one.double() for one in layer)


def right_wide_heads(num_heads, d_value, num_roles, first, second):
    """Heads as wide as a token, which ask by a permuted identity; one head takes the second."""
    width = d_value + num_roles
    w_query, w_key = torch.zeros(num_heads, width, width), torch.zeros(num_heads, width, width)
    w_value = torch.zeros(num_heads, d_value, width)
    w_output = torch.zeros(d_value, num_heads, d_value)
    looks = ((first, 1.0), (second, -1.0))[2 - num_heads :]
    for head, (role, sign) in enumerate(looks):
        w_query[head, role, d_value] = 40.0
        w_key[head, role, d_value + role] = 40.0
        w_value[head, :, :d_value] = torch.eye(d_value)
        w_output[:, head] = sign * torch.eye(d_value)
    return w_query.flatten(0, 1), w_key.flatten(0, 1), w_value.flatten(0, 1), w_output.flatten(1)
