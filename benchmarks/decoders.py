"""Attention decoders side by side with their straightforward versions.

    python benchmarks/decoders.py

Takes about a minute. Close other programs first: a busy core makes the ratios smaller than they
are. Every pair gives equal results and equal gradients, which is checked before it is timed.
"""

from collections.abc import Callable
from functools import partial

import torch
from side_by_side import Work, in_turns
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import BahdanauTranslator
from attn_course.luong import LuongTranslator
from attn_course.seq2seq import EOS, Encoder, Encoding, State, Translator, sequence_loss

# The book's models and batches; sources of 60 tokens.
BATCH, SOURCE_LEN, TARGET_LEN = 16, 60, 30
VOCAB, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN, D_SCORE = 500, 590, 64, 128, 64

Way = Callable[[], Tensor]  # to the logits of TARGET_INPUT, given SOURCE


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
        model: The translator whose weights are used.
        joined: If True, state and annotations are joined and multiplied by one matrix, as in most
            tutorials. Otherwise each is multiplied by its half, which spares copies of the state.
    """

    def __init__(self, model: BahdanauTranslator, joined: bool) -> None:
        self.model, self.joined = model, joined

    def start(self, source: Tensor) -> State:
        """The annotations, the matrix for state and annotation, the mask, and the first state."""
        annotations, final, mask = self.model.encoder(source)
        score = self.model.score
        weight = torch.cat([score.project_query.weight, score.project_key.weight], 1)
        return annotations, weight, mask, torch.tanh(self.model.bridge(final))

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """Project all the keys, again."""
        annotations, weight, mask, hidden = state
        model, score = self.model, self.model.score
        if self.joined:
            repeated = hidden.unsqueeze(1).expand(-1, annotations.shape[1], -1)
            both = torch.cat([repeated, annotations], -1)
            inner = nn.functional.linear(both, weight, score.project_key.bias)
        else:
            inner = score.project_query(hidden).unsqueeze(1) + score.project_key(annotations)
        scores = torch.tanh(inner) @ score.score_weight
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        word = model.embedding(token)
        hidden = model.cell(torch.cat([word, context], -1), hidden)
        logits = model.readout(torch.cat([hidden, word, context], -1))
        return logits, (annotations, weight, mask, hidden)


def step_by_step(model: Translator | Straightforward) -> Tensor:
    """Logits of all words, asked for one after the other."""
    state, logits = model.start(SOURCE), []
    for token in TARGET_INPUT.unbind(1):
        one, state = model.step(token, state)
        logits.append(one)
    return torch.stack(logits, 1)


def all_at_once(model: Translator) -> Tensor:
    """Logits of all words from one call."""
    return model(SOURCE, TARGET_INPUT)


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


def training_step(model: Translator, way: Way) -> Tensor:
    """Compute the loss of one batch and its gradients."""
    model.zero_grad()
    loss = sequence_loss(way(), TARGET_OUTPUT)
    loss.backward()
    return loss.detach()


def gradients(model: Translator, way: Way) -> list[Tensor]:
    """The loss of one batch and its gradients, to be compared."""
    return [training_step(model, way), *(weight.grad.clone() for weight in model.parameters())]


def compare(what: str, slow: Work, fast: Work, calls: int = 1) -> None:
    """Time both in turns; print the median of each, and of the ratios of neighbours."""
    pair = in_turns(slow, fast, (calls, calls))
    print(
        f"{what:52s} {pair.one:7.2f} ms {pair.other:7.2f} ms {pair.ratio:5.1f} times as fast",
        flush=True,
    )


def compare_ways(what: str, model: Translator, slow: Way, fast: Way) -> None:
    """Compare the logits of a batch, by the decoder alone, and training steps."""
    for one, other in zip(gradients(model, slow), gradients(model, fast), strict=True):
        assert_close(one, other, rtol=1e-4, atol=1e-6)
    steps = [partial(training_step, model, way) for way in (slow, fast)]
    compare(f"{what}: training step", *steps)
    encoder = model.encoder
    model.encoder = AlreadyRead(encoder(SOURCE))
    compare(f"{what}: training step, decoder alone", *steps)
    with torch.no_grad():
        assert_close(slow(), fast(), rtol=1e-4, atol=1e-6)
        compare(f"{what}: logits only, decoder alone", slow, fast, calls=3)
    model.encoder = encoder


def compare_steps(what: str, model: Translator, plain: Straightforward) -> None:
    """Compare one step of the decoder, for a batch and for one sentence."""
    for batch in (BATCH, 1):
        token, source = TARGET_INPUT[:batch, 0], SOURCE[:batch]
        with torch.no_grad():
            slow, fast = (partial(way.step, token, way.start(source)) for way in (plain, model))
            assert_close(slow()[0], fast()[0], rtol=1e-4, atol=1e-6)
            compare(f"{what}: one step, batch {batch}", slow, fast, calls=20)


def additive() -> None:
    """The additive decoder against its straightforward versions."""
    torch.manual_seed(0)
    encoder = Encoder(VOCAB, D_EMBEDDING, D_HIDDEN)
    model = BahdanauTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN, D_SCORE)
    for name, joined in [("joined", True), ("apart", False)]:
        plain = Straightforward(model, joined)
        compare_steps(f"additive, {name}", model, plain)
        ways = partial(step_by_step, plain), partial(all_at_once, model)
        compare_ways(f"additive, {name}", model, *ways)


def multiplicative() -> None:
    """The dot decoder, all steps at once, against its own steps."""
    for cell in ("gru", "lstm"):
        torch.manual_seed(0)
        encoder = Encoder(VOCAB, D_EMBEDDING, D_HIDDEN // 2, cell=cell)
        sizes = (TARGET_VOCAB, D_EMBEDDING, D_HIDDEN)
        model = LuongTranslator(encoder, *sizes, score="dot", cell=cell)
        ways = partial(step_by_step, model), partial(all_at_once, model)
        compare_ways(f"dot, {cell}", model, *ways)


def main() -> None:
    """Print one line for each pair: the straightforward version, ours, the ratio."""
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}", flush=True)
    additive()
    multiplicative()


if __name__ == "__main__":
    main()
