"""Store the weights of translators with their vocabularies, and read them back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

import attn_course.trained.translators.measure as measure
from attn_course.data.tokens import Vocabulary
from attn_course.data.translation import SentencePair
from attn_course.seq2seq import Translator
from attn_course.trained.store import load_weights, save_weights
from attn_course.trained.translators.recipes import find_recipe


@dataclass(frozen=True)
class TrainedTranslator:
    """A translator with its two vocabularies, ready to translate."""

    model: Translator
    source_words: Vocabulary
    target_words: Vocabulary

    def translate(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """Translate English sentences, a sequence of words each, greedily, into French words."""
        return measure.translate(self.model, self.source_words, self.target_words, sentences)

    def align(self, pairs: Sequence[SentencePair]) -> list[Tensor]:
        """Weights of each pair under teacher forcing, (French words, English words and EOS)."""
        return measure.align(self.model, self.source_words, self.target_words, pairs)


def save(name: str, trained: TrainedTranslator) -> None:
    """Write the weights of the recipe `name`, and the words to which their rows belong."""
    words = {
        "source_words": json.dumps(trained.source_words.words, ensure_ascii=False),
        "target_words": json.dumps(trained.target_words.words, ensure_ascii=False),
    }
    save_weights(__file__, name, trained.model, words)


def load(name: str) -> TrainedTranslator:
    """The trained translator of the recipe `name`, in float32 and ready to translate.

    Raises:
        ValueError: There is no such recipe, or its weights do not come with the course.
    """
    recipe, (weights, words) = find_recipe(name), load_weights(name)
    source_words = Vocabulary(json.loads(words["source_words"]))
    target_words = Vocabulary(json.loads(words["target_words"]))
    with torch.random.fork_rng(devices=[]):  # the first weights are thrown away
        model = recipe.build(len(source_words), len(target_words))
    model.load_state_dict(weights)
    return TrainedTranslator(model.eval(), source_words, target_words)
