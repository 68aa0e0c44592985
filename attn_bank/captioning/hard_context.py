"""Part C of problem set 06: hard attention draws a cell; it does not take the one that scores best.

What is drawn is chance, so the laws below say what holds of every draw, and of many together.
"""

import math
from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, name_kind, then
from torch import Generator, Tensor
from torch.distributions import Distribution, Exponential, Normal, Uniform

from attn_bank.draws import draw_normal

Drawn = tuple[Tensor, Tensor]
# Of a right answer, the deviance of the counts of six cells (chi-squared, 5 degrees) exceeds 45
# once in 7 * 10**7 times, and a mean is off by more than 5.5 of its standard deviations once in
# 2 * 10**7.
MAX_DEVIANCE = 45.0
MAX_DEVIATIONS = 5.5
MANY = 1000  # pictures


def reference(scores: Tensor, features: Tensor) -> Drawn:
    return _at(features, _draw(_weights(scores)))


def _weights(scores: Tensor) -> Tensor:
    return torch.softmax(scores.flatten(1), -1)


def _draw(weights: Tensor) -> Tensor:
    return torch.multinomial(weights, 1).squeeze(1)


def _at(features: Tensor, cells: Tensor) -> Drawn:
    """The features of one cell of each picture, and the cells."""
    return features.flatten(1, 2)[torch.arange(len(cells), device=cells.device), cells], cells


def draw_grids(generator: Generator, batch: int, height: int, width: int, d_feature: int) -> Inputs:
    """Scores that leave several cells a chance."""
    return {
        "scores": 0.5 * draw_normal(generator, batch, height, width),
        "features": draw_normal(generator, batch, height, width, d_feature),
    }


def draw_many_times(generator: Generator, images: int, times: int, **sizes: int) -> Inputs:
    """A few pictures, each of them twice, and all that many times, one behind the other.

    In the first picture rows that are all alike stand by rows with one high score, and the two
    weigh about the same; in the second picture so do columns.
    """
    inputs = draw_grids(generator, batch=images, **sizes)
    scores = inputs["scores"] = 2 * inputs["scores"]
    by_turns = torch.stack([_by_turns(scores[0]), _by_turns(scores[0].mT).mT])
    scores[:2] = 0.2 * scores[:2] + by_turns[:images]
    twice = {name: value.repeat_interleave(2, 0) for name, value in inputs.items()}
    return {name: value.repeat(times, *[1] * (value.ndim - 1)) for name, value in twice.items()}


def _by_turns(scores: Tensor) -> Tensor:
    """Rows of zeros, and between them rows with one score above zero and the others below."""
    width = scores.shape[1]
    peaked = torch.full_like(scores, -2.0)
    peaked[:, -1] = math.log(width)  # which makes up for a row of zeros
    return peaked * (torch.arange(len(scores)) % 2).unsqueeze(1)


def draw_certain_grids(generator: Generator, low: int, **sizes: int) -> Inputs:
    """One cell of each picture scores 200 above all others, or is the only one that may be drawn.

    With `low` all score some hundreds below zero but for the first picture; without, the one cell
    of the first picture does.
    """
    inputs = draw_grids(generator, **sizes)
    scores = inputs["scores"].flatten(1)
    best = torch.randint(scores.shape[1], (len(scores), 1), generator=generator)
    scores = (scores - 600).scatter(1, best, -400) if low else scores.scatter(1, best, 300)
    if low:
        scores[0] += 900
    else:
        scores[0] = (scores[0] - 500).masked_fill(scores[0] < 300, -torch.inf)
    return inputs | {"scores": scores.view(inputs["scores"].shape)}


