"""Learning to align: additive attention, and a decoder that looks back at every step."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attn_course.retrieval import masked_softmax
from attn_course.seq2seq import Encoder, State, Translator, embed, readout
from attn_course.shapes import checked


@checked
def additive_scores(
    query: Float[Tensor, "*batch query_len d_score"],
    key: Float[Tensor, "*batch key_len d_score"],
    score_weight: Float[Tensor, " d_score"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: `v · tanh(q + k)`, one hidden layer over both.

    Args:
        query: The queries, already multiplied by their half of the hidden layer.
        key: The keys, already multiplied by their half: one product serves all queries.
        score_weight: The weight with which each hidden unit enters the score.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.

    Source: Bahdanau et al. 2015, appendix A.1.2.
    """
    # each with each: (query_len, 1, d_score) + (1, key_len, d_score)
    return torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3)) @ score_weight


class AdditiveScore(nn.Module):
    """`additive_scores` with the weights of its hidden layer: `v · tanh(W q + U k)`.

    Queries `(*batch, query_len, d_query)` and keys `(*batch, key_len, d_key)` have the scores
    `(*batch, query_len, key_len)`. `U k` is made once, by `project_key`, for all queries.

    Args:
        d_query: Width of a query.
        d_key: Width of a key, which may be different.
        d_score: Number of hidden units.
        bias: If True, the hidden layer adds a constant.
    """

    def __init__(self, d_query: int, d_key: int, d_score: int, *, bias: bool = True) -> None:
        super().__init__()
        self.project_query = nn.Linear(d_query, d_score, bias=False)
        self.project_key = nn.Linear(d_key, d_score, bias=bias)
        self.score_weight = nn.Parameter(torch.empty(d_score))
        nn.init.uniform_(self.score_weight, -(d_score**-0.5), d_score**-0.5)

    @checked
    def forward(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        projected_key: Float[Tensor, "*batch key_len d_score"],
    ) -> Float[Tensor, "*batch query_len key_len"]:
        """The scores of keys that have already been through `project_key`."""
        return additive_scores(self.project_query(query), projected_key, self.score_weight)


class AttentionTranslator(Translator):
    """A translator whose decoder attends to the annotations of the source."""

    def trace(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[
        Float[Tensor, "batch target_len vocab_size"],
        Float[Tensor, "batch target_len source_len"],
        State,
    ]:
        """Read `tokens` one after another; return the logits, the weights and the state.

        The logits and the state are those that `decode` returns; row `t` of the weights says how
        the decoder divided its attention at word `t`.
        """
        raise NotImplementedError

    def decode(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[Float[Tensor, "batch target_len vocab_size"], State]:
        """Read `tokens` one after another, attending to the annotations at each."""
        logits, _, state = self.trace(tokens, state)
        return logits, state

    @checked
    def alignment(
        self,
        source: Int[Tensor, "batch source_len"],
        target_input: Int[Tensor, "batch target_len"],
    ) -> Float[Tensor, "batch target_len source_len"]:
        """The weights over the source at the choice of each next word, under teacher forcing.

        Row `t` belongs to the word that follows `target_input[:, t]`.
        """
        return self.trace(target_input, self.start(source))[1]


class BahdanauTranslator(AttentionTranslator):
    """A translator that, before each word, asks for the part of the source that it needs.

    The query is the decoder's state before the word, the keys and the values are the
    annotations; the resulting context enters the recurrent cell:
    `c = Σ α h` with `α = softmax(v · tanh(W s + U h))`, then `s ← GRU([word; c], s)`.

    Args:
        encoder: It gives the annotations and the decoder's first state.
        vocab_size: Number of words of the target language.
        d_embedding: Width of the vector of a word of the target language.
        d_hidden: Width of the decoder's state.
        d_score: Number of hidden units of the score.

    Source: Bahdanau et al. 2015. Its readout is a maxout layer, and its first state is computed
    from the backward half of the encoder alone.
    """

    def __init__(
        self, encoder: Encoder, vocab_size: int, d_embedding: int, d_hidden: int, d_score: int
    ) -> None:
        super().__init__(encoder, vocab_size, d_embedding)
        d_context = encoder.d_annotation
        self.bridge = nn.Linear(d_context, d_hidden)
        self.score = AdditiveScore(d_hidden, d_context, d_score)
        self.cell = nn.GRUCell(d_embedding + d_context, d_hidden)
        self.readout = readout(d_hidden + d_embedding + d_context, d_embedding, vocab_size)

    def start(self, source: Int[Tensor, "batch source_len"]) -> State:
        """The annotations, their projection, the mask, and the decoder's first state."""
        annotations, final, mask = self.encoder(source)
        projected_key = self.score.project_key(annotations)
        return annotations, projected_key, mask.unsqueeze(1), torch.tanh(self.bridge(final))

    def turn(
        self,
        word: Float[Tensor, "batch d_embedding"],
        hidden: Float[Tensor, "batch d_hidden"],
        annotations: Float[Tensor, "batch source_len d_annotation"],
        projected_key: Float[Tensor, "batch source_len d_score"],
        mask: Bool[Tensor, "batch 1 source_len"],
    ) -> tuple[
        Float[Tensor, "batch 1 source_len"],
        Float[Tensor, "batch d_annotation"],
        Float[Tensor, "batch d_hidden"],
    ]:
        """Read one word: the weights, the context and the next hidden state."""
        scores = self.score(hidden.unsqueeze(1), projected_key)
        weights = masked_softmax(scores, mask)
        context = (weights @ annotations).squeeze(1)
        hidden = self.cell(torch.cat([word, context], -1), hidden)
        return weights, context, hidden

    def trace(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[
        Float[Tensor, "batch target_len vocab_size"],
        Float[Tensor, "batch target_len source_len"],
        State,
    ]:
        """Take a turn for each word, then compute all logits at once."""
        annotations, projected_key, mask, hidden = state
        words = embed(self.embedding, tokens)
        states, contexts, weights = [], [], []
        for word in words.unbind(1):
            row, context, hidden = self.turn(word, hidden, annotations, projected_key, mask)
            weights.append(row)
            states.append(hidden)
            contexts.append(context)
        seen = torch.stack(contexts, 1)
        known = torch.cat([torch.stack(states, 1), words, seen], -1)
        state = annotations, projected_key, mask, hidden
        return self.readout(known), torch.cat(weights, 1), state
