import torch
from torch import Tensor
from torch.nn.functional import linear


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


def wrong_state_matrix_not_transposed(tokens, w_input, w_state, bias, w_output):
    """Multiplies the state by w_state without transposing it, which is square and raises no
    error."""
    state = torch.zeros_like(bias)
    outputs = []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, dim=-2)


def wrong_one_batch_axis(tokens, w_input, w_state, bias, w_output):
    """Loops over axis 1, which is the tokens only with exactly one batch axis."""
    h = tokens.new_zeros(tokens.shape[0], w_state.shape[0])
    ys = []
    for t in range(tokens.shape[1]):
        h = torch.tanh(tokens[:, t] @ w_input.T + h @ w_state.T + bias)
        ys.append(h @ w_output.T)
    return torch.stack(ys, dim=1)


def wrong_old_state_and_default_dtype(tokens, w_input, w_state, bias, w_output):
    """Two mistakes: reads the output off the state before the step, and begins with zeros in
    float32, whatever the inputs are."""
    state = torch.zeros(*tokens.shape[:-2], w_state.shape[0])
    outputs = []
    for i in range(tokens.shape[-2]):
        outputs.append(state @ w_output.mT)
        new = tokens[..., i, :] @ w_input.mT + state @ w_state.mT + bias
        state = torch.tanh(new)
    return torch.stack(outputs, dim=-2)


def right_products_outside_the_loop(tokens, w_input, w_state, bias, w_output):
    """Tokens times W for all steps before the loop, states times V after it; the first step has no
    old state."""
    drive = torch.einsum("...td,hd->...th", tokens, w_input) + bias
    states = [torch.tanh(drive[..., 0, :])]
    for t in range(1, drive.shape[-2]):
        carried = torch.einsum("...h,gh->...g", states[-1], w_state)
        states.append(torch.tanh(drive[..., t, :] + carried))
    return torch.einsum("...th,oh->...to", torch.stack(states, -2), w_output)


def wrong_output_with_tanh(tokens, w_input, w_state, bias, w_output):
    """It takes a tanh of the output, too."""
    state = tokens.new_zeros(*tokens.shape[:-2], w_state.shape[0])
    found = []
    for t in range(tokens.shape[-2]):
        state = torch.tanh(tokens[..., t, :] @ w_input.mT + state @ w_state.mT + bias)
        found.append(torch.tanh(state @ w_output.mT))
    return torch.stack(found, -2)


def wrong_bias_before_nothing(tokens, w_input, w_state, bias, w_output):
    """It adds the bias after the tanh."""
    state = tokens.new_zeros(*tokens.shape[:-2], w_state.shape[0])
    found = []
    for t in range(tokens.shape[-2]):
        state = torch.tanh(tokens[..., t, :] @ w_input.mT + state @ w_state.mT) + bias
        found.append(state @ w_output.mT)
    return torch.stack(found, -2)


def wrong_state_not_transposed(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    """Multiplies the state by w_state without transposing it: square, so no error."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def wrong_reads_the_old_state(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    """Reads each output off the state before its token has come in."""
    state, outputs = torch.zeros_like(bias).expand(*tokens.shape[:-2], -1), []
    for token in tokens.unbind(-2):
        outputs.append(state @ w_output.mT)
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
    return torch.stack(outputs, -2)


def wrong_stacks_on_axis_1(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    """Stacks the outputs on axis 1, which the tokens have only after one batch axis."""
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, 1)


def right_all_tokens_first(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    """Multiplies all tokens first and reads all states last; only the middle is a loop."""
    first, *others = torch.unbind(tokens @ w_input.mT + bias, -2)
    states = [first.tanh()]
    for given in others:
        states.append(torch.tanh(given + states[-1] @ w_state.mT))
    return torch.stack(states, -2) @ w_output.mT


def wrong_output_of_the_old_state_seventh(
    tokens: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    bias: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Reads the output before the step, so that it lags one token behind."""
    state = torch.zeros_like(tokens[..., 0, :] @ w_input.mT)
    outputs = []
    for token in tokens.unbind(-2):
        outputs.append(state @ w_output.mT)
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
    return torch.stack(outputs, -2)


def wrong_gradient_cut(
    tokens: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    bias: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Detaches the state from step to step, so gradients do not flow back through the steps."""
    state = torch.zeros_like(bias)
    outputs = []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state.detach() @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def wrong_bias_outside_tanh(
    tokens: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    bias: Tensor,
    w_output: Tensor,
) -> Tensor:
    """A bracket closes too early: the bias is added after the tanh."""
    state = torch.zeros_like(bias)
    outputs = []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT) + bias
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def right_all_inputs_first(
    tokens: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    bias: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Maps all tokens at once, loops over states alone, and reads all outputs off at the end."""
    inputs = linear(tokens, w_input, bias)
    states = [inputs[..., 0, :].tanh()]
    for t in range(1, inputs.shape[-2]):
        states.append((inputs[..., t, :] + linear(states[-1], w_state)).tanh())
    return linear(torch.stack(states, -2), w_output)


def wrong_token_shadowed(tokens, w_input, w_state, bias, w_output):
    """A loop's name is an argument's, and the outputs get its shape."""
    h = torch.zeros(*tokens.shape[:-2], len(bias), dtype=tokens.dtype)
    outputs = []
    for tokens in tokens.unbind(-2):  # noqa: B020
        h = torch.tanh(tokens @ w_input.mT + h @ w_state.mT + bias)
        outputs.append(h @ w_output.mT)
    return torch.stack(outputs, -1 - (tokens.ndim > 1))
