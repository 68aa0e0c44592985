"""The layer beside `nn.MultiheadAttention`, and small calls beside plain lines: ratios of CPU time.

    OMP_NUM_THREADS=1 python benchmarks/layer.py                         all tables
    OMP_NUM_THREADS=1 python benchmarks/layer.py dropout growth          some of them
    OMP_NUM_THREADS=2 python benchmarks/layer.py --threads 2 evaluation  by the clock

Counts the processor's time of one thread, ours and theirs alternately, and prints the median of the
ratios. Other programs that run meanwhile disturb this less than they disturb a clock, which has to
count where there are more threads. Results are compared before they are timed, except with dropout.
Takes about seven minutes.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import costs
import torch
from side_by_side import Row, Work, seconds
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attn_course.bahdanau import BahdanauTranslator
from attn_course.decoding import beam_search
from attn_course.decoding.search import Stepwise
from attn_course.layer.fast_attention import fast_attention
from attn_course.multi_head import MultiHeadAttention
from attn_course.scaled_dot_product import attention, causal
from attn_course.self_attention import sinusoidal_positions
from attn_course.seq2seq import EOS, Encoder, State, Translator
from attn_course.shapes import unchecked
from attn_course.translation.transformer import AttentionEncoder, ModelSizes, TransformerTranslator

SHAPES = ((32, 64, 128), (16, 128, 256), (8, 256, 512), (4, 512, 512), (1, 2048, 512))
ROUNDS, SECONDS_A_ROUND = 9, 0.02


def taken(work: Work, calls: int) -> float:
    """Processor time of one call, as the mean of a few in a row; with more threads by the clock."""
    if torch.get_num_threads() > 1:
        return seconds(work, calls)
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def ratio(ours: Work, theirs: Work) -> float:
    """Median over the rounds of our time by theirs; who comes first alternates."""
    ours(), theirs()
    calls = max(1, int(SECONDS_A_ROUND / max(1e-7, taken(theirs, 3))))
    found = []
    for number in range(ROUNDS):
        pair = (ours, theirs) if number % 2 else (theirs, ours)
        times = {work: taken(work, calls) for work in pair}
        found.append(times[ours] / times[theirs])
    return statistics.median(found)


def layers(dropout: float = 0.0) -> Iterator[tuple[str, MultiHeadAttention, nn.Module, Tensor]]:
    """Yield both layers with the same weights, and tokens of each shape."""
    for batch, length, d_model in SHAPES:
        theirs = nn.MultiheadAttention(d_model, 8, batch_first=True, dropout=dropout)
        ours = MultiHeadAttention.from_torch(theirs)
        yield f"{batch} x {length} x {d_model}", ours, theirs, torch.randn(batch, length, d_model)


def step(module: nn.Module, forward: Callable[[], Tensor]) -> None:
    """A forward and a backward pass."""
    module.zero_grad()
    output = forward()
    output.backward(torch.ones_like(output))


def training(dropout: float = 0.0, padding: bool = False) -> Iterator[Row]:
    """Yield training steps."""
    for name, ours, theirs, tokens in layers(dropout):
        mask = torch.ones(tokens.shape[:2], dtype=torch.bool)
        mask[:, -5:] = False
        forward = partial(ours, tokens, key_mask=mask if padding else None)
        options = {"key_padding_mask": ~mask} if padding else {}
        other = partial(theirs, tokens, tokens, tokens, need_weights=False, **options)
        if not dropout:
            assert_close(forward(), other()[0], rtol=1e-3, atol=1e-4)
        run = lambda theirs=theirs, other=other: step(theirs, lambda: other()[0])  # noqa: E731
        yield name, partial(step, ours, forward), run


def evaluation(weights: bool = False) -> Iterator[Row]:
    """Yield forward passes, with the weights of all heads or without."""
    for name, ours, theirs, tokens in layers():
        ours.eval(), theirs.eval()
        options = {"average_attn_weights": False} if weights else {"need_weights": False}
        other = partial(theirs, tokens, tokens, tokens, **options)
        forward = partial(ours.with_weights if weights else ours, tokens)
        result = forward()
        assert_close(result[0] if weights else result, other()[0], rtol=1e-3, atol=1e-4)
        yield name, forward, other


def kernel() -> Iterator[Row]:
    """Yield `fast_attention` and the fused kernel that it calls."""
    for length in (128, 512, 2048):
        roles = [torch.randn(8192 // length, 4, length, 64) for _ in range(3)]
        other = partial(scaled_dot_product_attention, *roles)
        yield f"{length}", partial(fast_attention, *roles), other
        yield (
            f"{length}, causal",
            partial(fast_attention, *roles, rule=causal),
            partial(other, is_causal=True),
        )


def small() -> Iterator[Row]:
    """Yield calls so small that looking at shapes and values takes as long as the arithmetic."""
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    ours, tokens = MultiHeadAttention.from_torch(theirs), torch.randn(2, 4, 16)
    other = partial(theirs, tokens, tokens, tokens, need_weights=False)

    def three_lines() -> Tensor:
        scores = tokens @ tokens.mT / math.sqrt(tokens.shape[-1])
        return torch.softmax(scores, -1) @ tokens

    yield "layer", partial(ours, tokens), other
    yield "attention", partial(attention, tokens, tokens, tokens), three_lines


def one_query() -> Iterator[Row]:
    """Yield a query in eight heads that share two of keys, which plain lines take for four queries.

    Not to copy the keys is the better plain version: `repeat_interleave` takes two to seven times
    as long.
    """
    layer, token = MultiHeadAttention(512, 8, num_kv_heads=2).eval(), torch.randn(1, 1, 512)

    def plain(keys: Tensor, values: Tensor) -> Tensor:
        query = layer.project_query(token).view(1, 2, 4, 64)
        output = scaled_dot_product_attention(query, keys, values)
        return layer.project_output(output.reshape(1, 1, 512))

    for length in (512, 2048, 8192):
        keys, values = torch.randn(2, 1, 2, length, 64)
        assert_close(layer.attend(token, keys, values), plain(keys, values), rtol=1e-3, atol=1e-4)
        yield f"{length}", partial(layer.attend, token, keys, values), partial(plain, keys, values)


class CachedKeys:
    """A step of a `TransformerTranslator` in plain lines, which keep keys and values."""

    def __init__(self, model: TransformerTranslator, length: int) -> None:
        self.model, self.start = model, model.start
        self.places = sinusoidal_positions(length, model.embedding.embedding_dim)

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """The logits of the next word, and the state with the keys and values of this one."""
        mask, source, written = state
        stream = self.model.embedding(token[:, None]) + self.places[written[0][0].shape[-2]]
        kept = []
        for block, made, before in zip(self.model.blocks, source, written, strict=True):
            layer, normed = block.attention, block.norm_attention(stream)
            new = (self.split(part(normed)) for part in (layer.project_key, layer.project_value))
            kept.append(tuple(torch.cat(pair, -2) for pair in zip(before, new, strict=True)))
            stream = stream + self.looked(layer, normed, *kept[-1])
            normed = block.norm_source(stream)
            stream = stream + self.looked(block.cross_attention, normed, *made, mask[:, None])
            stream = stream + block.narrow(torch.relu(block.widen(block.norm_maps(stream))))
        logits = self.model.readout(self.model.norm(stream))
        return logits[:, 0], (mask, source, tuple(kept))

    def split(self, tokens: Tensor) -> Tensor:
        """Divide the features among four heads."""
        return tokens.unflatten(-1, (4, -1)).transpose(1, 2)

    def looked(self, layer: MultiHeadAttention, tokens: Tensor, *rest: Tensor) -> Tensor:
        """Return what the heads of a layer find."""
        found = scaled_dot_product_attention(self.split(layer.project_query(tokens)), *rest)
        return layer.project_output(found.transpose(1, 2).flatten(2))


class ProjectedKeys:
    """A step of a `BahdanauTranslator` in plain lines, which project the keys once."""

    def __init__(self, model: BahdanauTranslator) -> None:
        self.model, self.start = model, model.start

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """The logits of the next word, and the state with that of the cell."""
        annotations, keys, mask, hidden = state
        model, score = self.model, self.model.score
        scores = torch.tanh(score.project_query(hidden)[:, None] + keys) @ score.score_weight
        weights = scores.masked_fill(~mask[:, 0], -torch.inf).softmax(-1)
        context, word = (weights[:, None] @ annotations)[:, 0], model.embedding(token)
        hidden = model.cell(torch.cat([word, context], -1), hidden)
        logits = model.readout(torch.cat([hidden, word, context], -1))
        return logits, (annotations, keys, mask, hidden)


def translators() -> Iterator[tuple[str, Translator, Stepwise]]:
    """Yield translators that end no sentence before its time, and their steps in plain lines."""
    for width in (64, 256):
        sizes = ModelSizes(width, 4, 4 * width, 2)
        model = TransformerTranslator(AttentionEncoder(200, sizes), 300, sizes).eval()
        model.readout.bias[EOS] = -50
        yield f"{width} wide", model, CachedKeys(model, 60)
    recurrent = BahdanauTranslator(Encoder(200, 64, 128), 590, 64, 128, 64).eval()
    recurrent.readout[-1].bias[EOS] = -50
    yield "Bahdanau", recurrent, ProjectedKeys(recurrent)


def beam() -> Iterator[Row]:
    """Yield searches with a beam of four for 60 words, which take both steps in turns."""
    for name, model, plain in translators():
        for batch in (1, 8):
            source = torch.randint(3, 200, (batch, 20))
            ours, theirs = (partial(beam_search, each, source, 60, 4) for each in (model, plain))
            assert torch.equal(ours().tokens, theirs().tokens)
            yield f"{name}, {batch}", ours, theirs


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "dropout": partial(training, dropout=0.1),
    "training": training,
    "padding": partial(training, padding=True),
    "evaluation": evaluation,
    "weights": partial(evaluation, weights=True),
    "kernel": kernel,
    "small": small,
    "one query": one_query,
    "beam": beam,
    **costs.TABLES,
}


def main() -> None:
    """Print a line for each pair."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    for table in options.tables or TABLES:
        learns = table in ("dropout", "training", "padding")
        with torch.set_grad_enabled(learns):
            for name, ours, theirs in TABLES[table]():
                print(f"{table:12}{name:16}{ratio(ours, theirs):6.2f}", flush=True)
                if table == "small":
                    with unchecked(shapes_too=True):
                        found = ratio(ours, theirs)
                    print(f"{table:12}{name + ', unchecked':22}{found:.2f}", flush=True)


if __name__ == "__main__":
    main()
