"""Sentences from a model that predicts the next word: greedy decoding and beam search.

Any model with the methods `start` and `step` of `attn_course.seq2seq.Translator` will do.
"""

import math
from collections.abc import Container, Iterator
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from attn_course.seq2seq import BOS, EOS, PAD, State
from attn_course.shapes import checked, is_true_of_any, shapes_known


class Stepwise(Protocol):
    """A model that gives one word after another."""

    def start(self, source: Tensor) -> State:
        """The state before the first word."""

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits of the word after `token`, (batch, vocab_size), and the state after it.

        It changes no tensor of the state that it is given.
        """


class Hypotheses(NamedTuple):
    """The sentences that a beam search ended with, the best first.

    Attributes:
        tokens: (batch, beam_width, length); EOS ends a sentence, PAD follows. A sentence without
            EOS was cut off: at `max_len`, or when the best could no longer be overtaken. If there
            are fewer sentences than the beam is wide, the remaining rows are all PAD.
        log_probability: Sum of the log-probabilities of the words, including EOS,
            (batch, beam_width); minus infinity where there is no sentence.
        score: The log-probability divided by a power of the length; sentences are ranked by it.
    """

    tokens: Tensor
    log_probability: Tensor
    score: Tensor


@torch.no_grad()
@checked
def greedy_decode(
    model: Stepwise, source: Shaped[Tensor, "batch first_axis *rest"], max_len: int
) -> Int[Tensor, "batch target_len"]:
    """Take the most probable word at each step, until every sentence has ended.

    Args:
        model: The model to decode; in training mode its dropout is active.
        source: The input to start from: sentences of numbers, or whatever the model takes.
        max_len: The most words a sentence may have, including EOS.

    Returns:
        Sentences that end in EOS, or were cut off at `max_len`; PAD follows.

    Raises:
        ValueError: `max_len` is below 1, there is no source or an empty one, or the model gives
            NaN.
    """
    _require_at_least_one(max_len=max_len, sentences=len(source))
    state = model.start(source)
    token = torch.full((len(source),), BOS, device=source.device)
    ended = torch.zeros_like(token, dtype=torch.bool)
    sentence: list[Tensor] = []
    while len(sentence) < max_len and not ended.all():
        with shapes_known(len(sentence) > 1):
            logits, state = model.step(token, state)
        token = _log_probability(logits).argmax(-1).masked_fill(ended, PAD)
        sentence.append(token)
        ended = ended | (token == EOS)
    return torch.stack(sentence, 1)


@torch.no_grad()
@checked
def beam_search(
    model: Stepwise,
    source: Shaped[Tensor, "batch first_axis *rest"],
    max_len: int,
    beam_width: int,
    length_power: float = 0.0,
) -> Hypotheses:
    """Keep the `beam_width` most probable beginnings at each step, and sentences that have ended.

    A source is finished when no beginning can overtake the best sentence that has ended.

    Args:
        model: The model to decode; in training mode its dropout is active.
        source: The input to start from: sentences of numbers, or whatever the model takes.
        max_len: The most words a sentence may have, including EOS.
        beam_width: Number of beginnings kept; 1 is greedy decoding.
        length_power: Sentences are ranked by their log-probability divided by this power of their
            length, including EOS: 0 favours short ones, 1 ranks by the mean over the words.

    Raises:
        ValueError: `max_len` or `beam_width` is below 1, the power is negative or infinite, there
            is no source or an empty one, or the model gives NaN.
    """
    _require_at_least_one(max_len=max_len, beam_width=beam_width, sentences=len(source))
    if not 0 <= length_power < math.inf:
        raise ValueError(f"{length_power=} must be finite and not negative")
    batch = torch.arange(len(source), device=source.device)
    state = _pick(model.start(source), batch.repeat_interleave(beam_width))
    alike = {id(part): part for part in _parts(state)}  # no step has changed them
    beam = _empty_beam(source, beam_width)
    last = torch.full((len(source) * beam_width,), BOS, device=source.device)
    decided = torch.zeros_like(batch, dtype=torch.bool)
    while beam.tokens.shape[-1] < max_len and not decided.all():
        with shapes_known(beam.tokens.shape[-1] > 1):
            logits, state = model.step(last, state)
        beam, parent = _extend(beam, logits, decided, length_power)
        state = _pick(state, (parent + beam_width * batch.unsqueeze(1)).flatten(), alike)
        last = beam.tokens[..., -1].flatten()
        decided = _is_decided(beam, max_len, length_power)
    order = beam.score.argsort(dim=-1, descending=True, stable=True)
    return Hypotheses(
        beam.tokens.take_along_dim(order.unsqueeze(-1), 1),
        beam.log_probability.take_along_dim(order, 1),
        beam.score.take_along_dim(order, 1),
    )


def _log_probability(logits: Tensor) -> Tensor:
    """Log-probability of every next word; minus infinity for PAD and BOS, which are no words."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_probability = wide.log_softmax(-1)
    if is_true_of_any(unknown := log_probability.isnan()):
        raise ValueError(
            f"the model gives NaN for {int(unknown.sum())} of {unknown.numel()} next words"
        )
    log_probability[..., [PAD, BOS]] = -math.inf
    return log_probability


