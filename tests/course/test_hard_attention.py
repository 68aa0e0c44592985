"""Hard attention: the draw, the estimator against the exact gradient, and the exact sums.

An estimator is held against the exact gradient twice: its mean over all draws, added up with their
probabilities, to ten digits; and its mean over many draws, within five standard errors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import one_hot
from torch.testing import assert_close

from attn_course.captioning import GridEncoder, Use
from attn_course.captions.exact_expectation import (
    best_baseline,
    every_path,
    exact_expected_log_likelihood,
    exact_log_marginal,
    exact_score_gradient,
    reinforce_variance,
)
from attn_course.captions.hard_attention import (
    HardCaptioner,
    MovingAverage,
    caption_log_likelihood,
    draw_cells,
    entropy,
    log_weight_of,
    reinforce_loss,
)
from attn_course.retrieval import attend
from attn_course.seq2seq import BOS, EOS, PAD, sequence_loss
from tests.tensors import CLOSELY, DEVICES, draw

CELLS, VOCAB, BATCH, TARGET_LEN = 6, 13, 2, 3
some_law = settings(max_examples=30, deadline=None, derandomize=True)


def make() -> HardCaptioner:
    """Make a captioner in float64 whose weights are neither even nor all on one cell."""
    torch.manual_seed(0)
    model = HardCaptioner(GridEncoder(7, 3), CELLS, VOCAB, 3, 11, 5).double()
    with torch.no_grad():
        model.score.score_weight *= 4
        model.places.copy_(draw(CELLS, 7, seed=5))
    return model


def images(number: int = BATCH) -> Tensor:
    """Draw images of two rows of three cells."""
    return draw(number, 1, 16, 24).abs()


def captions() -> tuple[Tensor, Tensor]:
    """Return target inputs and outputs, the second caption padded."""
    output = torch.tensor([[5, 9, EOS], [7, EOS, PAD]])
    return torch.tensor([[BOS, 5, 9], [BOS, 7, PAD]]), output


def looking(cells: Sequence[int], number: int = 1) -> Use:
    """Look at one cell after the other, whatever the weights say, in each of some images."""
    following = iter(cells)
    return lambda _: one_hot(torch.tensor([next(following)] * number), CELLS).double()


# --- draws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_cells_are_drawn_as_often_as_their_weights_say(device: str) -> None:
    weights = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.0, 0.0, 1.0, 0.0]], device=device)
    generator = torch.Generator(device).manual_seed(0)
    number = 20_000
    cells = draw_cells(weights.expand(number, 2, 4), generator)
    assert cells.shape == (number, 2)
    share = one_hot(cells, 4).double().mean(0)
    bound = 5 * (weights * (1 - weights) / number).sqrt()  # five standard errors
    assert ((share - weights).abs() <= bound).all()


def test_generator_decides_the_draws() -> None:
    weights = draw(50, CELLS).softmax(-1)
    first, again, other = (
        draw_cells(weights, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.tensor([[0.5, 0.5], [0.0, 0.0]]), "1 of 2 rows have no cell to draw"),
        (torch.tensor([[1.5, -0.5]]), "negative or infinite"),
        (torch.tensor([[math.inf, 0.0]]), "negative or infinite"),
        (torch.tensor([[math.nan, 0.0]]), "weights holds 1 NaN among 2"),
    ],
)
def test_weights_that_are_no_probabilities_are_refused(weights: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_cells(weights)


def test_log_weight_by_hand_and_of_a_cell_without_weight() -> None:
    weights = torch.tensor([[0.25, 0.75, 0.0]] * 3, requires_grad=True)
    found = log_weight_of(weights, torch.tensor([0, 1, 2]))
    assert_close(found, torch.tensor([math.log(0.25), math.log(0.75), -math.inf]))
    found[:2].sum().backward()
    assert_close(weights.grad, torch.tensor([[4.0, 0, 0], [0, 4 / 3, 0], [0, 0, 0]]))


def test_entropy_is_that_of_the_distribution_with_finite_gradients_at_zero() -> None:
    weights = draw(4, 3, CELLS).softmax(-1)
    assert_close(entropy(weights), torch.distributions.Categorical(weights).entropy(), **CLOSELY)
    assert_close(entropy(torch.full((5,), 0.2)), torch.tensor(math.log(5)))
    sure = torch.tensor([0.0, 1.0, 0.0], requires_grad=True)
    entropy(sure).backward()
    assert entropy(sure) == 0
    assert sure.grad.isfinite().all()
    assert torch.autograd.gradcheck(entropy, weights.requires_grad_())


def test_caption_log_likelihood_is_the_sum_over_its_words() -> None:
    logits, (_, output) = draw(BATCH, TARGET_LEN, VOCAB), captions()
    found = caption_log_likelihood(logits, output)
    table = logits.log_softmax(-1)
    assert_close(found[0], table[0, 0, 5] + table[0, 1, 9] + table[0, 2, EOS], **CLOSELY)
    assert_close(found[1], table[1, 0, 7] + table[1, 1, EOS], **CLOSELY)
    assert_close(-found.sum() / 5, sequence_loss(logits, output), **CLOSELY)


# --- the estimator ------------------------------------------------------------------------------


def test_reinforce_loss_by_hand() -> None:
    log_policy = torch.tensor([[-1.0, -2.0], [-3.0, -5.0]], requires_grad=True)
    reward = torch.tensor([4.0, 1.0], requires_grad=True)
    baseline = torch.tensor(2.0, requires_grad=True)
    mask = torch.tensor([[True, True], [True, False]])
    loss = reinforce_loss(log_policy, reward, baseline, mask)
    assert_close(loss, torch.tensor(-(2 * -3.0 + -1 * -3.0) / 2))
    loss.backward()
    assert_close(log_policy.grad, -torch.tensor([[2.0, 2.0], [-1.0, 0.0]]) / 2)
    assert reward.grad is None
    assert baseline.grad is None
    one_each = reinforce_loss(log_policy, reward, torch.tensor([4.0, 0.0]))
    assert_close(one_each, torch.tensor(8.0 / 2))


def test_masked_draw_that_could_not_happen_makes_no_nan() -> None:
    log_policy = torch.tensor([[-1.0, -math.inf]], requires_grad=True)
    mask = torch.tensor([[True, False]])
    loss = reinforce_loss(log_policy, torch.tensor([3.0]), 0.0, mask)
    loss.backward()
    assert loss == 3
    assert_close(log_policy.grad, torch.tensor([[-3.0, 0.0]]))


@some_law
@given(st.integers(0, 999), st.floats(-20, 20))
def test_estimator_is_unbiased_whatever_the_baseline(seed: int, baseline: float) -> None:
    scores = draw(CELLS, seed=seed).requires_grad_()
    reward = 3 * draw(CELLS, seed=seed + 1000) - 4
    weights = scores.softmax(-1)
    mean = torch.zeros(CELLS, dtype=torch.float64)
    for cell in range(CELLS):
        log_policy = log_weight_of(weights, torch.tensor(cell)).view(1, 1)
        loss = reinforce_loss(log_policy, reward[cell : cell + 1], baseline)
        (gradient,) = torch.autograd.grad(loss, scores, retain_graph=True)
        mean += weights[cell].detach() * -gradient
    assert_close(mean, exact_score_gradient(weights.detach(), reward), rtol=1e-8, atol=1e-10)
    expected = exact_expected_log_likelihood(weights.log(), reward)
    assert_close(mean, torch.autograd.grad(expected, scores)[0], rtol=1e-8, atol=1e-10)


def test_baseline_that_depends_on_the_draw_makes_a_bias() -> None:
    weights, reward = draw(CELLS).softmax(-1), draw(CELLS, seed=1)
    step = torch.eye(CELLS).double() - weights  # of each draw
    advantage = reward - 0.5 * reward  # a baseline that peeks: half of the very reward
    mean = (weights.unsqueeze(-1) * advantage.unsqueeze(-1) * step).sum(0)
    assert_close(mean, exact_score_gradient(weights, reward) / 2, **CLOSELY)  # half is lost


def test_variance_is_the_mean_squared_distance_from_the_exact_gradient() -> None:
    weights, reward = draw(4, CELLS).softmax(-1), draw(4, CELLS, seed=1)
    baseline = draw(4, seed=2)
    found = reinforce_variance(weights, reward, baseline)
    exact = exact_score_gradient(weights, reward)
    for row, one in enumerate(weights):
        distance = 0.0
        for cell in range(CELLS):
            step = one_hot(torch.tensor(cell), CELLS) - one
            gradient = (reward[row, cell] - baseline[row]) * step
            distance += one[cell] * (gradient - exact[row]).square().sum()
        assert_close(found[row], distance, **CLOSELY)
    same = reinforce_variance(weights, reward, 0.3)
    assert_close(same, reinforce_variance(weights, reward, torch.full((4,), 0.3).double()))


@some_law
@given(st.integers(0, 999), st.floats(-3, 3))
def test_no_baseline_has_less_variance_than_the_best(seed: int, other: float) -> None:
    weights = (2 * draw(CELLS, seed=seed)).softmax(-1)
    reward = draw(CELLS, seed=seed + 1000)
    best = best_baseline(weights, reward)
    assert reward.min() <= best <= reward.max()
    least = reinforce_variance(weights, reward, best)
    assert reinforce_variance(weights, reward, best + other) >= least - 1e-12
    assert least >= -1e-12


def test_far_reward_adds_variance_without_a_baseline_and_none_with_it() -> None:
    weights, reward = draw(CELLS).softmax(-1), draw(CELLS, seed=1)
    near = reinforce_variance(weights, reward, (weights * reward).sum())
    far = reinforce_variance(weights, reward - 50, (weights * (reward - 50)).sum())
    assert_close(far, near, rtol=1e-8, atol=1e-8)
    assert reinforce_variance(weights, reward - 50) > 100 * near
    # rewards that are all the same: nothing to learn, and with the right baseline no noise
    same = torch.full((CELLS,), -7.0).double()
    assert_close(exact_score_gradient(weights, same), torch.zeros(CELLS).double(), **CLOSELY)
    assert_close(reinforce_variance(weights, same, best_baseline(weights, same)).item(), 0.0)
    assert reinforce_variance(weights, same) > 10


def test_certain_row_has_no_variance_and_a_best_baseline_all_the_same() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0])
    assert best_baseline(weights, torch.tensor([1.0, 2.0, 3.0])) == 0
    assert reinforce_variance(weights, torch.tensor([1.0, 2.0, 3.0])) == 0


# --- exact sums ---------------------------------------------------------------------------------


def test_bound_and_marginal_by_hand() -> None:
    policy = torch.tensor([0.25, 0.75]).double().log()
    likelihood = torch.tensor([0.5, 0.1]).double().log()
    bound = 0.25 * math.log(0.5) + 0.75 * math.log(0.1)
    assert_close(exact_expected_log_likelihood(policy, likelihood).item(), bound)
    marginal = math.log(0.25 * 0.5 + 0.75 * 0.1)
    assert_close(exact_log_marginal(policy, likelihood).item(), marginal)


@some_law
@given(st.integers(0, 999))
def test_bound_is_below_the_marginal_and_meets_it_where_no_draw_matters(seed: int) -> None:
    policy = draw(4, CELLS, seed=seed).log_softmax(-1)
    likelihood = -draw(4, CELLS, seed=seed + 1000).abs()
    bound = exact_expected_log_likelihood(policy, likelihood)
    assert (bound < exact_log_marginal(policy, likelihood)).all()
    same = torch.full((4, CELLS), -1.5).double()
    assert_close(exact_expected_log_likelihood(policy, same), same[:, 0], **CLOSELY)
    assert_close(exact_log_marginal(policy, same), same[:, 0], **CLOSELY)


def test_impossible_draw_counts_for_nothing_and_leaves_finite_gradients() -> None:
    weights = torch.tensor([0.4, 0.6, 0.0], dtype=torch.float64, requires_grad=True)
    policy = torch.stack([log_weight_of(weights, torch.tensor(cell)) for cell in range(3)])
    likelihood = torch.tensor([-1.0, -2.0, -3.0]).double()
    for exact in (exact_expected_log_likelihood, exact_log_marginal):
        without = exact(policy[:2], likelihood[:2])
        assert_close(exact(policy, likelihood), without, **CLOSELY)
        (gradient,) = torch.autograd.grad(exact(policy, likelihood), weights, retain_graph=True)
        assert gradient.isfinite().all()


def test_soft_attention_is_the_exact_expectation_for_a_linear_read_out() -> None:
    scores, features = draw(1, CELLS), draw(CELLS, 7, seed=1)
    read_out = draw(7, VOCAB, seed=2)
    weights = scores.softmax(-1)
    soft = attend(scores, features) @ read_out
    assert_close(soft, weights @ (features @ read_out), **CLOSELY)
    # and with a softmax on it the normalised geometric mean of the cells' distributions
    geometric = (weights @ (features @ read_out).log_softmax(-1)).softmax(-1)
    assert_close(soft.softmax(-1), geometric, **CLOSELY)
    marginal = weights @ (features @ read_out).softmax(-1)
    assert (soft.softmax(-1) - marginal).abs().max() > 0.01  # which is not the mean


def test_every_path_is_every_way_to_draw_with_its_probability() -> None:
    model, (tokens, output) = make(), captions()
    paths = every_path(model, model.start(images()), tokens, output)
    assert paths.log_policy.shape == paths.log_likelihood.shape == (BATCH, CELLS**TARGET_LEN)
    assert_close(paths.log_policy.exp().sum(-1), torch.ones(BATCH).double(), **CLOSELY)
    ways = list(itertools.product(range(CELLS), repeat=TARGET_LEN))
    for number in (0, 7, 100, 215):
        cells = ways[number]
        trace = model.trace(
            tokens,
            model.start(images()),
            looking(cells, BATCH),
        )
        chosen = torch.tensor(ways[number]).expand(BATCH, -1)
        policy = trace.weights.gather(-1, chosen.unsqueeze(-1)).log().sum((1, 2))
        assert_close(paths.log_policy[:, number], policy, **CLOSELY)
        likelihood = caption_log_likelihood(trace.logits, output)
        assert_close(paths.log_likelihood[:, number], likelihood, **CLOSELY)


def test_more_paths_than_anyone_can_wait_for_are_refused() -> None:
    model, tokens = make(), torch.full((1, 6), 5)
    with pytest.raises(ValueError, match="6 cells at 6 words make 46656 paths, more than 20000"):
        every_path(model, model.start(images(1)), tokens, tokens)


# --- the captioner ------------------------------------------------------------------------------


def learning(model: HardCaptioner, weights: Tensor, paths: tuple[Tensor, Tensor], b: float) -> list:
    """Return minus the gradient of the loss of draws: the reward's own, and REINFORCE."""
    log_policy, reward = paths
    loss = -(weights * reward).sum()
    loss = loss - (weights * (reward.detach() - b) * log_policy).sum()
    return torch.autograd.grad(loss, drawing(model))


