"""Mistakes in translations are told from how most of them look."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attn_bank import find_exercise
from attn_bank.translations import common_fault, form_fault, low_bleu, words_of
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import BOS, EOS, PAD, Encoder, FixedVectorTranslator

# Target words are 10 to 19, and a target begins with 10 or 11; source words are 20 to 29.
LEARNED = [[10, 12, 13, 14, EOS], [11, 15, 16, EOS, PAD], [10, 17, 18, 19, EOS]]
TRUTH = [
    [10, 12, 13, 14, 15, EOS],
    [11, 16, 17, 18, EOS, PAD],
    [10, 19, 18, 17, EOS, PAD],
    [11, 12, EOS, PAD, PAD, PAD],
    [10, 13, EOS, PAD, PAD, PAD],
    [11, 14, EOS, PAD, PAD, PAD],
]
RUNS_ON = [[10, 12, 13, 14, 15, 12], [11, 16, 17, 18, 16, 17], [10, 19, 18, 17, 19, 18]]


def show(row: list[int]) -> str:
    return " ".join(map(str, words_of(row)))


@pytest.mark.parametrize(
    ("ours", "said", "evidence"),
    [
        ([[BOS, *row[:-1]] for row in TRUTH], "begin with BOS", "BOS"),
        ([[w + 10 if w > 9 else w for w in row] for row in TRUTH], "language of the", "other lang"),
        ([[10, 12, 22, 14, EOS]] * 6, "mix words of both languages", "untrained"),
        ([[24, 25, 26, 24, 25, 26]] * 6, "begin as no target does, and never end", "untrained"),
        ([[12, 13, 14, 12, 13, 14]] * 6, "begin as no target does, and never end", "untrained"),
        ([[13] * 6] * 3 + [[EOS] + [PAD] * 5] * 3, "are empty, or say one word", "one word"),
        ([row[:2] for row in TRUTH], "are cut off", "cut off"),
        (RUNS_ON + [[*row[:2], 13, 13, 13, 13] for row in TRUTH[3:]], "go on where", "no end"),
        ([[*row[1:], PAD] for row in TRUTH], "begin as no target does", "no beginning"),
    ],
)
def test_fault_that_most_translations_share_is_named(ours, said, evidence) -> None:
    reason, found = common_fault(ours, TRUTH, LEARNED, show)
    assert said in reason
    assert found.startswith(evidence)
    # in two of six translations it is no fault of most
    assert common_fault([*ours[:2], *TRUTH[2:]], TRUTH, LEARNED, show) is None


def test_example_shows_the_words_up_to_the_end() -> None:
    ours = [[13] * 6] * 6
    reason, _ = common_fault(ours, TRUTH, LEARNED, show)
    assert reason.endswith("you say 13 13 13 13 13 13 for 10 12 13 14 15")


def test_right_translations_have_no_fault_whatever_stands_behind_their_end() -> None:
    ours = [[*words_of(row), EOS, 29, 29] for row in TRUTH]
    assert common_fault(ours, TRUTH, LEARNED, show) is None
    assert low_bleu(ours, TRUTH, 100, show) is None


def test_low_bleu_says_whether_short_rows_do_well() -> None:
    wrong = [10, 12, 12, 12, EOS]
    short_only = [wrong, TRUTH[1], wrong, *TRUTH[3:]]
    reason, evidence = low_bleu(short_only, TRUTH, 90, show)
    assert "Of the 2 shortest rows 2 are right, of the 2 longest 0" in reason
    assert "at least 90 is asked" in reason
    assert reason.endswith("you say 10 12 12 12 for 10 12 13 14 15")
    assert evidence == "short only"
    assert low_bleu([wrong] * 6, TRUTH, 90, show)[1] == "below 90"
    long_only = [*TRUTH[:3], wrong, wrong, wrong]
    assert low_bleu(long_only, TRUTH, 90, show)[1] == "below 90"


def test_form_comes_before_the_words() -> None:
    tokens = torch.tensor(TRUTH)
    assert form_fault(tokens, 6) is None
    assert form_fault(tokens[:5], 6) == (
        "it has 5 rows; expected 6, one for each source",
        "other rows",
    )
    for output in (tokens.float(), tokens.unsqueeze(0), TRUTH, None):
        reason, evidence = form_fault(output, 6)
        assert "expected rows of token numbers" in reason
        assert evidence == ("no tokens" if isinstance(output, Tensor) else "no tensor")
    assert "None (is there a `return`?)" in form_fault(None, 6)[0]


@pytest.mark.parametrize("row", [0, 1])
def test_parts_put_together_say_what_the_translator_of_the_course_says(row: int) -> None:
    exercise = find_exercise("03_seq2seq/translate")
    check = exercise.checks[row]
    sizes = check.sizes[0]
    inputs = check.draw(torch.Generator().manual_seed(0), **sizes)
    encoder = Encoder(sizes["vocab_size"], sizes["d_embedding"], sizes["d_encoder"])
    widths = sizes["vocab_size"], sizes["d_embedding"], sizes["d_hidden"]
    model = FixedVectorTranslator(encoder, *widths).double()
    model.load_state_dict(inputs["weights"])
    words = greedy_decode(model, inputs["source"], inputs["max_len"])
    ours = exercise.reference(**inputs)
    assert torch.equal(ours[:, : words.shape[1]], words)
    assert (ours[:, words.shape[1] :] == PAD).all()
