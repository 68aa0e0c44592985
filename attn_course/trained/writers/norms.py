"""Norms in few blocks and in many, at small rates and at large ones: what are they worth?

`make` trains the small model of `ablations` with its norms, without any, and with a norm after each
sum: at each depth and rate from one seed, and then from the others at the rate that was best. What
the parts add is large beside the vector of a token, which begins small; so the deep model with its
norms is trained once more with larger ones. Like all trainings of this course, these warm up for 30
steps and clip long gradients.
"""

from collections.abc import Sequence

from attn_course.recurrence import count_parameters
from attn_course.trained.store import write_record
from attn_course.trained.writers import Run
from attn_course.trained.writers.ablations import EVERY, SEEDS, SIZES, STEPS, build, measured

NAME = "norms"
KINDS = ("nothing", "norm", "norm before")  # what is taken away
DEPTHS = (2, 8)
RATES = (4e-3, 1.6e-2, 6.4e-2)
LOUD = 50.0  # the factor with which the embedding of a token has a standard deviation of 1


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 7 minutes."""
    runs: list[Run] = []
    for depth in DEPTHS:
        for without in KINDS:
            for rate in RATES:
                runs.append(run(without, depth, rate, SEEDS[0]))
                _write(runs)
    for depth in DEPTHS:
        for without in KINDS:
            for seed in SEEDS[1:]:
                runs.append(run(without, depth, best_rate(runs, without, depth), seed))
                _write(runs)
    loud: list[Run] = []
    for seed in SEEDS:
        rate = best_rate(runs, KINDS[0], DEPTHS[-1])
        loud.append(run(KINDS[0], DEPTHS[-1], rate, seed, LOUD))
        _write(runs, loud)


def _write(runs: list[Run], loud: Sequence[Run] = ()) -> None:
    write_record(__file__, NAME, runs, steps=STEPS, every=EVERY, sizes=SIZES, loud=loud)


def best_rate(runs: list[Run], without: str, depth: int) -> float:
    """The rate at which the first seed ended with the fewest bits."""
    tried = (run for run in runs if (run["without"], run["depth"]) == (without, depth))
    ended = (run for run in tried if run["seed"] == SEEDS[0] and run["validation"])
    return min(ended, key=lambda run: run["validation"])["rate"]


def run(without: str, depth: int, rate: float, seed: int, input_scale: float | None = None) -> Run:
    """Train a model of so many blocks; record its losses, and its bits on unseen text.

    A training whose numbers grow beyond what a float can hold has no losses and no bits.
    """
    model = build(without, seed, depth)
    model.input_scale = input_scale or model.input_scale
    broken = {"seed": seed, "parameters": count_parameters(model), "losses": [], "validation": None}
    try:
        found = measured(model, seed, STEPS, rate)
    except FloatingPointError as error:
        found = broken | {"error": str(error).partition(";")[0]}
    return {"without": without, "depth": depth, "rate": rate, **found}
