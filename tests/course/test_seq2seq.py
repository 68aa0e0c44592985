"""The encoder and the fixed-vector translator: by hand, by their laws, and cell by cell.

Sizes are distinct primes, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import copy
import io
import itertools
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.seq2seq import (
    BOS,
    EOS,
    PAD,
    Encoder,
    FixedVectorTranslator,
    Recurrent,
    reverse_within_length,
    sequence_loss,
    token_mask,
)
from tests.course.sentences import LENGTHS, stepwise
from tests.course.sentences import sentences as padded_sentences
from tests.tensors import CLOSELY, DEVICES, EXACTLY

BATCH, SOURCE_LEN, TARGET_LEN = 3, 7, 5
D_EMBEDDING, D_HIDDEN, D_DECODER = 2, 11, 19
VOCAB, TARGET_VOCAB = 17, 13
CELLS = ["gru", "lstm"]
ONE_STEP = {"gru": nn.GRUCell, "lstm": nn.LSTMCell}
some_law = settings(max_examples=50, deadline=None, derandomize=True)
every_encoder = pytest.mark.parametrize(
    ("cell", "bidirectional", "num_layers", "reverse_source"),
    list(itertools.product(CELLS, [False, True], [1, 3], [False, True])),
)


def sentences(lengths: tuple[int, ...], vocab_size: int = VOCAB, seed: int = 0) -> Tensor:
    """Draw sentences of these lengths, EOS included, padded."""
    return padded_sentences(lengths, vocab_size, seed)


def make_encoder(**options: object) -> Encoder:
    """Make an encoder in float64, the same each time."""
    torch.manual_seed(0)
    return Encoder(VOCAB, D_EMBEDDING, D_HIDDEN, **options).double()


def make_translator(cell: str = "gru", num_layers: int = 1) -> FixedVectorTranslator:
    """Make a translator in float64, the same each time."""
    encoder = make_encoder()
    options = {"cell": cell, "num_layers": num_layers}
    return FixedVectorTranslator(encoder, TARGET_VOCAB, D_EMBEDDING, D_DECODER, **options).double()


def some_batch(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Draw sources and target inputs, which begin with BOS; both have padding."""
    target = sentences((3, TARGET_LEN, 2), TARGET_VOCAB, seed + 1)
    target[target == EOS] = EOS + 1
    target[:, 0] = BOS
    return sentences(LENGTHS, seed=seed), target


def one_cell(network: nn.RNNBase, layer: int, suffix: str = "") -> nn.RNNCellBase:
    """Return the cell of one layer and direction of a network, with the network's weights."""
    names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    weights = {name: getattr(network, f"{name}_l{layer}{suffix}") for name in names}
    d_hidden, d_input = weights["weight_hh"].shape[1], weights["weight_ih"].shape[1]
    cell = ONE_STEP[network.mode.lower()](d_input, d_hidden).double()
    cell.load_state_dict(weights)
    return cell


def step_by_step(cell: nn.RNNCellBase, inputs: list[Tensor]) -> list[Tensor]:
    """Return the hidden state after each of the inputs, from a state of zeros."""
    state, states = None, []
    for vector in inputs:
        state = cell(vector, state)
        states.append(state[0] if isinstance(state, tuple) else state)
    return states


def read(encoder: Encoder, sentence: Tensor) -> tuple[Tensor, Tensor]:
    """Read one sentence, cell by cell, without padding; return annotations and last state."""
    network = encoder.recurrent
    vectors = list(encoder.embedding.weight[sentence])
    if encoder.reverse_source:
        vectors.reverse()
    for layer in range(network.num_layers):
        left = step_by_step(one_cell(network, layer), vectors)
        final, states = left[-1], left
        if network.bidirectional:
            right = step_by_step(one_cell(network, layer, "_reverse"), vectors[::-1])
            final = torch.cat([left[-1], right[-1]])
            states = [torch.cat(pair) for pair in zip(left, right[::-1], strict=True)]
        vectors = states
    if encoder.reverse_source:
        vectors.reverse()
    return torch.stack(vectors), final


def gradients(loss: Tensor, model: nn.Module) -> list[Tensor]:
    """Return the gradient of each weight of the model, zero where it has none."""
    return list(torch.autograd.grad(loss, list(model.parameters()), materialize_grads=True))


