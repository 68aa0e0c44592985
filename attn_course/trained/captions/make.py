"""Train and measure the captioners of all trials, and write the record `captions`."""

import time
from collections.abc import Sequence

import torch

from attn_course.captioning import Captioner
from attn_course.captions.hard_attention import HardCaptioner
from attn_course.trained.captions.measure import (
    caption_variance,
    follows,
    measure,
    one_word_variance,
    read_right,
    unseen,
)
from attn_course.trained.captions.recipes import (
    RECIPES,
    SEEDS,
    build,
    find_recipe,
    train_captioner,
    train_reader,
)
from attn_course.trained.captions.store import save_captioner
from attn_course.trained.captions.twins import sees, twins
from attn_course.trained.store import round_to_half, write_record
from attn_course.training import History

Run = dict[str, object]


def make(seeds: Sequence[int] = SEEDS) -> None:
    """Train, measure, record all trials; keep the weights of the first seed: 25 minutes."""
    runs: list[Run] = []
    for seed in seeds:
        for name, recipe in RECIPES.items():
            if seed not in recipe.seeds:
                continue
            model, run = run_recipe(name, seed)
            runs.append(run)
            if recipe.ship and seed == SEEDS[0]:
                save_captioner(name, model)
            write_record(__file__, "captions", runs)


def run_recipe(name: str, seed: int) -> tuple[Captioner, Run]:
    """Train one captioner; return it, with weights rounded as when stored, and its measurements.

    The seconds are for its own training, without the training of its eye and without measuring.
    """
    recipe, eye = find_recipe(name), train_reader(seed)
    variance: list[Run] = []
    start, measuring = time.process_time(), 0.0

    def validate(model: HardCaptioner) -> float:
        nonlocal measuring
        since = time.process_time()
        variance.append(variances(model))
        measuring += time.process_time() - since
        return 0.0  # is not asked for

    hard = issubclass(recipe.kind, HardCaptioner)
    before = [variances(build(name, eye.vision, seed).eval())] if hard else []
    start = time.process_time()
    model, history = train_captioner(name, seed, validate=validate if hard else None)
    seconds = time.process_time() - start - measuring
    round_to_half(model.eval())
    run: Run = {"trial": name, "seed": seed, "cpu_seconds": round(seconds)}
    run |= describe(model, history) | {"eye": read_right(eye)} | measure(model)
    if recipe.moved:
        run["moved"] = moved(model)
    if recipe.twins:
        run["twins"] = {what: sees(model, batch) for what, batch in twins().items()}
    if hard:
        steps = [0, *history.validation_steps]
        run["variance"] = [
            {"steps": at} | found for at, found in zip(steps, before + variance, strict=True)
        ]
    return model, run


def variances(model: HardCaptioner) -> Run:
    """Variances of the gradient: of one word, summed exactly, and of a caption, estimated."""
    return {"word": one_word_variance(model), "caption": caption_variance(model)}


def moved(model: Captioner) -> Run:
    """Answers when the weight is moved at the word alone, and at the word and its article."""
    return {"word": follows(model, unseen()), "with_article": follows(model, unseen(), True)}


def describe(model: Captioner, history: History) -> Run:
    """Sizes and losses; the losses are means over 100 steps."""
    parts = torch.tensor(history.losses).split(100)
    return {
        "steps": history.steps,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "losses": [round(part.mean().item(), 3) for part in parts],
    }
