"""Right answers to part F: each earns every point."""

import torch


def by_units(num_heads, d_value, num_roles, first, second):
    values, roles = torch.eye(d_value + num_roles).split([d_value, num_roles])
    blocks = [torch.eye(d_value), -torch.eye(d_value)]
    return (
        roles[:1].repeat(num_heads, 1),
        100 * roles[[first, second][:num_heads]],
        values.repeat(num_heads, 1),
        torch.cat(blocks[:num_heads], -1),
    )


def by_filling_zeros(num_heads, d_value, num_roles, first, second):
    d_model = d_value + num_roles
    w_query = torch.zeros(num_heads * num_roles, d_model)
    w_key = torch.zeros(num_heads * num_roles, d_model)
    w_value = torch.zeros(num_heads * d_value, d_model)
    w_output = torch.zeros(d_value, num_heads * d_value)
    for head, role in zip(range(num_heads), (first, second), strict=False):
        w_query[head * num_roles + role, d_value] = 1000.0
        for other in range(num_roles):
            w_key[head * num_roles + other, d_value + other] = 1.0
        for feature in range(d_value):
            w_value[head * d_value + feature, feature] = 1.0
            w_output[feature, head * d_value + feature] = -1.0 if head else 1.0
    return w_query, w_key, w_value, w_output


def with_negative_values(num_heads, d_value, num_roles, first, second):
    """The second head hands on its values with the sign changed; the output adds."""
    d_model = d_value + num_roles
    read = torch.eye(d_value, d_model)
    w_value = torch.cat([read, -read])[: num_heads * d_value]
    ask = torch.zeros(num_heads, d_model)
    ask[:, d_value] = 30
    key = torch.zeros(num_heads, d_model)
    for head, role in enumerate([first, second][:num_heads]):
        key[head, d_value + role] = 30
    return ask, key, w_value, torch.eye(d_value).repeat(1, num_heads)


def with_the_second_first(num_heads, d_value, num_roles, first, second):
    """One head looks at the second token, which is as good; two heads in the other order."""
    d_model = d_value + num_roles
    place = torch.nn.functional.one_hot(torch.tensor([second, first]) + d_value, d_model).float()
    ask = torch.nn.functional.one_hot(torch.tensor([d_value] * num_heads), d_model).float()
    blocks = torch.eye(d_value) * torch.tensor([-1.0, 1.0])[:, None, None]
    w_output = blocks[:num_heads].movedim(0, 1).flatten(1)
    value = torch.eye(d_model)[:d_value]
    return [50 * ask, place[:num_heads], torch.cat([value] * num_heads), w_output]
