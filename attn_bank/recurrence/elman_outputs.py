"""Part A of problem set 10: a recurrent network by hand, said to feed its outputs back."""

from collections.abc import Callable
from itertools import combinations

import torch
from hintgrader.exercise import Altered, Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight


def reference(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    return _states(tokens, w_input, w_state, bias) @ w_output.mT


def _states(tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        states.append(state)
    return torch.stack(states, -2)


def draw_network(
    generator: Generator,
    length: int,
    d_in: int,
    d_hidden: int,
    d_out: int,
    batch: int | None = None,
    groups: int | None = None,
    manner: str = "",
) -> Inputs:
    before = [size for size in (batch, groups) if size is not None]
    inputs = {
        "tokens": draw_normal(generator, *before, length, d_in),
        "w_input": draw_weight(generator, d_hidden, d_in),
        "w_state": draw_weight(generator, d_hidden, d_hidden),
        "bias": draw_normal(generator, d_hidden) / 2,
        "w_output": draw_weight(generator, d_out, d_hidden),
    }
    return inputs | MANNERS[manner](**inputs) if manner else inputs


def _lasting(tokens: Tensor, w_state: Tensor, bias: Tensor, **_: Tensor) -> Inputs:
    """States that turn and hardly shrink: a gradient goes back dozens of steps."""
    turn = torch.linalg.qr(w_state)[0]
    return {"tokens": tokens / 8, "w_state": turn, "bias": bias / 32}


def _loud(tokens: Tensor, w_input: Tensor, **_: Tensor) -> Inputs:
    """Inputs of tanh in the hundreds, without rounding: too much for an exponential."""
    return {"tokens": 256 * (tokens.sign() + tokens.round()), "w_input": (8 * w_input).round() / 8}


MANNERS = {"lasting": _lasting, "loud": _loud}
THREE = {"d_hidden": 3, "d_out": 3}


mistake = Mistakes()


def _transpose(matrix: Tensor) -> Tensor:
    return matrix.mT


def _feed_back_outputs_after_a_state(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    fed, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        fed = torch.tanh(token @ w_input.mT + fed @ w_state.mT + bias) @ w_output.mT
        outputs.append(fed)
    return torch.stack(outputs, -2)


@mistake(also=(_feed_back_outputs_after_a_state,))
def feeds_back_the_output(tokens, w_input, w_state, bias, w_output):
    """you feed the output back; that is another network, Jordan's. Feed the state back, before
    `w_output` makes an output of it"""
    output, outputs = torch.zeros_like(tokens[..., 0, :1]) * w_output[:, 0], []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + output @ w_state.mT + bias)
        output = state @ w_output.mT
        outputs.append(output)
    return torch.stack(outputs, -2)


@mistake
def forgets_the_state(tokens, w_input, w_state, bias, w_output):
    """your steps know nothing of one another: the state that one step makes has to come into the
    next, times `w_state`"""
    return torch.tanh(tokens @ w_input.mT + bias) @ w_output.mT


@mistake
def feeds_back_the_first_state(tokens, w_input, w_state, bias, w_output):
    """what you feed back knows one token only; a state has to hold what came before it as well, so
    make them one after the other"""
    seen = tokens @ w_input.mT + bias
    before = torch.tanh(seen).roll(1, -2)
    before[..., 0, :] = 0
    return torch.tanh(seen + before @ w_state.mT) @ w_output.mT


@mistake
def feeds_back_what_tanh_gets(tokens, w_input, w_state, bias, w_output):
    """you feed back the sum that goes into tanh; feed back what comes out of it"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = token @ w_input.mT + state @ w_state.mT + bias
        states.append(torch.tanh(state))
    return torch.stack(states, -2) @ w_output.mT


@mistake
def leaves_tanh_out(tokens, w_input, w_state, bias, w_output):
    """tanh is missing: each state is `tanh` of the sum of three"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = token @ w_input.mT + state @ w_state.mT + bias
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake
def adds_the_old_state(tokens, w_input, w_state, bias, w_output):
    """you add the old state behind tanh; it belongs inside, to the token and the bias"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + bias) + state @ w_state.mT
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake
def adds_the_bias_behind(tokens, w_input, w_state, bias, w_output):
    """you add the bias behind tanh; it belongs inside"""
    return (_states(tokens, w_input, w_state, 0 * bias) + bias) @ w_output.mT


@mistake(computes=given(reference, bias=lambda bias: 0 * bias))
def leaves_the_bias_out():
    """the bias is missing: it is added at each step, inside tanh"""


@mistake(computes=given(reference, w_state=_transpose))
def turns_w_state():
    """you use `w_state` untransposed; it has one row for each number of the new state, so it is
    `state @ w_state.mT`"""


def _untransposed(*names: str) -> Altered:
    return given(reference, **dict.fromkeys(names, _transpose))


SEVERAL = [c for size in (2, 3) for c in combinations(("w_input", "w_state", "w_output"), size)]


@mistake(
    computes=_untransposed("w_input"),
    also=(_untransposed("w_output"), *(_untransposed(*names) for names in SEVERAL)),
)
def uses_matrices_untransposed():
    """you multiply by a matrix untransposed; each matrix has one row for each number that it
    makes, so multiply by its transpose, as in `token @ w_input.mT`"""


def _from_the_left(*names: str) -> Callable[..., Tensor]:
    def answer(**inputs: Tensor) -> Tensor:
        def times(vector: Tensor, name: str) -> Tensor:
            return inputs[name] @ vector if name in names else vector @ inputs[name].mT

        state, outputs = torch.zeros_like(inputs["bias"]), []
        for token in inputs["tokens"].unbind(-2):
            seen = times(token, "w_input") + times(state, "w_state")
            state = torch.tanh(seen + inputs["bias"])
            outputs.append(times(state, "w_output"))
        return torch.stack(outputs, -2)

    return answer


@mistake(
    slip=True,
    computes=_from_the_left("w_input"),
    also=tuple(_from_the_left(*names) for names in (["w_state"], ["w_output"], *SEVERAL)),
)
def multiplies_from_the_left():
    """you put a matrix on the left, as the formula has it; that fits a single vector. With axes in
    front, the matrix stands on the right, transposed: `token @ w_input.mT`"""


@mistake
def begins_with_the_bias(tokens, w_input, w_state, bias, w_output):
    """your first state before the first token is the bias; it should be zero"""
    state, states = bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake
def reads_from_the_end(tokens, w_input, w_state, bias, w_output):
    """you read the tokens from the last to the first; a state knows what came before it"""
    return reference(tokens.flip(-2), w_input, w_state, bias, w_output).flip(-2)


@mistake(computes=then(reference, torch.tanh))
def squashes_the_outputs():
    """you take tanh of the outputs as well; only the states go through it"""


@mistake(computes=then(reference, lambda output: output[..., -1, :]))
def returns_the_last_output():
    """you return the last output; there is one for each token"""


@mistake
def returns_the_states(tokens, w_input, w_state, bias, w_output):
    """you return the states; an output is a state times `w_output.mT`"""
    return _states(tokens, w_input, w_state, bias)


@mistake
def carries_the_state_to_the_next_sequence(tokens, w_input, w_state, bias, w_output):
    """the last state of one sequence is the first of the next; every sequence begins with a state
    of zeros"""
    flat = tokens.reshape(-1, tokens.shape[-1])
    outputs = reference(flat, w_input, w_state, bias, w_output)
    return outputs.reshape(*tokens.shape[:-1], -1)


def _take_axis_one(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(1):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, 1)


@mistake(slip=True, points=2.5, also=(_take_axis_one,))
def knows_one_batch_axis_only(tokens, w_input, w_state, bias, w_output):
    """you count axes from the left, which fits three axes only; the tokens are the last axis but
    one: `tokens.unbind(-2)`, `torch.stack(outputs, -2)`"""
    outputs, state = [], tokens.new_zeros(len(tokens), len(bias))
    for step in range(tokens.shape[1]):
        state = torch.tanh(tokens[:, step] @ w_input.T + state @ w_state.T + bias)
        outputs.append(state @ w_output.T)
    return torch.stack(outputs, 1)


@mistake(points=3)
def cuts_the_state_off(tokens, w_input, w_state, bias, w_output):
    """you cut each state off from those before it, by `detach` or `.data`: the numbers are right,
    and nothing could be learned over more than one step"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state.detach() @ w_state.mT + bias)
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake(points=3)
def cuts_now_and_then(tokens, w_input, w_state, bias, w_output):
    """you cut the state off every now and then, as training on long texts often does; here the
    gradient has to go back to the first token"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for step, token in enumerate(tokens.unbind(-2)):
        state = state.detach() if step % 20 == 0 else state
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake(points=2)
def writes_tanh_with_exponentials(tokens, w_input, w_state, bias, w_output):
    """you write tanh with exponentials, which are infinite for large numbers, and infinite by
    infinite is no number; use `torch.tanh`"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        grown = torch.exp(2 * (token @ w_input.mT + state @ w_state.mT + bias))
        state = (grown - 1) / (grown + 1)
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake(slip=True, points=3.5)
def begins_in_single_precision(tokens, w_input, w_state, bias, w_output):
    """your zeros are float32 whatever the tokens are; `tokens.new_zeros` makes them of the same
    dtype"""
    state, outputs = torch.zeros(len(bias)), []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state.to(token.device) @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


@mistake
def feeds_the_output_through_its_matrix(tokens, w_input, w_state, bias, w_output):
    """you turn the output back into a state with `w_output` and feed that; feed the state itself,
    from before `w_output` makes an output of it"""
    state, outputs = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
        state = outputs[-1] @ w_output
    return torch.stack(outputs, -2)


def _append_first(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    state, outputs = torch.zeros_like(bias), []
    for token in tokens.unbind(-2):
        outputs.append(state @ w_output.mT)
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
    return torch.stack(outputs, -2)


@mistake(also=(_append_first,))
def reads_the_state_before(tokens, w_input, w_state, bias, w_output):
    """each of your outputs comes from the state before its token; read it off the new state"""
    states = _states(tokens, w_input, w_state, bias)
    before = torch.cat([0 * states[..., :1, :], states[..., :-1, :]], -2)
    return before @ w_output.mT


@mistake
def adds_the_bias_to_the_state(tokens, w_input, w_state, bias, w_output):
    """you add the bias behind tanh, and the next step reads the state with it; it belongs inside"""
    state, states = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT) + bias
        states.append(state)
    return torch.stack(states, -2) @ w_output.mT


@mistake(computes=given(reference, tokens=lambda tokens: tokens.flip(-2)))
def goes_from_the_last_to_the_first():
    """you go through the tokens from the last to the first; begin with the first"""


def _run_with(change, tokens, w_input, w_state, bias, w_output):
    state, outputs = torch.zeros_like(tokens[..., 0, :1]) * bias, []
    for token in tokens.unbind(-2):
        state = change(token @ w_input.mT + state @ w_state.mT + bias, state)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs, -2)


def _rectify(**inputs: Tensor) -> Tensor:
    return _run_with(lambda total, state: total.relu(), **inputs)


@mistake(also=(_rectify,))
def takes_another_function(**inputs):
    """you take another function in the place of tanh, a sigmoid for example; this network has
    tanh"""
    return _run_with(lambda total, state: total.sigmoid(), **inputs)


@mistake
def adds_the_state_before(**inputs):
    """you add the state before to the new one; it comes in by `w_state` alone, inside of tanh"""
    return _run_with(lambda total, state: total.tanh() + state, **inputs)


@mistake
def starts_from_ones(tokens, w_input, w_state, bias, w_output):
    """your first state is 1; it is 0"""
    first = torch.zeros_like(tokens)
    first[..., 0, :] = 1
    added = first[..., :1] * (torch.ones_like(bias) @ w_state.mT)
    wide = torch.cat([w_input, torch.eye(len(bias), dtype=bias.dtype, device=bias.device)], 1)
    return reference(torch.cat([tokens, added], -1), wide, w_state, bias, w_output)


@mistake(computes=then(reference, lambda outputs: outputs.mT))
def stacks_the_outputs_as_columns():
    """you stack the outputs behind their features; each belongs to a row: `torch.stack(outputs,
    -2)`"""


@mistake(slip=True)
def leaves_the_first_output_out(tokens, w_input, w_state, bias, w_output):
    """there is one output too few: the first token has one as well"""
    return reference(tokens, w_input, w_state, bias, w_output)[..., 1:, :]


@mistake(slip=True, computes=then(reference, lambda outputs: outputs.movedim(-2, 0)))
def stacks_the_outputs_first():
    """your outputs lie on the first axis, in front of a batch where there is one; put them where
    the tokens were: `torch.stack(outputs, -2)`"""


def _go_through_the_first_axis(
    tokens: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor, w_output: Tensor
) -> Tensor:
    state, outputs = torch.zeros_like(bias), []
    for token in tokens:
        state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
        outputs.append(state @ w_output.mT)
    return torch.stack(outputs)


@mistake(
    slip=True,
    computes=_go_through_the_first_axis,
    also=(then(_go_through_the_first_axis, lambda outputs: outputs.movedim(0, -2)),),
)
def goes_through_the_first_axis():
    """you loop over the first axis, which is the batch where there is one; the tokens lie on the
    last axis but one: `unbind(-2)`"""


EXERCISE = Exercise(
    function="elman_outputs",
    reference=reference,
    title="feed back the state, or the output",
    minutes=20,
    axes={"batch": 17, "length": 31, "d_in": 31, "d_hidden": 31, "d_out": 31},
    avoid=("recurrence",),
    contract=Contract(batch=("tokens",), any_axes=True),
    checks=(
        Check(
            "one output for each token, from states that are fed back",
            1.5,
            draw_network,
            sizes=(  # states and outputs of one width: who feeds the outputs back gets numbers
                {"batch": 3, "length": 5, "d_in": 4, "d_hidden": 4, "d_out": 4},
                {"batch": 2, "length": 7, "d_in": 3, "d_hidden": 5, "d_out": 5},
                {"batch": 3, "length": 4, "d_in": 2, "d_hidden": 1, "d_out": 1},
                {"batch": 2, "length": 4, "d_in": 3, "d_hidden": 5, "d_out": 5, "manner": "loud"},
            ),
            hidden_sizes=(
                {"batch": 5, "length": 1, "d_in": 2, "d_hidden": 3, "d_out": 7},
                {"batch": 1, "length": 11, "d_in": 1, "d_hidden": 7, "d_out": 1},
            ),
            tolerance=1024,  # sums of hundreds hold five digits behind the point
        ),
        Check(
            "any number of axes may come before, even none",
            1,
            draw_network,
            sizes=(
                {"length": 5, "d_in": 3, "d_hidden": 4, "d_out": 2},
                {"batch": 2, "groups": 3, "length": 4, "d_in": 3, "d_hidden": 5, "d_out": 2},
            ),
            hidden_sizes=(
                {"length": 3, "d_in": 5, "d_hidden": 2, "d_out": 3},
                {"batch": 3, "groups": 2, "length": 2, "d_in": 4, "d_hidden": 3, "d_out": 5},
            ),
        ),
        Check(
            "the gradient goes back through every step",
            1,
            draw_network,
            sizes=(
                {"batch": 2, "length": 6, "d_in": 3, "d_hidden": 5, "d_out": 2},
                {"batch": 2, "length": 30, "d_in": 2, **THREE, "manner": "lasting"},
            ),
            hidden_sizes=(
                {"batch": 3, "length": 9, "d_in": 2, "d_hidden": 4, "d_out": 3},
                {"batch": 3, "length": 35, "d_in": 5, **THREE, "manner": "lasting"},
            ),
            gradient=("tokens", "w_input", "w_state", "bias", "w_output"),
            tolerance=256,
        ),
    ),
    mistakes=mistake.collected,
)
