import torch


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
