"""A layer of the grader's that an answer is handed: it behaves as if the answer held it itself."""

import signal
import threading
import time
from contextlib import contextmanager
from socket import socketpair

import pytest
import torch
from hintgrader.supervisor import remote_submission as answers
from hintgrader.supervisor.remote_submission import _CallbackServer
from hintgrader.worker.remote_callable import RemoteCallable
from hintgrader.worker.submission import LocalSubmission
from hintgrader.worker.wire import BrokenMessage, receive, send
from torch.func import grad, jacrev, vmap
from torch.testing import assert_close

from attn_bank.layers import Layer
from attn_bank.sequence_layers import SEQUENCE_LAYERS, SequenceLayer

BATCH, LENGTH, D_IN, D_OUT = 2, 5, 3, 7


def sequence_layer(name: str) -> SequenceLayer:
    generator = torch.Generator().manual_seed(1)
    shapes = (D_IN, D_OUT), (D_OUT, D_OUT)
    weights = [torch.randn(shape, generator=generator) for shape in shapes]
    return SequenceLayer(name, *(weight.requires_grad_() for weight in weights))


def given() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(BATCH, LENGTH, D_IN, generator=generator), torch.ones(D_OUT)


@contextmanager
def called_back(function):
    """The stand-in of a callable, and the desk at which its calls arrive."""
    grader, answer = socketpair()
    desk = _CallbackServer()

    def serve() -> None:
        try:
            while True:
                send(grader, desk.answer(receive(grader)))
        except BrokenMessage:
            pass

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield RemoteCallable(answer, desk.number(function)), desk
    finally:
        answer.close()
        thread.join()
        grader.close()


def end_of(layer, tokens, direction):
    return (layer(tokens)[:, -1] @ direction).sum()


def calls_it(layer, tokens, direction):
    return layer(tokens)


def calls_it_by_name(layer, tokens, direction):
    tokens = tokens.clone().requires_grad_()
    return torch.autograd.grad(layer(tokens=tokens).sum(), tokens, materialize_grads=True)[0]


def calls_it_without_gradients(layer, tokens, direction):
    with torch.no_grad():
        return vmap(layer)(tokens.unsqueeze(1)), layer(tokens=tokens)


def by_autograd(layer, tokens, direction):
    tokens = tokens.clone().requires_grad_()
    number = end_of(layer, tokens, direction) + 2 * end_of(layer, tokens[:, 1:], direction)
    return torch.autograd.grad(number, tokens, materialize_grads=True, create_graph=True)[0]


def by_autograd_that_insists(layer, tokens, direction):
    tokens = tokens.clone().requires_grad_()
    return torch.autograd.grad(end_of(layer, tokens, direction), tokens)[0]


def by_backward(layer, tokens, direction):
    tokens = tokens.clone().requires_grad_()
    end_of(layer, tokens, direction).backward(inputs=[tokens])
    return tokens.grad


def by_grad(layer, tokens, direction):
    return grad(lambda given: end_of(layer, given, direction))(tokens)


def by_grad_of_each(layer, tokens, direction):
    return vmap(grad(lambda one: end_of(layer, one.unsqueeze(0), direction)))(tokens)


def by_grad_of_all_at_once(layer, tokens, direction):
    return grad(lambda all_: vmap(layer)(all_.unsqueeze(1))[:, 0, -1].sum())(tokens)


def by_jacrev(layer, tokens, direction):
    return jacrev(lambda given: layer(given)[:, -1] @ direction)(tokens)


def by_jacobian(layer, tokens, direction):
    def number(given):
        return layer(given)[:, -1] @ direction

    return torch.autograd.functional.jacobian(number, tokens)


def by_small_steps(layer, tokens, direction):
    with torch.no_grad():
        moved = tokens.clone()
        moved[:, 0, 0] += 1e-2
        return end_of(layer, moved, direction) - end_of(layer, tokens, direction)


def gives_one_text_alone(layer, tokens, direction):
    return layer(tokens[0])


WAYS = [
    calls_it,
    calls_it_by_name,
    calls_it_without_gradients,
    by_autograd,
    by_autograd_that_insists,
    by_backward,
    by_grad,
    by_grad_of_each,
    by_grad_of_all_at_once,
    by_jacrev,
    by_jacobian,
    by_small_steps,
    gives_one_text_alone,
]


