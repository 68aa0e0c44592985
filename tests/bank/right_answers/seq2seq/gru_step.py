"""Right answers to part B: each earns every point."""

import torch
from torch.nn.functional import linear


def by_chunks(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    reset_i, update_i, new_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    reset_h, update_h, new_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    reset = torch.sigmoid(reset_i + reset_h)
    update = torch.sigmoid(update_i + update_h)
    candidate = torch.tanh(new_i + reset * new_h)
    return (1 - update) * candidate + update * state


def by_rows_of_the_weights(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    size = state.shape[-1]

    def part(index):
        rows = slice(index * size, (index + 1) * size)
        from_input = linear(inputs, weight_ih[rows], bias_ih[rows])
        return from_input, linear(state, weight_hh[rows], bias_hh[rows])

    reset, update = sum(part(0)).sigmoid(), sum(part(1)).sigmoid()
    from_input, from_state = part(2)
    return torch.lerp(torch.tanh(from_input + reset * from_state), state, update)


def by_einsum(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    from_input = torch.einsum("...i,ghi->...gh", inputs, weight_ih.unflatten(0, (3, -1)))
    from_state = torch.einsum("...j,ghj->...gh", state, weight_hh.unflatten(0, (3, -1)))
    from_input = from_input + bias_ih.unflatten(0, (3, -1))
    from_state = from_state + bias_hh.unflatten(0, (3, -1))
    gates = torch.sigmoid(from_input[..., :2, :] + from_state[..., :2, :])
    reset, update = gates.unbind(-2)
    candidate = (from_input[..., 2, :] + reset * from_state[..., 2, :]).tanh()
    return candidate + update * (state - candidate)


def by_joint_gates(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    size = state.shape[-1]
    both = torch.cat([inputs, state], -1)
    weight = torch.cat([weight_ih[: 2 * size], weight_hh[: 2 * size]], 1)
    gates = torch.sigmoid(both @ weight.mT + bias_ih[: 2 * size] + bias_hh[: 2 * size])
    remembered = state @ weight_hh[2 * size :].mT + bias_hh[2 * size :]
    candidate = inputs @ weight_ih[2 * size :].mT + bias_ih[2 * size :]
    candidate = torch.tanh(candidate + gates[..., :size] * remembered)
    return candidate - gates[..., size:] * candidate + gates[..., size:] * state


def by_double_precision_inside(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    wide = [t.double() for t in (inputs, state, weight_ih, weight_hh, bias_ih, bias_hh)]
    return by_chunks(*wide).to(state.dtype)
