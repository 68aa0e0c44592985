"""Train the translators of a recipe, one for each seed, and record their measurements."""

import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import torch

from attn_course.data.tokens import Batch, Vocabulary, batches
from attn_course.data.translation import SentencePair, sentence_pairs
from attn_course.seq2seq import Translator, sequence_loss
from attn_course.trained.store import round_to_half, write_record
from attn_course.trained.translators.measure import BUCKETS, measure, unseen_pairs
from attn_course.trained.translators.recipes import BATCH_SIZE, CLAUSES, NUM_PAIRS, find_recipe
from attn_course.trained.translators.store import TrainedTranslator, save
from attn_course.training import History, train


def make(name: str) -> None:
    """Train, measure and store the recipe `name`, with one model for each of its seeds."""
    recipe = find_recipe(name)
    runs = []
    for seed in recipe.seeds:
        start = time.process_time()
        trained, history = train_one(name, seed)
        cpu_seconds = round(time.process_time() - start)
        if recipe.ship and seed == recipe.seeds[0]:
            save(name, trained)
        runs.append({"seed": seed, "cpu_seconds": cpu_seconds} | describe(trained, history))
        write_record(__file__, name, runs, steps=recipe.steps)


def train_one(name: str, seed: int) -> tuple[TrainedTranslator, History]:
    """Train one translator of the recipe `name`, its weights rounded as they are stored."""
    recipe = find_recipe(name)
    pairs = training_pairs(seed)
    source_words, target_words = vocabularies()
    tokens = [
        (source_words.encode(pair.source), target_words.encode(pair.target)) for pair in pairs
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = recipe.build(len(source_words), len(target_words))
    stream = recipe.schedule(model, batches(tokens, BATCH_SIZE, seed), recipe.steps)
    history = train(model, stream, translation_loss, recipe.steps, seed=seed)
    round_to_half(model)
    return TrainedTranslator(model.eval(), source_words, target_words), history


def translation_loss(model: Translator, batch: Batch) -> torch.Tensor:
    """Mean of `-log p` of the right words, under teacher forcing."""
    return sequence_loss(model(batch.source, batch.target_input), batch.target_output)


def training_pairs(seed: int, number: int = NUM_PAIRS) -> list[SentencePair]:
    """Training pairs, none of which is in the test."""
    tested = {pair.source for bucket in BUCKETS for pair in unseen_pairs(bucket)}
    return list(islice(_other_than(tested, seed), number))


def _other_than(tested: set[tuple[str, ...]], seed: int) -> Iterator[SentencePair]:
    for pair in sentence_pairs(seed, clauses=CLAUSES):
        if pair.source not in tested:
            yield pair


@lru_cache
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """The words of both languages, the same for every seed."""
    pairs = list(islice(sentence_pairs(0, clauses=CLAUSES), NUM_PAIRS))
    return Vocabulary.of(pair.source for pair in pairs), Vocabulary.of(
        pair.target for pair in pairs
    )


def describe(trained: TrainedTranslator, history: History) -> dict[str, object]:
    """One model's part of a record; losses are means over 50 steps."""
    known = (trained.model, trained.source_words, trained.target_words)
    losses = torch.tensor(history.losses).split(50)
    return {
        "parameters": sum(weight.numel() for weight in trained.model.parameters()),
        "losses": [round(part.mean().item(), 3) for part in losses],
        **measure(*known),
    }
