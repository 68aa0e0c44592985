"""Part C of problem set 11: a test for leaks, tried on models that leak and models that do not.

The models come from `attn_bank.language_models`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    name_kind,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.language_models import Model

ALLOWED = 1e-4  # of the largest logit
FEW = 10  # trials that say nothing of how a place is drawn
SIZES = {"vocab_size": 7, "length": 6, "trials": 100}
OTHERS = {"vocab_size": 5, "length": 8, "trials": 100}


def reference(model: Model, vocab_size: int, length: int, trials: int) -> bool:
    return any(_tells(model, *_draw(vocab_size, length)) for _ in range(trials))


def _draw(vocab_size: int, length: int, batch: int = 1) -> tuple[Tensor, Tensor, int]:
    """A text, another one that is the same up to a place and nowhere behind it, and that place."""
    tokens = torch.randint(vocab_size, (batch, length))
    others = (tokens + torch.randint(1, vocab_size, (batch, length))) % vocab_size
    place = int(torch.randint(1, length, ()))
    return tokens, torch.cat([tokens[:, :place], others[:, place:]], 1), place


def _tells(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    """True if the logits before the place depend on what stands there or behind it."""
    before, after = (model(text)[:, :place] for text in (tokens, changed))
    return _differ(before, after)


def _differ(one: Tensor, other: Tensor, allowed: float = ALLOWED) -> bool:
    return bool((one - other).abs().max() > allowed * one.abs().max())


def give_model(
    generator: Generator, model: str, vocab_size: int, length: int, trials: int
) -> Inputs:
    return {
        "model": Model(model, draw_normal(generator, vocab_size, 8), length),
        "vocab_size": vocab_size,
        "length": length,
        "trials": trials,
    }


def is_judged_right(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    model = replace(inputs["model"], calls=[])
    verdict = call(inputs | {"model": model})
    if isinstance(verdict, Tensor) and verdict.numel() == 1:
        verdict = verdict.item()
    if not isinstance(verdict, bool):
        kind = name_kind(verdict)
        return f"it returns {kind}; expected True or False", kind
    if verdict == model.leaks:
        return None
    shown = verdict or _is_shown(model)
    if not shown and 0 < len(model.calls) <= 2:
        said = f"it finds no leak in `{model.name}` after a single trial of {inputs['trials']}"
        return said, "one trial"
    if not shown and 0 < len({str(text) for text in model.calls}) <= 2:
        return f"it finds no leak in `{model.name}`, and has tried a single text", "one text"
    if not shown and _cuts_at_one_place(model):
        return f"it finds no leak in `{model.name}`, and changes texts at one place", "one place"
    if verdict:
        return f"it finds a leak in `{model.name}`, a model that {model.what}", [model.name]
    return f"it finds no leak in `{model.name}`, a model that {model.what}", [model.name]


def _is_shown(model: Model) -> bool:
    """True if the first two texts that the model was called with show its leak."""
    texts = [torch.tensor(text) for text in model.calls[:2]]
    if len(texts) < 2 or texts[0].shape != texts[1].shape:
        return False
    place = int((texts[0] != texts[1]).any(0).long().argmax())
    return place > 0 and _tells(replace(model, calls=[]), *texts, place)


def _cuts_at_one_place(model: Model) -> bool:
    """True if most texts that the model was called with differ from the next at the same place."""
    texts = [torch.tensor(text) for text in model.calls]
    pairs = zip(texts[::2], texts[1::2], strict=False)
    places = [
        int((one != other).any(0).long().argmax())
        for one, other in pairs
        if one.shape == other.shape
    ]
    return len(places) >= FEW and max(Counter(places).values()) > len(places) * 2 / 3


mistake = Mistakes()


def _test(judge: Callable[[Model, Tensor, Tensor, int], bool]) -> Callable[..., bool]:
    """A test that finds a leak where `judge` does so in one of the trials."""

    def answer(model: Model, vocab_size: int, length: int, trials: int) -> bool:
        return any(judge(model, *_draw(vocab_size, length)) for _ in range(trials))

    return answer


@mistake
def finds_none(model, vocab_size, length, trials):
    """your test finds no leak in any model. Is the changed text a `clone`, or the same tensor? Is a
    single trial that shows a leak enough? And is there a path on which it returns True?"""
    return False


def _compare_all_places(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return _differ(model(tokens), model(changed))


def _compare_the_place_too(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return _differ(model(tokens)[:, : place + 1], model(changed)[:, : place + 1])


def _compare_what_comes_after(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return _differ(model(tokens)[:, place:], model(changed)[:, place:])


def _change_what_comes_before(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    front = torch.cat([tokens[:, :place].flip(1), tokens[:, place:]], 1)
    return _differ(model(tokens), model(front))


@mistake(
    also=(
        _test(_compare_all_places),
        _test(_compare_the_place_too),
        _test(_compare_what_comes_after),
        _test(_change_what_comes_before),
    )
)
def finds_some_everywhere(model, vocab_size, length, trials):
    """your test finds a leak in a model that reads each token by itself. Which logits do you
    compare? Those at a changed token and behind it may differ; those **before** the first change
    may not, `[:, :place]`. And is there a path on which it returns False?"""
    return True


@mistake
def changes_what_comes_before(model, vocab_size, length, trials):
    """your test finds a leak in a model that looks back, as each may. Change tokens from the place
    on, and compare the logits before it: yours does the reverse"""

    def judge(model, tokens, changed, place):
        front = torch.cat([changed[:, place:], changed[:, :place]], 1)[:, :place]
        changed = torch.cat([front, tokens[:, place:]], 1)
        return _compare_what_comes_after(model, tokens, changed, place)

    return _test(judge)(model, vocab_size, length, trials)


@mistake(computes=then(reference, lambda leak: not leak))
def says_the_opposite():
    """your test is right the other way round: True says that there is a leak"""


def _look_at_the_first_place(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    others = torch.randint(len(model.embedding), tokens.shape)
    return _tells(model, tokens, torch.cat([tokens[:, :1], others[:, 1:]], 1), 1)


def _change_the_last_token(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    last = tokens.shape[1] - 1
    changed = torch.cat([tokens[:, :last], changed[:, last:]], 1)
    return _tells(model, tokens, changed, last)


def _cut_in_the_middle(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    middle = tokens.shape[1] // 2
    others = (tokens + 1) % len(model.embedding)
    return _tells(model, tokens, torch.cat([tokens[:, :middle], others[:, middle:]], 1), middle)


def _draw_the_place_once(model: Model, vocab_size: int, length: int, trials: int) -> bool:
    place = int(torch.randint(1, length, ()))
    for _ in range(trials):
        tokens, changed, _ = _draw(vocab_size, length)
        changed = torch.cat([tokens[:, :place], changed[:, place:]], 1)
        if _tells(model, tokens, changed, place):
            return True
    return False


@mistake(
    points=4,
    evidence="one place",
    also=(_test(_look_at_the_first_place), _test(_cut_in_the_middle), _draw_the_place_once),
)
def always_cuts_at_one_place(model, vocab_size, length, trials):
    """a model that leaks at one place only gets past you: the place from which on you change tokens
    is drawn anew in each trial, from 1 to `length - 1`"""
    return _test(_change_the_last_token)(model, vocab_size, length, trials)


def _skipping(first: int, last: int) -> Callable[..., bool]:
    """A test that draws a place from `first` to so many before the last."""

    def judge(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
        return first <= place < tokens.shape[1] - last and _tells(model, tokens, changed, place)

    return _test(judge)


@mistake(points=4, computes=_skipping(2, 0))
def never_cuts_behind_the_first():
    """a model that tells its first place what the second token is gets past you; the place that you
    draw may be 1: only one logit is compared then, the first"""


@mistake(points=4, computes=_skipping(1, 1))
def never_cuts_before_the_last():
    """a model that leaks nothing but the last token, to the place before it, gets past you; draw
    the place up to `length - 1`: `torch.randint` stops one below its `high` by itself"""


@mistake
def leaves_the_next_token_alone(model, vocab_size, length, trials):
    """a model that sees just one token ahead gets past you: the first token that you change is to
    stand right behind the last logits that you compare, so `changed[:, place:]` goes with `[:,
    :place]`"""

    def judge(model, tokens, changed, place):
        return place > 1 and _tells(model, tokens, changed, place - 1)

    return _test(judge)(model, vocab_size, length, trials)


@mistake(points=3, evidence="one trial")
def tries_once(model, vocab_size, length, trials):
    """you are done after a single trial, and a model that leaks now and then gets through. Is your
    `return False` inside the loop?"""
    return _tells(model, *_draw(vocab_size, length))


@mistake(points=3, evidence="one text")
def draws_the_same_each_time(model, vocab_size, length, trials):
    """you try the same text and the same change in every trial, so a model that leaks with others
    gets past you; draw anew in each, and set no seed there"""
    tokens, changed, place = _draw(vocab_size, length)
    return any(_tells(model, tokens, changed, place) for _ in range(trials))


def _turn_round(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    turned = tokens[:, place:].flip(1)
    return _tells(model, tokens, torch.cat([tokens[:, :place], turned], 1), place)


def _move_on(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    moved = tokens[:, place:].roll(1, 1)
    return _tells(model, tokens, torch.cat([tokens[:, :place], moved], 1), place)


@mistake(also=(_test(_turn_round), _test(_move_on)))
def shuffles_what_comes(model, vocab_size, length, trials):
    """you put the tokens from the place on into another order; a model that leaks which they are,
    in any order, gets past you, and a last token alone has no other order. Draw new ones"""

    def judge(model, tokens, changed, place):
        order = place + torch.randperm(length - place)
        return _tells(model, tokens, torch.cat([tokens[:, :place], tokens[:, order]], 1), place)

    return _test(judge)(model, vocab_size, length, trials)


@mistake
def draws_place_zero(model, vocab_size, length, trials):
    """the place that you draw may be 0, and before that there is no logit to compare; draw it from
    1 to `length - 1`"""
    for place in torch.randint(length, (trials,)).tolist():
        tokens, changed, _ = _draw(vocab_size, length)
        if _tells(model, tokens, torch.cat([tokens[:, :place], changed[:, place:]], 1), place):
            return True
    return False


def _try_all_of_them(model: Model, vocab_size: int, length: int, trials: int) -> bool:
    found = [_tells(model, *_draw(vocab_size, length)) for _ in range(trials)]
    return all(found)


@mistake(also=(_try_all_of_them,))
def wants_every_trial_to_leak(model, vocab_size, length, trials):
    """you find a leak only if every trial shows it; one that does is enough"""
    return all(_tells(model, *_draw(vocab_size, length)) for _ in range(trials))


@mistake(points=4)
def allows_no_rounding(model, vocab_size, length, trials):
    """you want the logits to be equal to the last digit; a sum in another order is rounded
    differently, and that is no leak. Allow a ten-thousandth of the largest logit"""

    def judge(model, tokens, changed, place):
        return not torch.equal(model(tokens)[:, :place], model(changed)[:, :place])

    return _test(judge)(model, vocab_size, length, trials)


def _let_torch_decide(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    before, after = (model(text)[:, :place] for text in (tokens, changed))
    return not torch.isclose(before, after, atol=ALLOWED).all()


@mistake(points=4, also=(_test(_let_torch_decide),))
def allows_the_same_at_any_size(model, vocab_size, length, trials):
    """you allow the same error whatever the size of the logits; large ones have larger errors of
    rounding, and small ones none. Allow a ten-thousandth of the largest logit"""

    def judge(model, tokens, changed, place):
        error = model(tokens)[:, :place] - model(changed)[:, :place]
        return bool(error.abs().max() > ALLOWED)

    return _test(judge)(model, vocab_size, length, trials)


def _bounding(bound: Callable[[Tensor, int], Tensor]) -> Callable[..., bool]:
    """A test that allows errors up to what `bound` makes of all logits and of the place."""

    def judge(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
        logits = model(tokens)
        error = (logits - model(changed))[:, :place].abs()
        return bool((error > bound(logits, place)).any())

    return _test(judge)


def _with_the_defaults_of_torch(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return not torch.isclose(model(tokens)[:, :place], model(changed)[:, :place]).all()


@mistake(
    points=4,
    computes=_bounding(lambda logits, place: ALLOWED * logits[:, :place].abs()),
    also=(_test(_with_the_defaults_of_torch),),
)
def bounds_each_logit_by_itself():
    """you allow each logit an error by its own size, and one that is 0 but for rounding has next to
    none, so rounding is a leak; the largest logit sets the bound for all of them"""


@mistake(points=4, computes=_bounding(lambda logits, place: ALLOWED * logits[:, :place].max()))
def forgets_that_logits_may_be_negative():
    """where all logits are below zero, you find a leak whatever they are: your bound is below zero,
    too. It goes by the largest `|logit|`"""


@mistake(points=4, computes=_bounding(lambda logits, place: ALLOWED * logits.abs().max()))
def takes_the_bound_from_all_places():
    """a leak in front gets past you if the logits at the last place are far larger: only those
    before the place set the bound"""


def _allow_a_tenth(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return _differ(model(tokens)[:, :place], model(changed)[:, :place], 0.1)


def _compare_means(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    before, after = (model(text)[:, :place] for text in (tokens, changed))
    return bool((before - after).mean().abs() > ALLOWED * before.abs().max())


def _allow_a_thousandth(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    return _differ(model(tokens)[:, :place], model(changed)[:, :place], 0.001)


def _compare_the_mean_error(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    before, after = (model(text)[:, :place] for text in (tokens, changed))
    return bool((before - after).abs().mean() > ALLOWED * before.abs().max())


def _compare_sums(model: Model, tokens: Tensor, changed: Tensor, place: int) -> bool:
    before, after = (model(text)[:, :place] for text in (tokens, changed))
    return bool((before.sum() - after.sum()).abs() > ALLOWED * before.abs().max())


@mistake(
    points=4,
    also=(
        _test(_allow_a_thousandth),
        _test(_compare_means),
        _test(_compare_sums),
        _test(_compare_the_mean_error),
    ),
)
def allows_too_much(model, vocab_size, length, trials):
    """a leak of some ten-thousandths of the largest logit gets past you, or a louder one. Do you
    allow more than one of them, or compare means or sums? The largest error of all logits
    counts"""
    return _test(_allow_a_tenth)(model, vocab_size, length, trials)


@mistake(points=1)
def compares_what_is_likeliest(model, vocab_size, length, trials):
    """you compare the most probable tokens, and a leak may change the probabilities without
    changing their order; compare the logits"""

    def judge(model, tokens, changed, place):
        before, after = (model(text)[:, :place].argmax(-1) for text in (tokens, changed))
        return not torch.equal(before, after)

    return _test(judge)(model, vocab_size, length, trials)


@mistake(points=4, also=(given(reference, vocab_size=2),))
def never_draws_the_last_token(model, vocab_size, length, trials):
    """your texts never hold the token `vocab_size - 1`, and a model may leak of it alone; draw from
    all tokens: `torch.randint(high, ...)` stops one below `high` by itself"""
    return reference(model, vocab_size - 1, length, trials)


def models(sizes: dict[str, int], *names: str) -> tuple[dict[str, int | str], ...]:
    return tuple({"model": name, **sizes} for name in names)


EXERCISE = Exercise(
    function="leaks",
    reference=reference,
    minutes=25,
    axes={"vocab_size": 19, "length": 17},
    may_use=None,
    contract=Contract(points=0),
    checks=(
        Check(
            "it tells models that look back from those that see what comes, at any distance",
            3,
            give_model,
            sizes=models(
                SIZES,
                "reads_each_token_alone",
                "looks_back",
                "remembers",
                "looks_everywhere",
                "looks_one_ahead",
                "repeats_the_next",
                "masks_after_the_softmax",
            ),
            hidden_sizes=models(
                OTHERS, "looks_back", "remembers", "looks_one_ahead", "masks_after_the_softmax"
            ),
            easier=True,
            invariant=is_judged_right,
        ),
        Check(
            "it finds a leak at one place only, from far ahead only, or of one token only",
            1,
            give_model,
            sizes=models(
                SIZES,
                "looks_back",
                "hears_the_last_at_the_first",
                "tells_the_first_what_follows",
                "tells_the_third_what_follows",
                "tells_the_last_but_one_what_follows",
                "hears_the_last_word",
            ),
            hidden_sizes=models(
                OTHERS,
                "hears_the_last_at_the_first",
                "tells_the_first_what_follows",
                "tells_the_third_what_follows",
                "tells_the_last_but_one_what_follows",
            ),
            invariant=is_judged_right,
        ),
        Check(
            "logits may be large, small or rounded: rounding is no leak, and a whisper is one",
            1,
            give_model,
            sizes=models(
                SIZES,
                "sums_in_another_order",
                "cancels_a_logit",
                "says_nothing",
                "speaks_loudly",
                "ends_loudly",
                "moves_a_little_over",
                "moves_one_logit",
                "whispers",
                "whispers_softly",
            ),
            hidden_sizes=models(
                OTHERS,
                "cancels_a_logit",
                "speaks_loudly",
                "ends_loudly",
                "moves_one_logit",
                "whispers_softly",
            ),
            invariant=is_judged_right,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "1 -> 2": "two texts are tried at a time, and are changed in the same way",
        "(model(changed)[:, :place] - before).abs() -> model(changed)[:, :place] - before": (
            "a leak moves a logit up in one trial and down in another, and there are many trials"
        ),
    },
)
