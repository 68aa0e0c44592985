"""The grid, the penalty and the captioner: by hand, by their laws, and written out.

Sizes are distinct, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.captioning import Captioner, GridEncoder, UniformCaptioner
from attn_course.captions.counterfactual import Directed
from attn_course.captions.hard_attention import HardCaptioner
from attn_course.captions.image_grid import (
    doubly_stochastic_penalty,
    grid_context,
    grid_weights,
    over_pixels,
)
from attn_course.decoding import beam_search, greedy_decode
from attn_course.retrieval import attend
from attn_course.seq2seq import BOS, EOS, PAD, sequence_loss
from tests.tensors import CLOSELY, EXACTLY, draw

BATCH, HEIGHT, WIDTH, CELLS, D_FEATURE, TARGET_LEN = 2, 3, 5, 6, 7, 4
D_EMBEDDING, D_HIDDEN, D_SCORE, VOCAB = 3, 11, 5, 13
KINDS = pytest.mark.parametrize("kind", [Captioner, UniformCaptioner, HardCaptioner])
some_law = settings(max_examples=30, deadline=None, derandomize=True)


def make(kind: type[Captioner] = Captioner, gated: bool = True, sharp: float = 4) -> Captioner:
    """Make a captioner in float64, the same each time, with weights that are far from even."""
    torch.manual_seed(0)
    sizes = (CELLS, VOCAB, D_EMBEDDING, D_HIDDEN, D_SCORE)
    model = kind(GridEncoder(D_FEATURE, 3), *sizes, gated=gated).double()
    with torch.no_grad():
        model.score.score_weight *= sharp
        model.places.copy_(draw(CELLS, D_FEATURE, seed=5))
    return model


def images(number: int = BATCH) -> Tensor:
    """Draw images of two rows of three cells."""
    return draw(number, 1, 16, 24).abs()


def captions() -> tuple[Tensor, Tensor]:
    """Return target inputs and outputs of two captions, the second one padded."""
    output = torch.tensor([[5, 9, 12, EOS], [7, EOS, PAD, PAD]])
    return torch.tensor([[BOS, 5, 9, 12], [BOS, 7, PAD, PAD]]), output


# --- grid ---------------------------------------------------------------------------------------


def test_weights_of_a_grid_by_hand_are_one_distribution_over_all_cells() -> None:
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).log()
    assert_close(grid_weights(scores), torch.tensor([[0.1, 0.2], [0.3, 0.4]]))


def test_weights_of_a_grid_sum_to_one_over_it_and_not_over_each_row() -> None:
    weights = grid_weights(draw(BATCH, HEIGHT, WIDTH))
    assert_close(weights.sum((-2, -1)), torch.ones(BATCH).double(), **CLOSELY)
    assert (weights.sum(-1) < 0.99).all()


def test_context_of_a_grid_by_hand() -> None:
    weights = torch.tensor([[0.5, 0.25], [0.25, 0.0]])
    features = torch.tensor(
        [[[4.0, 0.0, 1.0], [0.0, 8.0, 1.0]], [[4.0, 4.0, 1.0], [9.0, 9.0, 1.0]]]
    )
    assert_close(grid_context(weights, features), torch.tensor([3.0, 3.0, 1.0]))


def test_context_of_a_grid_is_attention_over_its_cells_and_a_product_then_a_sum() -> None:
    scores, features = draw(BATCH, HEIGHT, WIDTH), draw(BATCH, HEIGHT, WIDTH, D_FEATURE, seed=1)
    context = grid_context(grid_weights(scores), features)
    cut = scores.flatten(1).unsqueeze(1), features.flatten(1, 2)
    assert_close(context, attend(*cut).squeeze(1), **CLOSELY)
    product = grid_weights(scores).unsqueeze(-1) * features
    assert_close(context, product.sum((1, 2)), **CLOSELY)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)])
def test_grid_takes_any_number_of_batch_axes(batch: tuple[int, ...]) -> None:
    features = draw(*batch, HEIGHT, WIDTH, D_FEATURE)
    weights = grid_weights(draw(*batch, HEIGHT, WIDTH))
    assert grid_context(weights, features).shape == (*batch, D_FEATURE)
    assert over_pixels(weights, 2).shape == (*batch, 2 * HEIGHT, 2 * WIDTH)


def test_weights_over_pixels_by_hand() -> None:
    laid = over_pixels(torch.tensor([[1.0, 3.0]]), 2)
    assert_close(laid, torch.tensor([[0.25, 0.25, 0.75, 0.75]] * 2))


def test_grid_that_makes_no_sense_is_refused_with_its_numbers() -> None:
    with pytest.raises(ValueError, match="grid_width=5 in weights but 4 here"):
        grid_context(draw(3, 5), draw(3, 4, 7))
    with pytest.raises(TypeError, match="must share one dtype"):
        grid_context(draw(3, 5), draw(3, 5, 7).float())
    with pytest.raises(ValueError, match="cell=0 must be positive"):
        over_pixels(draw(3, 5), 0)
    with pytest.raises(ValueError, match="scores holds 15 NaN among 15"):
        grid_weights(draw(3, 5) * math.nan)


# --- penalty ------------------------------------------------------------------------------------


def test_penalty_by_hand() -> None:
    weights = torch.tensor([[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    # cells of the first caption get 1.5, 0.5 and 0, of the second 0, 1 and 1
    assert_close(doubly_stochastic_penalty(weights), torch.tensor((1.5 + 1) / 2))
    mask = torch.tensor([[True, False], [True, True]])  # the first now gets 0.5, 0.5 and 0
    assert_close(doubly_stochastic_penalty(weights, mask), torch.tensor((1.5 + 1) / 2))
    assert_close(doubly_stochastic_penalty(weights, mask, 2.0), torch.tensor((8.5 + 6) / 2))


@some_law
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_penalty_is_least_for_even_weights_and_zero_for_as_many_words_as_cells(
    words: int, cells: int, seed: int
) -> None:
    even = torch.full((1, words, cells), 1 / cells, dtype=torch.float64)
    least = (cells - words) ** 2 / cells
    assert_close(doubly_stochastic_penalty(even).item(), least, **CLOSELY)
    other = draw(1, words, cells, seed=seed).softmax(-1)
    assert doubly_stochastic_penalty(other) >= least - 1e-12
    assert_close(doubly_stochastic_penalty(even, share=words / cells).item(), 0.0, **CLOSELY)


def test_penalty_is_zero_for_a_permutation_and_blind_to_the_order_of_words_and_cells() -> None:
    assert doubly_stochastic_penalty(torch.eye(5)[[3, 1, 0, 4, 2]].unsqueeze(0)) == 0
    weights = draw(BATCH, TARGET_LEN, CELLS).softmax(-1)
    moved = weights[:, [2, 0, 3, 1]][:, :, [5, 0, 3, 1, 4, 2]]
    assert_close(doubly_stochastic_penalty(moved), doubly_stochastic_penalty(weights), **CLOSELY)


def test_gradient_of_the_penalty_agrees_with_differences_and_is_zero_at_padding() -> None:
    weights = draw(BATCH, TARGET_LEN, CELLS).softmax(-1).requires_grad_()
    mask = captions()[1] != PAD
    assert torch.autograd.gradcheck(lambda w: doubly_stochastic_penalty(w, mask, 0.7), weights)
    doubly_stochastic_penalty(weights, mask).backward()
    assert weights.grad[~mask].abs().max() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": torch.ones(2, 3).bool()}, "target_len=4 in weights but 3 here"),
        ({"share": 0.0}, "share=0 must be positive"),
        ({"weights": draw(2, 4)}, r"weights has shape \(2, 4\); expected"),
        ({"weights": draw(2, 4, 6) * math.nan}, "weights holds 48 NaN among 48"),
    ],
)
def test_penalty_of_what_makes_no_sense_is_refused(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        doubly_stochastic_penalty(**{"weights": draw(2, 4, 6).softmax(-1)} | change)


# --- captioner ----------------------------------------------------------------------------------


def written_out(model: Captioner, image: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Caption one image by the equations, cell by cell; return logits and weights of each word."""
    features = model.vision(image.unsqueeze(0))[0] + model.places
    state = torch.tanh(model.bridge.weight @ features.mean(0) + model.bridge.bias)
    score = model.score
    both = torch.cat([score.project_query.weight, score.project_key.weight], 1)
    first, _, last = model.readout
    logits, weights = [], []
    for vector in model.embedding.weight[words]:
        hidden = [both @ torch.cat([state, one]) + score.project_key.bias for one in features]
        exponentials = torch.stack([score.score_weight @ torch.tanh(h) for h in hidden]).exp()
        weights.append(exponentials / exponentials.sum())
        context = sum(w * one for w, one in zip(weights[-1], features, strict=True))
        if model.gate is not None:
            context = context / (1 + torch.exp(-model.gate.weight[0] @ state - model.gate.bias))
        state = model.cell(torch.cat([vector, context]), state)
        known = torch.cat([state, vector, context])
        logits.append(last.weight @ torch.tanh(first.weight @ known + first.bias) + last.bias)
    return torch.stack(logits), torch.stack(weights)


