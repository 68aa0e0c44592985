"""Tables of `gpu.py` about programs: compiled, captured, writing word by word, long, recurrent."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import product

import torch
from attention import Row, Setting, output_of, with_gradients
from gpu_kernels import D_HEAD, HEADS, guarded, milliseconds
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attn_course.layer.fast_attention import fast_attention
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import attention, causal
from attn_course.shapes import unchecked

D_MODEL = 512
WAYS = {
    "cuda": {"eager": None, "default": {}, "reduce-overhead": {"mode": "reduce-overhead"}},
    "cpu": {"eager": None, "traced": {"backend": "eager"}},  # to compile takes half a minute
}


def compiled(setting: Setting, lengths: Sequence[int] = (128, 1024)) -> Iterator[Row]:
    """Milliseconds of a call by how it is compiled, and seconds until the first has ended."""
    layer = MultiHeadAttention(D_MODEL, HEADS).to(setting.device, setting.dtype).eval()
    functions = {
        "causal": (partial(fast_attention, rule=causal), (4, HEADS), D_HEAD, 3),
        "layer": (layer, (4,), D_MODEL, 1),
    }
    for name, (function, batch, width, count) in functions.items():
        for (way, options), length in product(WAYS[setting.device].items(), lengths):
            inputs = [setting.randn(*batch, length, width) for _ in range(count)]
            torch.compiler.reset()
            ours = function if options is None else torch.compile(function, **options)
            row = {"function": name, "way": way, "length": length}
            yield guarded(row, partial(_from_the_first, function, ours, inputs, setting))


@torch.no_grad()
def _from_the_first(
    function: Callable[..., Tensor], ours: Callable[..., Tensor], inputs: list, setting: Setting
) -> Row:
    start = time.perf_counter()
    found = ours(*inputs).clone()  # the memory of a captured result is used again
    first = time.perf_counter() - start
    assert_close(found, function(*inputs), **setting.tolerance)
    with unchecked():
        return {"first_seconds": first, "ms": milliseconds(partial(ours, *inputs))}


def cached_step(
    setting: Setting, batch: int, context: int, key_heads: int, d_model: int
) -> Callable[[], Tensor]:
    """A step of a layer behind a cache that is full but for one token, always the same one."""
    layer = MultiHeadAttention(d_model, HEADS, num_kv_heads=key_heads)
    layer = layer.to(setting.device, setting.dtype).eval().requires_grad_(False)
    cache, shape = KeyValueCache(), (batch, key_heads, context, d_model // HEADS)
    cache.append(setting.randn(*shape), setting.randn(*shape))
    token = setting.randn(batch, 1, d_model)

    def step() -> Tensor:
        cache.length = context - 1
        return layer.step(token, cache)

    return step


def graph(setting: Setting, contexts: Sequence[int] = (2048, 16384)) -> Iterator[Row]:
    """A cached step, called and as a CUDA graph, with its checks and without looks."""
    for context, key_heads, looks in product(contexts, (HEADS, 2), (True, False)):
        step = cached_step(setting, 1, context, key_heads, D_MODEL)
        row = {"context": context, "key_heads": key_heads, "looks": looks}
        with nullcontext() if looks else unchecked():
            yield guarded(row | {"way": "called"}, lambda step=step: {"ms": milliseconds(step)})
            yield guarded(row | {"way": "graph"}, partial(_replayed, step, setting))


def _replayed(step: Callable[[], Tensor], setting: Setting) -> Row:
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        expected = step()
    torch.cuda.current_stream().wait_stream(beside)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        found = step()
    captured.replay()
    assert_close(found, expected, **setting.tolerance)
    return {"ms": milliseconds(captured.replay)}


def tokens_per_second(
    setting: Setting,
    batches: Sequence[int] = (1, 16, 64),
    contexts: Sequence[int] = (2048, 16384),
    d_model: int = 1024,
) -> Iterator[Row]:
    """Tokens that a cached layer writes in a second, by heads of keys, batch and context."""

    def rate(batch: int, context: int, key_heads: int) -> Row:
        with unchecked():
            taken = milliseconds(cached_step(setting, batch, context, key_heads, d_model))
        return {"ms": taken, "tokens_per_second": 1e3 * batch / taken}

    for key_heads, batch, context in product((HEADS, 2, 1), batches, contexts):
        row = {"key_heads": key_heads, "batch": batch, "context": context}
        yield guarded(row, partial(rate, batch, context, key_heads))


def peak_memory(
    setting: Setting, lengths: Sequence[int] = (4096, 8192, 16384, 32768, 65536)
) -> Iterator[Row]:
    """Megabytes that a causal call for one sequence adds at most."""
    ways: dict[str, Callable[..., Tensor]] = {
        "ours": partial(fast_attention, rule=causal),
        "PyTorch's": partial(scaled_dot_product_attention, is_causal=True),
        "ours, own score": partial(fast_attention, rule=causal, score=_as_own),
        "the equation, all keys": attention,
    }
    for (way, function), length in product(ways.items(), lengths):
        if function is attention and length > 16384:
            continue
        inputs = [setting.randn(1, HEADS, length, D_HEAD).requires_grad_() for _ in range(3)]
        for what, run in {"forward": output_of, "both": with_gradients}.items():
            row = {"way": way, "length": length, "what": what}
            yield guarded(row, partial(_peak, partial(run, function, *inputs)))


def _as_own(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT / D_HEAD**0.5


def _peak(work: Callable[[], object]) -> Row:
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return {"megabytes": (torch.cuda.max_memory_allocated() - before) / 1e6}


def recurrent(
    setting: Setting,
    lengths: Sequence[int] = (128, 512, 2048),
    batches: Sequence[int] = (1, 16, 64),
    d_model: int = D_MODEL,
) -> Iterator[Row]:
    """A forward and a backward pass of PyTorch's LSTM and GRU, and of our layer, in bfloat16."""
    kinds: dict[str, Callable[[], nn.Module]] = {
        "lstm": partial(nn.LSTM, d_model, d_model, batch_first=True),
        "gru": partial(nn.GRU, d_model, d_model, batch_first=True),
        "attention": partial(MultiHeadAttention, d_model, HEADS),
    }

    def both(build: Callable[[], nn.Module], batch: int, length: int) -> Row:
        module = build().to(setting.device, torch.bfloat16)
        tokens = torch.randn(batch, length, d_model).to(setting.device, torch.bfloat16)

        def step() -> None:
            output = module(tokens.requires_grad_())
            (output[0] if isinstance(output, tuple) else output).sum().backward()

        return {"ms": milliseconds(step)}

    for (kind, build), length, batch in product(kinds.items(), lengths, batches):
        row = {"kind": kind, "length": length, "batch": batch, "dtype": "bfloat16"}
        yield guarded(row, partial(both, build, batch, length))
