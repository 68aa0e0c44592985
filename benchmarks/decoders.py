"""Attention decoders side by side with their straightforward versions.

    python benchmarks/decoders.py

Takes about a minute. Close other programs first: a busy core makes the ratios smaller than they
are. Every pair gives equal results and equal gradients, which is checked before it is timed.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import BahdanauTranslator
from attn_course.luong import LuongTranslator
from attn_course.seq2seq import EOS, Encoder, Encoding, State, Translator, sequence_loss

ROUNDS = 15
# The book's models and batches; sources of 60 tokens.
BATCH, SOURCE_LEN, TARGET_LEN = 16, 60, 30
VOCAB, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN, D_SCORE = 500, 590, 64, 128, 64

Decode = Callable[[Tensor, State], Tensor]


def words(length: int, vocab_size: int, seed: int) -> Tensor:
    """Draw a batch of sentences, all of one length."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(EOS + 1, vocab_size, (BATCH, length), generator=generator)


SOURCE = words(SOURCE_LEN, VOCAB, 0)
TARGET_INPUT = words(TARGET_LEN, TARGET_VOCAB, 1)
TARGET_OUTPUT = words(TARGET_LEN, TARGET_VOCAB, 2)


class Straightforward:
    """The decoder of `BahdanauTranslator` as it is written at first, with the same weights.

    Args:
        model: Whose weights.
        joined: Whether state and annotations are joined and multiplied by one matrix, as in most
            tutorials. Otherwise each is multiplied by its half, which spares copies of the state.
    """

    def __init__(self, model: BahdanauTranslator, joined: bool) -> None:
        self.model, self.joined = model, joined

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """Project all the keys, again."""
        annotations, _, mask, hidden = state
        model, score = self.model, self.model.score
        if self.joined:
            repeated = hidden.unsqueeze(1).expand(-1, annotations.shape[1], -1)
            both = torch.cat([repeated, annotations], -1)
            weight = torch.cat([score.project_query.weight, score.project_key.weight], 1)
            inner = nn.functional.linear(both, weight, score.project_key.bias)
        else:
            inner = score.project_query(hidden).unsqueeze(1) + score.project_key(annotations)
        scores = torch.tanh(inner) @ score.score_weight
        weights = scores.masked_fill(~mask.squeeze(1), -torch.inf).softmax(-1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        word = model.embedding(token)
        hidden = model.cell(torch.cat([word, context], -1), hidden)
        logits = model.readout(torch.cat([hidden, word, context], -1))
        return logits, (annotations, _, mask, hidden)


def step_by_step(model: Translator | Straightforward, tokens: Tensor, state: State) -> Tensor:
    """Logits of all words, asked for one after the other."""
    logits = []
    for token in tokens.unbind(1):
        one, state = model.step(token, state)
        logits.append(one)
    return torch.stack(logits, 1)


def all_at_once(model: Translator, tokens: Tensor, state: State) -> Tensor:
    """Logits of all words from one call."""
    return model.decode(tokens, state)[0]


class AlreadyRead(nn.Module):
    """In place of an encoder: what it made of a source, at no cost."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__()
        self.annotations = nn.Parameter(encoding.annotations.detach())
        self.final = nn.Parameter(encoding.final.detach())
        self.mask = encoding.mask

    def forward(self, source: Tensor) -> Encoding:
        """Return it, whatever the source."""
        return Encoding(self.annotations, self.final, self.mask)


def training_step(model: Translator, decode: Decode) -> Tensor:
    """Compute the loss of one batch and its gradients."""
    model.zero_grad()
    loss = sequence_loss(decode(TARGET_INPUT, model.start(SOURCE)), TARGET_OUTPUT)
    loss.backward()
    return loss.detach()


def gradients(model: Translator, work: Callable[[], Tensor]) -> list[Tensor]:
    """The loss of some work, and the gradients that it leaves."""
    return [work(), *(weight.grad.clone() for weight in model.parameters())]


def seconds(work: Callable[[], object], calls: int) -> float:
    """Time of one call on the clock, as the mean of a few in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def compare(
    what: str, slow: Callable[[], object], fast: Callable[[], object], calls: int = 1
) -> None:
    """Time both in turns; print the median of each, and of the ratios of neighbours."""
    pairs = [(seconds(slow, calls), seconds(fast, calls)) for _ in range(ROUNDS)]
    times = [1e3 * statistics.median(one) for one in zip(*pairs, strict=True)]
    ratio = statistics.median(one / other for one, other in pairs)
    print(
        f"{what:52s} {times[0]:7.2f} ms {times[1]:7.2f} ms {ratio:5.1f} times as fast", flush=True
    )


def compare_training(what: str, model: Translator, slow: Decode, fast: Decode) -> None:
    """Compare a training step: of the whole model, and of its decoder."""
    steps = [partial(training_step, model, decode) for decode in (slow, fast)]
    for one, other in zip(*(gradients(model, step) for step in steps), strict=True):
        assert_close(one, other, rtol=1e-4, atol=1e-6)
    encoder = model.encoder
    for part, reader in [("whole", encoder), ("decoder alone", AlreadyRead(encoder(SOURCE)))]:
        model.encoder = reader
        compare(f"{what}, {part}", *steps)
    model.encoder = encoder


def additive() -> None:
    """The additive decoder against its straightforward versions."""
    torch.manual_seed(0)
    encoder = Encoder(VOCAB, D_EMBEDDING, D_HIDDEN)
    model = BahdanauTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN, D_SCORE)
    for name, joined in [("joined", True), ("apart", False)]:
        plain = Straightforward(model, joined)
        with torch.no_grad():
            for batch in (BATCH, 1):
                token, state = TARGET_INPUT[:batch, 0], model.start(SOURCE[:batch])
                assert_close(plain.step(token, state)[0], model.step(token, state)[0])
                slow, fast = partial(plain.step, token, state), partial(model.step, token, state)
                compare(f"additive, {name}: one step, batch {batch}", slow, fast, calls=20)
        ways = partial(step_by_step, plain), partial(all_at_once, model)
        compare_training(f"additive, {name}: training", model, *ways)


def multiplicative() -> None:
    """The dot decoder, all steps at once, against its own steps."""
    for cell in ("gru", "lstm"):
        torch.manual_seed(0)
        encoder = Encoder(VOCAB, D_EMBEDDING, D_HIDDEN // 2, cell=cell)
        sizes = (TARGET_VOCAB, D_EMBEDDING, D_HIDDEN)
        model = LuongTranslator(encoder, *sizes, score="dot", cell=cell)
        ways = partial(step_by_step, model), partial(all_at_once, model)
        with torch.no_grad():
            slow, fast = (partial(way, TARGET_INPUT, model.start(SOURCE)) for way in ways)
            assert_close(slow(), fast(), rtol=1e-4, atol=1e-6)
            compare(f"dot, {cell}: logits of given words", slow, fast, calls=3)
        compare_training(f"dot, {cell}: training", model, *ways)


def main() -> None:
    """Print one line for each pair: the straightforward version, ours, the ratio."""
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}", flush=True)
    additive()
    multiplicative()


if __name__ == "__main__":
    main()