def drawing(model: HardCaptioner) -> list[Tensor]:
    """Return the weights that decide where it looks, and some that do not."""
    return [model.score.score_weight, model.score.project_query.weight, model.cell.weight_hh]


@pytest.mark.parametrize("baseline", [0.0, -7.5])
def test_estimator_over_whole_captions_is_unbiased(baseline: float) -> None:
    model, (tokens, output) = make(), captions()
    paths = every_path(model, model.start(images()), tokens, output)
    exact = exact_expected_log_likelihood(*paths).sum()
    wanted = torch.autograd.grad(exact, drawing(model), retain_graph=True)
    chances = paths.log_policy.exp().detach()
    for found, gradient in zip(learning(model, chances, paths, baseline), wanted, strict=True):
        assert gradient.abs().max() > 1e-3
        assert_close(-found, gradient, rtol=1e-8, atol=1e-10)


def test_many_draws_come_close_to_the_exact_gradient_and_without_reinforce_do_not() -> None:
    model, (tokens, output) = make(), captions()
    image, tokens, output = images(1), tokens[:1], output[:1]
    paths = every_path(model, model.start(image), tokens, output)
    exact = exact_expected_log_likelihood(*paths).sum()
    (wanted,) = torch.autograd.grad(exact, model.score.score_weight)
    generator, size, parts = torch.Generator().manual_seed(0), 250, 40
    found, without = [], []
    for _ in range(parts):
        state = model.start(image.expand(size, -1, -1, -1))
        drawn = model.draw(tokens.expand(size, -1), state, generator=generator)
        reward = caption_log_likelihood(drawn.logits, output.expand(size, -1))
        log_policy = log_weight_of(drawn.weights, drawn.cells)
        loss = reinforce_loss(log_policy, reward, exact.item())
        retain = {"retain_graph": True}
        (by_draws,) = torch.autograd.grad(reward.mean() - loss, model.score.score_weight, **retain)
        (through,) = torch.autograd.grad(reward.mean(), model.score.score_weight)
        found.append(by_draws)
        without.append(through)
    found, without = torch.stack(found), torch.stack(without)
    error = found.std(0) / parts**0.5
    assert ((found.mean(0) - wanted).abs() < 5 * error).all()
    assert ((without.mean(0) - wanted).abs() > 5 * error).any()


