"""Multiplicative attention: scores, windows and the translator, by hand, by law, and written out.

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
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import additive_scores
from attn_course.decoding import greedy_decode
from attn_course.luong import (
    LuongTranslator,
    concat_scores,
    gaussian_window,
    general_scores,
    make_score,
    window_mask,
)
from attn_course.retrieval import attend, dot_scores
from attn_course.seq2seq import EOS, PAD, Encoder, sequence_loss
from tests.course.sentences import (
    LENGTHS,
    TARGET_VOCAB,
    VOCAB,
    WORDS,
    sentences,
    some_batch,
    stepwise,
)
from tests.tensors import CLOSELY, DEVICES, EXACTLY, draw

BATCH, QUERY_LEN, KEY_LEN, D_QUERY, D_KEY, D_SCORE = 2, 3, 5, 7, 11, 13
SOURCE_LEN, TARGET_LEN = 7, 5
D_EMBEDDING, D_DECODER = 3, 10  # of which the encoder's two directions have half each
SCORES = ["dot", "general", "concat"]
ATTENTIONS = ["global", "local-m", "local-p"]
CELLS = ["gru", "lstm"]
some_law = settings(max_examples=40, deadline=None, derandomize=True)
every_score_and_attention = pytest.mark.parametrize(
    ("score", "attention"), list(itertools.product(SCORES, ATTENTIONS))
)
OPTIONS = ("score", "attention", "input_feeding", "cell", "num_layers")
VARIANTS = [
    dict(zip(OPTIONS, values, strict=True))
    for values in itertools.product(SCORES, ATTENTIONS, [False, True], CELLS, [1, 2])
]
every_variant = pytest.mark.parametrize(
    "options", VARIANTS, ids=lambda options: "-".join(map(str, options.values()))
)


def row(*numbers: float) -> Tensor:
    """Return numbers as a matrix of one row."""
    return torch.tensor([numbers], dtype=torch.float64)


def query_and_key() -> tuple[Tensor, Tensor]:
    """Draw queries and keys, of different widths."""
    return draw(BATCH, QUERY_LEN, D_QUERY), draw(BATCH, KEY_LEN, D_KEY, seed=1)


def pairs() -> itertools.product:
    """Give the indices of every query and every key that meet."""
    return itertools.product(range(BATCH), range(QUERY_LEN), range(KEY_LEN))


def make_translator(**options: object) -> LuongTranslator:
    """Make a translator in float64, the same each time, with a window narrower than a sentence."""
    torch.manual_seed(0)
    encoder = Encoder(VOCAB, D_EMBEDDING, D_DECODER // 2)
    options = {"window": 1.5} | options
    return LuongTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, D_DECODER, **options).double()


def one_cell(network: nn.RNNBase, layer: int) -> nn.RNNCellBase:
    """Return the cell of one layer of a network, with the network's weights."""
    names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    weights = {name: getattr(network, f"{name}_l{layer}") for name in names}
    kind = {"GRU": nn.GRUCell, "LSTM": nn.LSTMCell}[network.mode]
    d_hidden, d_input = weights["weight_hh"].shape[1], weights["weight_ih"].shape[1]
    cell = kind(d_input, d_hidden).double()
    cell.load_state_dict(weights)
    return cell


def score_of(model: LuongTranslator, name: str, state: Tensor, annotation: Tensor) -> Tensor:
    """Compare one state with one annotation."""
    if name == "dot":
        return state @ annotation
    if name == "general":
        return state @ model.score.project_key.weight @ annotation
    score = model.score
    hidden = score.project_query.weight @ state + score.project_key.weight @ annotation
    return score.score_weight @ torch.tanh(hidden + score.project_key.bias)


def weights_of(
    model: LuongTranslator, name: str, state: Tensor, annotations: Tensor, step: int
) -> Tensor:
    """Weigh the annotations for one state, by the paper's sums over the positions of a window."""
    length, width = len(annotations), model.window
    centre = {"global": 0.0, "local-m": float(step)}.get(model.attention)
    if model.attention == "local-p":
        inner, _, outer, _ = model.centre
        height = outer.weight[0] @ torch.tanh(inner.weight @ state)
        centre = length / (1 + torch.exp(-height))
    inside = [model.attention == "global" or abs(i - float(centre)) <= width for i in range(length)]
    scores = [score_of(model, name, state, annotation).exp() for annotation in annotations]
    total = sum(score for score, near in zip(scores, inside, strict=True) if near)
    weights = []
    for i, (score, near) in enumerate(zip(scores, inside, strict=True)):
        bell = 1.0
        if model.attention == "local-p":
            sigma = width / 2
            bell = torch.exp(-((i - centre) ** 2) / (2 * sigma**2))
        weights.append(bell * score / total if near else torch.zeros(()).double())
    return torch.stack(weights)


