"""Models of heads alone that learn to repeat: recipes, their record, and the weights of one.

The loss counts the tokens of a repeat that can be predicted, and no others, unless a recipe says
so. `make` trains models of one layer and of two, and takes them apart: heads silenced, patterns
frozen, keys exchanged, and what the second layer reads of the first, role by role.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from attn_course.data.repeats import SYMBOLS, RepeatBatch, repeat_batches
from attn_course.induction import (
    ROLES,
    AttentionOnly,
    Edit,
    after_same_token,
    exchange_keys,
    freeze,
    induction_score,
    leave,
    loss_where,
    previous_token_score,
    read_without,
    silence,
    weights_of_heads,
)
from attn_course.recurrence import count_parameters
from attn_course.trained.eight_bits import from_eight_bits, to_eight_bits
from attn_course.trained.store import save_tensors, shipped_weights, write_record
from attn_course.training import train
from attn_course.transformer import next_token_loss

NAME = "induction"
RATE, EVERY, TEST_SEED, NUM_TESTS = 3e-3, 10, 10_000, 256
MET, NEVER_MET = range(18), range(18, 27)  # differences of neighbours
KEPT = (0, 100, 150, 200, 250, 500)  # steps whose weights come with the course
DISTANCES = (8, 24, 40, 56, 72, 88, 104, 120)
PROBE, ASKED = 24, 12  # letters of which as many stand again, and the last of those asks
Run = dict[str, object]


@dataclass(frozen=True)
class Recipe:
    """A model, and what it learns from.

    Attributes:
        name: Its name in the record.
        num_layers: Number of layers.
        d_model: Width of the stream.
        num_heads: Number of heads of each layer.
        sizes: Smallest and largest size of the part that occurs twice.
        some_pairs: If True, it never meets a third of all pairs of neighbours.
        all_tokens: If True, the loss counts every token.
        steps: Number of steps.
        seeds: Seeds of weights and sequences.
    """

    name: str
    num_layers: int = 2
    d_model: int = 64
    num_heads: int = 1
    sizes: tuple[int, int] = (8, 24)
    some_pairs: bool = False
    all_tokens: bool = False
    steps: int = 500
    seeds: tuple[int, ...] = (0, 1, 2)


RECIPES = (
    Recipe("two layers", seeds=(0, 1, 2, 3, 4)),
    Recipe("one layer", num_layers=1),
    Recipe("one wide layer", num_layers=1, d_model=128),
    Recipe("two heads a layer", num_heads=2),
    Recipe("some pairs", some_pairs=True, steps=800),
    Recipe("all tokens", all_tokens=True),
    Recipe("all tokens, long repeats", all_tokens=True, sizes=(20, 32), steps=1000),
)


def make(recipes: Sequence[Recipe] = RECIPES) -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 6 minutes."""
    runs: list[Run] = []
    for recipe in recipes:
        for seed in recipe.seeds:
            model, run, kept = learn(recipe, seed)
            if not runs:
                save_tensors(__file__, NAME, kept)
                model = load_induction()  # the measured model is the stored one
            run |= measured(model)
            if recipe.some_pairs:
                run["never_met"] = _loss(model, unseen(differences=NEVER_MET))
            runs.append(run)
            settings = {
                "rate": RATE,
                "every": EVERY,
                "distances": DISTANCES,
                "counted": counted(unseen()),
            }
            write_record(__file__, NAME, runs, **settings)


def load_induction(step: int = KEPT[-1]) -> AttentionOnly:
    """The two-layer model that comes with the course, as it was after a step of its training.

    Raises:
        ValueError: The weights of this step do not come with the course.
    """
    if step not in KEPT:
        raise ValueError(f"the weights of {step=} are not here, but those of {KEPT}")
    model, stored = build(RECIPES[0], 0), load_file(shipped_weights(NAME))
    begin = f"{step}/"
    of_step = {name[len(begin) :]: w for name, w in stored.items() if name.startswith(begin)}
    model.load_state_dict(from_eight_bits(of_step))
    return model.eval().requires_grad_(False)


