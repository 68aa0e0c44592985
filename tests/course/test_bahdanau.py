"""The additive score and the translator that aligns: by hand, by their laws, and written out.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import copy
import io
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import AdditiveScore, BahdanauTranslator, additive_scores
from attn_course.decoding import beam_search, greedy_decode
from attn_course.retrieval import masked_softmax
from attn_course.seq2seq import BOS, EOS, PAD, Encoder, sequence_loss
from tests.course.sentences import (
    LENGTHS,
    TARGET_VOCAB,
    VOCAB,
    WORDS,
    some_batch,
)
from tests.tensors import CLOSELY, DEVICES, EXACTLY, draw

BATCH, QUERY_LEN, KEY_LEN, D_SCORE, D_QUERY, D_KEY = 2, 3, 5, 7, 11, 13
SOURCE_LEN, TARGET_LEN = 7, 5
D_EMBEDDING, D_HIDDEN, D_DECODER, D_ALIGN = 2, 3, 13, 11
some_law = settings(max_examples=40, deadline=None, derandomize=True)


def projected() -> tuple[Tensor, Tensor, Tensor]:
    """Draw projected queries, projected keys and a score weight."""
    return draw(BATCH, QUERY_LEN, D_SCORE), draw(BATCH, KEY_LEN, D_SCORE, seed=1), draw(7, seed=2)


def make_translator() -> BahdanauTranslator:
    """Make a translator in float64, the same each time."""
    torch.manual_seed(0)
    encoder = Encoder(VOCAB, D_EMBEDDING, D_HIDDEN)
    return BahdanauTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, D_DECODER, D_ALIGN).double()


def written_out(model: BahdanauTranslator, source: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """Translate one sentence without padding: at every word project `[state; annotation]` anew.

    Return the logits and the weights of each word.
    """
    annotations, final, _ = (part[0] for part in model.encoder(source.unsqueeze(0)))
    score = model.score
    both = torch.cat([score.project_query.weight, score.project_key.weight], 1)
    state = torch.tanh(model.bridge.weight @ final + model.bridge.bias)
    first, _, last = model.readout
    logits, weights = [], []
    for vector in model.embedding.weight[words]:
        scores = []
        for annotation in annotations:
            hidden = both @ torch.cat([state, annotation]) + score.project_key.bias
            scores.append(score.score_weight @ torch.tanh(hidden))
        exponentials = torch.stack(scores).exp()
        weights.append(exponentials / exponentials.sum())
        context = sum(w * a for w, a in zip(weights[-1], annotations, strict=True))
        state = model.cell(torch.cat([vector, context]), state)
        known = torch.cat([state, vector, context])
        logits.append(last.weight @ torch.tanh(first.weight @ known + first.bias) + last.bias)
    return torch.stack(logits), torch.stack(weights)


# --- additive score -----------------------------------------------------------------------------


def test_additive_scores_by_hand() -> None:
    query, key = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [-1.0, 100.0]])
    scores = additive_scores(query.double(), key.double(), torch.tensor([2.0, 3.0]).double())
    expected = torch.tensor([[2 * math.tanh(2), 2 * 0 + 3 * 1]], dtype=torch.float64)
    assert_close(scores, expected, **CLOSELY)


def test_additive_scores_agree_with_two_loops() -> None:
    query, key, weight = projected()
    scores = additive_scores(query, key, weight)
    assert scores.shape == (BATCH, QUERY_LEN, KEY_LEN)
    for batch, i, j in itertools.product(range(BATCH), range(QUERY_LEN), range(KEY_LEN)):
        both = query[batch, i].numpy() + key[batch, j].numpy()
        expected = float(np.dot(weight.numpy(), np.tanh(both)))
        assert_close(scores[batch, i, j].item(), expected, **CLOSELY)


@pytest.mark.parametrize("batch", [(), (5,), (5, 3), (0,)])
def test_additive_scores_take_any_number_of_batch_axes(batch: tuple[int, ...]) -> None:
    query, key = draw(*batch, QUERY_LEN, D_SCORE), draw(*batch, KEY_LEN, D_SCORE, seed=1)
    weight = draw(D_SCORE, seed=2)
    scores = additive_scores(query, key, weight)
    assert scores.shape == (*batch, QUERY_LEN, KEY_LEN)
    if batch and batch[0]:
        assert_close(scores[1], additive_scores(query[1], key[1], weight), **CLOSELY)


@some_law
@given(st.permutations(range(KEY_LEN)), st.permutations(range(QUERY_LEN)))
def test_reordered_queries_and_keys_give_reordered_scores(keys: list, queries: list) -> None:
    query, key, weight = projected()
    expected = additive_scores(query, key, weight)[:, queries][:, :, keys]
    assert_close(additive_scores(query[:, queries], key[:, keys], weight), expected, **CLOSELY)


def test_scores_are_bounded_and_odd() -> None:
    query, key, weight = projected()
    scores = additive_scores(100 * query, 100 * key, weight)
    assert (scores.abs() <= weight.abs().sum() + 1e-12).all()
    assert_close(additive_scores(-query, -key, weight), -additive_scores(query, key, weight))


def test_without_tanh_the_weights_do_not_depend_on_the_query() -> None:
    query, key, weight = projected()
    without = (query.unsqueeze(-2) + key.unsqueeze(-3)) @ weight  # v · (q + k) = v · q + v · k
    assert not torch.equal(without[:, 0], without[:, 1])
    weights = masked_softmax(without)
    for row in range(1, QUERY_LEN):
        assert_close(weights[:, row], weights[:, 0], **CLOSELY)
    assert_close(weights[:, 0], (key @ weight).softmax(-1), **CLOSELY)
    weights = masked_softmax(additive_scores(query, key, weight))
    assert (weights[:, 1] - weights[:, 0]).abs().max() > 0.1


def test_gradients_of_the_score_agree_with_differences() -> None:
    given_ = [part.requires_grad_() for part in projected()]
    assert torch.autograd.gradcheck(additive_scores, given_)


def test_additive_score_is_one_hidden_layer_on_query_and_key_together() -> None:
    torch.manual_seed(0)
    score = AdditiveScore(D_QUERY, D_KEY, D_SCORE).double()
    query, key = draw(BATCH, QUERY_LEN, D_QUERY), draw(BATCH, KEY_LEN, D_KEY, seed=1)
    scores = score(query, score.project_key(key))
    both = torch.cat([score.project_query.weight, score.project_key.weight], 1).detach()
    for batch, i, j in itertools.product(range(BATCH), range(QUERY_LEN), range(KEY_LEN)):
        hidden = both @ torch.cat([query[batch, i], key[batch, j]]) + score.project_key.bias
        expected = torch.dot(score.score_weight, torch.tanh(hidden))
        assert_close(scores[batch, i, j], expected, **CLOSELY)


def test_score_weights_start_small_and_of_both_signs() -> None:
    torch.manual_seed(0)
    weight = AdditiveScore(D_QUERY, D_KEY, 1009).score_weight
    bound = 1009**-0.5
    assert 0.99 * bound < weight.max() <= bound
    assert -0.99 * bound > weight.min() >= -bound


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"key": draw(BATCH, KEY_LEN, 6)}, ValueError, "d_score=7 in query but 6 here"),
        ({"key": draw(3, KEY_LEN, 7)}, ValueError, r"batch=\(2,\) in query but \(3,\) here"),
        ({"score_weight": draw(5)}, ValueError, "d_score=7 in query but 5 here"),
        ({"score_weight": draw(7, 1)}, ValueError, r"score_weight has shape \(7, 1\); expected"),
        ({"query": draw(2, 3, 7).float()}, TypeError, "must share one dtype.*query torch.float32"),
        ({"query": torch.ones(2, 3, 7).long()}, TypeError, "query has dtype torch.int64"),
        ({"key": draw(2, 5, 7) * math.nan}, ValueError, "key holds 70 NaN among 70"),
        ({"key": None}, TypeError, "key is None; expected a torch.Tensor"),
    ],
)
def test_scores_that_make_no_sense_are_refused_with_their_numbers(
    change: dict, error: type[Exception], message: str
) -> None:
    good = dict(zip(("query", "key", "score_weight"), projected(), strict=True))
    with pytest.raises(error, match=message):
        additive_scores(**good | change)


# --- translator ---------------------------------------------------------------------------------


def test_translator_agrees_with_projecting_state_and_annotation_together_at_every_word() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    logits, weights = model(source, target), model.alignment(source, target)
    assert logits.shape == (len(LENGTHS), TARGET_LEN, TARGET_VOCAB)
    assert weights.shape == (len(LENGTHS), TARGET_LEN, SOURCE_LEN)
    for row, (length, words) in enumerate(zip(LENGTHS, WORDS, strict=True)):
        expected = written_out(model, source[row, :length], target[row, :words])
        assert_close(logits[row, :words], expected[0], **CLOSELY)
        assert_close(weights[row, :words, :length], expected[1], **CLOSELY)


def test_teacher_forcing_gives_what_stepping_gives() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    state, logits = model.start(source), []
    for token in target.unbind(1):
        one, state = model.step(token, state)
        logits.append(one)
    assert_close(torch.stack(logits, 1), model(source, target), **CLOSELY)


def test_a_trace_may_be_interrupted_at_any_word() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    logits, weights, state = model.trace(target, model.start(source))
    first = model.trace(target[:, :2], model.start(source))
    second = model.trace(target[:, 2:], first[2])
    assert_close(torch.cat([first[0], second[0]], 1), logits, **CLOSELY)
    assert_close(torch.cat([first[1], second[1]], 1), weights, **CLOSELY)
    assert_close(second[2], state, **CLOSELY)


def test_weights_are_a_distribution_over_the_tokens_and_exactly_zero_at_padding() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    weights = model.alignment(source, target)
    tokens = (source != PAD).unsqueeze(1).expand_as(weights)
    assert_close(weights.sum(-1), torch.ones(weights.shape[:2]).double(), **CLOSELY)
    assert weights[~tokens].count_nonzero() == 0
    assert (weights[tokens] > 0).all()


def test_weights_differ_from_word_to_word_because_the_state_does() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    weights = model.alignment(source, target)
    assert (weights[0, 1:] != weights[0, :-1]).any(-1).all()


def test_row_of_the_alignment_belongs_to_the_word_that_follows() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    changed = target.clone()
    changed[:, 2] = 3  # the weights of row 2 were chosen before it was read
    before, after = model.alignment(source, target), model.alignment(source, changed)
    assert_close(after[:, :3], before[:, :3], **EXACTLY)
    assert (after[:, 3] != before[:, 3])[0].any()


def test_padding_and_neighbours_change_neither_logits_nor_loss_nor_gradients() -> None:
    model, (source, target, output) = make_translator(), some_batch()
    longer = torch.cat([source, torch.full((len(LENGTHS), 4), PAD)], 1)
    assert_close(model(longer, target), model(source, target), **CLOSELY)
    together = sequence_loss(model(source, target), output) * sum(WORDS)
    apart = torch.zeros((), dtype=torch.float64)
    for row, (length, words) in enumerate(zip(LENGTHS, WORDS, strict=True)):
        logits = model(source[row : row + 1, :length], target[row : row + 1, :words])
        apart = apart + words * sequence_loss(logits, output[row : row + 1, :words])
    assert_close(together, apart, **CLOSELY)
    weights = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(together, weights), torch.autograd.grad(apart, weights), strict=True
    ):
        assert_close(one, other, **CLOSELY)


def test_annotations_at_padding_are_never_looked_at() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    expected = model(source, target)
    padding = (source == PAD).unsqueeze(-1)
    model.encoder.register_forward_hook(
        lambda module, given, e: e._replace(annotations=e.annotations.masked_fill(padding, 1e3))
    )
    assert_close(model(source, target), expected, **EXACTLY)


def test_order_of_the_annotations_does_not_matter_to_the_decoder() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    source = source[:1]  # without padding
    logits, weights, _ = model.trace(target[:1], model.start(source))
    order = [3, 0, 6, 2, 5, 1, 4]
    annotations, projected_key, mask, hidden = model.start(source)
    state = (annotations[:, order], projected_key[:, order], mask, hidden)
    moved = model.trace(target[:1], state)
    assert_close(moved[0], logits, **CLOSELY)
    assert_close(moved[1], weights[..., order], **CLOSELY)


def test_a_sentence_of_one_token_leaves_nothing_to_choose() -> None:
    model, target = make_translator(), torch.tensor([[BOS, 3, 4]])
    weights = model.alignment(torch.tensor([[EOS]]), target)
    assert_close(weights, torch.ones(1, 3, 1).double(), **EXACTLY)


def test_keys_are_projected_once_for_each_source_however_many_words_follow() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    calls = []
    model.score.project_key.register_forward_hook(lambda module, given, out: calls.append(given))
    counts = []
    for work in (
        lambda: model(source, target),
        lambda: model.alignment(source, target),
        lambda: greedy_decode(model, source, 11),
        lambda: beam_search(model, source, 11, 3),
    ):
        calls.clear()
        work()
        counts.append(len(calls))
    assert counts == [1, 1, 1, 1]


def test_gradients_agree_with_differences_from_the_loss_to_every_part_of_the_model() -> None:
    torch.manual_seed(0)
    encoder = Encoder(5, 2, 2)
    model = BahdanauTranslator(encoder, 7, 2, 3, 2).double()
    source, target = torch.tensor([[3, 4, EOS], [4, EOS, PAD]]), torch.tensor([[BOS, 3], [BOS, 5]])
    output = torch.tensor([[3, EOS], [5, EOS]])
    names = [
        "score.score_weight",
        "score.project_query.weight",
        "score.project_key.weight",
        "encoder.embedding.weight",
        "encoder.recurrent.weight_hh_l0_reverse",
        "cell.weight_ih",
        "bridge.weight",
    ]
    weights = dict(model.named_parameters())

    def loss(*values: Tensor) -> Tensor:
        changed = dict(zip(names, values, strict=True))
        logits = torch.func.functional_call(model, changed, (source, target))
        return sequence_loss(logits, output)

    chosen = [weights[name].detach().requires_grad_() for name in names]
    # targets are without PAD: its vector is held fixed, which a difference would not respect
    assert torch.autograd.gradcheck(loss, chosen)


def test_gradient_reaches_every_weight() -> None:
    model, (source, target, output) = make_translator(), some_batch()
    sequence_loss(model(source, target), output).backward()
    still = [name for name, weight in model.named_parameters() if not weight.grad.count_nonzero()]
    assert still == []
    assert model.encoder.embedding.weight.grad[PAD].count_nonzero() == 0


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (torch.ones(2, 1).long(), ValueError, "batch=3 in source but 2 here"),
        (torch.ones(3, 0).long(), ValueError, r"tokens of shape \(3, 0\) hold no word"),
        (torch.full((3, 2), 19), ValueError, "6 tokens are outside the vocabulary of 19 words"),
        (torch.ones(3, 2), TypeError, "target_input has dtype torch.float32"),
    ],
)
def test_target_that_makes_no_sense_is_refused_with_its_numbers(
    target: Tensor, error: type[Exception], message: str
) -> None:
    model, (source, _, _) = make_translator(), some_batch()
    for call in (model, model.alignment):
        with pytest.raises(error, match=message):
            call(source, target)


def test_a_model_full_of_nan_is_refused_instead_of_giving_nan() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    with torch.no_grad():
        model.score.score_weight[3] = math.nan
    with pytest.raises(ValueError, match="NaN"):
        model(source, target)


# --- dtypes, devices, copies --------------------------------------------------------------------


def test_float32_agrees_with_float64() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    expected, weights = model(source, target), model.alignment(source, target)
    model.float()
    assert_close(model(source, target).double(), expected, rtol=1e-5, atol=1e-6)
    assert_close(model.alignment(source, target).double(), weights, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_bfloat16_autocast_stays_close_and_trains(device: str) -> None:
    model, (source, target, output) = make_translator().float().to(device), some_batch()
    source, target, output = source.to(device), target.to(device), output.to(device)
    expected, weights = model(source, target), model.alignment(source, target)
    with torch.autocast(device, torch.bfloat16):
        logits, rough = model(source, target), model.alignment(source, target)
        loss = sequence_loss(logits, output)
    assert_close(logits.float(), expected, rtol=0, atol=0.02)
    assert_close(rough.float(), weights, rtol=0, atol=0.02)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.cuda
def test_cuda_agrees_with_the_processor() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    expected = model(source, target)
    words = greedy_decode(model, source, 7)
    model.cuda()
    assert_close(model(source.cuda(), target.cuda()).cpu(), expected, **CLOSELY)
    assert torch.equal(greedy_decode(model, source.cuda(), 7).cpu(), words)


def test_weights_come_back_from_disk() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = make_translator()
    with torch.no_grad():
        for weight in other.parameters():
            nn.init.normal_(weight)
    assert not torch.equal(other(source, target), model(source, target))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert_close(other(source, target), model(source, target), **EXACTLY)


def test_copy_gives_the_same_and_lives_its_own_life() -> None:
    model, (source, target, _) = make_translator(), some_batch()
    expected, twin = model(source, target), copy.deepcopy(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1)
    assert_close(twin(source, target), expected, **EXACTLY)
