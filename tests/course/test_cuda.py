"""Every public function on a real GPU: its results, whether it waits, graphs and compilation."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves, tree_map_only

from attn_course.layer.fast_attention import fast_attention
from attn_course.multi_head import MultiHeadAttention
from attn_course.scaled_dot_product import attention, causal, causal_mask
from attn_course.shapes import unchecked
from tests.course.test_devices import READS
from tests.tensors import CLOSELY
from tools.every_call import CALLS, make

pytestmark = pytest.mark.cuda

# They draw, and a GPU draws other numbers.
DRAWS = {
    "hard_attention.draw_cells",
    "hard_attention.HardCaptioner.draw",
    "fast_attention.fast_attention, dropout",
    "multi_head.MultiHeadAttention, dropout",
}

# A graph would be empty, or would forget what they remember from call to call.
NO_GRAPH = {
    "multi_head.split_heads",
    "self_attention.LearnedPositions",
    "hard_attention.MovingAverage",
}


@pytest.fixture
def float64() -> Iterator[None]:
    """Compute in float64, so that one order of summing is as good as another."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def to_cuda(thing: Any) -> Any:
    """Move tensors and models, also those that a function has been bound to or encloses."""
    if isinstance(thing, Tensor | nn.Module):
        return thing.cuda()
    if isinstance(thing, partial):
        return partial(to_cuda(thing.func), *map(to_cuda, thing.args), **thing.keywords)
    if inspect.ismethod(thing):
        to_cuda(thing.__self__)
    for cell in getattr(thing, "__closure__", None) or ():
        if isinstance(cell.cell_contents, nn.Module):
            to_cuda(cell.cell_contents)
    return thing


def tensors(result: object) -> list[Tensor]:
    """Return the tensors within a result."""
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]


@pytest.mark.parametrize("name", sorted(CALLS.keys() - DRAWS))
def test_cuda_gives_what_the_processor_gives(name: str, float64: None) -> None:
    function, arguments = make(name)
    expected = function(*arguments)
    function, arguments = make(name)  # some remember their last call
    with torch.device("cuda"):
        found = to_cuda(function)(*map(to_cuda, arguments))
    assert {leaf.device.type for leaf in tensors(found)} == {"cuda"}
    assert_close(tensors(tree_map_only(Tensor, Tensor.cpu, found)), tensors(expected), **CLOSELY)


@contextmanager
def waiting_is_an_error() -> Iterator[None]:
    """Let PyTorch raise an error where it would wait for the GPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls the mode a prototype
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("name", sorted(CALLS.keys() - READS.keys()))
def test_nothing_waits_on_cuda_where_values_are_not_checked(name: str) -> None:
    function, arguments = make(name, "cuda")
    with torch.device("cuda"), unchecked():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*arguments)  # the first call loads libraries
        with waiting_is_an_error():
            function(*arguments)


def captured(function: Callable[..., Any], *arguments: Tensor) -> tuple[torch.cuda.CUDAGraph, Any]:
    """Record a call as a CUDA graph, after one call beside it that loads libraries."""
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        function(*arguments)
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = function(*arguments)
    return graph, output


@pytest.mark.parametrize("name", sorted(CALLS.keys() - READS.keys() - DRAWS - NO_GRAPH))
def test_cuda_graph_of_a_call_gives_the_same_for_other_numbers(name: str) -> None:
    function, arguments = make(name, "cuda")
    with torch.device("cuda"), unchecked(), torch.no_grad():
        graph, output = captured(function, *arguments)
        for argument in tensors(arguments):
            argument.copy_(argument.flip(0))
        graph.replay()
        torch.cuda.synchronize()
        expected = function(*arguments)
    assert_close(tensors(output), tensors(expected), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore")  # what the compiler says of its own parts
@pytest.mark.parametrize(
    "function",
    [attention, fast_attention, partial(fast_attention, rule=causal), "layer"],
    ids=["attention", "fast_attention", "causal", "layer"],
)
def test_compiled_for_cuda_it_gives_the_same_at_two_lengths(function: Any) -> None:
    torch.manual_seed(0)
    if function == "layer":
        function = MultiHeadAttention(32, 4).cuda()
    torch.compiler.reset()
    compiled = torch.compile(function, fullgraph=True)
    for length in (24, 40):
        roles = [torch.randn(2, length, 32, device="cuda") for _ in range(3)]
        assert_close(compiled(*roles), function(*roles), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rule", [None, causal])
def test_flash_attention_is_what_runs_in_half_precision(rule: Any) -> None:
    roles = [torch.randn(2, 4, 64, 32, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
    allowed = None if rule is None else causal_mask(64, device="cuda")
    exact = attention(*(role.double() for role in roles), allowed)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):  # none of the others may
        found = fast_attention(*roles, rule=rule)
    assert_close(found.double(), exact, rtol=0, atol=0.02)


@pytest.mark.parametrize(
    "name", ["scaled_dot_product.attention", "multi_head.MultiHeadAttention", "luong.DotScore"]
)
def test_autocast_on_cuda_is_near(name: str) -> None:
    function, arguments = make(name, "cuda")
    expected = function(*arguments)
    with torch.autocast("cuda", torch.bfloat16):
        found = function(*arguments)
    assert_close(found.float(), expected, rtol=0.05, atol=0.05)
