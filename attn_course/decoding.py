"""From a model that knows the next word to a sentence: greedy decoding and beam search.

Any model serves that has the methods `start` and `step` of `attn_course.seq2seq.Translator`.
"""

import math
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from attn_course.seq2seq import BOS, EOS, PAD, State
from attn_course.shapes import checked, is_true_of_any


class Stepwise(Protocol):
    """A model that gives one word after the other."""

    def start(self, source: Tensor) -> State:
        """What is known before the first word."""

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits of the word after `token`, (batch, vocab_size), and the state to go on from."""


class Hypotheses(NamedTuple):
    """The sentences that a beam search was left with, the best first.

    Attributes:
        tokens: (batch, beam_width, length); EOS ends a sentence, PAD follows. A sentence without
            EOS was cut off: at `max_len`, or when the best could no longer be overtaken. With
            fewer sentences than the beam is wide, the rest is all PAD.
        log_probability: Sum of the logarithms over the words with EOS, (batch, beam_width);
            minus infinity where there is no sentence.
        score: The log-probability divided by the power of the length, what they are ranked by.
    """

    tokens: Tensor
    log_probability: Tensor
    score: Tensor


@torch.no_grad()
@checked
def greedy_decode(
    model: Stepwise, source: Shaped[Tensor, "batch first_axis *rest"], max_len: int
) -> Int[Tensor, "batch target_len"]:
    """The most probable word at each step, until every sentence has ended.

    Args:
        model: What gives the probabilities; in training mode its dropout is at work.
        source: What to start from: sentences of numbers, or whatever the model takes.
        max_len: The most words a sentence may have, EOS included.

    Returns:
        Sentences that end in EOS, or were cut off at `max_len`; PAD follows.

    Raises:
        ValueError: `max_len` is below 1, a source is empty, there is none, or the model gives NaN.
    """
    _require_at_least_one(max_len=max_len, sentences=len(source))
    state = model.start(source)
    token = torch.full((len(source),), BOS, device=source.device)
    ended = torch.zeros_like(token, dtype=torch.bool)
    sentence: list[Tensor] = []
    while len(sentence) < max_len and not ended.all():
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
    """Keep the `beam_width` most probable beginnings at each step; one that has ended stays as is.

    A source is done with when no beginning can overtake the best sentence that has ended.

    Args:
        model: What gives the probabilities; in training mode its dropout is at work.
        source: What to start from: sentences of numbers, or whatever the model takes.
        max_len: The most words a sentence may have, EOS included.
        beam_width: Number of beginnings kept; 1 is greedy decoding.
        length_power: Sentences are ranked by their log-probability divided by this power of their
            length, EOS included: 0 favours short ones, 1 takes the mean of a word.

    Raises:
        ValueError: `max_len` or `beam_width` is below 1, the power is negative or infinite, a
            source is empty, there is none, or the model gives NaN.
    """
    _require_at_least_one(max_len=max_len, beam_width=beam_width, sentences=len(source))
    if not 0 <= length_power < math.inf:
        raise ValueError(f"{length_power=} must be finite and not negative")
    batch = torch.arange(len(source), device=source.device)
    state = _pick(model.start(source), batch.repeat_interleave(beam_width))
    beam = _empty_beam(source, beam_width)
    last = torch.full((len(source) * beam_width,), BOS, device=source.device)
    decided = torch.zeros_like(batch, dtype=torch.bool)
    while beam.tokens.shape[-1] < max_len and not decided.all():
        logits, state = model.step(last, state)
        beam, parent = _extend(beam, logits, decided, length_power)
        state = _pick(state, (parent + beam_width * batch.unsqueeze(1)).flatten())
        last = beam.tokens[..., -1].flatten()
        decided = _is_decided(beam, max_len, length_power)
    order = beam.score.argsort(dim=-1, descending=True, stable=True)
    return Hypotheses(
        beam.tokens.take_along_dim(order.unsqueeze(-1), 1),
        beam.log_probability.take_along_dim(order, 1),
        beam.score.take_along_dim(order, 1),
    )


def _log_probability(logits: Tensor) -> Tensor:
    """Of every next word; PAD and BOS are no words, and a sentence cannot go on with them."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_probability = wide.log_softmax(-1)
    if is_true_of_any(unknown := log_probability.isnan()):
        raise ValueError(
            f"the model gives NaN for {int(unknown.sum())} of {unknown.numel()} next words"
        )
    log_probability[..., [PAD, BOS]] = -math.inf
    return log_probability


def _empty_beam(source: Tensor, beam_width: int) -> Hypotheses:
    """The beginning without words, once for each source; the other places are free."""
    log_probability = torch.full((len(source), beam_width), -math.inf, device=source.device)
    log_probability[:, 0] = 0
    tokens = torch.empty(len(source), beam_width, 0, dtype=torch.long, device=source.device)
    return Hypotheses(tokens, log_probability, log_probability)


def _extend(
    beam: Hypotheses, logits: Tensor, decided: Tensor, length_power: float
) -> tuple[Hypotheses, Tensor]:
    """The best sentences with one more word, and the place each had in the beam before."""
    beam_width, vocab_size = beam.tokens.shape[1], logits.shape[-1]
    words = _log_probability(logits).unflatten(0, (-1, beam_width))
    # a sentence that has ended goes on with PAD, which costs nothing; so do all of a source that
    # is done with, or what came second would depend on the sources beside it
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
    """For each source, whether a sentence that has ended is ahead of all that others can reach."""
    ended = _ended(beam.tokens)
    best = beam.score.masked_fill(~ended, -math.inf).amax(-1)
    # a longer sentence is never more probable, but its length may be divided by
    reachable = (beam.log_probability / max_len**length_power).masked_fill(ended, -math.inf)
    return best >= reachable.amax(-1)


def _ended(tokens: Tensor) -> Tensor:
    return (tokens == EOS).any(-1)


def _pick(state: State, rows: Tensor) -> State:
    """The state of these rows of the batch, in this order."""
    return tuple(_pick(part, rows) if isinstance(part, tuple) else part[rows] for part in state)


def _require_at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name}={number} must be at least 1")
