"""The figure of head ablation: the readers of chapter 09 at work in the page.

The reader guesses from a picture of weights which head can go, switches heads off, and sees what is
lost on this sentence and, by the record, on 2000 others. Python gives the first state;
`head_ablation.js` computes every other one.
"""

from collections.abc import Sequence

from attn_course.data import phrases
from attn_course.data.phrases import Phrase, phrase_batch
from attn_course.interactive.controls import button, choice, hint, kept, option, readings
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.interactive.sentences import require_known, rounded
from attn_course.trained import record
from attn_course.trained.heads import vocabulary
from attn_course.trained.heads.two_readings import READERS, TASK, load_reader

FIRST = "two_readings_4_5"
MOST_HEADS, MOST_WORDS = 4, 16
# The parts of the task's sentences, in this order; "not" comes before the second verb.
KINDS = {
    "openings": phrases.OPENINGS,
    "verbs": phrases.VERBS,
    "objects": phrases.OBJECTS,
    "endings": phrases.ENDINGS,
}


def head_ablation_explorer(words: Sequence[str]) -> InteractiveFigure:
    """The trained readers of chapter 09, whose heads can be switched off.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the readers themselves run in the built book, and in JupyterLab beside a built book.

    Args:
        words: The sentence to show first, with a verb before and after its one *not*.

    Raises:
        ValueError: There are too many words, one is unknown, "not" does not come once, or a verb is
            missing.
    """
    asking, (after, before) = _asked(words)
    batch = phrase_batch([Phrase(tuple(words), asking, (after, before))], vocabulary(TASK))
    reader = load_reader(FIRST)
    weights, logits = reader.weights(batch)[0], reader(batch)[0]
    sure, said = (found.tolist() for found in logits.softmax(-1).max(-1))
    answers = vocabulary(TASK).decode(said)
    return InteractiveFigure(
        name="head-ablation",
        label="Heads of a small reader, with controls to switch them off",
        controls=_controls(words),
        readings=readings(
            first="comma before not",
            second="comma after not",
            comma="your comma",
            guess="your guess",
            left="fresh sentences",
        ),
        data={
            "readers": {name: heads for name, (heads, _) in READERS.items()},
            "record": {run["reader"]: run for run in record("two_readings")["runs"]},
            "kinds": KINDS,
            "model": FIRST,
            "most": MOST_WORDS,
            "first": {
                "words": list(words),
                "answers": answers,
                "sure": [round(one, 4) for one in sure],
                "weights": rounded(weights),
            },
        },
        live=provenance("110 freshly drawn sentences, 22 for each model,", *READERS),
        weights=tuple(READERS),
    )


def _asked(words: Sequence[str]) -> tuple[int, tuple[str, str]]:
    """The place of "not", the nearest verb after it, and the nearest one before it."""
    if len(words) > MOST_WORDS:
        raise ValueError(f"a sentence has at most {MOST_WORDS} words, not {len(words)}")
    require_known(words, vocabulary(TASK).words, "the readers do")
    if (number := words.count("not")) != 1:
        raise ValueError(f"a sentence has one 'not', which asks; this one has {number}")
    asking = words.index("not")
    after = [word for word in words[asking:] if word in phrases.VERBS]
    before = [word for word in words[:asking] if word in phrases.VERBS]
    if not after or not before:
        raise ValueError("there is no verb before or after 'not'")
    return asking, (after[0], before[-1])


def _controls(words: Sequence[str]) -> str:
    models = [
        option("radio", "model", name, _called(*made), name == FIRST)
        for name, made in READERS.items()
    ]
    heads = range(MOST_HEADS)
    guesses = [option("radio", "guess", head, f"head {head}") for head in heads]
    guesses.append(option("radio", "guess", "none", "none of them"))
    silent = [option("checkbox", f"off{head}", "on", f"head {head}") for head in heads]
    typed = tag("input", type="text", name="sentence", value=" ".join(words), data_part="sentence",
                spellcheck="false", lang="en", maxlength=2000)  # fmt: skip
    return (
        hint("Each row shows where “not” looks in one head. Which one is not needed? Guess first.")
        + choice("Which head can go at hardly any loss?", *guesses)
        + choice("Switch off (or click a row)", *silent)
        + choice("Reader", *models)
        + tag("label", tag("span", "Sentence") + typed, class_="attn-typed")
        + tag(
            "div",
            button("another", "another sentence") + button("exchange", "exchange the verbs"),
            class_="attn-options",
        )
        + kept(row="", column="")
    )


def _called(heads: int, seed: int) -> str:
    return f"{heads} head{'s' if heads > 1 else ''}, seed {seed}"
