"""Every public function on devices that are not here, and how often it makes one wait."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attn_course.kernel_regression import log_epanechnikov, nadaraya_watson
from attn_course.layer.fast_attention import fast_attention
from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.shapes import unchecked
from tests.conftest import ROOT
from tests.course.fake_devices import pretend
from tools.every_call import CALLS, ELSEWHERE, NO_TENSORS, make

# They read lengths, or whether a sentence has ended: neither exists without numbers.
READS = {
    "seq2seq.Encoder": 2,
    "seq2seq.FixedVectorTranslator": 2,
    "bahdanau.BahdanauTranslator": 2,
    "luong.LuongTranslator": 2,
    "luong.LuongTranslator, local-p": 2,
    "luong.LuongTranslator, input feeding": 2,
    "decoding.greedy_decode": 4,
    "decoding.beam_search": 4,
}
# PyTorch chooses a kernel for these by what the build has been linked with.
RECURRENT = ("seq2seq.Recurrent", "recurrence.RecurrentLayer", "aptioner", "every_path")
FUSED = ("fast_attention.fast", "position_bias.", "MultiHeadAttention", "transformer.")
LINKED = {"cuda": RECURRENT, "mps": FUSED, "meta": ()}


def test_every_public_name_of_the_chapters_is_called() -> None:
    called = {name.partition(",")[0].split(".")[1] for name in CALLS}
    rooms = ("", "captions/", "decoding/", "layer/", "metrics/", "translation/")
    for path in [path for room in rooms for path in ROOT.glob(f"attn_course/{room}*.py")]:
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, thing in vars(module).items():
            ours = getattr(thing, "__module__", None) == module.__name__
            if ours and callable(thing) and not name.startswith("_") and path.stem not in ELSEWHERE:
                cure = "add a call to tools/every_call.py, or its name to NO_TENSORS there"
                assert (name in called) != (name in NO_TENSORS), f"{path.stem}.{name}: {cure}"


# PyTorch's own layers, which one may call without ours.
BARE = ("seq2seq.Recurrent", "bahdanau.AdditiveScore", "luong.GeneralScore")


def spoilt(given: Tensor) -> list[Tensor]:
    """Return an argument of another width and dtype, or with a number that is too large."""
    if given.is_floating_point():
        narrow = [given[..., :-1]] if given.ndim and given.shape[-1] > 1 else []
        return [*narrow, given.double()]
    large = given.clone()
    large.view(-1)[:1] = 99
    return [large] if given.dtype == torch.long else []


def test_no_message_of_pytorch_answers_what_does_not_fit() -> None:
    refused = 0
    for name in CALLS.keys() - set(BARE):
        function, arguments = make(name)
        for place, given in enumerate(arguments):
            for wrong in spoilt(given) if isinstance(given, Tensor) else ():
                try:
                    function(*arguments[:place], wrong, *arguments[place + 1 :])
                except (TypeError, ValueError):  # and nothing else
                    refused += 1
    assert refused > 200


@pytest.mark.skipif(sys.platform != "linux", reason="changes a table in a library of Linux")
@pytest.mark.parametrize("device", ["cuda", "mps", "meta"])
def test_every_function_runs_on_a_device_and_stays_there(device: str) -> None:
    tried = 0
    for name in CALLS.keys() - READS.keys():
        if any(part in name for part in LINKED[device]):
            continue
        with pretend(device), unchecked():
            function, arguments = make(name, device)
            with torch.device(device):
                result = function(*arguments)
        found = {leaf.device.type for leaf in tree_leaves(result) if isinstance(leaf, Tensor)}
        assert found == {device}, name
        tried += 1
    assert tried > 60


class Waits(TorchDispatchMode):
    """Notes the operations that a GPU would have to be waited for, since they need a value."""

    LOOKING = ("_local_scalar_dense", "nonzero", "is_nonzero", "equal", "masked_select")

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Carry out an operation."""
        name = function.overloadpacket.__name__
        by_mask = name.startswith("index") and any(
            isinstance(leaf, Tensor) and leaf.dtype == torch.bool for leaf in tree_leaves(args[1:2])
        )
        if name in self.LOOKING or by_mask:
            self.noted.append(name)
        return function(*args, **(kwargs or {}))


