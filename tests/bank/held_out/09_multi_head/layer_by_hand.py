import torch
from torch import Tensor


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


def wrong_role_feature(num_heads, d_value, num_roles, first, second):
    """Takes role r to be feature r, but the value's features come first."""
    unit = torch.eye(d_value + num_roles)
    looks_at = [first, second][:num_heads]
    w_query = unit[[0] * num_heads]
    w_key = 100 * unit[looks_at]
    w_value = unit[:d_value].repeat(num_heads, 1)
    eye = torch.eye(d_value)
    w_output = torch.cat([eye, -eye][:num_heads], dim=1)
    return w_query, w_key, w_value, w_output


def wrong_plus_for_both(num_heads, d_value, num_roles, first, second):
    """Forgets the minus in the output, so that two heads give the sum."""
    width = d_value + num_roles
    w_query = torch.zeros(num_heads, width)
    w_key = torch.zeros(num_heads, width)
    w_query[:, d_value] = 1
    for head, role in zip(range(num_heads), (first, second)):
        w_key[head, d_value + role] = 100
    copy = torch.cat([torch.eye(d_value), torch.zeros(d_value, num_roles)], 1)
    w_value = torch.cat([copy] * num_heads, dim=0)
    w_output = torch.cat([torch.eye(d_value)] * num_heads, dim=1)
    return w_query, w_key, w_value, w_output


def wrong_query_of_the_wanted_role_and_soft(num_heads, d_value, num_roles, first, second):
    """Two mistakes: the query is read from the wanted role instead of role 0, and the key is not
    made large."""
    unit = torch.eye(d_value + num_roles)
    roles = [d_value + first, d_value + second][:num_heads]
    w_query = unit[roles]
    w_key = unit[roles]
    w_value = torch.cat([unit[:d_value] for _ in range(num_heads)])
    signs = [1.0, -1.0][:num_heads]
    w_output = torch.cat([s * torch.eye(d_value) for s in signs], dim=1)
    return w_query, w_key, w_value, w_output


def right_keys_are_roles(num_heads, d_value, num_roles, first, second):
    """The key of a token is its whole role vector, the query of role 0 is a large one-hot of the
    wanted role."""
    width = d_value + num_roles
    wanted = (first, second)[:num_heads]
    roles = torch.zeros(num_roles, width)
    roles[:, d_value:] = torch.eye(num_roles)
    w_key = roles.repeat(num_heads, 1)
    w_query = torch.zeros(num_heads, num_roles, width)
    for head, role in enumerate(wanted):
        w_query[head, role, d_value] = 100 * num_roles**0.5
    w_value = torch.eye(d_value, width).repeat(num_heads, 1)
    signs = torch.tensor([[1.0, -1.0]])[:, :num_heads]
    w_output = torch.kron(signs, torch.eye(d_value))
    return w_query.flatten(0, 1), w_key, w_value, w_output


def _by_hand(num_heads, d_value, num_roles, first, second, sign=-1.0, shift=0):
    width = d_value + num_roles
    w_query = torch.zeros(num_heads * num_roles, width)
    w_key = torch.zeros(num_heads * num_roles, width)
    w_value = torch.zeros(num_heads * d_value, width)
    w_output = torch.zeros(d_value, num_heads * d_value)
    for head, (role, by) in enumerate([(first, 1.0), (second, sign)][:num_heads]):
        w_query[head * num_roles + role, d_value] = 100.0 * num_roles
        w_key[head * num_roles + role, d_value + role + shift] = 1.0
        part = slice(head * d_value, (head + 1) * d_value)
        w_value[part, :d_value] = torch.eye(d_value)
        w_output[:, part] = by * torch.eye(d_value)
    return w_query, w_key, w_value, w_output


def wrong_adds_the_two(num_heads, d_value, num_roles, first, second):
    """It adds the two values where it should subtract them."""
    return _by_hand(num_heads, d_value, num_roles, first, second, sign=1.0)


def wrong_role_off_by_one(num_heads, d_value, num_roles, first, second):
    """Its keys look for the role before the right one."""
    return _by_hand(num_heads, d_value, num_roles, first, second, shift=-1)