@torch.no_grad()
def written_out(
    model: LuongTranslator, score: str, source: Tensor, words: Tensor
) -> tuple[Tensor, Tensor]:
    """Translate one sentence without padding, cell by cell; return logits and weights."""
    annotations, final, _ = (part[0] for part in model.encoder(source.unsqueeze(0)))
    network = model.recurrent.network
    cells = [one_cell(network, layer) for layer in range(network.num_layers)]
    bridged = torch.tanh(model.bridge.weight @ final + model.bridge.bias)
    states: list = list(bridged.split(D_DECODER))
    if network.mode == "LSTM":
        states = [(state, torch.zeros_like(state)) for state in states]
    attentional = torch.zeros(D_DECODER).double()
    logits, weights = [], []
    for step, vector in enumerate(model.embedding.weight[words]):
        inner = torch.cat([vector, attentional]) if model.input_feeding else vector
        for layer, cell in enumerate(cells):
            states[layer] = cell(inner, states[layer])
            inner = states[layer][0] if network.mode == "LSTM" else states[layer]
        weights.append(weights_of(model, score, inner, annotations, step))
        context = sum(w * a for w, a in zip(weights[-1], annotations, strict=True))
        both = torch.cat([context, inner])
        attentional = torch.tanh(model.combine.weight @ both + model.combine.bias)
        logits.append(model.readout.weight @ attentional + model.readout.bias)
    return torch.stack(logits), torch.stack(weights)


# --- scores -------------------------------------------------------------------------------------


def test_dot_score_with_softmax_is_pytorchs_own_attention() -> None:
    query, key = draw(BATCH, QUERY_LEN, D_KEY), draw(BATCH, KEY_LEN, D_KEY, seed=1)
    value = draw(BATCH, KEY_LEN, D_SCORE, seed=2)
    mask = draw(BATCH, 1, KEY_LEN, seed=3) > -0.5
    mask[..., 0] = True
    score = make_score("dot", D_KEY, D_KEY)
    output = attend(score(query, score.project_key(key)), value, mask)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
    assert_close(output, expected, **CLOSELY)


def test_general_scores_by_hand() -> None:
    weight = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]).double()
    scores = general_scores(row(1, 10), row(1, 1, 1), weight)
    assert_close(scores, row(1 + 2 + 30), **EXACTLY)


def test_general_scores_agree_with_three_loops() -> None:
    (query, key), weight = query_and_key(), draw(D_QUERY, D_KEY, seed=2)
    scores = general_scores(query, key, weight)
    for batch, i, j in pairs():
        one, other = query[batch, i].tolist(), key[batch, j].tolist()
        terms = [
            one[a] * weight[a, b].item() * other[b]
            for a, b in itertools.product(range(D_QUERY), range(D_KEY))
        ]
        assert_close(scores[batch, i, j].item(), math.fsum(terms), **CLOSELY)


def test_general_score_with_the_identity_is_the_dot_product() -> None:
    query, key = draw(BATCH, QUERY_LEN, D_KEY), draw(BATCH, KEY_LEN, D_KEY, seed=1)
    eye = torch.eye(D_KEY, dtype=torch.float64)
    assert_close(general_scores(query, key, eye), dot_scores(query, key), **CLOSELY)


def test_module_of_the_general_score_multiplies_the_keys_once_to_the_same_end() -> None:
    torch.manual_seed(0)
    (query, key), score = query_and_key(), make_score("general", D_QUERY, D_KEY).double()
    expected = general_scores(query, key, score.project_key.weight)
    assert_close(score(query, score.project_key(key)), expected, **CLOSELY)


def test_concat_scores_agree_with_loops_over_the_joined_vectors() -> None:
    query, key = query_and_key()
    weight, score_weight = draw(D_SCORE, D_QUERY + D_KEY, seed=2), draw(D_SCORE, seed=3)
    scores = concat_scores(query, key, weight, score_weight)
    for batch, i, j in pairs():
        both = np.concatenate([query[batch, i].numpy(), key[batch, j].numpy()])
        expected = float(score_weight.numpy() @ np.tanh(weight.numpy() @ both))
        assert_close(scores[batch, i, j].item(), expected, **CLOSELY)