def waits(name: str) -> int:
    """Count how often a call would wait for a GPU."""
    function, arguments = make(name)
    with Waits() as mode:
        function(*arguments)
    return len(mode.noted)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("scaled_dot_product.attention", 3),  # a query without a key is looked for once more
        ("self_attention.SelfAttention", 2),
        ("fast_attention.fast_attention", 2),
        ("multi_head.MultiHeadAttention", 2),
        ("multi_head.MultiHeadAttention, causal", 2),
        ("multi_head.MultiHeadAttention, dropout", 2),
        ("bahdanau.BahdanauTranslator", 7),  # for three words; a GPU is asked for two ranges too
        ("hard_attention.one_hot", 0),
    ],
)
def test_calls_wait_for_the_device_as_seldom_as_they_may(name: str, most: int) -> None:
    assert waits(name) == most


def test_nothing_waits_where_values_are_not_checked() -> None:
    with unchecked():
        found = {name: waits(name) for name in CALLS}
    assert {name: count for name, count in found.items() if count} == READS


@pytest.mark.parametrize("name", CALLS)
def test_results_are_the_same_without_checks(name: str) -> None:
    results = []
    for options in (None, {}, {"shapes_too": True}):
        function, arguments = make(name)
        torch.manual_seed(1)
        if options is None:
            results.append(function(*arguments))
        else:
            with unchecked(**options):
                results.append(function(*arguments))
    for result in results[1:]:
        assert_close(tree_leaves(result), tree_leaves(results[0]))


def test_checks_are_off_within_and_on_again_after_an_error() -> None:
    bad = torch.full((2, 3), torch.nan)
    with unchecked():
        assert masked_softmax(bad).isnan().all()
        with pytest.raises(ValueError, match="scores has shape"):
            masked_softmax(bad[0])
        with unchecked(shapes_too=True):
            assert masked_softmax(bad[0]).isnan().all()
        with pytest.raises(ValueError, match="scores has shape"):
            masked_softmax(bad[0])
    with pytest.raises(KeyError), unchecked(shapes_too=True):
        raise KeyError
    with pytest.raises(ValueError, match="scores holds 6 NaN"):
        masked_softmax(bad)


def test_only_without_any_check_are_scores_without_a_mask_taken_to_be_finite() -> None:
    scores = torch.tensor([[0.0, 1.0], [-torch.inf, -torch.inf]])
    with unchecked():
        assert masked_softmax(scores)[1].tolist() == [0, 0]
    with unchecked(shapes_too=True):
        assert masked_softmax(scores)[1].isnan().all()
        table = torch.zeros(2, 2, requires_grad=True)
        for allowed in (scores > -torch.inf, torch.tensor([[True]])):
            weights = masked_softmax(scores + table, allowed)
            assert_close(weights, torch.tensor([[0.2689, 0.7311], [0, 0]]), atol=1e-4, rtol=0)
            (slope,) = torch.autograd.grad(weights[:, 0].sum(), table)
            assert_close(slope, torch.tensor([[0.1966, -0.1966], [0, 0]]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("empty_output", [None, torch.tensor([5.0])])
def test_window_without_a_key_has_finite_gradients_without_any_check(
    empty_output: Tensor | None,
) -> None:
    query, key = torch.tensor([[0.0], [9.0]], requires_grad=True), torch.tensor([[0.5]])
    with unchecked(shapes_too=True):
        estimate = nadaraya_watson(query, key, key + 1, 1.0, log_epanechnikov, empty_output)
    assert estimate.flatten().tolist() == [1.5, 0 if empty_output is None else 5]
    estimate.sum().backward()
    assert query.grad.flatten().tolist() == [0, 0]


def test_blocks_that_are_recomputed_are_as_unchecked_as_they_were() -> None:
    parts = [torch.randn(1, 40, 4, requires_grad=True) for _ in range(3)]
    with unchecked():
        output = fast_attention(*parts, score=dot_scores, block_len=8)
    with Waits() as mode:
        output.sum().backward()
    assert mode.noted == []


def test_one_place_is_documented() -> None:
    assert "CUDA graph" in (inspect.getdoc(unchecked) or "")
