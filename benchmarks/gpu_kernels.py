"""Tables of `gpu.py` about one call: how exact and how fast kernels are, and what checks cost."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import product

import torch
from attention import Row, Setting, matrix_rate, with_gradients
from side_by_side import Work, seconds
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.flex import block_mask
from attn_course.layer.position_bias import ALiBi
from attn_course.layer.scores import CappedScores
from attn_course.scaled_dot_product import Rule, attention, causal, causal_mask, window
from attn_course.shapes import unchecked

HEADS, D_HEAD = 8, 64
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
SCALES = (None, 0.02, 1.0)
BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH")
HALF_WIDTH, CAP, DOCUMENT = 256, 30.0, 512  # of a window, of scores, and of a document's length
AT_MOST = 0.3  # seconds, for one figure


def milliseconds(work: Work) -> float:
    """Median time of a call, after two that compile, load and choose."""
    work()
    once = seconds(work)
    calls = max(1, min(50, int(0.01 / once)))
    rounds = max(3, min(15, int(AT_MOST / calls / once)))
    return 1e3 * statistics.median(seconds(work, calls) for _ in range(rounds))


def guarded(row: Row, measure: Callable[[], Row]) -> Row:
    """Return the row with its figures, or with the reason why there are none."""
    try:
        row = row | measure()
    except Exception as error:  # a kernel that refuses, too little memory: the next row goes on
        reason = (str(error).strip() or "?").splitlines()[0]
        row = row | {"failed": f"{type(error).__name__}: {reason}"}
    print(row, flush=True)
    return row


def errors(
    setting: Setting, shape: Sequence[int] = (2, HEADS, 1024, D_HEAD), dtypes: Sequence = DTYPES
) -> Iterator[Row]:
    """Errors of ours and of PyTorch's function against float64, from the same rounded inputs."""
    for setting.dtype, is_causal, scale in product(dtypes, (False, True), SCALES):
        inputs = [setting.randn(*shape) for _ in range(3)]
        query, key, value = (each.double() for each in inputs)
        factor = 1 if scale is None else scale * shape[-1] ** 0.5  # beside that of the score
        mask = causal_mask(shape[-2], device=setting.device) if is_causal else None
        exact = attention(query * factor, key, value, mask)
        ways = {
            "ours": partial(fast_attention, rule=causal if is_causal else None, scale=scale),
            "theirs": partial(scaled_dot_product_attention, is_causal=is_causal, scale=scale),
        }
        for backend in BACKENDS:
            row = {"dtype": str(setting.dtype).removeprefix("torch."), "causal": is_causal}
            row |= {"scale": scale, "backend": backend}
            yield guarded(row, partial(_errors, ways, inputs, exact, backend))


def _errors(
    ways: dict[str, Callable[..., Tensor]], inputs: list[Tensor], exact: Tensor, backend: str
) -> Row:
    row = {}
    for name, way in ways.items():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            error = way(*inputs).double() - exact
        row[f"{name}_largest"] = error.abs().max().item()
        row[f"{name}_root_mean_square"] = error.square().mean().sqrt().item()
    return row


def backends(
    setting: Setting,
    lengths: Sequence[int] = (1024, 4096, 16384),
    tokens: int = 16384,
    size: int = 8192,
) -> Iterator[Row]:
    """Each kernel of PyTorch alone, and its share of the rate at which matrices are multiplied."""
    peak = matrix_rate(setting, size)
    for length, is_causal, what in product(lengths, (False, True), ("forward", "both")):
        shape = tokens // length, HEADS, length, D_HEAD
        inputs = [setting.randn(*shape).requires_grad_(what == "both") for _ in range(3)]
        flops = 4 * tokens * HEADS * length * D_HEAD / (2 if is_causal else 1)
        flops *= 3.5 if what == "both" else 1
        way = partial(scaled_dot_product_attention, is_causal=is_causal)
        work = partial(with_gradients, way) if what == "both" else way
        for backend in BACKENDS:
            row = {"what": what, "length": length, "causal": is_causal, "backend": backend}
            yield guarded(row, partial(_rate, partial(work, *inputs), backend, flops, peak))


