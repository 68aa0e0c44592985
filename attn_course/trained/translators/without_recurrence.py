"""Translators with a fixed vector, with attention, and of attention alone: how fast do they learn?

All see the batches of chapter 04, so equal steps mean equal tokens. `make` trains each of them and
measures the BLEU of unseen sentences every 100 steps. The first seed is trained at three learning
rates; the other seeds use the rate with the greatest mean BLEU along the way.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from attn_course.data.tokens import Batch, batches
from attn_course.recurrence import count_parameters
from attn_course.seq2seq import PAD, Translator
from attn_course.trained.store import write_record
from attn_course.trained.translators.make import training_pairs, translation_loss, vocabularies
from attn_course.trained.translators.measure import BUCKETS, bleu_of, name_of, unseen_pairs
from attn_course.trained.translators.recipes import BATCH_SIZE, build_bahdanau, build_fixed
from attn_course.trained.tuning import Run, rates_then_seeds
from attn_course.training import train
from attn_course.translation.transformer import AttentionEncoder, ModelSizes, TransformerTranslator

SIZES = ModelSizes(d_model=80, num_heads=4, d_hidden=336, num_layers=2)
RATES, SEEDS = (1e-3, 3e-3, 1e-2), (0, 1, 2)
STEPS, EVERY = 1500, 100
WATCHED, NUM_WATCHED = (10, 15), 50  # words of the sentences for the BLEU along the way


def build_transformer(source_size: int, target_size: int) -> Translator:
    """A translator without recurrence that has about as many weights as the others."""
    return TransformerTranslator(AttentionEncoder(source_size, SIZES), target_size, SIZES)


KINDS: dict[str, Callable[[int, int], Translator]] = {
    "fixed vector": build_fixed,
    "recurrent with attention": build_bahdanau,
    "attention alone": build_transformer,
}


def make() -> None:
    """Train, measure and record all kinds; the record is rewritten after each run: 25 minutes."""
    runs: list[Run] = []
    for kind in KINDS:
        for run in runs_of(kind):
            runs.append(run)
            write_record(__file__, "without_recurrence", runs, every=EVERY)


def runs_of(kind: str) -> Iterator[Run]:
    """Yield runs of all rates from the first seed, and of the best rate from the other seeds."""
    return rates_then_seeds(
        partial(run, kind), RATES, SEEDS, lambda made: sum(made["bleu_on_the_way"])
    )


def run(
    kind: str,
    rate: float,
    seed: int,
    steps: int = STEPS,
    buckets: Sequence[tuple[int, int]] = BUCKETS,
) -> Run:
    """Train one translator; return its BLEU along the way, and by length at the end."""
    source_words, target_words = vocabularies()
    model = build(kind, seed)
    tokens, bleus, start, measuring = 0, [], time.process_time(), 0.0

    def counted() -> Iterator[Batch]:
        nonlocal tokens
        for batch in _batches(seed):
            tokens += int((batch.source != PAD).sum() + (batch.target_output != PAD).sum())
            yield batch

    def bleu(model: Translator, bucket: tuple[int, int], number: int) -> float:
        pairs = unseen_pairs(bucket, number)
        return round(bleu_of(model, source_words, target_words, pairs)[0], 1)

    def validate(model: Translator) -> float:
        nonlocal measuring
        since = time.process_time()
        bleus.append(bleu(model, WATCHED, NUM_WATCHED))
        measuring += time.process_time() - since
        return -bleus[-1]

    settings = {"learning_rate": rate, "seed": seed, "validate_every": EVERY, "progress": False}
    train(model, counted(), translation_loss, steps, validate=validate, **settings)
    seconds = time.process_time() - start - measuring
    return {
        "kind": kind,
        "rate": rate,
        "seed": seed,
        "parameters": count_parameters(model),
        "cpu_seconds": round(seconds, 1),
        "tokens": tokens,
        "bleu_on_the_way": bleus,
        "bleu": {name_of(bucket): bleu(model.eval(), bucket, NUM_WATCHED) for bucket in buckets},
    }


def build(kind: str, seed: int) -> Translator:
    """A translator with random weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return KINDS[kind](*map(len, vocabularies()))


def _batches(seed: int) -> Iterator[Batch]:
    source_words, target_words = vocabularies()
    pairs = training_pairs(seed)
    tokens = [
        (source_words.encode(pair.source), target_words.encode(pair.target)) for pair in pairs
    ]
    return batches(tokens, BATCH_SIZE, seed)