@pytest.mark.parametrize("gated", [True, False])
def test_captioner_agrees_with_its_equations_written_out(gated: bool) -> None:
    model, image, (tokens, _) = make(gated=gated), images(), captions()
    logits, weights = model(image, tokens), model.alignment(image, tokens)
    assert logits.shape == (BATCH, TARGET_LEN, VOCAB)
    assert weights.shape == (BATCH, TARGET_LEN, CELLS)
    for row in range(BATCH):
        expected = written_out(model, image[row], tokens[row])
        assert_close(logits[row], expected[0], **CLOSELY)
        assert_close(weights[row], expected[1], **CLOSELY)
    assert weights.max() > 0.4  # so that the weights matter


@KINDS
def test_teacher_forcing_gives_what_stepping_gives(kind: type[Captioner]) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    state, logits = model.start(image), []
    for token in tokens.unbind(1):
        one, state = model.step(token, state)
        logits.append(one)
    assert_close(torch.stack(logits, 1), model(image, tokens), **CLOSELY)


@KINDS
def test_greedy_decoding_and_a_beam_of_one_say_the_likeliest_words(kind: type[Captioner]) -> None:
    model, image = make(kind), images(3)
    words = greedy_decode(model, image, 6)
    beam = beam_search(model, image, 6, 1).tokens[:, 0]
    assert torch.equal(words, beam[:, : words.shape[1]])
    tokens = torch.cat([torch.full((3, 1), BOS), words[:, :-1]], 1)
    logits = model(image, tokens)
    logits[..., [PAD, BOS]] = -math.inf
    told = words != PAD
    assert torch.equal(logits.argmax(-1)[told], words[told])
    wide = beam_search(model, image, 6, 4)
    assert (
        wide.log_probability[:, 0] >= beam_search(model, image, 6, 1).log_probability[:, 0]
    ).all()


