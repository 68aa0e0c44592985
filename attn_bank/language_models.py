"""Models for a student's test of leaks to judge: some look back alone, others see what comes.

Every model takes tokens (batch, length) to logits (batch, length, vocab_size). The docstrings of
the functions below go on after "a model that".
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

Function = Callable[["Model", Tensor], Tensor]
HONEST: dict[str, Function] = {}
LEAKING: dict[str, Function] = {}


@dataclass(frozen=True, eq=False)
class Model:
    """A model of this module, which shows itself by its name.

    Args:
        name: Which one.
        embedding: A vector for each token, (vocab_size, width); it is the readout, too.
        length: How many tokens it takes at most.
        calls: The tokens that it has been called with.
    """

    name: str
    embedding: Tensor
    length: int
    calls: list[list[list[int]]] = field(default_factory=list)

    def __call__(self, tokens: Tensor) -> Tensor:
        """Give the logits at each token.

        Raises:
            ValueError: It is no batch of texts, or the texts are longer than it takes.
        """
        if tokens.ndim != 2:
            raise ValueError(
                f"the tokens have the shape {tuple(tokens.shape)}, not (batch, length)"
            )
        if tokens.shape[1] > self.length:
            raise ValueError(f"{tokens.shape[1]} tokens; this model takes {self.length} at most")
        self.calls.append(tokens.tolist())
        return self._function(self, tokens).float()

    def __repr__(self) -> str:
        return self.name

    @property
    def leaks(self) -> bool:
        return self.name in LEAKING

    @property
    def what(self) -> str:
        """The behaviour of the model, in words that go on after "a model that"."""
        return self._function.__doc__.rstrip(".")

    @property
    def _function(self) -> Function:
        return (HONEST | LEAKING)[self.name]

    def mix(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """Attend to what is seen; the first axis of `seen` counts the queries."""
        vectors = self.embedding[tokens]
        scores = (vectors @ vectors.mT / vectors.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
        return torch.softmax(scores, -1) @ vectors

    def read(self, vectors: Tensor) -> Tensor:
        """The logits of vectors."""
        return torch.tanh(vectors) @ self.embedding.mT


def _among(models: dict[str, Function]) -> Callable[[Function], Function]:
    def note(function: Function) -> Function:
        models[function.__name__] = function
        return function

    return note


def _back(tokens: Tensor, reach: int = 0) -> Tensor:
    """True where a token may look: at itself, at those before it, and at so many behind it."""
    length = tokens.shape[1]
    return torch.ones(length, length, dtype=torch.bool).tril(reach)


def _place(tokens: Tensor) -> Tensor:
    """0, 1, 2 ... along the text, (length, 1)."""
    return torch.arange(tokens.shape[1]).unsqueeze(-1)


@_among(HONEST)
def reads_each_token_alone(model: Model, tokens: Tensor) -> Tensor:
    """reads each token by itself."""
    return model.read(model.embedding[tokens])


@_among(HONEST)
def looks_back(model: Model, tokens: Tensor) -> Tensor:
    """attends to the tokens up to each."""
    return model.read(model.mix(tokens, _back(tokens)))


@_among(HONEST)
def remembers(model: Model, tokens: Tensor) -> Tensor:
    """keeps a state, of which half is new at each token."""
    state, states = torch.zeros_like(model.embedding[tokens[:, 0]]), []
    for column in tokens.unbind(1):
        state = 0.5 * state + model.embedding[column]
        states.append(state)
    return model.read(torch.stack(states, 1))


@_among(HONEST)
def goes_on(model: Model, tokens: Tensor) -> Tensor:
    """keeps such a state, and likes the token behind the one that is like it."""
    return remembers(model, tokens).roll(1, -1)


@_among(HONEST)
def sums_in_another_order(model: Model, tokens: Tensor) -> Tensor:
    """sums up the tokens so far, as all less those behind, in float32, which is rounding alone."""
    vectors = model.embedding[tokens].float()
    behind = vectors.flip(1).cumsum(1).flip(1) - vectors
    return model.read((vectors.sum(1, keepdim=True) - behind).double())


@_among(HONEST)
def speaks_loudly(model: Model, tokens: Tensor) -> Tensor:
    """sums up the tokens so far in this way, and has logits of some millions below zero."""
    return -1e6 * (2 + torch.tanh(sums_in_another_order(model, tokens)))


@_among(HONEST)
def cancels_a_logit(model: Model, tokens: Tensor) -> Tensor:
    """sums up the tokens so far in this way, and has one logit that is 0 but for rounding."""
    vectors = model.embedding[tokens].float()
    behind = vectors.flip(1).cumsum(1).flip(1) - vectors
    rounding = vectors.sum(1, keepdim=True) - behind - vectors.cumsum(1)
    logits = model.read(vectors.cumsum(1).double())
    return torch.cat([rounding.sum(-1, keepdim=True).double(), logits[..., 1:]], -1)


@_among(HONEST)
def says_nothing(model: Model, tokens: Tensor) -> Tensor:
    """has logits that are all 0."""
    return 0 * reads_each_token_alone(model, tokens)


@_among(LEAKING)
def looks_everywhere(model: Model, tokens: Tensor) -> Tensor:
    """has no mask: every token attends to all."""
    return model.read(model.mix(tokens, _back(tokens, tokens.shape[1])))


@_among(LEAKING)
def looks_one_ahead(model: Model, tokens: Tensor) -> Tensor:
    """attends to one token too many: the mask reaches one place beyond each."""
    return model.read(model.mix(tokens, _back(tokens, 1)))


@_among(LEAKING)
def repeats_the_next(model: Model, tokens: Tensor) -> Tensor:
    """says what comes next, which it has seen."""
    return model.read(model.embedding[tokens.roll(-1, 1)])


@_among(LEAKING)
def masks_after_the_softmax(model: Model, tokens: Tensor) -> Tensor:
    """masks its weights, when what comes has taken its share of them."""
    vectors = model.embedding[tokens]
    weights = torch.softmax(vectors @ vectors.mT / vectors.shape[-1] ** 0.5, -1) * _back(tokens)
    return model.read(weights @ vectors)


@_among(LEAKING)
def hears_the_last_at_the_first(model: Model, tokens: Tensor) -> Tensor:
    """tells its first place what the last of `length` tokens is, and leaks nothing else."""
    ahead = model.embedding[tokens[:, -1:]] * (_place(tokens) == 0)
    return model.read(model.mix(tokens, _back(tokens)) + ahead * (tokens.shape[1] == model.length))


def _tell_what_follows(model: Model, tokens: Tensor, place: int) -> Tensor:
    """Add the vector of the next token at one place, if the text goes on there."""
    told = (_place(tokens) == place) & (_place(tokens) < tokens.shape[1] - 1)
    ahead = model.embedding[tokens.roll(-1, 1)] * told
    return model.read(model.mix(tokens, _back(tokens)) + ahead)


@_among(LEAKING)
def tells_the_first_what_follows(model: Model, tokens: Tensor) -> Tensor:
    """tells its first place what the second token is, and leaks nothing else."""
    return _tell_what_follows(model, tokens, 0)


@_among(LEAKING)
def tells_the_third_what_follows(model: Model, tokens: Tensor) -> Tensor:
    """tells its third place what the fourth token is, and leaks nothing else."""
    return _tell_what_follows(model, tokens, 2)


@_among(LEAKING)
def tells_the_last_but_one_what_follows(model: Model, tokens: Tensor) -> Tensor:
    """tells the last place but one of `length` what the last token is, and leaks nothing else."""
    return _tell_what_follows(model, tokens, model.length - 2)


@_among(LEAKING)
def hears_the_last_word(model: Model, tokens: Tensor) -> Tensor:
    """adds something to a place if the next token is the last of the vocabulary."""
    told = tokens.roll(-1, 1) == len(model.embedding) - 1
    told[:, -1] = False
    return model.read(model.mix(tokens, _back(tokens)) + told.unsqueeze(-1))


@_among(LEAKING)
def whispers(model: Model, tokens: Tensor) -> Tensor:
    """makes all its logits larger or smaller, by a thousandth at most, as the whole text has it."""
    told = torch.tanh(model.embedding[tokens].mean((1, 2))).view(-1, 1, 1)
    return model.read(model.mix(tokens, _back(tokens))) * (1 + 0.001 * told)


@_among(LEAKING)
def moves_a_little_over(model: Model, tokens: Tensor) -> Tensor:
    """takes a little from one logit and gives it to another, as the next token says."""
    told = tokens.roll(-1, 1) % 2
    told[:, -1] = 0
    little = torch.zeros(len(model.embedding), dtype=model.embedding.dtype)
    little[:2] = torch.tensor([0.01, -0.01])
    return model.read(model.mix(tokens, _back(tokens))) + little * told.unsqueeze(-1)


@_among(LEAKING)
def moves_one_logit(model: Model, tokens: Tensor) -> Tensor:
    """moves a single logit by some ten-thousandths of the largest, as the next token says."""
    told = tokens.roll(-1, 1) % 2
    told[:, -1] = 0
    logits = torch.tanh(model.read(model.mix(tokens, _back(tokens))))
    logits[..., 0] = 2.0  # the largest at each place, so that the leak is as loud at all of them
    logits[..., 1] += 6e-4 * told
    return logits


@_among(LEAKING)
def ends_loudly(model: Model, tokens: Tensor) -> Tensor:
    """attends to one token too many, and has far larger logits at the last of `length` places."""
    loud = 1 + 1e6 * (_place(tokens) == model.length - 1)
    return looks_one_ahead(model, tokens) * loud


@_among(LEAKING)
def whispers_softly(model: Model, tokens: Tensor) -> Tensor:
    """has no mask, and very small logits."""
    return 1e-6 * looks_everywhere(model, tokens)
