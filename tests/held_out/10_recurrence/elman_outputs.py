import torch


def wrong_output_fed_back(tokens, w_input, w_state, bias, w_output):
    """The output is fed back through its matrix turned round, not the state."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
        state = outputs[-1] @ w_output
    return torch.stack(outputs, -2)


def wrong_output_of_the_old_state(tokens, w_input, w_state, bias, w_output):
    """Each output is read off the state before its token."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        outputs.append((state + 0 * token.sum(-1, keepdim=True)) @ w_output.mT)
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
    return torch.stack(outputs, -2)


def wrong_axis_one(tokens, w_input, w_state, bias, w_output):
    """The tokens are taken along axis 1, which fits exactly one batch axis."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(1):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, 1)


def wrong_state_detached(tokens, w_input, w_state, bias, w_output):
    """The state is detached at each step, so gradients go back through one step only."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state.detach() @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def wrong_tanh_of_the_output(tokens, w_input, w_state, bias, w_output):
    """The outputs go through a tanh, too."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(torch.tanh(state @ w_output.mT))
    return torch.stack(outputs, -2)


def wrong_no_bias(tokens, w_input, w_state, bias, w_output):
    """The bias is left out."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def right_states_first(tokens, w_input, w_state, bias, w_output):
    """All tokens are multiplied at once, time on the first axis, and the outputs at the end."""
    heard = torch.einsum("...ti,hi->t...h", tokens, w_input) + bias
    states = [torch.tanh(heard[0])]
    for more in heard[1:]:
        states.append(torch.tanh(torch.nn.functional.linear(states[-1], w_state) + more))
    return torch.einsum("t...h,oh->...to", torch.stack(states), w_output)


def wrong_bias_at_the_output(tokens, w_input, w_state, bias, w_output):
    """The bias is added outside the tanh."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT) + bias
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def wrong_no_bias_and_tanh_of_the_output(tokens, w_input, w_state, bias, w_output):
    """There is no bias, and the output has a tanh of its own."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT)
        outputs.append(torch.tanh(state @ w_output.mT))
    return torch.stack(outputs, -2)