def test_concat_scores_are_the_additive_scores_of_the_two_halves() -> None:
    query, key = query_and_key()
    weight, score_weight = draw(D_SCORE, D_QUERY + D_KEY, seed=2), draw(D_SCORE, seed=3)
    left, right = weight[:, :D_QUERY], weight[:, D_QUERY:]
    expected = additive_scores(query @ left.mT, key @ right.mT, score_weight)
    assert_close(concat_scores(query, key, weight, score_weight), expected, **CLOSELY)


def test_module_of_the_concat_score_is_the_additive_score() -> None:
    torch.manual_seed(0)
    (query, key), score = query_and_key(), make_score("concat", D_QUERY, D_KEY).double()
    with torch.no_grad():
        score.project_key.bias.zero_()
    weight = torch.cat([score.project_query.weight, score.project_key.weight], 1)
    assert weight.shape == (D_QUERY, D_QUERY + D_KEY)
    expected = concat_scores(query, key, weight, score.score_weight)
    assert_close(score(query, score.project_key(key)), expected, **CLOSELY)


def test_gradients_of_the_scores_agree_with_differences() -> None:
    query, key = (part.requires_grad_() for part in query_and_key())
    weight = draw(D_QUERY, D_KEY, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(general_scores, (query, key, weight))
    weight = draw(3, D_QUERY + D_KEY, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(
        concat_scores, (query, key, weight, draw(3, seed=3).requires_grad_())
    )


def test_scores_that_do_not_fit_are_refused_with_their_numbers() -> None:
    query, key = query_and_key()
    with pytest.raises(ValueError, match="d_query=7 in query but 11 here"):
        general_scores(query, key, draw(D_KEY, D_QUERY))
    with pytest.raises(ValueError, match="weight has 17 columns, but d_query=7 and d_key=11"):
        concat_scores(query, key, draw(D_SCORE, 17), draw(D_SCORE))
    with pytest.raises(ValueError, match="d_score=13 in weight but 5 here"):
        concat_scores(query, key, draw(D_SCORE, 18), draw(5))
    with pytest.raises(TypeError, match="must share one dtype"):
        general_scores(query.float(), key, draw(D_QUERY, D_KEY))
    with pytest.raises(ValueError, match="of equal width, but they have 7 and 11"):
        make_score("dot", 7, 11)
    with pytest.raises(ValueError, match="'scaled' is not a score; choose from dot, general"):
        make_score("scaled", 7, 7)


# --- windows ------------------------------------------------------------------------------------


def test_window_by_hand_holds_its_edges() -> None:
    mask = window_mask(row(2.0, 0.0, 3.5, 9.0), 5, 1.5)
    expected = ["01110", "11000", "00111", "00000"]
    assert ["".join(str(int(near)) for near in line) for line in mask[0]] == expected
    assert window_mask(row(2.0), 5, 1.0)[0, 0].tolist() == [False, True, True, True, False]


def test_bell_by_hand_is_one_at_the_centre_and_falls_to_the_edge_by_two_deviations() -> None:
    bell = gaussian_window(row(2.0), 5, 2.0)[0, 0]
    expected = torch.tensor([math.exp(-2), math.exp(-0.5), 1, math.exp(-0.5), math.exp(-2)])
    assert_close(bell, expected.double(), rtol=1e-6, atol=0)


@some_law
@given(st.floats(-3, 9), st.floats(0.1, 5), st.integers(1, 11))
def test_bell_is_a_normal_density_whose_deviation_is_half_the_half_width(
    centre: float, half_width: float, key_len: int
) -> None:
    bell = gaussian_window(row(centre), key_len, half_width)[0, 0]
    sigma = half_width / 2
    expected = [math.exp(-((i - centre) ** 2) / (2 * sigma**2)) for i in range(key_len)]
    assert_close(bell, torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-300)
    inside = window_mask(row(centre), key_len, half_width)[0, 0]
    assert inside.tolist() == [abs(i - centre) <= half_width for i in range(key_len)]


@pytest.mark.parametrize("window", [window_mask, gaussian_window])
def test_window_that_makes_no_sense_is_refused_with_its_numbers(window: object) -> None:
    for half_width in (0, -1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"half_width=.* must be positive and finite"):
            window(row(1.0), 5, half_width)
    with pytest.raises(ValueError, match="centre holds 1 NaN among 2 numbers"):
        window(row(1.0, math.nan), 5, 1.0)


# --- translator ---------------------------------------------------------------------------------


@every_variant
def test_translator_agrees_with_the_paper_written_out_one_sentence_and_one_step_at_a_time(
    options: dict,
) -> None:
    model, (source, target, _) = make_translator(**options), some_batch()
    logits, weights = model(source, target), model.alignment(source, target)
    assert logits.shape == (len(LENGTHS), TARGET_LEN, TARGET_VOCAB)
    assert weights.shape == (len(LENGTHS), TARGET_LEN, SOURCE_LEN)
    assert weights[(source == PAD).unsqueeze(1).expand_as(weights)].count_nonzero() == 0
    for i, (length, words) in enumerate(zip(LENGTHS, WORDS, strict=True)):
        expected = written_out(model, options["score"], source[i, :length], target[i, :words])
        assert_close(logits[i, :words], expected[0], **CLOSELY)
        assert_close(weights[i, :words, :length], expected[1], **CLOSELY)


@every_variant
def test_all_steps_at_once_give_what_stepping_gives(options: dict) -> None:
    model, (source, target, _) = make_translator(**options), some_batch()
    assert_close(stepwise(model, source, target), model(source, target), **CLOSELY)


@every_score_and_attention
def test_padding_and_neighbours_change_neither_logits_nor_loss_nor_gradients(
    score: str, attention: str
) -> None:
    model = make_translator(score=score, attention=attention)
    source, target, output = some_batch()
    longer = torch.cat([source, torch.full((len(LENGTHS), 4), PAD)], 1)
    assert_close(model(longer, target), model(source, target), **CLOSELY)
    together = sequence_loss(model(source, target), output) * sum(WORDS)
    apart = torch.zeros((), dtype=torch.float64)
    for i, (length, words) in enumerate(zip(LENGTHS, WORDS, strict=True)):
        logits = model(source[i : i + 1, :length], target[i : i + 1, :words])
        apart = apart + words * sequence_loss(logits, output[i : i + 1, :words])
    assert_close(together, apart, **CLOSELY)
    weights = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(together, weights), torch.autograd.grad(apart, weights), strict=True
    ):
        assert_close(one, other, **CLOSELY)


@every_score_and_attention
def test_weights_sum_to_one_and_with_a_predicted_window_to_less(score: str, attention: str) -> None:
    model, (source, target, _) = make_translator(score=score, attention=attention), some_batch()
    sums = model.alignment(source, target).sum(-1)
    if attention == "local-p":
        assert (sums < 1).all()
        assert (sums > 0).all()
    else:
        near = torch.ones_like(sums)
        if attention == "local-m":  # row 1 has 2 tokens: from word 4 on none is within 1.5
            near[1, 4] = near[1, 3] = 0
        assert_close(sums, near, **CLOSELY)


def test_monotonic_window_beyond_the_end_of_the_source_gives_zeros_and_finite_gradients() -> None:
    model = make_translator(attention="local-m")
    source, target = torch.tensor([[4, 5, EOS]]), torch.full((1, 11), 6)
    weights = model.alignment(source, target)
    assert weights[0, 4:].count_nonzero() == 0
    assert_close(weights[0, :4].sum(-1), torch.ones(4).double(), **CLOSELY)
    loss = sequence_loss(model(source, target), target)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)
    # without a context, only the state speaks
    states = model.recurrent(model.embedding(target), model.start(source)[1])[0]
    nothing = torch.zeros(11, D_DECODER).double()
    alone = model.readout(torch.tanh(model.combine(torch.cat([nothing, states[0]], -1))))
    assert_close(model(source, target)[0, 4:], alone[4:], **CLOSELY)