def build(recipe: Recipe, seed: int) -> AttentionOnly:
    """A model with random weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentionOnly(len(SYMBOLS), recipe.d_model, recipe.num_heads, recipe.num_layers)


@cache
def unseen(**settings: object) -> RepeatBatch:
    """Test sequences, the same for every model."""
    return next(repeat_batches(TEST_SEED, NUM_TESTS, **{"length": 64} | settings))


def repeat_loss(model: nn.Module, batch: RepeatBatch, edit: Edit = leave) -> Tensor:
    """Mean of `-log p` of the tokens that can be predicted."""
    return loss_where(model(batch.tokens, edit), batch.tokens, batch.again)


def all_loss(model: nn.Module, batch: RepeatBatch) -> Tensor:
    """Mean of `-log p` of all tokens."""
    return next_token_loss(model(batch.tokens), batch.tokens)


def learn(recipe: Recipe, seed: int) -> tuple[AttentionOnly, Run, dict[str, Tensor]]:
    """Train a model; return it, what is recorded on the way, and the weights of some steps."""
    model, start = build(recipe, seed), time.process_time()
    pairs = {"differences": MET if recipe.some_pairs else None}
    test = unseen(**pairs)
    looks: list[list[float]] = []
    kept: dict[str, Tensor] = {}

    def look(model: nn.Module) -> float:
        step = EVERY * len(looks)
        if step in KEPT:
            eight = to_eight_bits(model.state_dict())
            kept.update({f"{step}/{name}": weight.clone() for name, weight in eight.items()})
        looks.append(_look(model, test))
        return looks[-1][0]

    with torch.no_grad():
        look(model)
    stream = repeat_batches(seed, sizes=recipe.sizes, **pairs)
    settings = {"learning_rate": RATE, "seed": seed, "validate_every": EVERY, "progress": False}
    loss = all_loss if recipe.all_tokens else repeat_loss
    train(model, stream, loss, recipe.steps, validate=look, **settings)
    names = ("again", "elsewhere", "previous", "induction")
    by_step = dict(zip(names, map(list, zip(*looks, strict=True)), strict=True))
    run = {key: value for key, value in asdict(recipe).items() if key != "seeds"}
    run |= {"seed": seed, "parameters": count_parameters(model), **by_step}
    return model.eval(), run | {"cpu_seconds": round(time.process_time() - start, 1)}, kept


def _look(model: nn.Module, test: RepeatBatch) -> list[float]:
    """The losses at repeats and elsewhere, and the best head's scores."""
    logits, weights = model(test.tokens), weights_of_heads(model, test.tokens[:64])
    scores = previous_token_score(weights), induction_score(weights, test.tokens[:64])
    found = [loss_where(logits, test.tokens, where) for where in (test.again, ~test.again)]
    return [round(value.item(), 3) for value in (*found, *(score.max() for score in scores))]


@torch.no_grad()
def measured(model: AttentionOnly) -> Run:
    """Measure a trained model: its heads, what they are worth, and its losses on other tests."""
    test = unseen()
    weights = weights_of_heads(model, test.tokens)
    right = model(test.tokens)[:, :-1].argmax(-1) == test.tokens[:, 1:]
    found: Run = {
        "loss": _loss(model, test),
        "right": round(right[test.again[:, 1:]].double().mean().item(), 3),
        "previous_scores": _rounded(previous_token_score(weights)),
        "induction_scores": _rounded(induction_score(weights, test.tokens)),
        "lags": [_rounded(weights[0].diagonal(-lag, -2, -1).mean((0, 2))) for lag in range(4)],
        "silenced": [
            [_loss(model, test, silence(layer, head)) for head in range(weights.shape[2])]
            for layer in range(weights.shape[0])
        ],
        "by_distance": by_distance(model),
        "shuffled": _loss(model, unseen(shuffled=True)),
    }
    return found | (taken_apart(model, test) if weights.shape[0] == 2 else {})


def by_distance(model: AttentionOnly) -> list[float]:
    """The loss at repeats of each range of `DISTANCES`, in sequences twice as long as learned."""
    test, found = unseen(length=128), []
    logits = model(test.tokens)
    for low, high in pairwise(DISTANCES):
        here = (test.distance >= low) & (test.distance < high)
        loss = loss_where(logits, test.tokens, test.again & here[:, None])
        found.append(round(loss.item(), 3))
    return found


