"""Multiplicative attention: dot, general and concat scores; global and local; input feeding."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.func import functional_call

from attn_course.bahdanau import AdditiveScore, AttentionTranslator, additive_scores
from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.seq2seq import Cell, Encoder, Recurrent, State, embed
from attn_course.shapes import checked, require_positive

ScoreName = Literal["dot", "general", "concat"]
Attention = Literal["global", "local-m", "local-p"]


@checked
def general_scores(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    weight: Float[Tensor, "d_query d_key"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: `q W k`, a dot product that learns what to compare.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.

    Source: Luong et al. 2015, section 3.1.
    """
    return dot_scores(query @ weight, key)


@checked
def concat_scores(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    weight: Float[Tensor, "d_score d_both"],
    score_weight: Float[Tensor, " d_score"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: `v · tanh(W [q; k])`, which is the additive score.

    Args:
        query: Vectors of the decoder that say what it looks for.
        key: Vectors of the source to compare them with.
        weight: The hidden layer; its first `d_query` columns multiply the query, the others the
            key.
        score_weight: The weight with which each hidden unit enters the score.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.

    Source: Luong et al. 2015, section 3.1.
    """
    widths = [query.shape[-1], key.shape[-1]]
    if sum(widths) != weight.shape[-1]:
        raise ValueError(
            f"concat_scores: weight has {weight.shape[-1]} columns, but "
            f"d_query={widths[0]} and d_key={widths[1]}"
        )
    for_query, for_key = weight.split(widths, -1)
    return additive_scores(query @ for_query.mT, key @ for_key.mT, score_weight)


@checked
def window_mask(
    centre: Float[Tensor, "*batch query_len"], key_len: int, half_width: float
) -> Bool[Tensor, "*batch query_len key_len"]:
    """True at the keys that are at most `half_width` positions away from the query's centre.

    Raises:
        ValueError: `half_width` is not positive, or a centre is NaN.
    """
    require_positive("half_width", half_width)
    position = torch.arange(key_len, device=centre.device)
    return (position - centre.unsqueeze(-1)).abs() <= half_width


@checked
def gaussian_window(
    centre: Float[Tensor, "*batch query_len"], key_len: int, half_width: float
) -> Float[Tensor, "*batch query_len key_len"]:
    """A bell that is 1 at the query's centre; its standard deviation is half of `half_width`.

    Raises:
        ValueError: `half_width` is not positive, or a centre is NaN.

    Source: Luong et al. 2015, eq. 10.
    """
    require_positive("half_width", half_width)
    position = torch.arange(key_len, device=centre.device, dtype=centre.dtype)
    return torch.exp(-2 * ((position - centre.unsqueeze(-1)) / half_width).square())


class DotScore(nn.Module):
    """The dot product of state and annotation, `q · k`, which must be equally wide.

    Queries `(batch, query_len, d_query)` and keys `(batch, key_len, d_query)` have the scores
    `(batch, query_len, key_len)`.
    """

    def __init__(self, d_query: int, d_key: int) -> None:
        super().__init__()
        if d_query != d_key:
            raise ValueError(
                f"a dot score needs states and annotations of equal width, but they have {d_query} "
                f"and {d_key}"
            )
        self.project_key = nn.Identity()

    def forward(self, query: Tensor, projected_key: Tensor) -> Tensor:
        """The scores, (batch, query_len, key_len), of keys that went through `project_key`."""
        return dot_scores(query, projected_key)


class GeneralScore(nn.Module):
    """`general_scores`, `q · W k`, with its weight, which multiplies the keys once for all queries.

    Queries `(batch, query_len, d_query)` and keys `(batch, key_len, d_key)` have the scores
    `(batch, query_len, key_len)`.
    """

    def __init__(self, d_query: int, d_key: int) -> None:
        super().__init__()
        self.project_key = nn.Linear(d_key, d_query, bias=False)

    def forward(self, query: Tensor, projected_key: Tensor) -> Tensor:
        """The scores, (batch, query_len, key_len), of keys that went through `project_key`."""
        return dot_scores(query, projected_key)


def make_score(
    name: ScoreName, d_query: int, d_key: int
) -> AdditiveScore | DotScore | GeneralScore:
    """The score with this name, and its weights.

    Raises:
        ValueError: The name is unknown, or the score cannot compare these widths.
    """
    if name == "concat":
        return AdditiveScore(d_query, d_key, d_query)
    scores: dict[str, type[DotScore] | type[GeneralScore]]
    scores = {"dot": DotScore, "general": GeneralScore}
    if name not in scores:
        raise ValueError(f"{name!r} is not a score; choose from dot, general, concat")
    return scores[name](d_query, d_key)


class Memory(NamedTuple):
    """The part of the state that is the same for all words of a translation."""

    annotations: Tensor
    projected_key: Tensor
    mask: Tensor


class LuongTranslator(AttentionTranslator):
    """A translator that steps first and then looks back, from its new state.

    The context does not enter the recurrence. It joins the state in the attentional state
    `tanh(W [context; state])`, from which the word is predicted. All steps can therefore be
    computed at once when the words are given, unless input feeding passes the attentional state on
    to the next step.

    Args:
        encoder: It gives the annotations and the decoder's first state.
        vocab_size: Number of words of the target language.
        d_embedding: Width of the vector of a word of the target language.
        d_hidden: Width of the decoder's state and of the attentional state.
        score: "dot", "general" or "concat".
        attention: "global"; "local-m", a window of the source around the position of the word; or
            "local-p", a window around a predicted position.
        window: Half the width of the window, in words.
        input_feeding: If True, the attentional state enters the next step together with the word.
        cell: "gru" or "lstm".
        num_layers: Number of layers of the decoder.

    Source: Luong et al. 2015.
    """

    def __init__(
        self,
        encoder: Encoder,
        vocab_size: int,
        d_embedding: int,
        d_hidden: int,
        *,
        score: ScoreName = "general",
        attention: Attention = "global",
        window: float = 10.0,
        input_feeding: bool = False,
        cell: Cell = "gru",
        num_layers: int = 1,
    ) -> None:
        super().__init__(encoder, vocab_size, d_embedding)
        if attention not in ("global", "local-m", "local-p"):
            raise ValueError(f"{attention=} is unknown; choose from global, local-m, local-p")
        require_positive("window", window)
        self.attention, self.window, self.input_feeding = attention, window, input_feeding
        d_context = encoder.d_annotation
        self.bridge = nn.Linear(d_context, num_layers * d_hidden)
        self.score = make_score(score, d_hidden, d_context)
        d_input = d_embedding + (d_hidden if input_feeding else 0)
        self.recurrent = Recurrent(d_input, d_hidden, cell, num_layers)
        self.combine = nn.Linear(d_context + d_hidden, d_hidden)
        self.readout = nn.Linear(d_hidden, vocab_size)
        if attention == "local-p":
            self.centre = nn.Sequential(
                nn.Linear(d_hidden, d_hidden, bias=False),
                nn.Tanh(),
                nn.Linear(d_hidden, 1, bias=False),
                nn.Sigmoid(),
            )

    def start(self, source: Int[Tensor, "batch source_len"]) -> State:
        """The memory, the decoder's first state, the attentional state before the first word
        (zero), and the position of the next word."""
        annotations, final, mask = self.encoder(source)
        hidden = self.recurrent.start(torch.tanh(self.bridge(final)))
        memory = Memory(annotations, self.score.project_key(annotations), mask.unsqueeze(1))
        attentional = final.new_zeros(len(final), self.combine.out_features)
        return memory, hidden, attentional, torch.zeros_like(source[:, 0])

    def trace(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[
        Float[Tensor, "batch target_len vocab_size"],
        Float[Tensor, "batch target_len source_len"],
        State,
    ]:
        """Read all words at once; with input feeding, one after another."""
        words = embed(self.embedding, tokens)
        steps = words.split(1, 1) if self.input_feeding else [words]
        attentional, weights = [], []
        for step in steps:
            vectors, looked_at, state = self._advance(step, state)
            attentional.append(vectors)
            weights.append(looked_at)
        return self.readout(torch.cat(attentional, 1)), torch.cat(weights, 1), state

    def _advance(self, words: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        """The attentional states at some words, the weights, and the state after the words."""
        memory, hidden, attentional, position = state
        memory = Memory(*memory)
        if self.input_feeding:
            words = torch.cat([words, attentional.unsqueeze(1)], -1)
        states, hidden = self.recurrent(words, hidden)
        positions = position.unsqueeze(1) + torch.arange(words.shape[1], device=words.device)
        weights = self._weights(states, positions, memory)
        context = weights @ memory.annotations
        vectors = torch.tanh(self.combine(torch.cat([context, states], -1)))
        return vectors, weights, (memory, hidden, vectors[:, -1], positions[:, -1] + 1)

    def _weights(self, states: Tensor, positions: Tensor, memory: Memory) -> Tensor:
        """The weights, (batch, target_len, source_len); rows of "local-p" sum to less than 1."""
        scores = self.score(states, memory.projected_key)
        if self.attention == "global":
            return masked_softmax(scores, memory.mask)
        key_len = scores.shape[-1]
        # half precision cannot count: in bfloat16, 257 is 256
        centre = positions.to(torch.promote_types(scores.dtype, torch.float32))
        if self.attention == "local-p":
            centre = memory.mask.sum(-1) * self._share(states.to(centre.dtype))
        mask = memory.mask & window_mask(centre, key_len, self.window)
        weights = masked_softmax(scores, mask)
        if self.attention == "local-m":
            return weights
        return weights * gaussian_window(centre, key_len, self.window).to(weights.dtype)

    def _share(self, states: Tensor) -> Tensor:
        """The part of the source that lies before the centre, in the precision of the states."""
        weights = {name: each.to(states.dtype) for name, each in self.centre.named_parameters()}
        with torch.autocast(states.device.type, enabled=False):
            share: Tensor = functional_call(self.centre, weights, states)
        return share.squeeze(-1)
