"""One vector for a whole sentence: a recurrent encoder, and a decoder that sees its last state.

A sentence is a row of token numbers that ends in EOS and is padded with PAD. Padding changes
nothing: the encoder skips it, attention masks it, the loss ignores it.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attn_course.shapes import checked, is_true_of_any

# The first numbers of every vocabulary: padding, begin and end of a sentence.
PAD, BOS, EOS = 0, 1, 2

CELLS: dict[str, Callable[..., nn.RNNBase]] = {"gru": nn.GRU, "lstm": nn.LSTM}
Cell = Literal["gru", "lstm"]
#: The memory of a decoder between two words, a tuple of tensors whose first axis is the batch, or
#: of such tuples.
State = tuple[Any, ...]


class Encoding(NamedTuple):
    """A batch of sentences, encoded.

    Attributes:
        annotations: One vector for each token, (batch, source_len, d_annotation); zero at padding.
        final: One vector for the whole sentence, (batch, d_annotation); for a recurrent encoder,
            its state after the last token.
        mask: True at tokens, False at padding, (batch, source_len).
    """

    annotations: Tensor
    final: Tensor
    mask: Tensor


@checked
def token_mask(tokens: Int[Tensor, "batch length"]) -> Bool[Tensor, "batch length"]:
    """True at the tokens of each sentence, False at the padding after them.

    Raises:
        ValueError: A sentence is empty, or has padding between its tokens.
    """
    mask = tokens != PAD
    if is_true_of_any(empty := ~mask.any(-1)):
        first = int(empty.nonzero()[0])
        raise ValueError(
            f"{int(empty.sum())} of {len(mask)} sentences are empty, the first in row {first}"
        )
    if is_true_of_any(hole := (mask[:, 1:] & ~mask[:, :-1]).any(-1)):
        first = int(hole.nonzero()[0])
        raise ValueError(
            f"PAD={PAD} may only follow a sentence, but is within {tokens[first].tolist()}"
        )
    return mask


@checked
def reverse_within_length(
    sequence: Shaped[Tensor, "batch length *rest"], mask: Bool[Tensor, "batch length"]
) -> Shaped[Tensor, "batch length *rest"]:
    """Reverse each sentence and leave its padding at the end. Doing it twice changes nothing."""
    position = torch.arange(mask.shape[1], device=mask.device)
    mirrored = mask.sum(1, keepdim=True) - 1 - position
    index = torch.where(mask, mirrored, position)
    return sequence[torch.arange(len(mask), device=mask.device).unsqueeze(1), index]


class Encoder(nn.Module):
    """A recurrent network that reads a sentence, in one direction or in both.

    State by state, `h_t = cell(x_t, h_(t-1))`: from words `(batch, source_len)` to annotations
    `(batch, source_len, d_annotation)`, where `d_annotation` is `d_hidden`, or twice that.

    Args:
        vocab_size: Number of words of the source language.
        d_embedding: Width of a word's vector.
        d_hidden: Width of the state of one direction.
        cell: "gru" or "lstm".
        num_layers: Number of layers, each on top of the one before.
        bidirectional: If True, a second network reads from the end; an annotation is then the
            state of the first network at its word, followed by the state of the second.
        reverse_source: If True, every sentence is read from its end, as in Sutskever et al. 2014.
            The annotations keep the order of the words.
        dropout: Share of the numbers that are set to 0 between the layers in training.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embedding: int,
        d_hidden: int,
        *,
        cell: Cell = "gru",
        num_layers: int = 1,
        bidirectional: bool = True,
        reverse_source: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.reverse_source = reverse_source
        self.d_annotation = (1 + bidirectional) * d_hidden
        self.embedding = nn.Embedding(vocab_size, d_embedding, padding_idx=PAD)
        self.recurrent = find_cell(cell)(
            d_embedding,
            d_hidden,
            num_layers,
            batch_first=True,
            dropout=dropout,
            bidirectional=bidirectional,
        )

    @checked
    def forward(self, source: Int[Tensor, "batch source_len"]) -> Encoding:
        """Read each sentence up to its own end.

        Raises:
            ValueError: A sentence is empty or has padding between its tokens, or a token is not in
                the vocabulary.
        """
        mask = token_mask(source)
        words = embed(self.embedding, source)
        if self.reverse_source:
            words = reverse_within_length(words, mask)
        packed = pack_padded_sequence(words, mask.sum(1).cpu(), True, enforce_sorted=False)
        outputs, last = self.recurrent(packed)
        annotations, _ = pad_packed_sequence(outputs, True, total_length=source.shape[1])
        if self.reverse_source:
            annotations = reverse_within_length(annotations, mask)
        hidden = last[0] if isinstance(last, tuple) else last
        directions = 1 + self.recurrent.bidirectional
        return Encoding(annotations, torch.cat(hidden[-directions:].unbind(0), -1), mask)