def outcome(way, layer):
    try:
        return way(layer, *given())
    except (IndexError, RuntimeError) as error:
        return type(error)


@pytest.mark.parametrize("name", SEQUENCE_LAYERS)
@pytest.mark.parametrize("way", WAYS)
def test_layer_behind_the_walls_gives_what_it_gives_in_the_hand(way, name):
    layer = sequence_layer(name)
    expected = outcome(way, layer)
    with called_back(layer) as (stand_in, _):
        found = outcome(way, stand_in)
    if isinstance(expected, type):
        assert found is expected
    else:
        assert_close(found, expected)


@pytest.mark.parametrize("name", SEQUENCE_LAYERS)
def test_gradients_that_pile_up_in_the_stand_in_pile_up_in_the_weights(name):
    layer, (tokens, direction) = sequence_layer(name), given()
    with called_back(layer) as (stand_in, desk):
        by_autograd(stand_in, tokens, direction)
        assert not stand_in.has_gradient()
        end_of(stand_in, tokens, direction).backward()
        assert stand_in.has_gradient()
        desk.accumulate_gradients([stand_in.number])
    assert all(weight.grad is not None for weight in layer.weights)


def test_gradient_of_a_gradient_is_refused():
    with called_back(sequence_layer("attends")) as (stand_in, _):
        first = by_autograd(stand_in, *given())
        with pytest.raises(RuntimeError, match="differentiate twice"):
            first.sum().backward()


def test_error_of_a_layer_is_raised_where_it_was_called():
    layer = Layer("attends_to_all", tuple(torch.ones(3, 2, 2)), max_len=4)
    with called_back(layer) as (stand_in, _):
        assert stand_in(torch.ones(4, 2)).shape == (4, 2)
        with pytest.raises(ValueError, match="5 tokens; this layer takes 4 at most"):
            stand_in(torch.ones(5, 2))
        with pytest.raises(TypeError, match="missing 1 required"):
            stand_in()
        with pytest.raises(TypeError, match="unexpected keyword argument 'words'"):
            stand_in(words=torch.ones(4, 2))


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize(
    "shape", [(1, 6_000_000, 3), (1, 22_000, 3), (1, 6_000, 3, 3), (2**20, 2**20, 0)]
)
def test_more_than_the_grader_can_bear_is_refused_before_it_is_tried(shape, gradients):
    tried = []
    too_large = pytest.raises(ValueError, match=r"0+.* is too large: [\d,]+ numbers, above [\d,]+")
    with called_back(tried.append) as (stand_in, _), torch.set_grad_enabled(gradients), too_large:
        stand_in(torch.zeros(shape, dtype=torch.uint8))
    assert not tried


def test_what_lies_behind_an_output_counts_until_it_is_too_much(monkeypatch):
    def sums(number: int) -> None:
        for _ in range(number):
            stand_in(tokens)

    monkeypatch.setattr(answers, "MAX_GRAPH_BYTES", 50_000_000)  # 4 MB each, for one number
    tokens = torch.zeros(1, 1000, 1, requires_grad=True)
    with called_back(lambda tokens: (tokens @ tokens.mT).softmax(-1).sum()) as (stand_in, _):
        with torch.no_grad():
            sums(20)
        sums(10)
        with pytest.raises(RuntimeError, match="called too often"):
            sums(10)


def test_numbers_that_are_sent_a_thousand_times_count_once():
    layer = sequence_layer("fades")
    desk = _CallbackServer()
    number, begun = desk.number(layer), time.process_time()
    desk.accumulate_gradients([number] * 1_000_000)
    assert time.process_time() - begun < 1
    assert layer.weights[0].grad is not None


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="nothing interrupts a call here")
def test_call_that_is_late_leaves_no_answer_for_the_next_one():
    def slow(tokens):
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        return tokens

    with called_back(slow) as (stand_in, _):
        late = LocalSubmission(lambda: stand_in(torch.ones(1))).call({}, seconds=0.1)
        assert late.error == ("OutOfTime", "it did not return within 0.1 seconds of computing")
        assert stand_in(torch.ones(2)).shape == (2,)


def test_grader_keeps_nothing_of_a_call_without_gradients():
    with called_back(sequence_layer("fades")) as (stand_in, desk):
        calls_it_without_gradients(stand_in, *given())
        assert desk._graphs == {}
        by_autograd(stand_in, *given())
        assert len(desk._graphs) == 2
