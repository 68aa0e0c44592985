"""The writer of the course, and what it writes by different laws: measured, not admired.

`make` lets it go on from beginnings that it has not seen, by greedy choice and by several laws of
drawing, and measures what it wrote, and what Jane Austen wrote there: how surprising it is, how
much of it repeats, how many of its words exist, and how much of it is copied from the training
text. It also measures the writer beyond its context, and its pace with the cache and without, and
keeps what a model writes in the first steps of its training.
"""

import re
import time
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from attn_course.data.novels import novels, pieces
from attn_course.data.windows import all_windows
from attn_course.trained.store import write_record
from attn_course.trained.writers import (
    CONTEXT,
    RATE,
    STEPS,
    Run,
    batches_of,
    bits,
    build,
    by_position,
    load_writer,
    losses,
    numbers_of,
    window_loss,
)
from attn_course.training import train
from attn_course.transformer import LanguageModel, bits_per_character, write

Law = dict[str, float]
LAWS: tuple[Law, ...] = (
    {"temperature": 0},
    *({"temperature": temperature} for temperature in (0.5, 0.8, 1.0, 1.3)),
    {"temperature": 1.0, "top_k": 5},
    {"temperature": 1.0, "top_k": 40},
    {"temperature": 1.0, "top_p": 0.5},
    {"temperature": 1.0, "top_p": 0.9},
)
NUM_TEXTS, GIVEN, WRITTEN, SEEDS = 16, 16, 200, (0, 1, 2)
PACES, FAR = (128, 512), 512
BEGUN, STAGES, GOES_ON = "She was very much surprised, and", (0, 10, 30, 100, 300), 24


def make() -> None:
    """Let it write by every law, measure, and record: 2 minutes."""
    model, (begun, real) = load_writer(), beginnings()
    runs = [{"law": "Jane Austen"} | measured(model, begun, real) | copied(real)]
    for law in LAWS:
        for seed in SEEDS if law["temperature"] else SEEDS[:1]:
            texts = told(model, law, seed)
            run = {"law": law, "seed": seed} | measured(model, begun, texts)
            runs.append(run | (copied(texts) if seed == SEEDS[0] else {}))
    write_record(
        __file__,
        "written",
        runs,
        far={"moving": far(model, CONTEXT), "all": far(model, FAR)},
        pace=pace(model),
        stages=[*stages(), stage(model, STEPS)],
    )


def beginnings() -> tuple[Tensor, Tensor]:
    """The first tokens of parts of the test, and those that follow in the novels."""
    step = len(numbers_of("test")) // NUM_TEXTS - WRITTEN
    parts = all_windows(numbers_of("test"), GIVEN + WRITTEN, step)[:NUM_TEXTS]
    return parts[:, :GIVEN], parts[:, GIVEN:]


def told(model: LanguageModel, law: Law, seed: int) -> Tensor:
    """The tokens with which the model goes on from the beginnings, (texts, number)."""
    generator = torch.Generator().manual_seed(seed)
    written = write(model, beginnings()[0], WRITTEN, **law, generator=generator)
    return written[:, GIVEN:]


def measured(model: LanguageModel, begun: Tensor, texts: Tensor) -> Run:
    """Surprise, repetition and known words in texts that go on from their beginnings; the first."""
    surprise = losses(model, torch.cat([begun, texts], 1))[:, GIVEN - 1 :].mean().item()
    told = [pieces().decode(text.tolist()) for text in texts]
    return {
        "bits": round(bits_per_character(surprise, texts.numel(), sum(map(len, told))), 3),
        "repeated": round(sum(map(repeated, told)) / len(told), 3),
        "known": round(sum(map(known, told)) / len(told), 3),
        "first": told[0],
    }


def copied(texts: Tensor) -> Run:
    """The longest run of characters that stands in the training text, too."""
    told = [pieces().decode(text.tolist()) for text in texts]
    return {"copied": longest_copied(told, novels("training"))}


def repeated(text: str, length: int = 3) -> float:
    """Share of the runs of so many words that have occurred in the text before."""
    words = text.split()
    runs = [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]
    return 1 - len(set(runs)) / len(runs)


def known(text: str) -> float:
    """Share of the words that stand in the training text, too; the first and last may be cut."""
    words = words_of(text)[1:-1]
    return sum(word in lexicon() for word in words) / len(words)


@cache
def lexicon() -> frozenset[str]:
    """All words of the training text."""
    return frozenset(words_of(novels("training")))


def words_of(text: str) -> list[str]:
    """The words of a text, without marks."""
    return re.findall("[A-Za-z]+(?:'[a-z]+)?", text)


def longest_copied(texts: Sequence[str], source: str) -> int:
    """The length of the longest run of characters of a text that stands in a source, too."""
    least, most = 0, max(map(len, texts))
    while least < most:
        length = (least + most + 1) // 2
        runs = {text[at : at + length] for text in texts for at in range(len(text) - length + 1)}
        if any(source[at : at + length] in runs for at in range(len(source) - length + 1)):
            least = length
        else:
            most = length - 1
    return least


def far(model: LanguageModel, context: int) -> dict[str, float]:
    """Bits by the number of tokens before, far beyond the context in which the model learned.

    Args:
        model: The model.
        context: The number of tokens that a token may attend to meanwhile.
    """
    for block in model.blocks:
        block.context = context
    found = by_position(model, FAR)
    for block in model.blocks:
        block.context = model.context
    return found


def pace(model: LanguageModel) -> Sequence[Run]:
    """CPU seconds to write so many tokens, with the cache, and reading all again for each one."""
    found, begun = [], beginnings()[0][:1]
    for number in PACES:
        start = time.process_time()
        cached = write(model, begun, number, temperature=0)
        between = time.process_time()
        again = write_without_cache(model, begun, number)
        seconds = between - start, time.process_time() - between
        assert torch.equal(cached, again)
        found.append({"tokens": number, "cached": seconds[0], "again": seconds[1]})
    return found


def stages() -> list[Run]:
    """Let a model write before it has learned anything, and on the way through a short run."""
    model = build(SEEDS[0])
    found, steps = [stage(model, 0)], 0

    def look(model: LanguageModel) -> float:
        nonlocal steps
        steps += STAGES[1]
        if steps in STAGES:
            found.append(stage(model, steps))
        return found[-1]["bits"]

    settings = {"learning_rate": RATE, "seed": SEEDS[0], "validate_every": STAGES[1]}
    stream = batches_of(SEEDS[0])
    train(model, stream, window_loss, STAGES[-1], validate=look, progress=False, **settings)
    return found


def stage(model: LanguageModel, steps: int) -> Run:
    """Let a model go on with a sentence after so many steps, and measure its bits a character."""
    begun = torch.tensor([pieces().encode(BEGUN)])
    generator = torch.Generator().manual_seed(SEEDS[0])
    text = write(model, begun, GOES_ON, temperature=0.8, generator=generator)[0]
    known = {"bits": round(bits(model, "validation"), 3)}
    return {"steps": steps} | known | {"text": pieces().decode(text.tolist())[len(BEGUN) :]}


@torch.no_grad()
def write_without_cache(model: LanguageModel, tokens: Tensor, number: int) -> Tensor:
    """The tokens with the most probable ones behind them, reading all again for each one."""
    for _ in range(number):
        tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], 1)
    return tokens
