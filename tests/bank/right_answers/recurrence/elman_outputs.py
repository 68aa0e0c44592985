"""Right answers to part A: each earns every point."""

import torch


def by_a_loop(tokens, w_input, w_state, bias, w_output):
    state, outputs = torch.zeros_like(bias), []
    for step in range(tokens.shape[-2]):
        state = torch.tanh(tokens[..., step, :] @ w_input.T + state @ w_state.T + bias)
        outputs.append(state @ w_output.T)
    return torch.stack(outputs, -2)


def by_one_matrix(tokens, w_input, w_state, bias, w_output):
    both = torch.cat([w_input, w_state], -1)
    state, states = tokens.new_zeros(*tokens.shape[:-2], len(bias)), []
    for token in tokens.unbind(-2):
        state = (torch.cat([token, state], -1) @ both.T + bias).tanh()
        states.append(state)
    return torch.stack(states, -2) @ w_output.T


def reading_all_tokens_first(tokens, w_input, w_state, bias, w_output):
    seen = torch.einsum("...i,hi->...h", tokens, w_input) + bias
    states = [torch.tanh(seen[..., 0, :])]
    for now in seen.unbind(-2)[1:]:
        states.append(torch.tanh(now + torch.einsum("...h,gh->...g", states[-1], w_state)))
    return torch.einsum("...h,oh->...o", torch.stack(states, -2), w_output)


def filling_a_tensor(tokens, w_input, w_state, bias, w_output):
    *before, length, _ = tokens.shape
    states = tokens.new_zeros(*before, length + 1, len(bias))
    for step in range(length):
        now = tokens[..., step, :] @ w_input.mT + states[..., step, :].clone() @ w_state.mT + bias
        states[..., step + 1, :] = now.tanh()
    return states[..., 1:, :] @ w_output.mT


def by_recursion(tokens, w_input, w_state, bias, w_output):
    def states(rest, state):
        if not len(rest):
            return []
        state = torch.tanh(rest[0] @ w_input.T + state @ w_state.T + bias)
        return [state, *states(rest[1:], state)]

    return torch.stack(states(tokens.movedim(-2, 0), torch.zeros_like(bias)), -2) @ w_output.T


def with_sigmoids(tokens, w_input, w_state, bias, w_output):
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = 2 * torch.sigmoid(2 * (token @ w_input.T + state @ w_state.T + bias)) - 1
        outputs.append(state @ w_output.T)
    return torch.stack(outputs, -2)
