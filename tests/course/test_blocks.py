"""Work in blocks: the slices cover everything once, and what is made anew is what was made."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import grad, vmap
from torch.testing import assert_close

from attn_course.layer.blocks import (
    NUMBERS_IN_A_BLOCK,
    NUMBERS_IN_A_SMALL_BLOCK,
    SMALL_NUMBERS,
    blocks,
    numbers_in_a_block,
    recomputed,
)
from tests.tensors import EXACTLY, draw

some_law = settings(max_examples=50, deadline=None, derandomize=True)


class Counted:
    """A function that counts its calls, and makes something large on its way."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, given: Tensor, other: Tensor | None = None) -> Tensor:
        """Return one number, from the sine of all."""
        self.calls += 1
        made = (given if other is None else given * other).sin()
        return made.square().sum()


# --- slices -------------------------------------------------------------------------------------


def test_blocks_by_hand() -> None:
    assert list(blocks(7, 3)) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert list(blocks(6, 3)) == [slice(0, 3), slice(3, 6)]
    assert list(blocks(2, 3)) == [slice(0, 2)]
    assert list(blocks(0, 3)) == [slice(0, 0)]


@some_law
@given(st.integers(1, 200), st.integers(1, 200))
def test_blocks_cover_every_position_once_in_order(length: int, block_len: int) -> None:
    parts = list(blocks(length, block_len))
    positions = list(range(length))
    assert [place for part in parts for place in positions[part]] == positions
    lengths = [part.stop - part.start for part in parts]
    assert all(size == block_len for size in lengths[:-1])
    assert 1 <= lengths[-1] <= block_len


def test_few_numbers_are_cut_into_small_blocks() -> None:
    cpu = torch.device("cpu")
    assert numbers_in_a_block(1, cpu) == NUMBERS_IN_A_SMALL_BLOCK
    assert numbers_in_a_block(SMALL_NUMBERS, cpu) == NUMBERS_IN_A_SMALL_BLOCK
    assert numbers_in_a_block(SMALL_NUMBERS + 1, cpu) == NUMBERS_IN_A_BLOCK
    assert (
        NUMBERS_IN_A_SMALL_BLOCK < NUMBERS_IN_A_BLOCK < numbers_in_a_block(1, torch.device("cuda"))
    )


# --- made anew ----------------------------------------------------------------------------------


def test_result_and_gradient_are_those_of_a_plain_call() -> None:
    function, given_ = Counted(), draw(7).requires_grad_()
    result = recomputed(function, given_)
    assert_close(result, function(given_), **EXACTLY)
    (found,) = torch.autograd.grad(result, given_)
    (expected,) = torch.autograd.grad(function(given_), given_)
    assert_close(found, expected, **EXACTLY)


def test_function_is_called_again_for_the_gradient_and_only_for_it() -> None:
    function, given_ = Counted(), draw(7).requires_grad_()
    result = recomputed(function, given_)
    assert function.calls == 1
    result.backward()
    assert function.calls == 2
    with torch.no_grad():
        recomputed(function, given_)
    assert function.calls == 3


def test_nothing_that_was_made_on_the_way_is_kept() -> None:
    kept: list[int] = []

    def note(tensor: Tensor) -> Tensor:
        if tensor.numel():  # some versions of PyTorch save an empty one
            kept.append(tensor.data_ptr())
        return tensor

    given_ = draw(7).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        Counted()(given_)
        plain = list(kept)
        kept.clear()
        recomputed(Counted(), given_)
    assert set(plain) - {given_.data_ptr()}
    assert set(kept) <= {given_.data_ptr()}


def test_random_numbers_are_the_same_the_second_time_and_the_state_goes_on() -> None:
    drawn: list[Tensor] = []

    def noisy(given_: Tensor) -> Tensor:
        drawn.append(torch.rand(5))
        return (given_ * drawn[-1]).sin().sum()

    given_ = torch.ones(5, requires_grad=True)
    torch.manual_seed(0)
    result = recomputed(noisy, given_, random=True)
    torch.rand(11)
    before = torch.get_rng_state()
    result.backward()
    assert_close(drawn[1], drawn[0], **EXACTLY)
    assert_close(torch.get_rng_state(), before, **EXACTLY)
    assert_close(given_.grad, (given_ * drawn[0]).cos().detach() * drawn[0])


def test_one_call_within_another_gives_the_same_gradient() -> None:
    given_ = draw(7).requires_grad_()

    def outer(given: Tensor) -> Tensor:
        return recomputed(Counted(), given.cos(), random=True).exp()

    (found,) = torch.autograd.grad(recomputed(outer, given_, random=True), given_)
    (expected,) = torch.autograd.grad(given_.cos().sin().square().sum().exp(), given_)
    assert_close(found, expected)


def test_gradient_of_the_gradient_is_right() -> None:
    assert torch.autograd.gradgradcheck(
        lambda given: recomputed(Counted(), given), draw(3).requires_grad_()
    )


def test_functional_gradient_keeps_what_it_cannot_make_anew() -> None:
    function, given_ = Counted(), draw(7)
    assert_close(grad(lambda g: recomputed(function, g))(given_), grad(Counted())(given_))
    assert function.calls == 1
    batch = draw(3, 7)
    found = vmap(grad(lambda g: recomputed(Counted(), g)))(batch)
    assert_close(found, vmap(grad(Counted()))(batch))


def test_compiled_in_one_graph_it_gives_the_same() -> None:
    torch.compiler.reset()
    given_ = draw(7).requires_grad_()

    def function(given: Tensor) -> Tensor:
        return recomputed(lambda g: g.sin().square().sum(), given)

    compiled = torch.compile(function, backend="eager", fullgraph=True)
    (found,) = torch.autograd.grad(compiled(given_), given_)
    assert_close(found, torch.autograd.grad(function(given_), given_)[0])


@pytest.mark.parametrize("place", ["argument", "tuple", "dictionary", "partial", "keyword"])
def test_change_in_place_before_the_gradient_is_refused(place: str) -> None:
    given_, other = draw(7).requires_grad_(), draw(7, seed=1)
    call, arguments = {
        "argument": (Counted(), (given_, other)),
        "tuple": (lambda g, pair: (g * pair[0][0]).sin().sum(), (given_, ((other,), 3))),
        "dictionary": (lambda g, d: (g * d["x"]).sin().sum(), (given_, {"x": other})),
        "partial": (partial(Counted(), other), (given_,)),
        "keyword": (partial(partial(Counted(), other=other)), (given_,)),
    }[place]
    result = recomputed(call, *arguments)
    other.mul_(2)
    with pytest.raises(RuntimeError, match=r"changed in place|modified by an inplace"):
        result.backward()