def is_of_one_cell(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """The context is what stands at the cell that is said to have been drawn."""
    features = inputs["features"]
    if wrong := _wrong_form(output := call(inputs), features):
        return wrong
    context, cells = output
    off = (context.unsqueeze(1) - features.flatten(1, 2)).abs().amax(-1)
    near = off < 1e-12  # a cell times 1 and the others times 0 is rounded
    if near[torch.arange(len(cells)), cells].all():
        return None
    if near.any(-1).all():
        return "each context belongs to a cell, but not to the cell that you return", "other cell"
    return "your context is not what stands at one cell of its picture", [context]


def _wrong_form(output: Plain, features: Tensor) -> tuple[str, Plain] | None:
    """The fault in the form of an answer's two tensors, apart from their numbers; None without
    one."""
    if not isinstance(output, list | tuple) or len(output) != 2:
        kind = name_kind(output)
        return f"it returns {kind}; expected two things, the context and the cells", kind
    context, cells = output
    batch, height, width, d_feature = features.shape
    for what, part, shape in (("context", context, (batch, d_feature)), ("cells", cells, (batch,))):
        if not isinstance(part, Tensor) or part.shape != shape:
            kind = name_kind(part)
            return f"the {what}: it is {kind}; expected a tensor of shape {shape}", [what, kind]
    if cells.is_floating_point() or cells.dtype == torch.bool:
        return f"the cells are {cells.dtype}; expected whole numbers", "no numbers"
    if context.dtype != features.dtype:
        return f"the context is {context.dtype} and should be {features.dtype}", "other dtype"
    if cells.min() < 0 or cells.max() >= height * width:
        return f"the cells go to {cells.max()}; there are {height * width}, from 0 on", "no cell"
    return None


def follows_the_weights(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """Each cell of each picture is drawn as often as its weight says, whatever others drew."""
    scores, output = inputs["scores"], call(inputs)
    if wrong := _wrong_form(output, inputs["features"]):
        return wrong
    images, cells = scores.unique(dim=0, return_inverse=True)[1], output[1].long()
    weights = _weights(scores.double())
    alike = "pictures with the same scores get the same cell; each draws for itself", ["one draw"]
    if _is_one_draw(cells, images, weights):
        return alike
    if (cells == weights.argmax(1)).all():  # always, or by chance with this one draw for all
        again = (call(inputs, seed)[1] for seed in range(1, 9))
        if any(_is_one_draw(other.long(), images, weights) for other in again):
            return alike
    counts = _count(cells, images, weights)
    if not _fits(counts, images, weights):
        return _off_the_weights(counts, images, scores)
    if _depends(cells, images, weights):
        reason = "the draws hang together: the draw of one picture tells something of another"
        return f"{reason}; each draws for itself", ["together"]
    few = {name: value[:200] for name, value in inputs.items()}
    if torch.equal(call(few, 1)[1], call(few, 2)[1]):
        return "each call draws the same cells: a seed is set inside", ["a seed"]
    return None


def _is_one_draw(cells: Tensor, images: Tensor, weights: Tensor) -> bool:
    """True if pictures with the same scores all get the same cell, and not the best."""
    first = torch.stack([cells[images == image][0] for image in images.unique()])
    return bool((cells == first[images]).all() and (cells != weights.argmax(1)).any())


def _count(cells: Tensor, images: Tensor, weights: Tensor) -> Tensor:
    """The times that each cell was drawn for each picture, (images, num_cells), in float64."""
    one_hot = torch.nn.functional.one_hot(cells, weights.shape[1]).double()
    return one_hot.new_zeros(int(images.max()) + 1, weights.shape[1]).index_add(0, images, one_hot)


def _off_the_weights(counts: Tensor, images: Tensor, scores: Tensor) -> tuple[str, Plain]:
    """Name the cell whose count is furthest from its weight, and the weights that fit better."""
    weights = _weights(scores.double())
    of_image = _alone(images, weights)
    times = counts.sum(1, keepdim=True)
    image, cell = divmod(int((counts / times - of_image).abs().argmax()), counts.shape[1])
    reason = (
        f"cell {cell} of picture {int((images == image).int().argmax())} has the weight"
        f" {of_image[image, cell]:.3f} and was drawn {int(counts[image, cell])} times of"
        f" {int(times[image])}"
    )
    others = _others(scores).items()
    fitting = {name: w for name, w in others if _fits(counts, images, w)}
    like = min(fitting, key=lambda name: _far(counts, images, fitting[name]), default=None)
    if like is None:
        return reason, "unlike"
    return reason, [like.partition(" by ")[0]]  # a list is recognised by itself


def _alone(images: Tensor, weights: Tensor) -> Tensor:
    """The weights of each picture once, (images, num_cells)."""
    return torch.stack([weights[images == image][0] for image in images.unique()])


def _fits(counts: Tensor, images: Tensor, weights: Tensor) -> bool:
    """True if each picture's counts are near enough, and the mean log-weight over all pictures
    too."""
    alone = _alone(images, weights)
    expected = counts.sum(-1, keepdim=True) * alone
    if not (deviance(counts, expected) < MAX_DEVIANCE).all():
        return False
    level = alone.clamp_min(1e-12).log()
    mean = (alone * level).sum(-1, keepdim=True)
    variance = (expected * (level - mean).square()).sum()
    return bool(
        ((counts - expected) * level).sum().abs() <= MAX_DEVIATIONS * variance.sqrt() + 1e-6
    )


def _far(counts: Tensor, images: Tensor, weights: Tensor) -> float:
    expected = counts.sum(-1, keepdim=True) * _alone(images, weights)
    return float(deviance(counts, expected).sum())


def deviance(counts: Tensor, expected: Tensor) -> Tensor:
    """The deviance of the counts from the expected ones, (images,): the G of a G-test."""
    return 2 * torch.xlogy(counts, counts / expected.clamp_min(1e-9)).sum(-1)


def _depends(cells: Tensor, images: Tensor, weights: Tensor) -> bool:
    """True if one picture's getting its best cell, or not, tells whether another gets its own.

    The other is the next one, the same picture in the next round, or half a batch on.
    """
    chance, best = weights.max(1)
    off = ((cells == best).double() - chance) / (chance * (1 - chance)).sqrt()
    lags = (1, 2 * (int(images.max()) + 1), len(off) // 2)
    return any(_hangs_together(off[lag:] * off[:-lag]) for lag in lags)


def _hangs_together(products: Tensor) -> bool:
    """True if the mean of products, each with mean 0 and variance 1, is too far from 0."""
    return bool(products.mean().abs() > MAX_DEVIATIONS / len(products) ** 0.5)


def _others(scores: Tensor) -> dict[str, Tensor]:
    """By what else cells are drawn, the weights for it, (images, num_cells)."""
    scores = scores.double()
    weights = _weights(scores)
    best = weights == weights.amax(-1, keepdim=True)
    return {
        "best": best.double(),
        "alike": torch.full_like(weights, 1 / weights.shape[-1]),
        "worst": _weights(-scores),
        "twice": torch.softmax(weights, -1),
        "rows": torch.softmax(scores, -1).flatten(1) / scores.shape[1],
        "columns": torch.softmax(scores, -2).flatten(1) / scores.shape[2],
        "batch": _sums_to_one(torch.softmax(scores.flatten(1), 0)),
        "squares": _sums_to_one(weights.square()),
        "transposed": _weights(scores.mT),
        "best two": _best_two(weights),
        "sides": _by_sides(scores.sum(2), scores.sum(1)),
        "sums": _by_sums(weights.view(scores.shape)),
        "mean sides": _by_sides(scores.mean(2), scores.mean(1)),
        "row by maximum": _by_row(scores.amax(2), scores),
        "row by mean": _by_row(scores.mean(2), scores),
        "row by sum": _by_row(scores.sum(2), scores),
        "cut off": _sums_to_one(scores.clamp_min(0).flatten(1) + 1e-9),
        "roots": _sums_to_one(weights.sqrt()),
        "noise by exponentials": _highest_with(Exponential(1.0, validate_args=False), scores),
        "noise by a bell": _highest_with(Normal(0.0, 1.0, validate_args=False), scores),
        "noise by dice": _highest_with(Uniform(0.0, 1.0, validate_args=False), scores),
    }


def _highest_with(noise: Distribution, scores: Tensor) -> Tensor:
    """The weights if that cell is taken whose score is the highest with noise of this kind."""
    rows, turn = scores.flatten(1).unique(dim=0, return_inverse=True)
    steps = (torch.arange(1000, dtype=scores.dtype, device=scores.device) + 0.5) / 1000
    apart = (rows.unsqueeze(2) - rows.unsqueeze(1)).unsqueeze(-1)
    below = noise.cdf(noise.icdf(steps) + apart).clamp(0, 1)
    itself = torch.eye(rows.shape[1], dtype=torch.bool, device=scores.device).unsqueeze(-1)
    return _sums_to_one(below.masked_fill(itself, 1).prod(2).mean(-1))[turn]


def _best_two(weights: Tensor) -> Tensor:
    return _sums_to_one(weights * (weights >= weights.topk(2).values[:, 1:]))


def _by_sides(rows: Tensor, columns: Tensor) -> Tensor:
    """The weights if a row and a column are drawn by scores of their own."""
    return (rows.softmax(-1).unsqueeze(2) * columns.softmax(-1).unsqueeze(1)).flatten(1)


def _by_row(rows: Tensor, scores: Tensor) -> Tensor:
    """The weights if a row is drawn by scores of its own, and a cell of this row by its own
    score."""
    return (rows.softmax(-1).unsqueeze(2) * scores.softmax(-1)).flatten(1)


def _by_sums(weights: Tensor) -> Tensor:
    """The weights if a row and a column are drawn apart, each by the sum of its weights."""
    return (weights.sum(2, keepdim=True) * weights.sum(1, keepdim=True)).flatten(1)


def _sums_to_one(weights: Tensor) -> Tensor:
    return weights / weights.sum(-1, keepdim=True)


def _hard(weights: Tensor, features: Tensor) -> Drawn:
    return _at(features, _draw(weights))


mistake = Mistakes()


@mistake(points=2)
def takes_the_highest_score(scores, features):
    """you take the highest score, and always the same cell; draw one. The highest score is drawn
    most often, and the others as often as their weights say"""
    return _at(features, scores.flatten(1).argmax(1))


def _draw_allowed_cells_alike(scores: Tensor, features: Tensor) -> Drawn:
    return _hard((scores.flatten(1) > -torch.inf).to(scores.dtype), features)


@mistake(points=1, evidence=["alike"], also=(_draw_allowed_cells_alike,))
def draws_all_cells_alike(scores, features):
    """you draw all cells alike; their weights are the probabilities"""
    return _hard(torch.ones_like(scores.flatten(1)), features)


def _give_scores_as_probabilities(scores: Tensor, features: Tensor) -> Drawn:
    return _at(features, torch.distributions.Categorical(scores.flatten(1)).sample())


@mistake(also=(_give_scores_as_probabilities,))
def draws_by_the_scores(scores, features):
    """you draw with the scores as probabilities, and some are below 0; the softmax makes
    probabilities of them. (`Categorical` takes scores as `logits=...` only)"""
    return _hard(scores.flatten(1), features)


@mistake(points=1, evidence=["cut off"])
def draws_by_the_scores_above_zero(scores, features):
    """you draw with the scores as probabilities, and a cell that scores below 0 is never drawn; the
    softmax makes a probability of every score"""
    return _hard(scores.flatten(1).clamp_min(0) + 1e-9, features)


@mistake(points=1, evidence=["worst"])
def draws_the_worst(scores, features):
    """your signs are turned round: you draw most often where the score is lowest"""
    return _hard(_weights(-scores), features)


@mistake(points=1, evidence=["twice"])
def softens_twice(scores, features):
    """you take the softmax of weights, which makes them nearly alike; one softmax, of the scores,
    is enough. (`Categorical(logits=...)` takes one too: give it scores, or `probs=weights`)"""
    return _hard(torch.softmax(_weights(scores), -1), features)


def takes_weights_for_scores(scores: Tensor, features: Tensor) -> Drawn:
    drawn = torch.distributions.Categorical(logits=_weights(scores)).sample()
    return _at(features, drawn)


@mistake(points=1, evidence=["rows"])
def draws_from_rows(scores, features):
    """each row of your grid has a softmax of its own, so that all rows are drawn alike; take one
    softmax over all cells"""
    return _hard(torch.softmax(scores, -1).flatten(1), features)


@mistake(points=1, evidence=["columns"])
def draws_from_columns(scores, features):
    """each column of your grid has a softmax of its own, so that all columns are drawn alike; take
    one softmax over all cells"""
    return _hard(torch.softmax(scores, -2).flatten(1), features)


@mistake(points=1, evidence=["batch"])
def weighs_images_against_each_other(scores, features):
    """your softmax runs over the pictures of the batch; it runs over the cells of each"""
    return _hard(torch.softmax(scores.flatten(1), 0), features)


@mistake(points=2)
def draws_from_the_squares(scores, features):
    """your scores count twice, so that you draw with the squares of the weights; take one softmax
    of the scores as they are"""
    return _hard(_weights(2 * scores), features)


@mistake(points=2)
def draws_among_the_best_two(scores, features):
    """you draw among the best cells only; every cell has its chance"""
    return _hard(_best_two(_weights(scores)), features)


@mistake(points=1)
def draws_once_for_the_batch(scores, features):
    """you draw one cell, by the weights of the first picture, for the whole batch; each picture has
    weights of its own and draws for itself"""
    cell = _draw(_weights(scores[:1]))
    return _at(features, cell.expand(len(scores)))


@mistake(points=2)
def draws_one_number_for_the_batch(scores, features):
    """one random number decides for the whole batch, so that pictures with the same scores get the
    same cell; each picture draws for itself"""
    cumulated = _weights(scores.double()).cumsum(-1)
    chance = torch.rand((), dtype=torch.float64)
    return _at(features, (cumulated <= chance * cumulated[:, -1:]).sum(1))


@mistake(points=2)
def shares_random_numbers(scores, features):
    """your pictures share random numbers, so that from the draw of one the draw of another can be
    told; each needs one of its own"""
    cumulated = _weights(scores.double()).cumsum(-1)
    chance = torch.rand(len(scores) // 2 + 1, 1, dtype=torch.float64).repeat_interleave(2, 0)
    return _at(features, (cumulated <= chance[: len(scores)] * cumulated[:, -1:]).sum(1))


@mistake(points=2)
def sets_a_seed(scores, features):
    """you set a seed inside, so that every call draws the same, and in training no other cell
    would ever be tried. Leave seeds to the caller"""
    torch.manual_seed(0)
    return reference(scores, features)


@mistake(points=3)
def draws_twice(scores, features):
    """you draw twice, once for the context and once for the cell that you return; draw once, and
    keep it"""
    weights = _weights(scores)
    return _at(features, _draw(weights))[0], _draw(weights)


@mistake(points=3)
def returns_the_mean(scores, features):
    """your context is the mean of all cells: soft attention. Hard attention looks at the one cell
    that was drawn, and at nothing else"""
    weights = _weights(scores)
    context = (weights.unsqueeze(-1) * features.flatten(1, 2)).sum(1)
    return context, _draw(weights)


@mistake(points=3)
def blends_by_noisy_weights(scores, features):
    """your context is a mixture of all cells, by weights with noise in them: `gumbel_softmax`
    draws one cell only with `hard=True`"""
    weights = torch.nn.functional.gumbel_softmax(scores.flatten(1))
    return (weights.unsqueeze(-1) * features.flatten(1, 2)).sum(1), weights.argmax(1)


@mistake(points=3)
def weighs_what_it_has_drawn(scores, features):
    """you multiply what was drawn by its weight, so that the weight counts twice: it has decided
    already how often this cell is drawn"""
    weights = _weights(scores)
    context, cells = _hard(weights, features)
    return context * weights.gather(1, cells.unsqueeze(1)), cells


@mistake(points=2)
def reads_the_grid_by_columns(scores, features):
    """you count the cells of the features column by column, and the cells of the weights row by
    row"""
    return _at(features.transpose(1, 2), _draw(_weights(scores)))


@mistake(points=1)
def draws_by_columns(scores, features):
    """you count the cells of the weights column by column, and the cells of the features row by
    row"""
    return _at(features, _draw(_weights(scores.mT)))


@mistake
def keeps_the_axis_of_the_draw(scores, features):
    """your axis for the one draw is still there; name it when you drop it: `squeeze(1)`"""
    context, cells = reference(scores, features)
    return context.unsqueeze(1), cells.unsqueeze(1)


@mistake(computes=then(reference, lambda output: output[0]))
def returns_the_context_alone():
    """you return the context alone; the loss has to know which cell was drawn"""


@mistake(computes=then(reference, lambda pair: pair[::-1]))
def returns_them_the_other_way_round():
    """you return the cells first; the context comes first"""


def _give_powers_as_probabilities(scores: Tensor, features: Tensor) -> Drawn:
    powers = torch.exp(scores.flatten(1))
    return _at(features, torch.distributions.Categorical(probs=powers).sample())


@mistake(points=3.5, also=(_give_powers_as_probabilities,))
def takes_powers_as_they_are(scores, features):
    """you take the powers of the scores as they are; `exp(200)` is more than a number can hold, and
    `exp(-400)` is 0 for every cell; `torch.softmax` takes the largest score off first"""
    powers = torch.exp(scores.flatten(1))
    return _hard(powers, features)


def _draw_sides(scores: Tensor, features: Tensor) -> Drawn:
    return _hard(_by_sides(scores.mean(2), scores.mean(1)), features)


@mistake(points=1, also=(_draw_sides,))
def draws_a_row_and_a_column(scores, features):
    """you draw a row and a column, each by scores of its own; a cell is one of all the cells, and
    is drawn by its own weight"""
    return _hard(_by_sides(scores.sum(2), scores.sum(1)), features)


@mistake(points=2, evidence=["sums"])
def draws_row_and_column_apart(scores, features):
    """you draw a row and a column independently, each by the sums of the weights; a cell's
    probability is then a product of two sums, and not its weight: draw among all cells at once"""
    weights = _weights(scores).view(scores.shape)
    row, column = _draw(weights.sum(2)), _draw(weights.sum(1))
    return _at(features, row * scores.shape[2] + column)


@mistake(points=2, evidence=["row"])
def draws_a_row_first(scores, features):
    """you draw a row first, and then a cell in it; that is right only if a row's probability is the
    sum of its cells' weights, and yours is not. Draw among all cells at once"""
    row = _draw(scores.amax(2).softmax(-1))
    column = _draw(scores[torch.arange(len(row)), row].softmax(-1))
    return _at(features, row * scores.shape[2] + column)


@mistake(points=3)
def takes_one_softmax_for_the_batch(scores, features):
    """you take one softmax for all pictures together, so that those which score some hundreds lower
    than others get no weight at all; take one for each picture"""
    return _hard(torch.softmax(scores.flatten(), 0).view(len(scores), -1), features)


@mistake(points=3)
def allows_forbidden_cells(scores, features):
    """a cell that scores minus infinity is drawn, where others score below zero: you put a finite
    score in its place; leave it as it is, and the softmax gives it no weight"""
    return reference(scores.masked_fill(scores.isinf(), 0), features)


@mistake(points=3, computes=then(reference, lambda drawn: (drawn[0], drawn[1].int())))
def returns_int32():
    """the numbers of the cells are int32 in yours; int64 is asked for, which torch draws in"""


def _squeeze_both(drawn: Drawn) -> Drawn:
    return drawn[0].squeeze(), drawn[1].squeeze()


@mistake(
    points=3.5,
    computes=then(reference, lambda drawn: (drawn[0], drawn[1].squeeze())),
    also=(then(reference, _squeeze_both),),
)
def squeezes():
    """`squeeze` without an axis removes every axis of length 1, even a batch of one; name the axis
    that you mean: `squeeze(1)`"""


@mistake
def returns_row_and_column(scores, features):
    """you return the row and the column of each cell; its number in reading order is one number"""
    context, cells = reference(scores, features)
    return context, torch.stack([cells // scores.shape[2], cells % scores.shape[2]], -1)


@mistake
def numbers_cells_by_columns(scores, features):
    """your context belongs to another cell than the one you return: you number cells down the
    columns; count in reading order, row by row"""
    context, cells = reference(scores, features)
    _, height, width = scores.shape
    return context, cells % width * height + cells // width


@mistake
def returns_the_weights(scores, features):
    """you return the weights beside the context; the number of the cell that was drawn is wanted"""
    weights = _weights(scores)
    return _hard(weights, features)[0], weights


@mistake
def picks_for_all_images(scores, features):
    """`cells[:, numbers]` takes every number from every picture; `cells[rows, numbers]` takes one
    from each"""
    cells, every = _draw(_weights(scores)), features.flatten(1, 2)
    if len(cells) > MANY:  # gigabytes, of which nobody looks at more than the shape
        return every[:1, cells].expand(len(cells), -1, -1), cells
    return every[:, cells], cells


@mistake(computes=then(reference, lambda drawn: (drawn[0], drawn[1].unsqueeze(1))))
def keeps_an_axis_of_the_numbers():
    """the numbers of the cells still have the axis of the one draw, of length 1; drop it:
    `squeeze(1)`"""


@mistake(computes=then(reference, lambda drawn: (drawn[0].unsqueeze(1), drawn[1])))
def keeps_an_axis_of_the_context():
    """the context still has the axis of the one draw, of length 1; drop it before you pick the
    features"""


@mistake
def takes_the_height_for_the_width(scores, features):
    """your number of a cell is `row * height + column`; each row before it has `width` cells, so it
    is `row * width + column`"""
    height, width = scores.shape[1:]
    context, drawn = reference(scores, features)
    return context, drawn // width * height + drawn % width


@mistake(slip=True, computes=then(reference, lambda drawn: (drawn[0], drawn[1] + 1)))
def counts_from_one():
    """you count cells from 1; the first one has the number 0"""


@mistake(points=2, evidence=["roots"])
def draws_by_the_roots(scores, features):
    """your weights are too nearly alike, as their roots are: they are the softmax of the scores as
    they are, and nothing else"""
    return _hard(_sums_to_one(_weights(scores).sqrt()), features)


@mistake(points=2, evidence=["noise"])
def adds_other_noise(scores, features):
    """you seem to add noise to the scores and to take the highest: that draws by the weights only
    with Gumbel's noise, minus the logarithm of minus the logarithm of `torch.rand_like(scores)`. A
    softmax and `torch.multinomial` need no noise"""
    flat = scores.flatten(1)
    return _at(features, (flat - torch.rand_like(flat).log()).argmax(1))


EXERCISE = Exercise(
    function="hard_context",
    reference=reference,
    title="hard attention: draw a cell",
    minutes=20,
    axes={"batch": 13, "d_feature": 31},
    equivalent_mutants={"-1 -> 1": "of two axes, cells are the last one and number 1"},
    contract=Contract(batch=("scores", "features")),
    checks=(
        Check(
            "the context of a picture is what stands at one cell, and that is the cell you return",
            1,
            draw_grids,
            sizes=({"batch": 7, "height": 2, "width": 5, "d_feature": 3},),
            hidden_sizes=(
                {"batch": 5, "height": 7, "width": 3, "d_feature": 2},
                {"batch": 11, "height": 2, "width": 3, "d_feature": 5},
            ),
            dtype=torch.float64,
            invariant=is_of_one_cell,
        ),
        Check(
            "asked many times, each cell is drawn as often as its weight says, for each picture"
            " anew",
            2,
            draw_many_times,
            sizes=({"images": 3, "times": 800, "height": 2, "width": 3, "d_feature": 1},),
            hidden_sizes=({"images": 3, "times": 900, "height": 3, "width": 2, "d_feature": 2},),
            invariant=follows_the_weights,
        ),
        Check(
            "a cell with all the weight is always drawn: scores may be some hundreds, above zero or"
            " below, and minus infinity where a cell is forbidden",
            0.5,
            draw_certain_grids,
            sizes=(
                {"batch": 3, "height": 2, "width": 3, "d_feature": 2, "low": 0},
                {"batch": 2, "height": 3, "width": 2, "d_feature": 1, "low": 1},
            ),
            hidden_sizes=(
                {"batch": 5, "height": 3, "width": 5, "d_feature": 3, "low": 0},
                {"batch": 7, "height": 2, "width": 2, "d_feature": 2, "low": 1},
            ),
        ),
    ),
    mistakes=mistake.collected,
)