def test_draws_look_at_one_cell_or_for_some_captions_at_all() -> None:
    model, (tokens, _) = make(), captions()
    number = 400
    many, state = tokens[:1].expand(number, -1), model.start(images(1).expand(number, -1, -1, -1))
    drawn = model.draw(many, state, 0.5, torch.Generator().manual_seed(0))
    assert abs(drawn.hard.double().mean() - 0.5) < 5 * 0.5 / number**0.5
    soft = model.trace(tokens[:1], model.start(images(1)), lambda weights: weights)
    for row in (~drawn.hard).nonzero().flatten()[:5]:
        assert_close(drawn.logits[row], soft.logits[0], **CLOSELY)
    for row in drawn.hard.nonzero().flatten()[:5]:
        one = model.trace(tokens[:1], model.start(images(1)), looking(drawn.cells[row].tolist()))
        assert_close(drawn.logits[row], one.logits[0], **CLOSELY)
        assert_close(drawn.weights[row], one.weights[0], **CLOSELY)
    assert model.draw(many, state, 0.0).hard.all()
    assert not model.draw(many, state, 1.0).hard.any()


def test_nothing_of_the_loss_but_reinforce_teaches_the_score_through_the_last_word() -> None:
    # a cell that was drawn is a constant: without REINFORCE the scores have no gradient at all
    model, (tokens, output) = make(), captions()
    drawn = model.draw(
        tokens[:, :1], model.start(images()), generator=torch.Generator().manual_seed(0)
    )
    reward = caption_log_likelihood(drawn.logits, output[:, :1])
    score = model.score.score_weight
    assert torch.autograd.grad(reward.sum(), score, retain_graph=True)[0].count_nonzero() == 0
    loss = reinforce_loss(log_weight_of(drawn.weights, drawn.cells), reward)
    assert torch.autograd.grad(loss, score)[0].abs().max() > 0