def wrong_soft_heads(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Leaves the score of the right role at 1, so a head still looks at all tokens."""
    unit = torch.eye(d_value + num_roles)
    roles = [first, second][:num_heads]
    w_query = unit[[d_value] * num_heads]
    w_key = unit[[d_value + role for role in roles]]
    w_value = unit[:d_value].repeat(num_heads, 1)
    same = torch.eye(d_value)
    return w_query, w_key, w_value, torch.cat([same, -same][:num_heads], 1)


def wrong_one_head_looks_at_both(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """With one head, looks at both tokens equally, and finds their mean."""
    unit = torch.eye(d_value + num_roles)
    same = torch.eye(d_value)
    plus, minus = 100 * unit[d_value + first], 100 * unit[d_value + second]
    w_query = unit[[d_value] * num_heads]
    w_value = unit[:d_value].repeat(num_heads, 1)
    if num_heads == 1:
        return w_query, (plus + minus).unsqueeze(0), w_value, same
    return w_query, torch.stack([plus, minus]), w_value, torch.cat([same, -same], 1)


def wrong_roles_from_the_front(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Forgets in the keys that the roles come after the value: role r is d_value + r."""
    unit = torch.eye(d_value + num_roles)
    w_query = unit[[d_value] * num_heads]
    w_key = 100 * unit[[first, second][:num_heads]]
    w_value = unit[:d_value].repeat(num_heads, 1)
    same = torch.eye(d_value)
    return w_query, w_key, w_value, torch.cat([same, -same][:num_heads], 1)


def right_role_by_role(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Takes the whole role as key; the query of the asking token names the wanted one."""
    width = d_value + num_roles
    w_query = torch.zeros(num_heads, num_roles, width)
    w_key = torch.zeros(num_heads, num_roles, width)
    w_value = torch.zeros(num_heads, d_value, width)
    w_output = torch.zeros(d_value, num_heads, d_value)
    for head, (role, sign) in enumerate([(first, 1), (second, -1)][:num_heads]):
        w_query[head, role, d_value] = 100 * num_roles**0.5
        w_key[head, :, d_value:].fill_diagonal_(1)
        w_value[head].fill_diagonal_(1)
        w_output[:, head].fill_diagonal_(sign)
    return w_query.flatten(0, 1), w_key.flatten(0, 1), w_value.flatten(0, 1), w_output.flatten(1)


def wrong_one_head_looks_at_both_seventh(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A single head looks at both roles, and the mean of the two says nothing of a - b."""
    unit = torch.eye(d_value + num_roles)
    keys = [unit[d_value + first], unit[d_value + second]]
    if num_heads == 1:
        keys = [keys[0] + keys[1]]
    w_query = unit[d_value].repeat(num_heads, 1)
    w_key = 100 * torch.stack(keys)
    w_value = unit[:d_value].repeat(num_heads, 1)
    w_output = torch.cat([torch.eye(d_value), -torch.eye(d_value)][:num_heads], 1)
    return w_query, w_key, w_value, w_output


def wrong_scores_too_small(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The score of the wanted role is only 1, so much weight stays on the other tokens."""
    unit = torch.eye(d_value + num_roles)
    w_query = unit[d_value].repeat(num_heads, 1)
    w_key = unit[[d_value + first, d_value + second]][:num_heads]
    w_value = unit[:d_value].repeat(num_heads, 1)
    w_output = torch.cat([torch.eye(d_value), -torch.eye(d_value)][:num_heads], 1)
    return w_query, w_key, w_value, w_output


def wrong_roles_before_values(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The keys take role r for feature r of a token, but the values come before the roles."""
    unit = torch.eye(d_value + num_roles)
    w_query = unit[d_value].repeat(num_heads, 1)
    w_key = 100 * unit[[first, second]][:num_heads]
    w_value = unit[:d_value].repeat(num_heads, 1)
    w_output = torch.cat([torch.eye(d_value), -torch.eye(d_value)][:num_heads], 1)
    return w_query, w_key, w_value, w_output


def right_keys_are_roles_seventh(
    num_heads: int, d_value: int, num_roles: int, first: int, second: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A key is the token's whole role; the query of role 0 is 1000 times the role it looks for."""
    width = d_value + num_roles
    w_query = torch.zeros(num_heads, num_roles, width)
    for head, role in zip(range(num_heads), (first, second)):
        w_query[head, role, d_value] = 1000
    w_key = torch.eye(width)[d_value:].repeat(num_heads, 1)
    w_value = torch.eye(d_value, width).repeat(num_heads, 1)
    signs = torch.tensor([[1.0, -1.0]])[:, :num_heads]
    return (
        w_query.flatten(0, 1),
        w_key,
        w_value,
        torch.kron(signs, torch.eye(d_value)),
    )


def wrong_sizes_typed_in(num_heads, d_value, num_roles, first, second):
    """The sizes of the example are typed in."""
    d_model = 3 + 7
    w_query = torch.zeros(num_heads, d_model)
    w_query[:, 3] = 1
    w_key = torch.zeros(num_heads, d_model)
    for head, role in zip(range(num_heads), (first, second)):
        w_key[head, 3 + role] = 100
    w_value = torch.eye(3, d_model).repeat(num_heads, 1)
    w_output = torch.cat([sign * torch.eye(3) for sign in (1, -1)[:num_heads]], -1)
    return w_query, w_key, w_value, w_output


def wrong_number_of_roles_typed_in(num_heads, d_value, num_roles, first, second):
    """The number of roles is typed in."""
    d_model = d_value + 7
    w_query = torch.zeros(num_heads, d_model)
    w_query[:, d_value] = 1
    w_key = torch.zeros(num_heads, d_model)
    for head, role in zip(range(num_heads), (first, second)):
        w_key[head, d_value + role] = 100
    w_value = torch.eye(d_value, d_model).repeat(num_heads, 1)
    w_output = torch.cat([sign * torch.eye(d_value) for sign in (1, -1)[:num_heads]], -1)
    return w_query, w_key, w_value, w_output
