import torch
from torch import Tensor, nn


def wrong_reset_before_the_product(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The reset gate multiplies the state before the matrix product, as in Cho's third version."""
    w_ir, w_iz, w_in = weight_ih.chunk(3)
    w_hr, w_hz, w_hn = weight_hh.chunk(3)
    b_ir, b_iz, b_in = bias_ih.chunk(3)
    b_hr, b_hz, b_hn = bias_hh.chunk(3)
    r = torch.sigmoid(inputs @ w_ir.T + b_ir + state @ w_hr.T + b_hr)
    z = torch.sigmoid(inputs @ w_iz.T + b_iz + state @ w_hz.T + b_hz)
    n = torch.tanh(inputs @ w_in.T + b_in + (r * state) @ w_hn.T + b_hn)
    return (1 - z) * n + z * state


def wrong_both_biases_outside(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The bias b_hn of the candidate stands outside of what r multiplies."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih + bias_hh).chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def wrong_update_turned_round(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """In the last line z and 1 - z are swapped."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return z * n + (1 - z) * state


def wrong_reset_used_twice(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """Two gates only: the reset gate also does what the update gate should."""
    r_i, _, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    r_h, _, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r = torch.sigmoid(r_i + r_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - r) * n + r * state


def wrong_sigmoid_of_the_candidate(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The candidate goes through a sigmoid, not through tanh."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.sigmoid(n_i + r * n_h)
    return (1 - z) * n + z * state


def right_one_matrix_for_the_gates(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """Both gates from one matrix for input and state end to end; the update as a step from n."""
    d = state.shape[-1]
    both = torch.cat([inputs, state], -1)
    gates = torch.cat([weight_ih[: 2 * d], weight_hh[: 2 * d]], 1)
    opened = torch.sigmoid(both @ gates.mT + (bias_ih + bias_hh)[: 2 * d])
    reset, update = opened[..., :d], opened[..., d:]
    heard = torch.nn.functional.linear(state, weight_hh[2 * d :], bias_hh[2 * d :])
    new = torch.einsum("...i,oi->...o", inputs, weight_ih[2 * d :]) + bias_ih[2 * d :]
    candidate = torch.tanh(torch.addcmul(new, reset, heard))
    return candidate + update * (state - candidate)


def wrong_update_gate_first(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The rows of the first two gates are exchanged: update, reset, candidate."""
    zx, rx, nx = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    zh, rh, nh = (state @ weight_hh.mT + bias_hh).chunk(3, -1)
    reset, update = torch.sigmoid(rx + rh), torch.sigmoid(zx + zh)
    return (1 - update) * torch.tanh(nx + reset * nh) + update * state


def wrong_one_bias_and_update_turned(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The bias of the state is left out, and the update gate works the other way round."""
    rx, zx, nx = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    rh, zh, nh = (state @ weight_hh.mT).chunk(3, -1)
    reset, update = torch.sigmoid(rx + rh), torch.sigmoid(zx + zh)
    return update * torch.tanh(nx + reset * nh) + (1 - update) * state


def wrong_hidden_bias_outside_reset(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """The bias b_hn is added outside of what the reset gate multiplies."""
    w_ir, w_iz, w_in = weight_ih.chunk(3, 0)
    w_hr, w_hz, w_hn = weight_hh.chunk(3, 0)
    b_ir, b_iz, b_in = bias_ih.chunk(3)
    b_hr, b_hz, b_hn = bias_hh.chunk(3)
    r = torch.sigmoid(inputs @ w_ir.T + b_ir + state @ w_hr.T + b_hr)
    z = torch.sigmoid(inputs @ w_iz.T + b_iz + state @ w_hz.T + b_hz)
    n = torch.tanh(inputs @ w_in.T + b_in + r * (state @ w_hn.T) + b_hn)
    return (1 - z) * n + z * state


def wrong_update_gate_swapped(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """Swaps z and 1 - z in the last line: a z of 1 replaces the old state."""
    i_r, i_z, i_n = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    h_r, h_z, h_n = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    reset = torch.sigmoid(i_r + h_r)
    update = torch.sigmoid(i_z + h_z)
    candidate = torch.tanh(i_n + reset * h_n)
    return (1 - update) * state + update * candidate


def wrong_gate_order_and_reset_before_product(
    inputs, state, weight_ih, weight_hh, bias_ih, bias_hh
):
    """Two mistakes: the first third is taken for the update gate and the second for reset, and
    reset multiplies h before the matrix product."""
    d = state.shape[-1]
    from_input = inputs @ weight_ih.T + bias_ih
    from_state = state @ weight_hh.T + bias_hh
    z = torch.sigmoid(from_input[..., :d] + from_state[..., :d])
    r = torch.sigmoid(from_input[..., d : 2 * d] + from_state[..., d : 2 * d])
    hidden = (r * state) @ weight_hh[2 * d :].T + bias_hh[2 * d :]
    n = torch.tanh(from_input[..., 2 * d :] + hidden)
    return (1 - z) * n + z * state


def right_gate_by_gate(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """Cuts the weights, not the results, and moves the candidate by lerp towards the old state."""
    thirds = zip(
        weight_ih.unflatten(0, (3, -1)),
        weight_hh.unflatten(0, (3, -1)),
        bias_ih.unflatten(0, (3, -1)),
        bias_hh.unflatten(0, (3, -1)),
    )
    parts = [
        (nn.functional.linear(inputs, w, b), nn.functional.linear(state, u, c))
        for w, u, b, c in thirds
    ]
    r, z = (torch.sigmoid(sum(pair)) for pair in parts[:2])
    fresh, remembered = parts[2]
    n = torch.tanh(torch.addcmul(fresh, r, remembered))
    return torch.lerp(n, state, z)


def wrong_z_the_other_way(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """It keeps the new proposal where z is 1, and the old state where it is 0."""
    i = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    h = (state @ weight_hh.mT + bias_hh).chunk(3, -1)
    r, z = (i[0] + h[0]).sigmoid(), (i[1] + h[1]).sigmoid()
    n = (i[2] + r * h[2]).tanh()
    return z * n + (1 - z) * state


def wrong_reset_forgotten(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """It never uses the reset gate."""
    i = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    h = (state @ weight_hh.mT + bias_hh).chunk(3, -1)
    z = (i[1] + h[1]).sigmoid()
    n = (i[2] + h[2]).tanh()
    return (1 - z) * n + z * state


def wrong_reset_before_the_product_fifth(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """It multiplies the state by the reset gate before the matrix product."""
    i = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    h = (state @ weight_hh.mT + bias_hh).chunk(3, -1)
    r, z = (i[0] + h[0]).sigmoid(), (i[1] + h[1]).sigmoid()
    d = state.shape[-1]
    n = (i[2] + (r * state) @ weight_hh[2 * d :].mT + bias_hh[2 * d :]).tanh()
    return (1 - z) * n + z * state


def wrong_bias_outside_the_reset(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """It adds the bias of the state outside of what the reset gate multiplies."""
    i = (inputs @ weight_ih.mT + bias_ih).chunk(3, -1)
    h = (state @ weight_hh.mT).chunk(3, -1)
    b = bias_hh.chunk(3, -1)
    r, z = (i[0] + h[0] + b[0]).sigmoid(), (i[1] + h[1] + b[1]).sigmoid()
    n = (i[2] + r * h[2] + b[2]).tanh()
    return (1 - z) * n + z * state


def wrong_sigmoid_by_hand(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Writes the sigmoid as 1 / (1 + exp(-x)), whose gradient is nan where exp overflows."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r = 1 / (1 + torch.exp(-(r_i + r_h)))
    z = 1 / (1 + torch.exp(-(z_i + z_h)))
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def wrong_update_gate_first_sixth(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Takes the first third of the rows for z and the second for r."""
    z_i, r_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    z_h, r_h, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def wrong_both_biases_outside_sixth(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Adds both biases of the candidate outside of what the reset gate multiplies."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih + bias_hh).chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def right_candidate_moved_to_state(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Computes both gates in one sigmoid, and goes from the candidate towards the state."""
    width = state.shape[-1]
    seen = nn.functional.linear(inputs, weight_ih, bias_ih)
    known = nn.functional.linear(state, weight_hh, bias_hh)
    gates = torch.sigmoid(seen[..., : 2 * width] + known[..., : 2 * width])
    reset, keep = gates[..., :width], gates[..., width:]
    candidate = torch.tanh(seen[..., 2 * width :] + reset * known[..., 2 * width :])
    return candidate + keep * (state - candidate)


def wrong_reset_before_product(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Lets the reset gate multiply the state before the product, unlike nn.GRU."""
    r_i, z_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    w_r, w_z, w_n = weight_hh.chunk(3)
    b_r, b_z, b_n = bias_hh.chunk(3)
    r = torch.sigmoid(r_i + state @ w_r.T + b_r)
    z = torch.sigmoid(z_i + state @ w_z.T + b_z)
    n = torch.tanh(n_i + (r * state) @ w_n.T + b_n)
    return (1 - z) * n + z * state


def wrong_bias_outside_reset(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Adds b_hn outside of what the reset gate multiplies."""
    from_input = inputs @ weight_ih.T + bias_ih + bias_hh
    r_i, z_i, n_i = from_input.chunk(3, -1)
    r_h, z_h, n_h = (state @ weight_hh.T).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def wrong_order_of_gates(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Takes the first third of the rows for z and the second for r."""
    z_i, r_i, n_i = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    z_h, r_h, n_h = (state @ weight_hh.T + bias_hh).chunk(3, -1)
    r, z = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    n = torch.tanh(n_i + r * n_h)
    return (1 - z) * n + z * state


def right_by_step_towards_old(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """Computes both gates in one sigmoid, and blends by lerp from the candidate."""
    size = state.shape[-1]
    from_input = torch.nn.functional.linear(inputs, weight_ih, bias_ih)
    from_state = torch.nn.functional.linear(state, weight_hh, bias_hh)
    both = from_input[..., : 2 * size] + from_state[..., : 2 * size]
    gates = torch.sigmoid(both)
    reset, update = gates[..., :size], gates[..., size:]
    recalled = reset * from_state[..., 2 * size :]
    candidate = torch.tanh(from_input[..., 2 * size :] + recalled)
    return torch.lerp(candidate, state, update)
