"""Part E of problem set 11: a model that is trained, and judged by a text that it has not seen.

Its weights are handed in and not its code: they are put into the model of the course, which cannot
see what comes.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Invariant,
    Mistakes,
    Plain,
    name_kind,
)
from torch import Generator, Tensor
from torch.nn import functional

from attn_course.data.novels import novels, pieces
from attn_course.data.windows import all_windows, drawn_windows
from attn_course.trained.writers import numbers_of
from attn_course.trained.writers.kneser_ney import bits, count
from attn_course.transformer import LanguageModel, bits_per_character

State = dict[str, Tensor]
Fault = tuple[str, str]  # what the student reads, and what it is recognised by
Loss = Callable[[Tensor, Tensor], Tensor]
SIZES = {"d_model": 64, "num_heads": 2, "d_hidden": 256, "num_layers": 2, "context": 64}
SIZES |= {"input_scale": 8.0}
LENGTH, BATCH_SIZE, RATE = 65, 16, 4e-3
HALF = LENGTH // 2  # tokens that a window of the unseen text begins with, to be read only
CLOSE = 0.05  # nats: what is so close to a law that knows less knows no more


def draw_text(generator: Generator, num_tokens: int, num_unseen: int, steps: int) -> Inputs:
    """A piece of the novels, and what follows it there, in a numbering of their own."""
    numbers, order = numbers_of("training"), torch.randperm(len(pieces()), generator=generator)
    begin = int(torch.randint(len(numbers) - num_tokens - num_unseen, (), generator=generator))
    text = order[numbers[begin : begin + num_tokens + num_unseen]]
    return {
        "text": text[:num_tokens],
        "vocab_size": len(order),
        "steps": steps,
        "unseen": text[num_tokens:],
        "order": order,
    }


def beats(before: int, said: str) -> Invariant:
    """The law that it knows more than counts of characters do, with so many characters before."""

    def judge(call: Callable[[Inputs], Plain], inputs: Inputs) -> Fault | None:
        state = call(inputs)
        model = LanguageModel(inputs["vocab_size"], **SIZES)
        if fault := _form_fault(state, model.state_dict()):
            return fault
        model.load_state_dict(state)
        losses = _losses(model, inputs["unseen"])
        if fault := _learned_something_else(losses, inputs):
            return fault
        unseen, text = (_characters(inputs[name], inputs["order"]) for name in ("unseen", "text"))
        ours = bits_per_character(losses[1], len(inputs["unseen"]), len(unseen))
        theirs = bits(count(text, before + 1), unseen)
        if ours < theirs:
            return None
        return f"{ours:.2f} bits a character; {said} has {theirs:.2f}", "too many bits"

    return judge


def _form_fault(state: Plain, wanted: State) -> Fault | None:
    if not isinstance(state, dict) or not all(isinstance(one, Tensor) for one in state.values()):
        return f"it is {name_kind(state)}; expected the weights by their names", "no weights"
    if state.keys() != wanted.keys():
        missing = sorted(wanted.keys() ^ state.keys())
        return f"it has not the names of the model's weights, such as {missing[0]}", "other names"
    for name, weight in wanted.items():
        if state[name].shape != weight.shape:
            said = f"{name} has the shape {tuple(state[name].shape)}; expected"
            return f"{said} {tuple(weight.shape)}", "other sizes"
        if not state[name].isfinite().all():
            return f"{name} holds infinite numbers, or `nan`", "no numbers"
    return None


@torch.no_grad()
def _losses(model: LanguageModel, text: Tensor) -> dict[int, float]:
    """The mean of `-log p` of tokens, if logits are about the one so many places on."""
    windows = all_windows(text, LENGTH, HALF)
    said = model(windows[:, :-1])[:, HALF:].log_softmax(-1)
    answers = {on: windows[:, HALF + on : LENGTH - 1 + on] for on in (-1, 0, 1)}
    return {on: -said.gather(-1, a.unsqueeze(-1)).mean().item() for on, a in answers.items()}


def _learned_something_else(losses: dict[int, float], inputs: Inputs) -> Fault | None:
    """The fault of a model that has learned nothing, or something else; None without one."""
    nothing = float(np.log(inputs["vocab_size"]))
    seen = torch.bincount(inputs["text"], minlength=inputs["vocab_size"]) + 1.0
    frequent = -(seen / seen.sum()).log()[inputs["unseen"]].mean().item()
    for on, token in ((0, "the token itself"), (-1, "the token before")):
        if losses[on] < min(losses[1], frequent) - 1:
            said = f"its logits are about {token}: {losses[on]:.1f} nats a token, and about the"
            return f"{said} next one {losses[1]:.1f}", token
    said = f"{losses[1]:.1f} nats a token, where knowing nothing has {nothing:.1f}"
    if losses[1] > nothing + 1:
        return f"it is sure of itself and wrong: {said}", "sure and wrong"
    if losses[1] > nothing - 2 * CLOSE:
        return f"it knows nothing, or next to nothing: {said}", "knows nothing"
    if losses[1] > frequent - CLOSE:
        return f"it knows how frequent each token is, and no more: {said}", "frequencies"
    return None


def _characters(text: Tensor, order: Tensor) -> np.ndarray:
    """A text as numbers of characters."""
    alphabet = sorted(set(novels("training")))
    numbers = dict(zip(alphabet, range(len(alphabet)), strict=True))
    told = pieces().decode(order.argsort()[text].tolist())
    return np.array([numbers[character] for character in told])


def next_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def _shifted(said: slice, asked: slice) -> Loss:
    """The loss that compares other places with each other."""

    def loss(logits: Tensor, tokens: Tensor) -> Tensor:
        return functional.cross_entropy(logits[:, said].flatten(0, 1), tokens[:, asked].flatten())

    return loss


def _learn(
    text: Tensor,
    vocab_size: int,
    steps: int,
    *,
    loss: Loss = next_loss,
    windows: Callable[[Tensor], Iterator[Tensor]] | None = None,
) -> State:
    model = LanguageModel(vocab_size, **SIZES)
    optimiser = torch.optim.Adam(model.parameters(), RATE, (0.9, 0.98))
    for tokens in islice((windows or _windows)(text), steps):
        found = loss(model(tokens), tokens)
        optimiser.zero_grad()
        found.backward()
        optimiser.step()
    return model.state_dict()


def _windows(text: Tensor) -> Iterator[Tensor]:
    return (batch.tokens for batch in drawn_windows(text, LENGTH, BATCH_SIZE, seed=0))


def _one_batch(text: Tensor) -> Iterator[Tensor]:
    batch = next(_windows(text))
    while True:
        yield batch


def _shuffled(text: Tensor) -> Iterator[Tensor]:
    return (text[torch.randint(len(text), (BATCH_SIZE, LENGTH))] for _ in iter(int, 1))


def reference(text: Tensor, vocab_size: int, steps: int) -> State:
    return _learn(text, vocab_size, steps)


mistake = Mistakes()


@mistake(evidence="the token itself")
def repeats_the_token(text, vocab_size, steps):
    """your model has learned to repeat the token that it has just read: the loss compares the
    logits at each token with the token itself. The answer is the next one, as in part C"""
    return _learn(text, vocab_size, steps, loss=_shifted(slice(None), slice(None)))


@mistake(evidence="the token before")
def looks_behind(text, vocab_size, steps):
    """your model has learned to say the token before the one that it reads: the shift goes the
    wrong way"""
    return _learn(text, vocab_size, steps, loss=_shifted(slice(1, None), slice(-1)))


@mistake(evidence="knows nothing")
def never_steps(text, vocab_size, steps):
    """your weights are as they were drawn, or not much better: call `zero_grad`, `backward` and
    `step` for every batch, on one model that is made before the loop, and return its weights after
    the loop. If you do, the steps are much too small"""
    return LanguageModel(vocab_size, **SIZES).state_dict()


@mistake(evidence="sure and wrong")
def learns_one_batch_by_heart(text, vocab_size, steps):
    """your model is sure of itself and wrong. One that has learned a few windows by heart is so:
    draw new ones for every step, from all of `text`. So is one whose loss is given a softmax: it
    wants the logits. If it is neither, the learning rate may be too high"""
    return _learn(text, vocab_size, max(steps, 150), windows=_one_batch)


@mistake(evidence="frequencies")
def loses_the_order(text, vocab_size, steps):
    """your model knows how frequent each token is, and not which one follows which. Are your
    windows neighbouring tokens, in their order, and is the answer the next one, not the one after
    that? If so, are the gradients cleared before every `backward`, and is the learning rate about
    0.004?"""
    return _learn(text, vocab_size, steps, windows=_shuffled)


@mistake(points=2, evidence="too many bits")
def learns_too_little(text, vocab_size, steps):
    """your model learns, and too little: are there `steps` steps, or more, is each taken on new
    windows from all of `text`, and is the learning rate about 0.004?"""
    return _learn(text, vocab_size, min(steps, 100))


@mistake(evidence="no weights")
def returns_the_model(text, vocab_size, steps):
    """what you return is not the weights by their names: return `model.state_dict()`"""
    return LanguageModel(vocab_size, **SIZES)


@mistake(evidence="other names")
def returns_some_of_the_weights(text, vocab_size, steps):
    """your weights have other names than those of a `LanguageModel` of two blocks; return the
    `state_dict()` of one, whole"""
    return dict(LanguageModel(vocab_size, **SIZES).blocks.state_dict())


@mistake(evidence="other sizes")
def takes_another_width(text, vocab_size, steps):
    """your model has other sizes than the one that its weights are put into; make it with
    `vocab_size` and the sizes of the next cell"""
    return LanguageModel(vocab_size, **SIZES | {"d_model": 32}).state_dict()


@mistake(evidence="no numbers")
def divides_by_nothing(text, vocab_size, steps):
    """your weights are infinite or `nan`: a step was far too long. Lower the learning rate"""
    state = LanguageModel(vocab_size, **SIZES).state_dict()
    return {name: weight / 0 for name, weight in state.items()}


EXERCISE = Exercise(
    function="train_writer",
    reference=reference,
    title="train your own",
    minutes=35,
    may_use=None,
    axes={},  # it trains on a text that is given
    contract=Contract(points=0),
    checks=(
        Check(
            "after 100 steps it knows more of a text that it has not seen than how frequent each"
            " token is, and more than a count of which character follows which",
            2,
            draw_text,
            sizes=({"num_tokens": 300_000, "num_unseen": 12_000, "steps": 100},),
            invariant=beats(1, "a count of which character follows which one"),
            withheld=("unseen", "order"),
            seconds=120,
        ),
        Check(
            "after 600 steps it knows more than counts with three characters before do, within two"
            " minutes",
            4,
            draw_text,
            sizes=({"num_tokens": 300_000, "num_unseen": 12_000, "steps": 600},),
            invariant=beats(3, "a count of what follows three characters"),
            withheld=("unseen", "order"),
            seconds=120,
        ),
    ),
    mistakes=mistake.collected,
)