@KINDS
def test_image_gets_in_a_batch_what_it_gets_alone(kind: type[Captioner]) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    for row in range(BATCH):
        alone = model(image[row : row + 1], tokens[row : row + 1])
        assert_close(alone[0], model(image, tokens)[row], **CLOSELY)


def test_uniform_captioner_weighs_all_allowed_cells_alike() -> None:
    model, (tokens, _) = make(UniformCaptioner), captions()
    mask = torch.tensor([[True] * 6, [True, False, True, True, False, False]])
    weights = model.trace(tokens, model.start(images(), mask)).weights
    assert_close(
        weights, (mask / mask.sum(1, keepdim=True)).double().unsqueeze(1).expand_as(weights)
    )


def test_hard_captioner_uses_the_likeliest_cell_and_reports_the_probabilities() -> None:
    model, (tokens, _) = make(HardCaptioner), captions()
    trace = model.trace(tokens, model.start(images()))
    assert_close(trace.used, nn.functional.one_hot(trace.weights.argmax(-1), CELLS).double())
    assert trace.weights.max() < 1


@KINDS
def test_masked_cells_get_no_weight_and_change_nothing(kind: type[Captioner]) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    free = model.trace(tokens, model.start(image))
    mask = torch.ones(BATCH, CELLS, dtype=torch.bool)
    mask[[0, 1], free.weights[:, 1].argmax(-1)] = False
    state = model.start(image, mask)
    trace = model.trace(tokens, state)
    assert trace.weights.masked_select(~mask.unsqueeze(1)).count_nonzero() == 0
    assert trace.used.masked_select(~mask.unsqueeze(1)).count_nonzero() == 0
    features, *rest = state
    spoiled = features.masked_fill(~mask.unsqueeze(-1), 1e3)
    assert_close(model.trace(tokens, (spoiled, *rest)).logits, trace.logits, **EXACTLY)
    assert (free.logits != trace.logits).flatten(1).any(1).all()