def test_monotonic_window_moves_on_with_the_word() -> None:
    model = make_translator(attention="local-m", window=1.0)
    source, target = sentences((7,), VOCAB, 0), torch.full((1, 5), 6)
    looked_at = model.alignment(source, target)[0] > 0
    for step in range(5):
        near = [abs(position - step) <= 1 for position in range(7)]
        assert looked_at[step].tolist() == near


def test_monotonic_window_counts_in_half_precision_as_well() -> None:
    model = make_translator(attention="local-m", window=1.0).bfloat16()
    source, target = sentences((263,), VOCAB, 0), torch.full((1, 261), 6)
    looked_at = model.alignment(source, target)[0] > 0
    assert looked_at[257].nonzero().flatten().tolist() == [256, 257, 258]


def test_predicted_window_lies_within_its_own_sentence_and_not_within_the_padding() -> None:
    model = make_translator(attention="local-p", window=1.5)
    with torch.no_grad():
        model.centre[2].weight.fill_(50.0)
        model.centre[0].weight.fill_(1.0)  # the centre is at one end or the other
    source, target, _ = some_batch()
    with torch.no_grad():
        states = model.recurrent(model.embedding(target), model.start(source)[1])[0]
    at_the_end = states.sum(-1) > 0
    weights = model.alignment(source, target)
    assert at_the_end.any()
    for i, length in enumerate(LENGTHS):
        for step in range(TARGET_LEN):
            # the far end, S, is just behind the last token, which is at position S - 1
            looked_at = (weights[i, step] > 0).nonzero().flatten().tolist()
            assert looked_at == ([length - 1] if at_the_end[i, step] else [0, 1])