def taken_apart(model: AttentionOnly, test: RepeatBatch) -> Run:
    """Take two layers apart: role by role, with frozen patterns, with exchanged keys."""
    probes = torch.stack([_probe(seed) for seed in range(NUM_TESTS)])
    wanted, other = probes[:, ASKED], 5
    others = weights_of_heads(model, probes.roll(1, 0))[1]
    exchanged = model(probes, exchange_keys(1, ASKED, other))[:, -1].argmax(-1)
    frozen = model(probes, freeze(1, others))[:, -1].argmax(-1)
    return {
        "read_without": {
            role: _loss(model, test, without_layer_0(model, test.tokens, role)) for role in ROLES
        },
        "one_back": _loss(model, test, freeze(0, one_back(test.tokens.shape[1]))),
        "mean_pattern": _loss(model, test, freeze(0, mean_pattern(model, 0))),
        "mean_pattern_of_1": _loss(model, test, freeze(1, mean_pattern(model, 1))),
        "probe_right": _share(model(probes)[:, -1].argmax(-1) == wanted),
        "exchanged_to_other": _share(exchanged == probes[:, other]),
        "exchanged_to_wanted": _share(exchanged == wanted),
        "frozen_right": _share(frozen == wanted),
        "frozen_to_other_letters": _share(frozen == wanted.roll(1, 0)),
    }


def losses_apart(runs: Sequence[Run]) -> dict[str, Tensor]:
    """The recorded losses of models of two layers, one head each, after changes, kind by kind.

    Args:
        runs: The runs of the record; those of other models are left out.
    """
    ours = [run for run in runs if run["name"] == RECIPES[0].name]
    found = {"as it is": [run["loss"] for run in ours]}
    for role, roles in (("value", "values"), ("query", "queries"), ("key", "keys")):
        found[f"{roles} cut"] = [run["read_without"][role] for run in ours]
    for layer, name in enumerate(("mean_pattern", "mean_pattern_of_1")):
        found[f"layer {layer} frozen"] = [run[name] for run in ours]
    for layer in range(2):
        found[f"layer {layer} silent"] = [run["silenced"][layer][0] for run in ours]
    return {change: torch.tensor(losses) for change, losses in found.items()}


def without_layer_0(model: AttentionOnly, tokens: Tensor, role: str) -> Edit:
    """An edit after which layer 1 reads, for one role, nothing that a head of layer 0 has added."""
    read = model.blocks[1].norm_attention(model.embedding(tokens))
    if model.blocks[0].attention.num_heads == 1:
        return read_without(model, tokens, role, 1, (0, 0))
    return lambda number, part, given: read if (number, part) == (1, role) else given


def mean_pattern(model: AttentionOnly, layer: int) -> Tensor:
    """The mean of the patterns of a layer over sequences that are not those of the test."""
    other = next(repeat_batches(TEST_SEED + 1, NUM_TESTS))
    return weights_of_heads(model, other.tokens)[layer].mean(0)


def one_back(length: int) -> Tensor:
    """The pattern of a head that looks at the token before and at nothing else."""
    weights = torch.eye(length).roll(-1, 1).tril()
    weights[0, 0] = 1  # the first token has none before it
    return weights


def counted(batch: RepeatBatch) -> float:
    """The loss of one who counts what has followed the last token so far, and knows no more."""
    letters = torch.nn.functional.one_hot(batch.tokens, len(SYMBOLS)).double()
    shares = after_same_token(batch.tokens).double() @ letters
    shares = shares / shares.sum(-1, keepdim=True).clamp(min=1)
    return round(loss_where(shares.log(), batch.tokens, batch.again).item(), 3)


def _probe(seed: int) -> Tensor:
    """Different letters, of which the first ones stand again."""
    letters = torch.randperm(len(SYMBOLS), generator=torch.Generator().manual_seed(seed))[:PROBE]
    return torch.cat([letters, letters[:ASKED]])


def _loss(model: AttentionOnly, test: RepeatBatch, edit: Edit = leave) -> float:
    return round(repeat_loss(model, test, edit).item(), 3)


def _share(right: Tensor) -> float:
    return round(right.double().mean().item(), 3)


def _rounded(scores: Tensor) -> list[object]:
    return [[round(x, 3) for x in row] if isinstance(row, list) else round(row, 3)
            for row in scores.tolist()]  # fmt: skip