# --- masks and reversal -------------------------------------------------------------------------


def test_mask_is_true_at_the_tokens_and_false_behind_them() -> None:
    mask = token_mask(torch.tensor([[5, 4, EOS], [EOS, PAD, PAD]]))
    assert mask.tolist() == [[True, True, True], [True, False, False]]


def test_reversal_by_hand_turns_the_words_and_leaves_the_padding_behind() -> None:
    tokens = torch.tensor([[3, 4, 5, EOS], [6, EOS, PAD, PAD]])
    turned = reverse_within_length(tokens, token_mask(tokens))
    assert turned.tolist() == [[EOS, 5, 4, 3], [EOS, 6, PAD, PAD]]
    mask = torch.tensor([[True, True, False, False]])
    assert reverse_within_length(torch.tensor([[1, 2, 8, 9]]), mask).tolist() == [[2, 1, 8, 9]]


@some_law
@given(st.lists(st.integers(1, SOURCE_LEN), min_size=1, max_size=5), st.integers(0, 99))
def test_reversal_is_that_of_a_list_and_twice_changes_nothing(
    lengths: list[int], seed: int
) -> None:
    tokens = sentences(tuple(lengths), seed=seed)
    mask = token_mask(tokens)
    turned = reverse_within_length(tokens, mask)
    for row, before, length in zip(turned.tolist(), tokens.tolist(), lengths, strict=True):
        assert row == before[:length][::-1] + before[length:]
    assert torch.equal(reverse_within_length(turned, mask), tokens)


def test_reversal_moves_vectors_as_it_moves_words() -> None:
    tokens = sentences(LENGTHS)
    mask, vectors = token_mask(tokens), torch.eye(VOCAB)[tokens]
    expected = torch.eye(VOCAB)[reverse_within_length(tokens, mask)]
    assert_close(reverse_within_length(vectors, mask), expected, **EXACTLY)


# --- encoder ------------------------------------------------------------------------------------


@every_encoder
def test_encoder_agrees_with_its_cells_one_sentence_and_one_step_at_a_time(
    cell: str, bidirectional: bool, num_layers: int, reverse_source: bool
) -> None:
    options = {"cell": cell, "bidirectional": bidirectional, "num_layers": num_layers}
    encoder, source = make_encoder(**options, reverse_source=reverse_source), sentences(LENGTHS)
    encoding = encoder(source)
    assert encoder.d_annotation == (1 + bidirectional) * D_HIDDEN
    for row, length in enumerate(LENGTHS):
        annotations, final = read(encoder, source[row, :length])
        assert_close(encoding.annotations[row, :length], annotations, **CLOSELY)
        assert_close(encoding.final[row], final, **CLOSELY)
    assert_close(encoding.mask, source != PAD, **EXACTLY)


def test_annotations_are_zero_at_padding() -> None:
    source = sentences(LENGTHS)
    annotations = make_encoder(num_layers=2)(source).annotations
    assert annotations[source == PAD].count_nonzero() == 0
    assert annotations[source != PAD].count_nonzero() == sum(LENGTHS) * 2 * D_HIDDEN


@every_encoder
def test_padding_and_neighbours_change_neither_the_encoding_nor_the_gradients(
    cell: str, bidirectional: bool, num_layers: int, reverse_source: bool
) -> None:
    options = {"cell": cell, "bidirectional": bidirectional, "num_layers": num_layers}
    encoder, source = make_encoder(**options, reverse_source=reverse_source), sentences(LENGTHS)

    def some_loss(source: Tensor) -> Tensor:
        encoding = encoder(source)
        return encoding.annotations.square().sum() + encoding.final.sin().sum()

    apart = [some_loss(row[:n].unsqueeze(0)) for row, n in zip(source, LENGTHS, strict=True)]
    together = some_loss(source)
    assert_close(together, torch.stack(apart).sum(), **CLOSELY)
    for one, other in zip(
        gradients(together, encoder), gradients(torch.stack(apart).sum(), encoder), strict=True
    ):
        assert_close(one, other, **CLOSELY)