@KINDS
def test_image_whose_cells_are_all_masked_gives_zero_context_and_finite_gradients(
    kind: type[Captioner],
) -> None:
    model, (tokens, output) = make(kind), captions()
    mask = torch.tensor([[False] * CELLS, [True] * CELLS])
    trace = model.trace(tokens, model.start(images(), mask))
    assert trace.used[0].count_nonzero() == 0
    sequence_loss(trace.logits, output).backward()
    grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert all(grad.isfinite().all() for grad in grads)


def test_places_tell_equal_cells_apart() -> None:
    model, (tokens, _) = make(), captions()
    blank = torch.zeros(BATCH, 1, 16, 24).double()
    features = model.start(blank)[0] - model.places
    assert_close(features[:, 1:2].expand(-1, 1, -1), features[:, 4:5], rtol=0, atol=1)
    weights = model.alignment(blank, tokens)
    assert weights.std(-1).min() > 1e-3


def test_gate_of_zero_makes_the_captioner_blind_and_of_one_is_none() -> None:
    gated, free, (tokens, _) = make(), make(gated=False), captions()
    same = {key: value for key, value in free.state_dict().items()}
    gated.load_state_dict(same, strict=False)
    with torch.no_grad():
        gated.gate.weight.zero_()
        gated.gate.bias.fill_(50)
        assert_close(gated(images(), tokens), free(images(), tokens), **CLOSELY)
        gated.gate.bias.fill_(-800)
        state = gated.start(images())
        other = gated.trace(tokens, (state[0] + 1, *state[1:])).logits
        assert_close(gated.trace(tokens, state).logits, other, **CLOSELY)


def test_gradients_agree_with_differences_from_loss_and_penalty_to_every_part() -> None:
    torch.manual_seed(0)
    model = Captioner(GridEncoder(2, 2), 2, 6, 2, 3, 2).double()
    image, tokens = images(1)[..., :8, :16], torch.tensor([[BOS, 3]])
    output = torch.tensor([[3, EOS]])

    def loss(*weights: Tensor) -> Tensor:
        named = dict(zip(dict(model.named_parameters()), weights, strict=True))
        return torch.func.functional_call(_Loss(model), _prefixed(named), (image, tokens, output))

    assert torch.autograd.gradcheck(loss, tuple(model.parameters()))


class _Loss(nn.Module):
    """Loss and penalty of a captioner, as a module."""

    def __init__(self, model: Captioner) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: Tensor, tokens: Tensor, output: Tensor) -> Tensor:
        """Return a number."""
        trace = self.model.trace(tokens, self.model.start(image))
        return sequence_loss(trace.logits, output) + doubly_stochastic_penalty(trace.weights)


def _prefixed(named: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"model.{name}": weight for name, weight in named.items()}


