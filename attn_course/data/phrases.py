"""Short sentences with several questions, all asked by one word, each answered by another word.

One word looks, and it has several words to find: a single softmax, with its one set of weights, may
or may not be able to do that.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from attn_course.data.draw import Draw
from attn_course.data.tokens import Vocabulary, pad


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VERBS = _words("""
    ask bite bring call carry catch chase cheer clean cover drag drop dry feed fetch find follow
    free greet guard guide hang help hide hire hold hug join keep kick kiss lead leave let lift
    love lure mock move pay pull push raise rouse save scold seat seize send serve shake show shut
    sing stop teach tell thank trust warn
""")
OBJECTS = _words("them him her us me it")
ENDINGS = _words("go stay run wait home away now here")
OPENINGS = _words("please well oh today")

NAMES = _words("""
    bark rex milo luna bella max rocky daisy coco ruby oscar molly leo nala simba toby felix rosie
    bruno lola
""")
ADJECTIVES = _words("""
    cute lazy brave loud calm clever hungry fast old young gentle shy strong curious noisy happy
""")
PRONOUNS = _words("he she it")
NOUNS = _words("dog cat horse zebra lion tiger bear fox wolf rabbit")
ADVERBS = _words("very quite rather so")


class Phrase(NamedTuple):
    """A sentence, and the words to find in it.

    Attributes:
        words: The sentence.
        asking: The index of the word that asks: the query of the attention.
        answers: The words that it should find, one for each question.
    """

    words: tuple[str, ...]
    asking: int
    answers: tuple[str, ...]


def two_readings(
    seed: int, first: Sequence[str] = VERBS, second: Sequence[str] = VERBS
) -> Iterator[Phrase]:
    """Yield sentences like "hang them not let them go"; "not" asks which verb it negates.

    Without a comma it may be either: the answers are the verb after "not" and the verb before it.

    Args:
        seed: The same sentences come from the same seed.
        first: The verbs that may stand before "not".
        second: The verbs that may stand after it, two or more.

    Raises:
        ValueError: There are not two verbs that may stand after "not".
    """
    if len({*second}) < 2:
        raise ValueError(f"{second=} must be two verbs or more: no verb stands on both sides")
    draw = Draw(seed)
    while True:
        before, after = draw.one_of(first), draw.one_of(second)
        while after == before:
            after = draw.one_of(second)
        opening = (draw.one_of(OPENINGS),) if draw.chance(0.8) else ()
        whom, ending = draw.one_of(OBJECTS), draw.one_of(ENDINGS)
        words = (*opening, before, whom, "not", after, whom, ending)
        yield Phrase(words, len(opening) + 2, (after, before))


def three_facts(seed: int) -> Iterator[Phrase]:
    """Yield sentences like "bark is very cute and he is a dog"; the noun asks.

    The answers are the name, the adjective and the pronoun.
    """
    draw = Draw(seed)
    while True:
        name, adjective = draw.one_of(NAMES), draw.one_of(ADJECTIVES)
        pronoun, noun = draw.one_of(PRONOUNS), draw.one_of(NOUNS)
        opening = (draw.one_of(OPENINGS),) if draw.chance(0.3) else ()
        adverb = (draw.one_of(ADVERBS),) if draw.chance(0.8) else ()
        words = (*opening, name, "is", *adverb, adjective, "and", pronoun, "is", "a", noun)
        yield Phrase(words, len(words) - 1, (name, adjective, pronoun))


def two_distances(seed: int, distances: tuple[int, int]) -> Iterator[Phrase]:
    """Yield lists of 14 to 16 verbs, none twice; the last one asks for two of them.

    The answers are the verbs that stand so many words before it.
    """
    draw = Draw(seed)
    while True:
        words = tuple(draw.shuffled(VERBS)[: draw.between(14, 16)])
        asking = len(words) - 1
        yield Phrase(words, asking, tuple(words[asking - away] for away in distances))


class PhraseBatch(NamedTuple):
    """Phrases as numbers.

    Attributes:
        words: The sentences, padded, (batch, length).
        length: The number of words in each sentence, (batch,).
        asking: The index of the word that asks, (batch,).
        answers: The number of the right word for each question, (batch, num_questions).
    """

    words: Tensor
    length: Tensor
    asking: Tensor
    answers: Tensor

    def to(self, device: torch.device | str) -> "PhraseBatch":
        """The batch on another device."""
        return PhraseBatch(*(part.to(device) for part in self))


def phrase_batch(phrases: Iterable[Phrase], vocabulary: Vocabulary) -> PhraseBatch:
    """Some phrases as one batch."""
    words, asking, answers = zip(*phrases, strict=True)
    ids = [vocabulary.encode(sentence)[:-1] for sentence in words]  # no EOS: a phrase has no end
    found = [vocabulary.encode(right)[:-1] for right in answers]
    length = torch.tensor([len(sentence) for sentence in ids])
    return PhraseBatch(pad(ids), length, torch.tensor(asking), torch.tensor(found))


def phrase_batches(
    phrases: Iterator[Phrase], vocabulary: Vocabulary, batch_size: int
) -> Iterator[PhraseBatch]:
    """Yield batches without end, of phrases that repeat only by chance."""
    while True:
        yield phrase_batch(islice(phrases, batch_size), vocabulary)