def test_window_as_wide_as_the_sentence_makes_monotonic_attention_global() -> None:
    local = make_translator(attention="local-m", window=7.0)
    everywhere = make_translator(attention="global")
    source, target, _ = some_batch()
    assert_close(local(source, target), everywhere(source, target), **EXACTLY)


def test_prediction_of_the_window_is_learned() -> None:
    model = make_translator(attention="local-p")
    source, target, output = some_batch()
    sequence_loss(model(source, target), output).backward()
    for name, weight in model.named_parameters():
        assert weight.grad.count_nonzero() > 0, name


@pytest.mark.parametrize("feeding", [False, True])
def test_only_with_input_feeding_does_a_step_depend_on_what_was_attended_to_before(
    feeding: bool,
) -> None:
    model, (source, target, _) = make_translator(input_feeding=feeding), some_batch()
    memory, hidden, attentional, position = model.start(source)
    assert attentional.shape == (len(LENGTHS), D_DECODER)
    assert attentional.count_nonzero() == 0
    plain, _ = model.step(target[:, 0], (memory, hidden, attentional, position))
    fed, _ = model.step(target[:, 0], (memory, hidden, attentional + 1, position))
    assert torch.equal(plain, fed) != feeding


def test_attentional_state_handed_on_is_the_one_the_word_was_read_from() -> None:
    model, (source, target, _) = make_translator(input_feeding=True), some_batch()
    state = model.start(source)
    for token in target.unbind(1):
        logits, state = model.step(token, state)
        assert_close(model.readout(state[2]), logits, **CLOSELY)
    assert state[3].tolist() == [TARGET_LEN] * len(LENGTHS)


@pytest.mark.parametrize("feeding", [False, True])
def test_decoding_may_be_interrupted_at_any_word(feeding: bool) -> None:
    model = make_translator(input_feeding=feeding, attention="local-m", cell="lstm", num_layers=2)
    source, target, _ = some_batch()
    logits, weights, _ = model.trace(target, model.start(source))
    first = model.trace(target[:, :2], model.start(source))
    second = model.trace(target[:, 2:], first[2])
    assert_close(torch.cat([first[0], second[0]], 1), logits, **CLOSELY)
    assert_close(torch.cat([first[1], second[1]], 1), weights, **CLOSELY)


@pytest.mark.parametrize(("feeding", "calls"), [(False, 1), (True, TARGET_LEN)])
def test_all_steps_are_computed_at_once_unless_one_feeds_the_next(
    feeding: bool, calls: int
) -> None:
    model, (source, target, _) = make_translator(input_feeding=feeding), some_batch()
    seen = []
    model.recurrent.register_forward_hook(lambda module, given, out: seen.append(given))
    model(source, target)
    assert len(seen) == calls


@pytest.mark.parametrize("score", ["general", "concat"])
def test_keys_are_projected_once_for_each_source_however_many_words_follow(score: str) -> None:
    model, (source, target, _) = make_translator(score=score, input_feeding=True), some_batch()
    calls = []
    model.score.project_key.register_forward_hook(lambda module, given, out: calls.append(given))
    model(source, target)
    assert len(calls) == 1
    greedy_decode(model, source, 11)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": "scaled"}, "'scaled' is not a score; choose from dot, general, concat"),
        ({"attention": "local"}, "attention='local' is unknown; choose from global, local-m"),
        ({"cell": "rnn"}, "'rnn' is not a recurrent cell; choose from gru, lstm"),
        ({"window": 0.0}, "window=0 must be positive and finite"),
        ({"window": -2}, "window=-2 must be positive and finite"),
        ({"window": math.nan}, "window=nan must be positive and finite"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_translator(**change)


def test_dot_score_needs_states_as_wide_as_annotations() -> None:
    encoder = Encoder(VOCAB, D_EMBEDDING, 7)
    with pytest.raises(ValueError, match="of equal width, but they have 11 and 14"):
        LuongTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, 11, score="dot")
    for score in ("general", "concat"):  # these learn to compare different widths
        model = LuongTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, 11, score=score)
        source, target, _ = some_batch()
        assert model(source, target).shape == (3, TARGET_LEN, TARGET_VOCAB)