def test_more_padding_changes_no_bit() -> None:
    encoder, source = make_encoder(), sentences(LENGTHS)
    longer = torch.cat([source, torch.full((BATCH, 4), PAD)], 1)
    before, after = encoder(source), encoder(longer)
    assert_close(after.annotations[:, :SOURCE_LEN], before.annotations, **EXACTLY)
    assert_close(after.final, before.final, **EXACTLY)
    assert after.annotations.shape[1] == SOURCE_LEN + 4
    assert after.annotations[:, SOURCE_LEN:].count_nonzero() == 0
    assert after.mask.sum() == sum(LENGTHS)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_encoder_that_reverses_gives_what_one_that_does_not_makes_of_the_reversed_sentence(
    cell: str, bidirectional: bool
) -> None:
    source = sentences(LENGTHS)
    mask = token_mask(source)
    options = {"cell": cell, "bidirectional": bidirectional, "num_layers": 2}
    plain, reversing = make_encoder(**options), make_encoder(**options, reverse_source=True)
    expected = plain(reverse_within_length(source, mask))
    encoding = reversing(source)
    assert_close(encoding.final, expected.final, **EXACTLY)
    in_order = reverse_within_length(expected.annotations, mask)
    assert_close(encoding.annotations, in_order, **EXACTLY)


def test_annotation_of_a_reversing_encoder_belongs_to_its_word() -> None:
    encoder = make_encoder(bidirectional=False, reverse_source=True)
    source = sentences(LENGTHS)
    changed = source.clone()
    changed[0, 2] = 3 if source[0, 2] != 3 else 4  # read from the end: words 0 to 2 know of it
    moved = (encoder(source).annotations != encoder(changed).annotations)[0].any(-1)
    assert moved.tolist() == [True] * 3 + [False] * 4


def test_padding_has_no_vector_to_learn() -> None:
    encoder = make_encoder()
    assert encoder.embedding.weight[PAD].count_nonzero() == 0
    assert make_translator().embedding.weight[PAD].count_nonzero() == 0
    encoder(sentences(LENGTHS)).annotations.square().sum().backward()
    assert encoder.embedding.weight.grad[PAD].count_nonzero() == 0
    assert encoder.embedding.weight.grad[EOS].count_nonzero() == D_EMBEDDING


def test_dropout_between_the_layers_works_in_training_only() -> None:
    encoder, source = make_encoder(num_layers=2, dropout=0.5), sentences(LENGTHS)
    assert not torch.equal(encoder(source).final, encoder(source).final)
    encoder.eval()
    assert_close(encoder(source).final, make_encoder(num_layers=2)(source).final, **EXACTLY)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ([[3, EOS], [PAD, PAD]], ValueError, "1 of 2 sentences are empty, the first in row 1"),
        ([[3, PAD, EOS], [4, 5, EOS]], ValueError, r"PAD=0 .* is within \[3, 0, 2\]"),
        ([[PAD, 3, EOS]], ValueError, r"PAD=0 .* is within \[0, 3, 2\]"),
        ([[3, 17, 18, EOS]], ValueError, "2 tokens are outside the vocabulary of 17 words.* is 17"),
        ([[3, -1, EOS]], ValueError, "1 tokens are outside the vocabulary of 17 words.* is -1"),
        ([[3.0, 2.0]], TypeError, "source has dtype torch.float32; expected an integer dtype"),
        ([3, EOS], ValueError, r"source has shape \(2,\); expected \(batch, source_len\)"),
        ([[[3, EOS]]], ValueError, r"source has shape \(1, 1, 2\); expected \(batch, source_len"),
        ([[], []], ValueError, "2 of 2 sentences are empty"),
        ([], ValueError, r"source has shape \(0,\)"),
    ],
)  # fmt: skip
def test_source_that_makes_no_sense_is_refused_with_its_numbers(
    source: list, error: type[Exception], message: str
) -> None:
    tokens = torch.tensor(source)
    with pytest.raises(error, match=message):
        make_encoder()(tokens if tokens.numel() else tokens.long())


def test_source_without_sentences_or_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tokens of shape \(0, 7\) hold no word"):
        make_encoder()(torch.zeros(0, 7, dtype=torch.long))
    with pytest.raises(TypeError, match=r"source is \[\[3, 2\]\] \(list\)"):
        make_encoder()([[3, EOS]])


def test_cell_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'rnn' is not a recurrent cell; choose from gru, lstm"):
        make_encoder(cell="rnn")
    with pytest.raises(ValueError, match="'GRU' is not a recurrent cell"):
        make_translator(cell="GRU")