def test_moving_average_by_hand_and_kept_with_the_weights() -> None:
    average = MovingAverage()
    assert average(torch.tensor([-4.0, -6.0])) == -5
    assert_close(average(torch.tensor([-15.0])), torch.tensor(-6.0))
    assert_close(average(torch.tensor([-6.0, -6.0])), torch.tensor(-6.0))
    copy = MovingAverage()
    copy.load_state_dict(average.state_dict())
    assert_close(copy(torch.tensor([4.0])), torch.tensor(-5.0))
    assert "baseline.value" in make().state_dict()
    assert not average(torch.tensor([1.0], requires_grad=True)).requires_grad


@pytest.mark.parametrize("decay", [-0.1, 1.0, math.nan])
def test_decay_that_makes_no_average_is_refused(decay: float) -> None:
    with pytest.raises(ValueError, match=f"decay={decay} must be at least 0 and below 1"):
        MovingAverage(decay)


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (
            lambda: reinforce_loss(draw(2, 3), draw(3)),
            ValueError,
            "batch=2 in log_policy but 3",
        ),
        (lambda: reinforce_loss(draw(2, 3), draw(2).float()), TypeError, "share one dtype"),
        (
            lambda: reinforce_loss(draw(2, 3), draw(2), draw(2, 1)),
            ValueError,
            "2, 1. baselines",
        ),
        (lambda: exact_log_marginal(draw(2, 3), draw(2, 4)), ValueError, "num_draws=3 in"),
        (lambda: entropy(draw(3) * math.nan), ValueError, "weights holds 3 NaN among 3"),
        (lambda: log_weight_of(draw(2, 3), torch.zeros(3).long()), ValueError, "batch"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(work: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        work()


@pytest.mark.cuda
def test_cuda_agrees_with_the_processor() -> None:
    model, (tokens, output) = make(), captions()
    expected = every_path(model, model.start(images()), tokens, output)
    model.cuda()
    state = model.start(images().cuda())
    found = every_path(model, state, tokens.cuda(), output.cuda())
    for one, other in zip(found, expected, strict=True):
        assert_close(one.cpu(), other, **CLOSELY)
    drawn = model.draw(tokens.cuda(), state, 0.5, torch.Generator("cuda").manual_seed(0))
    assert drawn.cells.device.type == "cuda"
    assert model.baseline(draw(2).cuda().float()).device.type == "cuda"


def test_one_row_alone_is_drawn_from() -> None:
    assert draw_cells(torch.tensor([0.0, 1.0, 0.0])) == 1


def test_reward_that_is_nan_is_refused_and_leaves_the_baseline_as_it_was() -> None:
    baseline = MovingAverage()
    baseline(torch.tensor([2.0]))
    with pytest.raises(ValueError, match="reward holds 1 NaN among 2 numbers"):
        baseline(torch.tensor([1.0, math.nan]))
    assert baseline(torch.tensor([2.0])) == 2


@pytest.mark.parametrize("loss", [caption_log_likelihood, sequence_loss])
def test_words_may_be_any_integers_of_the_vocabulary(loss: Callable) -> None:
    logits, words = torch.randn(1, 3, 7), torch.tensor([[3, 4, 2]])
    for dtype in (torch.int8, torch.int16, torch.int32):
        assert torch.equal(loss(logits, words.to(dtype)), loss(logits, words))
    for outside in (7, -100):
        words[0, 1] = outside
        with pytest.raises(ValueError, match=f"vocabulary of 7 words, the first is {outside}"):
            loss(logits, words)


def test_draw_that_cannot_happen_adds_nothing_to_the_expectation() -> None:
    never = torch.tensor([0.0, -math.inf])
    policy = never.clone().requires_grad_()
    words = torch.tensor([-1.0, -math.inf])
    expected = exact_expected_log_likelihood(policy, words)
    assert expected == -1
    expected.backward()
    assert policy.grad is not None
    assert policy.grad.tolist() == [-1, 0]
