"""The calls that work under a compiler and PyTorch's transforms, and the number of compilations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from attn_course.kernel_regression import leave_one_out, nadaraya_watson
from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.position_bias import T5Bias
from attn_course.layer.scores import CappedScores
from attn_course.multi_head import MultiHeadAttention
from attn_course.retrieval import distance_scores
from attn_course.scaled_dot_product import attention, causal_mask, padding_mask, window
from attn_course.self_attention import SelfAttention, rotate_by_position
from tests.conftest import ROOT
from tests.sampling import left_to_proofs
from tests.tensors import draw

sys.path.insert(0, str(ROOT / "tools"))
from every_call import captioner, turn_one_way
from table_of_transforms import WAYS, tried

LENGTHS = (4, 7, 9, 11, 530, 13, 600, 17, 19, 23)
Made = tuple[tuple[Any, ...], dict[str, Any]]


def tokens(length: int) -> torch.Tensor:
    """Draw two sentences."""
    return draw(2, length, 16).float()


def one(length: int) -> Made:
    """Give tokens alone."""
    return (tokens(length),), {}


def three(length: int) -> Made:
    """Give queries, keys and values."""
    return (tokens(length),) * 3, {}


def make(**options: Any) -> MultiHeadAttention:
    """Make a layer of four heads."""
    return MultiHeadAttention(16, 4, **options)


COMPILED: dict[str, tuple[Callable[[], Callable], Callable[[int], Made]]] = {
    "PyTorch's layer": (lambda: nn.MultiheadAttention(16, 4, batch_first=True), three),
    "layer": (make, one),
    "causal": (make, lambda n: ((tokens(n),), {"is_causal": True})),
    "mask": (make, lambda n: ((tokens(n),), {"mask": causal_mask(n)[None]})),
    "padding": (make, lambda n: ((tokens(n),), {"key_mask": tokens(n)[..., 0] > 0})),
    "of a source": (make, lambda n: ((tokens(n), tokens(n + 3)), {})),
    "dropout": (partial(make, dropout=0.1), one),
    "positions": (lambda: make(position_bias=T5Bias(4)), one),
    "fewer key heads": (partial(make, num_kv_heads=2), one),
    "of a published model": (
        partial(make, num_kv_heads=2, rule=window(3), rotary=turn_one_way, d_head_value=5),
        one,
    ),
    "capped, with a sink": (partial(make, score=CappedScores(2.0), sinks=True), one),
    "weights": (lambda: make().weights, one),
    "output and weights": (lambda: make().with_weights, one),
    "SelfAttention": (lambda: SelfAttention(16), one),
    "attention": (lambda: attention, three),
    "rotary": (lambda: rotate_by_position, one),
    "window": (lambda: partial(fast_attention, rule=window(3)), three),
    "own score": (lambda: partial(fast_attention, score=distance_scores), three),
    "nadaraya_watson": (lambda: nadaraya_watson, lambda n: ((*three(n)[0], 0.5), {})),
    "leave_one_out": (lambda: leave_one_out, lambda n: ((tokens(n), tokens(n), 0.5), {})),
    "padding_mask": (lambda: padding_mask, lambda n: ((torch.tensor([1, 2]), n), {})),
}


@pytest.mark.parametrize(
    "name", [n if n == "causal" else pytest.param(n, marks=left_to_proofs) for n in COMPILED]
)
def test_one_compilation_for_the_first_length_and_one_for_all_others(name: str) -> None:
    from torch._dynamo.testing import CompileCounter  # PyTorch's compiler: not before it is needed

    function, arguments = COMPILED[name]
    torch.compiler.reset()
    counter, layer = CompileCounter(), function()
    compiled = torch.compile(layer, backend=counter, fullgraph=True)
    for length in LENGTHS:
        args, kwargs = arguments(length)
        found = compiled(*args, **kwargs)
    assert counter.frame_count == 2
    if name not in ("dropout", "PyTorch's layer"):
        torch.testing.assert_close(found, layer(*args, **kwargs))


def test_step_of_a_captioner_is_compiled_for_all_lengths() -> None:
    from torch._dynamo.testing import CompileCounter

    torch.compiler.reset()
    counter, model, image = CompileCounter(), captioner().eval(), torch.randn(2, 1, 16, 16)
    step = torch.compile(model.step, backend=counter, fullgraph=True)
    with torch.no_grad():
        for length in (3, 7):
            words, logits = torch.randint(3, 11, (2, length)), []
            state = model.start(image)
            for word in words.unbind(1):
                found, state = step(word, state)
                logits.append(found)
            torch.testing.assert_close(torch.stack(logits, 1), model(image, words))
    assert counter.frame_count <= 2


@pytest.mark.parametrize("is_causal", [False, True])
def test_layer_is_exported_for_all_lengths(is_causal: bool) -> None:
    layer = make()
    sizes = {"query": {1: torch.export.Dim.DYNAMIC}, "is_causal": None}
    program = torch.export.export(
        layer, (tokens(7),), {"is_causal": is_causal}, dynamic_shapes=sizes
    )
    for length in (2, 19):
        found = program.module()(tokens(length), is_causal=is_causal)
        torch.testing.assert_close(found, layer(tokens(length), is_causal=is_causal))


def traced(way: str, function: Callable, *given: torch.Tensor) -> Callable:
    """Record a function once, with these tensors."""
    if way == "make_fx":
        return make_fx(function, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*given)
    return torch.jit.trace(function, given, check_trace=False)


@pytest.mark.filterwarnings(
    "ignore::torch.jit.TracerWarning", "ignore:.*torch.jit:DeprecationWarning"
)
@pytest.mark.parametrize("way", ["make_fx", "jit.trace"])
@pytest.mark.parametrize("name", ["layer", "attention", "weights", "window", "nadaraya_watson"])
def test_recorded_program_keeps_neither_the_length_nor_what_was_seen(name: str, way: str) -> None:
    layers = {
        "layer": make().requires_grad_(False),
        "weights": make().requires_grad_(False).weights,
    }
    function = layers.get(name) or COMPILED[name][0]()
    masked = name in ("attention", "layer", "weights")

    def call(*given: torch.Tensor) -> Any:
        numbers, mask = given[:-1], given[-1]
        roles = (*numbers, 0.5) if name == "nadaraya_watson" else numbers
        return function(*roles, mask=mask) if masked else function(*roles)

    def arguments(length: int, row: bool) -> tuple[torch.Tensor, ...]:
        mask = torch.ones(1, length, length).bool()
        mask[0, 1] = row  # a query without any key, if False
        return *(tokens(length),) * (1 if name in ("layer", "weights") else 3), mask

    program = traced(way, call, *arguments(7, True))
    for length in (4, 13):
        given = arguments(length, not masked)
        torch.testing.assert_close(program(*given), call(*given))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["retrieval.attend", "kernel_regression.nadaraya_watson"])
def test_some_functions_work_in_every_way(name: str, way: str) -> None:
    assert tried(name, way) == "yes"


@left_to_proofs
def test_table_in_the_reference_is_as_it_comes_out() -> None:
    tool = ROOT / "tools" / "table_of_transforms.py"
    run = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