# --- recurrent decoder --------------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
def test_first_state_gives_each_layer_its_share_and_an_lstm_an_empty_cell(cell: str) -> None:
    recurrent = Recurrent(D_EMBEDDING, 2, cell, num_layers=3)
    state = recurrent.start(torch.tensor([[1.0, 2, 3, 4, 5, 6]]))
    assert_close(state[0], torch.tensor([[[1.0, 2], [3, 4], [5, 6]]]), **EXACTLY)
    assert len(state) == (2 if cell == "lstm" else 1)
    assert state[-1].sum() == (0 if cell == "lstm" else 21)


@pytest.mark.parametrize("cell", CELLS)
def test_recurrent_decoder_agrees_with_its_cells_and_takes_its_state_with_the_batch_first(
    cell: str,
) -> None:
    torch.manual_seed(0)
    recurrent = Recurrent(D_EMBEDDING, D_HIDDEN, cell, num_layers=2).double()
    inputs = torch.randn(BATCH, TARGET_LEN, D_EMBEDDING).double()
    hidden = torch.randn(BATCH, 2 * D_HIDDEN).double()
    outputs, state = recurrent(inputs, recurrent.start(hidden))
    cells = [one_cell(recurrent.network, layer) for layer in range(2)]
    for row in range(BATCH):
        # each layer's state, after the first word and then the next
        states = [hidden[row, :D_HIDDEN], hidden[row, D_HIDDEN:]]
        if cell == "lstm":
            states = [(part, torch.zeros_like(part)) for part in states]
        for step in range(TARGET_LEN):
            vector = inputs[row, step]
            for layer in range(2):
                states[layer] = cells[layer](vector, states[layer])
                vector = states[layer][0] if cell == "lstm" else states[layer]
            assert_close(outputs[row, step], vector, **CLOSELY)
        for layer in range(2):
            parts = states[layer] if cell == "lstm" else (states[layer],)
            for found, expected in zip(state, parts, strict=True):
                assert_close(found[row, layer], expected, **CLOSELY)


# --- fixed-vector translator --------------------------------------------------------------------


def by_the_cell(model: FixedVectorTranslator, source: Tensor, words: Tensor) -> Tensor:
    """Write out the decoder for one sentence without padding, for a GRU of one layer."""
    context = read(model.encoder, source)[1]
    hidden = torch.tanh(model.bridge.weight @ context + model.bridge.bias)
    cell, logits = one_cell(model.recurrent.network, 0), []
    first, _, last = model.readout
    for vector in model.embedding.weight[words]:
        hidden = cell(torch.cat([vector, context]), hidden)
        known = torch.cat([hidden, vector, context])
        logits.append(last.weight @ torch.tanh(first.weight @ known + first.bias) + last.bias)
    return torch.stack(logits)


def test_fixed_vector_translator_agrees_with_its_cell_one_sentence_at_a_time() -> None:
    model, (source, target) = make_translator(), some_batch()
    logits = model(source, target)
    assert logits.shape == (BATCH, TARGET_LEN, TARGET_VOCAB)
    for row, length in enumerate(LENGTHS):
        expected = by_the_cell(model, source[row, :length], target[row])
        assert_close(logits[row], expected, **CLOSELY)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("num_layers", [1, 3])
def test_teacher_forcing_gives_what_stepping_gives(cell: str, num_layers: int) -> None:
    model, (source, target) = make_translator(cell, num_layers), some_batch()
    assert_close(stepwise(model, source, target), model(source, target), **CLOSELY)


def test_a_step_takes_one_word_for_each_sentence_and_says_so() -> None:
    model, (source, target) = make_translator(), some_batch()
    with pytest.raises(ValueError, match=r"token has shape \(3, 1\); expected \(batch\)"):
        model.step(target[:, :1], model.start(source))


@pytest.mark.parametrize("cell", CELLS)
def test_decoding_may_be_interrupted_at_any_word(cell: str) -> None:
    model, (source, target) = make_translator(cell, 2), some_batch()
    first, state = model.decode(target[:, :2], model.start(source))
    second, _ = model.decode(target[:, 2:], state)
    assert_close(torch.cat([first, second], 1), model(source, target), **CLOSELY)