def _rate(work: Work, backend: str, flops: float, peak: float) -> Row:
    with sdpa_kernel(getattr(SDPBackend, backend)):
        taken = milliseconds(work)
    return {"ms": taken, "share_of_matrix_rate": flops / taken * 1e3 / peak}


def variants(device: str, length: int) -> dict[str, tuple[Row, Row]]:
    """Options of our function, and of FlexAttention, for the same attention."""
    alibi = ALiBi(HEADS).to(device)
    slopes, document = alibi.slopes, torch.arange(length, device=device) // DOCUMENT

    def same(query: Tensor, key: Tensor) -> Tensor:
        return document[query] == document[key]

    def sloped(score: Tensor, b: Tensor, h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score - slopes[h] * (query - key).abs()

    def cap(score: Tensor, b: Tensor, h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return CAP * torch.tanh(score / CAP)

    def only(rule: Rule) -> Row:
        return {"block_mask": block_mask(rule, length, length, torch.device(device))}

    return {
        "window": ({"rule": window(HALF_WIDTH)}, only(window(HALF_WIDTH))),
        "documents": ({"rule": same}, only(same)),
        "ALiBi": ({"position_bias": alibi}, {"score_mod": sloped}),
        "soft cap": ({"score": CappedScores(CAP)}, {"score_mod": cap}),
    }


def flex(setting: Setting, lengths: Sequence[int] = (2048, 16384)) -> Iterator[Row]:
    """Ours against FlexAttention, which is compiled on a GPU, and has no gradients elsewhere."""
    on_gpu = setting.device == "cuda"
    flexible = torch.compile(flex_attention) if on_gpu else flex_attention
    for length, backward in product(lengths, (False, True) if on_gpu else (False,)):
        inputs = [setting.randn(1, HEADS, length, D_HEAD) for _ in range(3)]
        inputs = [each.requires_grad_(backward) for each in inputs]
        for name, (ours, theirs) in variants(setting.device, length).items():
            row = {"what": "both" if backward else "forward", "variant": name, "length": length}
            ways = partial(fast_attention, **ours), partial(flexible, **theirs)
            yield guarded(row, partial(_against, *ways, inputs, backward=backward))


def _against(
    ours: Callable[..., Tensor],
    theirs: Callable[..., Tensor],
    inputs: list[Tensor],
    *,
    backward: bool,
) -> Row:
    with torch.no_grad():
        difference = (ours(*inputs) - theirs(*inputs)).abs().max().item()
    taken = [
        milliseconds(partial(with_gradients, way, *inputs) if backward else partial(way, *inputs))
        for way in (ours, theirs)
    ]
    row = {"ours_ms": taken[0], "flex_ms": taken[1], "ratio": taken[0] / taken[1]}
    return row | {"largest_difference": difference}


class Waits(TorchDispatchMode):
    """Counts the looks into a tensor for which Python waits for the device."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Count, and go on."""
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **(kwargs or {}))


def checks(setting: Setting, lengths: Sequence[int] = (128, 1024, 4096)) -> Iterator[Row]:
    """The time of a call with its checks, without looks, without any, and with one late look."""
    contexts: dict[str, Callable[[], AbstractContextManager]] = {
        "checked": nullcontext,
        "no looks": unchecked,
        "no looks, NaN noted on the device": unchecked,
        "no check": partial(unchecked, shapes_too=True),
    }
    holds_nan = torch.zeros((), dtype=torch.bool, device=setting.device)
    for length, (way, context) in product(lengths, contexts.items()):
        inputs = [setting.randn(4, HEADS, length, D_HEAD) for _ in range(3)]

        def call(inputs: list[Tensor] = inputs, late: bool = "noted" in way) -> None:
            output = fast_attention(*inputs, rule=causal)
            if late:  # read once, whenever the program waits anyway
                holds_nan.logical_or_(output.isnan().any())

        with context():
            with Waits() as waits:
                call()
            row = {"checks": way, "length": length, "waits": waits.count}
            yield guarded(row, lambda call=call: {"ms": milliseconds(call)})