def _empty_beam(source: Tensor, beam_width: int) -> Hypotheses:
    """A beam with the empty beginning of each source in its first place; the others are free."""
    log_probability = torch.full((len(source), beam_width), -math.inf, device=source.device)
    log_probability[:, 0] = 0
    tokens = torch.empty(len(source), beam_width, 0, dtype=torch.long, device=source.device)
    return Hypotheses(tokens, log_probability, log_probability)


def _extend(
    beam: Hypotheses, logits: Tensor, decided: Tensor, length_power: float
) -> tuple[Hypotheses, Tensor]:
    """The best sentences with one more word, and the previous place of each in the beam."""
    beam_width, vocab_size = beam.tokens.shape[1], logits.shape[-1]
    words = _log_probability(logits).unflatten(0, (-1, beam_width))
    # a sentence that has ended continues with PAD, which costs nothing; so do all sentences of a
    # finished source, or its second-best would depend on the other sources in the batch
    stay = torch.full_like(words[0, 0], -math.inf)
    stay[PAD] = 0
    stays = _ended(beam.tokens) | decided.unsqueeze(-1)
    words = torch.where(stays.unsqueeze(-1), stay, words)
    total = (beam.log_probability.unsqueeze(-1) + words).flatten(1)
    log_probability, index = total.topk(beam_width, -1)
    parent, word = index // vocab_size, index % vocab_size
    before = beam.tokens.take_along_dim(parent.unsqueeze(-1), 1)
    tokens = torch.cat([before, word.unsqueeze(-1)], -1)
    tokens = tokens.masked_fill((log_probability == -math.inf).unsqueeze(-1), PAD)
    length = (tokens != PAD).sum(-1).to(log_probability.dtype)
    return Hypotheses(tokens, log_probability, log_probability / length**length_power), parent


def _is_decided(beam: Hypotheses, max_len: int, length_power: float) -> Tensor:
    """True for each source whose best ended sentence no other can overtake."""
    ended = _ended(beam.tokens)
    best = beam.score.masked_fill(~ended, -math.inf).amax(-1)
    # a longer sentence is never more probable, but its score is divided by more
    reachable = (beam.log_probability / max_len**length_power).masked_fill(ended, -math.inf)
    return best >= reachable.amax(-1)


def _ended(tokens: Tensor) -> Tensor:
    return (tokens == EOS).any(-1)


def _pick(state: State, rows: Tensor, alike: Container[int] = ()) -> State:
    """The state of these rows of the batch, in this order, but for the parts whose rows are alike.

    Args:
        state: Tensors, and tuples of them.
        rows: Numbers of rows of the batch, each of the source that it was of before.
        alike: The identities of parts with the same row for all beginnings of a source.
    """
    # three to five times as fast as an index
    return tuple(
        _pick(part, rows, alike)
        if isinstance(part, tuple)
        else part
        if id(part) in alike
        else part.index_select(0, rows)
        for part in state
    )


def _parts(state: State) -> Iterator[Tensor]:
    for part in state:
        yield from _parts(part) if isinstance(part, tuple) else (part,)


def _require_at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name}={number} must be at least 1")