def test_logits_depend_on_the_words_before_and_on_no_later_word() -> None:
    model, (source, target) = make_translator(), some_batch()
    changed = target.clone()
    changed[1, 2] = 3 if target[1, 2] != 3 else 4
    moved = (model(source, target) != model(source, changed)).any(-1)
    assert moved.tolist() == [[False] * 5, [False, False, True, True, True], [False] * 5]


def change_encoding(model: nn.Module, change: Callable) -> None:
    """Have the model's encoder give something else from now on."""
    model.encoder.register_forward_hook(lambda module, given, encoding: change(encoding))


def test_decoder_sees_nothing_of_the_source_but_the_last_state() -> None:
    model, (source, target) = make_translator(), some_batch()
    expected = model(source, target)
    change_encoding(model, lambda e: e._replace(annotations=torch.full_like(e.annotations, 9.0)))
    assert_close(model(source, target), expected, **EXACTLY)
    change_encoding(model, lambda e: e._replace(final=e.final + 1))
    assert not torch.equal(model(source, target), expected)


def test_decoder_sees_the_vector_at_every_step_and_not_only_at_first() -> None:
    model, (source, target) = make_translator(), some_batch()
    context, hidden = model.start(source)
    blind = model.readout[0].weight[:, -context.shape[1] :]
    with torch.no_grad():
        blind.zero_()  # the readout no longer sees the vector; the recurrent cell still does
    before, _ = model.step(target[:, 0], (context, hidden))
    after, _ = model.step(target[:, 0], (context + 1, hidden))
    assert not torch.equal(before, after)


