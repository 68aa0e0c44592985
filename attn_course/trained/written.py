"""The writer of the course, and what it writes by different laws: measured, not admired.

`make` lets it go on from beginnings that it has not seen, by greedy choice and by several laws of
drawing, and measures what it wrote, and what Jane Austen wrote there: how surprising it is, how
much of it repeats, and how much of it is copied from the training text. It also measures the writer
beyond its context, and its pace with the cache and without.
"""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from attn_course.data.novels import novels, pieces
from attn_course.data.windows import all_windows
from attn_course.trained.store import write_record
from attn_course.trained.writers import (
    CONTEXT,
    Run,
    by_position,
    load_writer,
    losses,
    numbers_of,
)
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


def make() -> None:
    """Let it write by every law, measure, and record."""
    model, (begun, real) = load_writer(), beginnings()
    runs = [{"law": "Jane Austen"} | measured(model, begun, real) | copied(real)]
    for law in LAWS:
        for seed in SEEDS if law["temperature"] else SEEDS[:1]:
            texts = told(model, law, seed)
            run = {"law": law, "seed": seed} | measured(model, begun, texts)
            runs.append(run | (copied(texts) if seed == SEEDS[0] else {}))
    write_record(
        "written",
        runs,
        far={"moving": far(model, CONTEXT), "all": far(model, FAR)},
        pace=pace(model),
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
    """Surprise and repetition in texts that go on from their beginnings, and how the first goes."""
    surprise = losses(model, torch.cat([begun, texts], 1))[:, GIVEN - 1 :].mean().item()
    told = [pieces().decode(text.tolist()) for text in texts]
    return {
        "bits": round(bits_per_character(surprise, texts.numel(), sum(map(len, told))), 3),
        "repeated": round(sum(map(repeated, told)) / len(told), 3),
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


@torch.no_grad()
def write_without_cache(model: LanguageModel, tokens: Tensor, number: int) -> Tensor:
    """The tokens with the most probable ones behind them, reading all again for each one."""
    for _ in range(number):
        tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], 1)
    return tokens
