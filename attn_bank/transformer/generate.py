"""Part D of problem set 11: a text that goes on, token after token, each drawn and then read.

The law of single tokens is known by then; here it is asked whether texts have the right law: how
often each pair of new tokens comes, of many texts that begin alike.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
from hintgrader.exercise import (
    Answer,
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    name_kind,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.language_models import Model
from attn_course.transformer import next_token_law

NUM_TEXTS = 600  # a call from a sandbox may hand over no more at once
OTHER_SEEDS = 4  # of one alone, a single draw may well give the same token
SURPRISING = 6.0  # standard deviations by which a count may be off; 1 in 500 million is


def reference(
    model: Model, tokens: Tensor, number: int, temperature: float, top_p: float, seed: int
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        law = next_token_law(model(tokens)[:, -1], temperature, top_p=top_p)
        tokens = torch.cat([tokens, torch.multinomial(law, 1, generator=generator)], 1)
    return tokens


class _Law(NamedTuple):
    """A law of the next token, which may be a wrong one.

    Args:
        temperature: As given, unless it says otherwise.
        top_p: Likewise.
        place: Whose logits are taken, counted from the end of the text.
        window: How many tokens are read; 0 for all.
        reads_on: Whether what is drawn is read.
        forgets: Whether the beginning is read for the first new token alone, and for each later
            one the last token.
        twice: Whether a softmax is taken before the law takes its own.
    """

    temperature: float | None = None
    top_p: float | None = None
    place: int = -1
    window: int = 0
    reads_on: bool = True
    forgets: bool = False
    twice: bool = False

    def of(
        self, model: Model, text: Tensor, start: int, temperature: float, top_p: float
    ) -> Tensor:
        """The law of the token that follows a text of which `start` tokens were given."""
        read = text if self.reads_on else text[:, :start]
        window = 1 if self.forgets and text.shape[1] > start else self.window
        logits = model(read[:, -window:])
        logits = logits.softmax(-1) if self.twice else logits
        place = self.place % logits.shape[1] if self.place < 0 else self.place
        heat = temperature if self.temperature is None else self.temperature
        keep = top_p if self.top_p is None else self.top_p
        return next_token_law(logits[:, place], heat, top_p=keep)


RIGHT = _Law()
# What may be wrong with the law of a text, in words that go on after "your texts are drawn".
OTHERS = {
    "as if each token were the most probable": _Law(temperature=0.0),
    "at temperature 1 and from all tokens": _Law(temperature=1.0, top_p=1.0),
    "at temperature 1": _Law(temperature=1.0),
    "from all tokens, whatever `top_p` is": _Law(top_p=1.0),
    "each token from the law after the beginning": _Law(reads_on=False),
    "each token from the law after the last token alone": _Law(window=1),
    "each token but the first from the law after the last token alone": _Law(forgets=True),
    "from the law of probabilities, as if they were logits": _Law(twice=True),
    "each token from the law at the first": _Law(place=0),
    "each token from the law at the last but one": _Law(place=-2),
}


def _join(text: Tensor, new: Tensor) -> Tensor:
    return torch.cat([text, new], 1)


def _draw(law: Tensor, generator: Generator) -> Tensor:
    return torch.multinomial(law, 1, generator=generator)


def _draw_once(law: Tensor, generator: Generator) -> Tensor:
    """The same draw for all texts."""
    return torch.multinomial(law[:1], 1, generator=generator).expand(len(law), 1)


def _draw_alike(law: Tensor, generator: Generator) -> Tensor:
    """A draw of each text, all from the same random numbers."""
    state, drawn = generator.get_state(), []
    for one in law:
        generator.set_state(state)
        drawn.append(torch.multinomial(one, 1, generator=generator))
    return torch.stack(drawn)


def _generate(
    model: Model,
    tokens: Tensor,
    number: int,
    temperature: float,
    top_p: float,
    seed: int,
    *,
    law: _Law = RIGHT,
    draw: Callable[[Tensor, Generator], Tensor] = _draw,
    join: Callable[[Tensor, Tensor], Tensor] = _join,
    seeds_anew: bool = False,
) -> Tensor:
    """The text that goes on, in one of many ways."""
    generator, text = torch.Generator().manual_seed(seed), tokens
    for _ in range(number):
        if seeds_anew:
            generator.manual_seed(seed)
        new = draw(law.of(model, text, tokens.shape[1], temperature, top_p), generator)
        text = join(text, new)
    return text


def draw_beginnings(
    generator: Generator,
    batch: int,
    length: int,
    number: int,
    vocab_size: int,
    temperature: float,
    top_p: float,
) -> Inputs:
    """A model whose logits depend on the whole text so far, and some beginnings."""
    embedding = draw_normal(generator, vocab_size, 8)
    return {
        "model": Model("goes_on", embedding, length + number),
        "tokens": torch.randint(vocab_size, (batch, length), generator=generator),
        "number": number,
        "temperature": temperature,
        "top_p": top_p,
        "seed": int(torch.randint(1000, (), generator=generator)),
    }


def draw_of_no_opinion(generator: Generator, **sizes: float) -> Inputs:
    """A model to which all tokens are alike, whatever it reads."""
    inputs = draw_beginnings(generator, **sizes)
    return inputs | {"model": replace(inputs["model"], name="says_nothing", calls=[])}


def draw_one_beginning(generator: Generator, **sizes: float) -> Inputs:
    """Many texts that begin alike, of a model that is sure of little."""
    inputs = draw_beginnings(generator, batch=1, **sizes)
    model = replace(inputs["model"], embedding=0.6 * inputs["model"].embedding, calls=[])
    return inputs | {"model": model, "tokens": inputs["tokens"].expand(NUM_TEXTS, -1).clone()}


def draws_by_the_law(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    texts = call(inputs)
    if fault := _form_fault(texts, inputs):
        return fault
    found = _count(texts, inputs)
    if _fits(found, _law_of_pairs(inputs, RIGHT)):
        return None
    if (texts == texts[0]).all() and inputs["temperature"]:
        return f"all {NUM_TEXTS} texts are the same", ["one draw"]
    for words, law in OTHERS.items():
        if _fits(found, _law_of_pairs(inputs, law)):
            return f"of {NUM_TEXTS} texts that begin alike, yours are drawn {words}", [words]
    right = _law_of_pairs(inputs, RIGHT)
    place = int((found / NUM_TEXTS - right).abs().argmax())
    pair = list(divmod(place, len(inputs["model"].embedding)))
    said = f"{int(found[place])} of {NUM_TEXTS} texts go on with {pair}"
    return f"{said}; expected about {NUM_TEXTS * right[place]:.0f}", ["another law"]


def _form_fault(texts: Plain, inputs: Inputs) -> tuple[str, Plain] | None:
    tokens = inputs["tokens"]
    batch, length = tokens.shape[0], tokens.shape[1] + inputs["number"]
    if not isinstance(texts, Tensor) or texts.shape != (batch, length):
        kind = name_kind(texts)
        return f"it returns {kind}; expected tokens, ({batch}, {length})", kind
    if texts.dtype != torch.long:
        return f"the tokens are of {texts.dtype}; expected torch.int64", str(texts.dtype)
    if not torch.equal(texts[:, : tokens.shape[1]], tokens):
        return "the texts do not begin with the tokens that are given", "begins otherwise"
    return None


def _count(texts: Tensor, inputs: Inputs) -> Tensor:
    """The number of texts that go on with each pair of tokens."""
    first, second = texts[:, inputs["tokens"].shape[1] :].unbind(1)
    vocab_size = len(inputs["model"].embedding)
    return torch.bincount(first * vocab_size + second, minlength=vocab_size**2).double()


def _law_of_pairs(inputs: Inputs, law: _Law) -> Tensor:
    """The probability of each pair of new tokens."""
    model, beginning = inputs["model"], inputs["tokens"][:1]
    how = beginning.shape[1], inputs["temperature"], inputs["top_p"]
    first = law.of(model, beginning, *how)[0].double()
    every = torch.arange(len(first)).unsqueeze(-1)
    texts = torch.cat([beginning.expand(len(first), -1), every], 1)
    return (first.unsqueeze(-1) * law.of(model, texts, *how).double()).flatten()


def _fits(found: Tensor, law: Tensor) -> bool:
    """True if no count is surprising; what is impossible may not occur."""
    expected = NUM_TEXTS * law
    spread = (expected * (1 - law)).clamp_min(1e-9).sqrt()
    return bool(((found - expected).abs() <= SURPRISING * spread + (law > 0)).all())


def draws_anew_from_its_seed(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    seeds = [inputs["seed"] + step for step in range(1, OTHER_SEEDS + 1)]
    texts = [call(inputs), call(inputs, seed=1), *(call(inputs | {"seed": seed}) for seed in seeds)]
    for text in texts:
        if fault := _form_fault(text, inputs):
            return fault
    one, again, *others = (text[:, inputs["tokens"].shape[1] :] for text in texts)
    if not torch.equal(one, again):
        return "the same seed gives other texts the second time", "others with the same seed"
    if all(torch.equal(one, other) for other in others):
        return "other seeds give the same texts", "the same with other seeds"
    if (one == one[:, :1]).all():
        return "in each text all new tokens are the same, of a model to which all are alike", "one"
    if (one == one[:1]).all():
        return "all texts go on alike, of a model to which all tokens are alike", "one draw"
    return None


mistake = Mistakes()


def _with(**choices: object) -> Answer:
    """The text that goes on, in which something is done otherwise."""

    def answer(
        model: Model, tokens: Tensor, number: int, temperature: float, top_p: float, seed: int
    ) -> Tensor:
        return _generate(model, tokens, number, temperature, top_p, seed, **choices)

    return answer


@mistake(computes=_with(law=_Law(reads_on=False)), points=0.5)
def does_not_read_on():
    """each of your tokens is drawn from what the model says after the beginning; put what is drawn
    behind the text, and give the model the longer text the next time"""


@mistake(computes=_with(law=_Law(window=1)), also=(_with(law=_Law(forgets=True)),), points=0.5)
def reads_the_last_token_alone():
    """from the first or the second new token on, your model is given the last token alone, and
    knows nothing of what came before; it keeps nothing, so give it the whole text so far"""


@mistake(computes=_with(law=_Law(place=0)), points=0.5)
def takes_the_first_logits():
    """you take the logits at the first token of the text; what comes next is said at the last,
    `logits[:, -1]`"""


@mistake(computes=_with(law=_Law(place=-2)), points=0.5)
def takes_the_logits_before_the_last():
    """you take the logits at the last token but one; they are about the last, which is there
    already. What comes next is said at the last, `logits[:, -1]`"""


def _read_empty_places(
    model: Model, tokens: Tensor, number: int, temperature: float, top_p: float, seed: int
) -> Tensor:
    generator, (batch, start) = torch.Generator().manual_seed(seed), tokens.shape
    text = _join(tokens, tokens.new_zeros(batch, number))
    for place in range(start, start + number):
        law = RIGHT.of(model, text, start, temperature, top_p)
        text[:, place] = _draw(law, generator).squeeze(1)
    return text


@mistake(computes=_read_empty_places, points=0.5)
def reads_empty_places():
    """your model is given places that nothing is written to yet, and its last logits are about
    those; give it the text so far, and no more"""


@mistake(computes=_with(join=lambda text, new: _join(new, text)))
def puts_new_tokens_in_front():
    """you put what is drawn in front of the text; it goes behind, as `torch.cat([tokens, new], 1)`
    has it"""


def _without_the_beginning(**inputs: Plain) -> Tensor:
    return reference(**inputs)[:, inputs["tokens"].shape[1] :]


@mistake(computes=_without_the_beginning)
def returns_the_new_tokens_alone():
    """you return the new tokens alone; the beginning stands before them"""


def _keep_the_length(**inputs: Plain) -> Tensor:
    return reference(**inputs)[:, inputs["number"] :]


@mistake(computes=_keep_the_length)
def drops_the_oldest():
    """you return the last tokens of the text alone, as many as were given; the whole text is asked,
    `(batch, length + number)`"""


@mistake(
    computes=given(reference, number=lambda number: number + 1),
    also=(given(reference, number=lambda number: number - 1),),
)
def draws_another_number():
    """you draw one token too many or too few; `number` of them stand behind the beginning"""


@mistake(computes=given(reference, number=1))
def draws_one():
    """you draw one token and return; `number` are asked. Is the `return` inside the loop?"""


@mistake(
    computes=_with(draw=_draw_alike),
    also=(_with(draw=_draw_alike, seeds_anew=True),),
    points=1.5,
)
def seeds_each_text():
    """you set the seed anew for each text, so that all texts are drawn from the same numbers, and
    those that begin alike go on alike; set it once, before the first text"""


@mistake(computes=_with(law=_Law(temperature=0.0)), points=1.5)
def takes_the_most_probable():
    """you take the most probable token whatever the temperature is, so that all texts are alike;
    draw from the law, as `torch.multinomial` does"""


@mistake(
    points=0.5,
    computes=_with(law=_Law(temperature=1.0, top_p=1.0)),
    also=(_with(law=_Law(temperature=1.0)),),
)
def leaves_out_the_temperature():
    """you draw at temperature 1, whatever is asked; draw from what your `next_token_law` makes of
    the logits, with the temperature and the `top_p` that are given"""


@mistake(computes=_with(law=_Law(twice=True)), points=2)
def takes_the_softmax_twice():
    """your `next_token_law` is given probabilities, and takes the softmax of them once more, which
    makes them nearly even; give it the logits"""


@mistake(computes=_with(law=_Law(top_p=1.0)), points=2)
def leaves_out_top_p():
    """you draw from all tokens, whatever `top_p` is; draw from what your `next_token_law` makes of
    the logits, with the `top_p` that is given"""


@mistake(computes=_with(draw=_draw_once))
def draws_once_for_all_texts():
    """you draw one token and put it behind all texts; each has a law of its own, and a draw of its
    own: `torch.multinomial` draws one in each row"""


@mistake(computes=_with(seeds_anew=True), points=1.5)
def seeds_each_draw():
    """you set the seed before each draw, so that all draws of a text come from the same numbers;
    set it once, before the first"""


@mistake(computes=given(reference, seed=0), points=2.5)
def has_a_seed_of_its_own():
    """you draw the same texts whatever `seed` is"""


def _without_the_seed(**inputs: Plain) -> Tensor:
    return reference(**inputs | {"seed": int(torch.randint(2**31, ()))})


@mistake(computes=_without_the_seed, points=2.5)
def forgets_the_seed():
    """you draw other texts each time, whatever `seed` is: give it to a generator, and this to
    `torch.multinomial`"""


EXERCISE = Exercise(
    function="generate",
    reference=reference,
    minutes=15,
    axes={"length": 23, "vocab_size": 47},
    may_use=None,
    contract=Contract(batch=("tokens",), like=0),
    checks=(
        Check(
            "at temperature 0 each text goes on with the most probable token, then with the one"
            " that is so after that, and so on",
            1,
            draw_beginnings,
            sizes=(
                {
                    "batch": 3,
                    "length": 5,
                    "number": 7,
                    "vocab_size": 11,
                    "temperature": 0.0,
                    "top_p": 0.9,
                },
                {
                    "batch": 1,
                    "length": 2,
                    "number": 4,
                    "vocab_size": 5,
                    "temperature": 0.0,
                    "top_p": 0.9,
                },
            ),
            hidden_sizes=(
                {
                    "batch": 2,
                    "length": 3,
                    "number": 5,
                    "vocab_size": 7,
                    "temperature": 0.0,
                    "top_p": 0.5,
                },
            ),
        ),
        Check(
            "of many texts that begin alike, each pair of new tokens comes as often as the law of"
            " part D has it, after the beginning and then after the first of them",
            1,
            draw_one_beginning,
            sizes=(
                {"length": 3, "number": 2, "vocab_size": 4, "temperature": 0.6, "top_p": 0.8},
                {"length": 2, "number": 2, "vocab_size": 5, "temperature": 1.5, "top_p": 0.7},
            ),
            hidden_sizes=(
                {"length": 4, "number": 2, "vocab_size": 5, "temperature": 0.7, "top_p": 0.7},
            ),
            invariant=draws_by_the_law,
            sizes_matter=True,  # longer texts would be too many numbers for a sandbox
        ),
        Check(
            "the same seed gives the same texts, another one others, and every token of every text"
            " is drawn anew",
            0.5,
            draw_of_no_opinion,
            sizes=(
                {
                    "batch": 5,
                    "length": 2,
                    "number": 8,
                    "vocab_size": 7,
                    "temperature": 1.0,
                    "top_p": 1.0,
                },
            ),
            hidden_sizes=(
                {
                    "batch": 7,
                    "length": 3,
                    "number": 6,
                    "vocab_size": 11,
                    "temperature": 0.7,
                    "top_p": 1.0,
                },
            ),
            invariant=draws_anew_from_its_seed,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "torch.Generator() -> torch": "torch has a generator of its own, which is seeded then"
    },
)