@pytest.mark.parametrize("cell", CELLS)
def test_padding_of_the_source_changes_neither_the_loss_nor_the_gradients(cell: str) -> None:
    model, (source, target) = make_translator(cell), some_batch()
    answer = sentences((2, 5, 4), TARGET_VOCAB)
    together = sequence_loss(model(source, target), answer) * (answer != PAD).sum()
    apart = torch.zeros(())
    for row, (length, words) in enumerate(zip(LENGTHS, (2, 5, 4), strict=True)):
        logits = model(source[row : row + 1, :length], target[row : row + 1, :words])
        apart = apart + words * sequence_loss(logits, answer[row : row + 1, :words])
    assert_close(together, apart.double(), **CLOSELY)
    for one, other in zip(gradients(together, model), gradients(apart, model), strict=True):
        assert_close(one, other, **CLOSELY)


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (torch.ones(2, 1).long(), ValueError, "batch=3 in source but 2 here"),
        (torch.ones(3, 0).long(), ValueError, r"tokens of shape \(3, 0\) hold no word"),
        (torch.full((3, 2), 13), ValueError, "6 tokens are outside the vocabulary of 13 words"),
        (torch.ones(3, 2), TypeError, "target_input has dtype torch.float32"),
        (torch.ones(3).long(), ValueError, r"target_input has shape \(3,\); expected"),
    ],
)
def test_target_that_makes_no_sense_is_refused_with_its_numbers(
    target: Tensor, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_translator()(sentences(LENGTHS), target)


# --- loss ---------------------------------------------------------------------------------------


def test_loss_by_hand_is_the_mean_surprise_of_a_word() -> None:
    probabilities = torch.tensor([[[0.1, 0.2, 0.5, 0.2], [0.2, 0.2, 0.35, 0.25]]]).double()
    loss = sequence_loss(probabilities.log() + 7, torch.tensor([[2, 3]]))
    assert_close(loss.item(), (math.log(2) + math.log(4)) / 2)


def test_loss_of_a_model_that_knows_nothing_is_the_logarithm_of_the_vocabulary() -> None:
    loss = sequence_loss(torch.zeros(BATCH, TARGET_LEN, TARGET_VOCAB), torch.ones(3, 5).long())
    assert_close(loss.item(), math.log(TARGET_VOCAB), rtol=1e-6, atol=0)


def test_loss_agrees_with_a_loop_over_the_words() -> None:
    answer = sentences((2, 5, 4), TARGET_VOCAB)
    logits = torch.randn(*answer.shape, TARGET_VOCAB, dtype=torch.float64)
    total, number = 0.0, 0
    for rows, words in zip(logits.tolist(), answer.tolist(), strict=True):
        for row, word in zip(rows, words, strict=True):
            if word != PAD:
                total -= math.log(math.exp(row[word]) / sum(map(math.exp, row)))
                number += 1
    assert number == 11
    assert_close(sequence_loss(logits, answer).item(), total / number)


def test_logits_at_padding_count_for_nothing() -> None:
    answer = sentences((2, 5, 4), TARGET_VOCAB)
    logits = torch.randn(*answer.shape, TARGET_VOCAB).double().requires_grad_()
    loss = sequence_loss(logits, answer)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient[answer == PAD].count_nonzero() == 0
    assert gradient[answer != PAD].count_nonzero() == 11 * TARGET_VOCAB
    changed = torch.where((answer == PAD).unsqueeze(-1), 100.0, logits)
    assert_close(sequence_loss(changed, answer), loss, **EXACTLY)


def test_loss_of_nothing_but_padding_is_refused() -> None:
    logits = torch.zeros(BATCH, TARGET_LEN, TARGET_VOCAB)
    with pytest.raises(ValueError, match=r"target_output of shape \(3, 5\) is all padding"):
        sequence_loss(logits, torch.full((BATCH, TARGET_LEN), PAD))
    with pytest.raises(ValueError, match=r"target_output of shape \(3, 0\) is all padding"):
        sequence_loss(logits[:, :0], torch.zeros(BATCH, 0, dtype=torch.long))


def test_loss_may_be_mapped_over() -> None:
    answer = torch.stack([sentences((2, 5, 4), TARGET_VOCAB, seed) for seed in range(2)])
    logits = torch.randn(*answer.shape, TARGET_VOCAB).double()
    mapped = torch.func.vmap(sequence_loss)(logits, answer)
    apart = torch.stack([sequence_loss(*pair) for pair in zip(logits, answer, strict=True)])
    assert_close(mapped, apart, **CLOSELY)


def test_loss_refuses_logits_that_do_not_fit_the_answer() -> None:
    with pytest.raises(ValueError, match="target_len=5 in logits but 4 here"):
        sequence_loss(torch.zeros(BATCH, 5, TARGET_VOCAB), torch.ones(BATCH, 4).long())


# --- dtypes, devices, copies --------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
def test_float32_agrees_with_float64(cell: str) -> None:
    model, (source, target) = make_translator(cell, 2), some_batch()
    expected = model(source, target)
    logits = model.float()(source, target)
    assert logits.dtype == torch.float32
    assert_close(logits.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")  # of the flags below
@pytest.mark.parametrize("cell", CELLS)
def test_bfloat16_autocast_stays_close_and_trains(cell: str, device: str) -> None:
    model, (source, target) = make_translator(cell).float(), some_batch()
    expected = model(source, target)
    model.to(device)
    # Without AVX-512 oneDNN has no LSTM in bfloat16, and PyTorch asks it all the same.
    with torch.backends.mkldnn.flags(enabled=False), torch.autocast(device, torch.bfloat16):
        logits = model(source.to(device), target.to(device))
        loss = sequence_loss(logits, sentences((2, 5, 4), TARGET_VOCAB).to(device))
    assert_close(logits.cpu().float(), expected, rtol=0, atol=0.02)
    assert all(gradient.isfinite().all() for gradient in gradients(loss, model))


@pytest.mark.cuda
@pytest.mark.parametrize("cell", CELLS)
def test_cuda_agrees_with_the_processor(cell: str) -> None:
    model, (source, target) = make_translator(cell, 2), some_batch()
    expected = model(source, target)
    logits = model.cuda()(source.cuda(), target.cuda())
    assert_close(logits.cpu(), expected, **CLOSELY)


def test_weights_come_back_from_disk() -> None:
    model, (source, target) = make_translator("lstm", 2), some_batch()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    torch.manual_seed(1)
    other = FixedVectorTranslator(
        Encoder(VOCAB, D_EMBEDDING, D_HIDDEN), TARGET_VOCAB, D_EMBEDDING, D_DECODER,
        cell="lstm", num_layers=2,
    ).double()  # fmt: skip
    assert not torch.equal(other(source, target), model(source, target))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert_close(other(source, target), model(source, target), **EXACTLY)


def test_copy_gives_the_same_and_lives_its_own_life() -> None:
    model, (source, target) = make_translator(), some_batch()
    expected, twin = model(source, target), copy.deepcopy(model)
    assert_close(twin(source, target), expected, **EXACTLY)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1)
    assert_close(twin(source, target), expected, **EXACTLY)