def test_eye_sees_each_cell_and_a_little_around_it() -> None:
    torch.manual_seed(0)
    eye = GridEncoder(D_FEATURE, 3).double()
    image = draw(1, 1, 24, 40)
    before = eye(image)
    assert before.shape == (1, 15, D_FEATURE)
    image[0, 0, 11, 19] += 5  # inside of the cell in row 1, column 2
    changed = (eye(image) != before).any(-1)[0]
    assert changed.nonzero().flatten().tolist() == [7]


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            lambda m: m.start(draw(2, 1, 16, 16)),
            "the image has 4 cells, but the model has 6 places",
        ),
        (lambda m: m.start(draw(2, 1, 16, 20)), r"sides \(16, 20\) are not multiples of 8"),
        (lambda m: m.start(draw(2, 3, 16, 24)), r"image has shape \(2, 3, 16, 24\); expected"),
        (lambda m: m.start(images() * math.nan), "image holds 768 NaN among 768"),
        (
            lambda m: m.start(images(), torch.ones(2, 5).bool()),
            "the mask has 5 cells, but the image has 6",
        ),
        (lambda m: m(images(), torch.tensor([[BOS], [VOCAB]])), "outside the vocabulary of 13"),
        (lambda m: m(images(), torch.zeros(3, 2).long()), r"batch=2 in image but 3 here"),
    ],
)
def test_images_and_captions_that_make_no_sense_are_refused(work: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work(make())


# --- directed -----------------------------------------------------------------------------------


@KINDS
def test_told_to_look_where_it_looks_a_captioner_says_what_it_says(kind: type[Captioner]) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    own = model.trace(tokens, model.start(image))
    told = Directed(model, own.used)
    logits, _ = told.decode(tokens, told.start(image))
    assert_close(logits, own.logits, **CLOSELY)
    silent = Directed(model, torch.zeros_like(own.used[:, :1]))
    assert_close(silent.decode(tokens, silent.start(image))[0], own.logits, **CLOSELY)
    assert torch.equal(greedy_decode(silent, image, 6), greedy_decode(model, image, 6))


@KINDS
def test_moved_weight_changes_its_word_and_what_follows_and_nothing_before(
    kind: type[Captioner],
) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    own = model.trace(tokens, model.start(image))
    moved = torch.zeros_like(own.used)
    moved[:, 2] = nn.functional.one_hot(own.weights[:, 2].argmin(-1), CELLS)
    told = Directed(model, moved[:, :3])  # the fourth word is left to the model
    logits, state = told.decode(tokens, told.start(image))
    assert_close(logits[:, :2], own.logits[:, :2], **CLOSELY)
    assert (logits[:, 2] != own.logits[:, 2]).any(-1).all()
    rows = iter(moved.unbind(1))
    expected = model.trace(
        tokens[:, :3], model.start(image), lambda own: _told(next(rows), model.use(own))
    )
    assert_close(logits[:, :3], expected.logits, **CLOSELY)
    assert_close(logits[:, 3:], model.trace(tokens[:, 3:], expected.state).logits, **CLOSELY)
    steps, state = [], told.start(image)
    for token in tokens.unbind(1):
        one, state = told.step(token, state)
        steps.append(one)
    assert_close(torch.stack(steps, 1), logits, **CLOSELY)


def _told(row: Tensor, own: Tensor) -> Tensor:
    return row if row.any() else own


def test_beam_search_follows_directions_for_each_image() -> None:
    model, image = make(), images(3)
    given_ = nn.functional.one_hot(torch.tensor([[0, 5], [3, 3], [2, 1]]), CELLS).double()
    together = beam_search(Directed(model, given_), image, 4, 3)
    for row in range(3):
        one = slice(row, row + 1)
        alone = beam_search(Directed(model, given_[one]), image[one], 4, 3)
        assert_close(alone.log_probability[0], together.log_probability[row], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 4, 6), (2, 4, 5), (2, 6), (2, 0, 6)])
def test_directions_for_other_images_or_cells_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 images, one or more words, 6 cells"):
        Directed(make(), torch.zeros(shape)).start(images())


@pytest.mark.cuda
@KINDS
def test_cuda_agrees_with_the_processor(kind: type[Captioner]) -> None:
    model, image, (tokens, _) = make(kind), images(), captions()
    expected, words = model(image, tokens), greedy_decode(model, image, 6)
    model.cuda()
    assert_close(model(image.cuda(), tokens.cuda()).cpu(), expected, **CLOSELY)
    assert torch.equal(greedy_decode(model, image.cuda(), 6).cpu(), words)
    used = torch.zeros(BATCH, 1, CELLS).double().cuda()
    assert torch.equal(greedy_decode(Directed(model, used), image.cuda(), 6).cpu(), words)


def test_cells_are_projected_once_for_each_image_however_many_words_follow() -> None:
    model, image, (tokens, _) = make(), images(), captions()
    calls = []
    model.score.project_key.register_forward_hook(lambda *given: calls.append(given))
    works = (lambda: model(image, tokens), lambda: greedy_decode(model, image, 6))
    for work in itertools.chain(works):
        calls.clear()
        work()
        assert len(calls) == 1