@pytest.mark.parametrize("feeding", [False, True])
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
    target: Tensor, error: type[Exception], message: str, feeding: bool
) -> None:
    model, (source, _, _) = make_translator(input_feeding=feeding), some_batch()
    for call in (model, model.alignment):
        with pytest.raises(error, match=message):
            call(source, target)


# --- dtypes, devices, copies --------------------------------------------------------------------


@every_score_and_attention
@pytest.mark.parametrize("feeding", [False, True])
def test_float32_agrees_with_float64(score: str, attention: str, feeding: bool) -> None:
    model = make_translator(score=score, attention=attention, input_feeding=feeding)
    source, target, _ = some_batch()
    expected = model(source, target)
    logits = model.float()(source, target)
    assert logits.dtype == torch.float32
    assert_close(logits.double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("feeding", [False, True])
@every_score_and_attention
def test_bfloat16_autocast_stays_close_and_trains(
    score: str, attention: str, feeding: bool, device: str
) -> None:
    options = {"score": score, "attention": attention, "input_feeding": feeding}
    model = make_translator(**options, window=7.0).float().to(device)
    source, target, output = (part.to(device) for part in some_batch())
    expected = model(source, target)
    with torch.autocast(device, torch.bfloat16):
        logits, weights = model(source, target), model.alignment(source, target)
        loss = sequence_loss(logits, output)
    assert_close(logits.float(), expected, rtol=0, atol=0.03)
    assert (weights.sum(-1) <= 1.02).all()
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.cuda
@every_score_and_attention
def test_cuda_agrees_with_the_processor(score: str, attention: str) -> None:
    model, (source, target, _) = make_translator(score=score, attention=attention), some_batch()
    expected = model(source, target)
    assert_close(model.cuda()(source.cuda(), target.cuda()).cpu(), expected, **CLOSELY)


@every_score_and_attention
@pytest.mark.parametrize("feeding", [False, True])
def test_weights_come_back_from_disk(score: str, attention: str, feeding: bool) -> None:
    options = {"score": score, "attention": attention, "input_feeding": feeding}
    model, other = make_translator(**options), make_translator(**options)
    with torch.no_grad():
        for weight in other.parameters():
            nn.init.normal_(weight)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    source, target, _ = some_batch()
    assert not torch.equal(other(source, target), model(source, target))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert_close(other(source, target), model(source, target), **EXACTLY)


def test_copy_gives_the_same_and_lives_its_own_life() -> None:
    model, (source, target, _) = make_translator(attention="local-p"), some_batch()
    expected, twin = model(source, target), copy.deepcopy(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1)
    assert_close(twin(source, target), expected, **EXACTLY)


@pytest.mark.parametrize("way", ["bfloat16", "autocast"])
def test_predicted_centre_of_a_long_source_is_as_exact_as_in_single_precision(way: str) -> None:
    torch.manual_seed(0)
    encoder = Encoder(11, 8, 8)
    model = LuongTranslator(encoder, 11, 8, 16, attention="local-p").eval()
    source = torch.randint(3, 11, (2, 1200))
    states = torch.randn(2, 5, 16)
    model.to(torch.bfloat16).float()  # weights that both precisions can hold
    states = states.to(torch.bfloat16).float()
    exact = 1200 * model.centre(states).squeeze(-1)
    seen = []

    def note(centre: torch.Tensor, key_len: int, half_width: float) -> torch.Tensor:
        seen.append(centre)
        return window_mask(centre, key_len, half_width)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr("attn_course.luong.window_mask", note)
        memory = model.start(source)[0]
        if way == "bfloat16":
            model, states = model.to(torch.bfloat16), states.to(torch.bfloat16)
            memory = type(memory)(*(x.to(torch.bfloat16) for x in memory[:2]), memory[2])
        with torch.autocast("cpu", torch.bfloat16, enabled=way == "autocast"):
            weights = model._weights(states, torch.arange(5).expand(2, 5), memory)
    assert (seen[0] - exact).abs().max() < 0.01  # words
    assert weights.dtype == torch.bfloat16 or way == "autocast"