class Recurrent(nn.Module):
    """A GRU or an LSTM whose state has the batch as its first axis, as everything else does."""

    def __init__(self, d_input: int, d_hidden: int, cell: Cell = "gru", num_layers: int = 1):
        super().__init__()
        self.network = find_cell(cell)(d_input, d_hidden, num_layers, batch_first=True)

    def start(self, hidden: Tensor) -> State:
        """The state with `hidden`, (batch, num_layers * d_hidden), divided among the layers."""
        hidden = hidden.unflatten(-1, (self.network.num_layers, -1))
        return (hidden, torch.zeros_like(hidden)) if self.network.mode == "LSTM" else (hidden,)

    def forward(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Read `inputs`, (batch, length, d_input); return the outputs, (batch, length, d_hidden),
        and the state after the last of them."""
        layers_first = tuple(part.transpose(0, 1).contiguous() for part in state)
        lstm = len(layers_first) == 2
        outputs, last = self.network(inputs, layers_first if lstm else layers_first[0])
        return outputs, tuple(part.transpose(0, 1) for part in (last if lstm else (last,)))


class Translator(nn.Module):
    """An encoder and a decoder: the common base of all translators in the course.

    From sources `(batch, source_len)` and translations `(batch, target_len)` it makes the logits
    `(batch, target_len, vocab_size)`. Each kind of translator defines the state from which its
    decoder starts, `start`, and how it continues, `decode`: by one word or, when the words are
    given, by all of them.
    """

    encoder: Any  # each kind of translator has its own

    def __init__(self, encoder: nn.Module, vocab_size: int, d_embedding: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.embedding = nn.Embedding(vocab_size, d_embedding, padding_idx=PAD)

    def start(self, source: Int[Tensor, "batch source_len"]) -> State:
        """Read the source; return the decoder's state before its first word."""
        raise NotImplementedError

    def decode(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[Float[Tensor, "batch target_len vocab_size"], State]:
        """Read `tokens` one after another; return the logits of the word after each of them,
        and the state after the last."""
        raise NotImplementedError

    @checked
    def step(
        self, token: Int[Tensor, " batch"], state: State
    ) -> tuple[Float[Tensor, "batch vocab_size"], State]:
        """The logits of the word after `token`, and the state from which to continue."""
        logits, state = self.decode(token.unsqueeze(1), state)
        return logits.squeeze(1), state

    @checked
    def forward(
        self,
        source: Int[Tensor, "batch source_len"],
        target_input: Int[Tensor, "batch target_len"],
    ) -> Float[Tensor, "batch target_len vocab_size"]:
        """Logits of every next word, given the right words before it: teacher forcing.

        Args:
            source: Sentences that end in EOS, padded.
            target_input: Their translations, each with a BOS before it and without EOS, padded.
        """
        return self.decode(target_input, self.start(source))[0]


class FixedVectorTranslator(Translator):
    """A translator squeezed through one vector, which the decoder sees at every step.

    With that vector `c`, `(batch, d_annotation)`, each step is `s ← cell([word; c], s)`.

    Args:
        encoder: Its last state is the vector.
        vocab_size: Number of words of the target language.
        d_embedding: Width of the vector of a word of the target language.
        d_hidden: Width of the decoder's state.
        cell: "gru" or "lstm".
        num_layers: Number of layers of the decoder.

    Source: Cho et al. 2014, whose decoder sees the vector at every step; in Sutskever et al. 2014
    the vector is only the decoder's first state.
    """

    def __init__(
        self,
        encoder: Encoder,
        vocab_size: int,
        d_embedding: int,
        d_hidden: int,
        *,
        cell: Cell = "gru",
        num_layers: int = 1,
    ) -> None:
        super().__init__(encoder, vocab_size, d_embedding)
        d_context = encoder.d_annotation
        self.bridge = nn.Linear(d_context, num_layers * d_hidden)
        self.recurrent = Recurrent(d_embedding + d_context, d_hidden, cell, num_layers)
        self.readout = readout(d_hidden + d_embedding + d_context, d_embedding, vocab_size)

    def start(self, source: Int[Tensor, "batch source_len"]) -> State:
        """The vector, and the decoder's first state, computed from it."""
        context = self.encoder(source).final
        return context, self.recurrent.start(torch.tanh(self.bridge(context)))

    def decode(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[Float[Tensor, "batch target_len vocab_size"], State]:
        """Read `tokens`, each together with the same vector."""
        context, hidden = state
        words = embed(self.embedding, tokens)
        contexts = context.unsqueeze(1).expand(-1, tokens.shape[1], -1)
        states, hidden = self.recurrent(torch.cat([words, contexts], -1), hidden)
        state = context, hidden
        return self.readout(torch.cat([states, words, contexts], -1)), state


@checked
def sequence_loss(
    logits: Float[Tensor, "batch target_len vocab_size"],
    target_output: Int[Tensor, "batch target_len"],
) -> Float[Tensor, ""]:
    """Mean over all words of `-log p(word | the words before it, the source)`, in nats.

    Args:
        logits: The translator's logits of each next word.
        target_output: The right words, each sentence ending in EOS; padding does not count.

    Raises:
        ValueError: `target_output` is all padding, or a word is not in the vocabulary.
    """
    words = known_words(target_output, logits.shape[-1])
    if is_true_of_any((target_output == PAD).all()):
        raise ValueError(f"target_output of shape {tuple(target_output.shape)} is all padding")
    return nn.functional.cross_entropy(logits.flatten(0, 1), words.flatten(), ignore_index=PAD)


def embed(embedding: nn.Embedding, tokens: Tensor) -> Tensor:
    """The vectors of the words.

    Raises:
        ValueError: A token is not in the vocabulary, or there is no token.
    """
    if not tokens.numel():
        raise ValueError(f"tokens of shape {tuple(tokens.shape)} hold no word")
    words = tokens.long() if tokens.is_cpu else known_words(tokens, embedding.num_embeddings)
    try:
        return embedding(words)
    except IndexError:  # on a processor PyTorch looks itself
        known_words(words, embedding.num_embeddings)
        raise


def known_words(tokens: Tensor, vocab_size: int) -> Tensor:
    """The numbers of words as PyTorch takes them everywhere, in 64 bits.

    Raises:
        ValueError: A number is not in the vocabulary.
    """
    tokens = tokens.long()
    if is_true_of_any(outside := tokens != tokens.clamp(0, vocab_size - 1)):
        raise ValueError(
            f"{int(outside.sum())} tokens are outside the vocabulary of {vocab_size} words, "
            f"the first is {int(tokens[outside][0])}"
        )
    return tokens


def readout(d_input: int, d_hidden: int, vocab_size: int) -> nn.Module:
    """A network of one hidden layer, from all that the decoder knows at a step to the logits."""
    return nn.Sequential(nn.Linear(d_input, d_hidden), nn.Tanh(), nn.Linear(d_hidden, vocab_size))


def find_cell(name: str) -> Callable[..., nn.RNNBase]:
    """The recurrent network with this name.

    Raises:
        ValueError: The name is unknown.
    """
    if name not in CELLS:
        raise ValueError(f"{name!r} is not a recurrent cell; choose from {', '.join(CELLS)}")
    return CELLS[name]
