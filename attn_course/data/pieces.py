"""Byte-pair encoding: a text as numbers of pieces, which are characters, parts of words and words.

A text is first cut into words, each with the space before it, and single other characters. Within a
word, pieces that stand side by side are joined for as long as their joint piece has a number; the
lowest number goes first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

WORD = re.compile(r" ?[A-Za-z']+|[^A-Za-z]")


def learn_pieces(text: str, number: int) -> list[str]:
    """The characters of a text and the joint pieces that are the most frequent, in this order.

    Each new piece joins two that exist: of all neighbours within words, those that stand side by
    side most often; if several do, the last in the alphabet.

    Raises:
        ValueError: The text does not hold so many different pieces, or holds more characters.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    counts = Counter(WORD.findall(text))
    words = {word: list(word) for word in counts}
    ranks = {character: rank for rank, character in enumerate(sorted(set(text)))}
    if len(ranks) > number:
        raise ValueError(f"{number=} pieces are too few for {len(ranks)} different characters")
    neighbours: Counter[str] = Counter()
    words_with: defaultdict[str, set[str]] = defaultdict(set)
    for word, parts in words.items():
        _note(word, parts, counts[word], neighbours, words_with)
    while len(ranks) < number:
        piece = max(neighbours, key=lambda piece: (neighbours[piece], piece), default="")
        if not neighbours[piece]:
            raise ValueError(f"the text holds {len(ranks)} pieces, fewer than {number=}")
        ranks[piece] = len(ranks)
        for word in words_with.pop(piece):
            _note(word, words[word], -counts[word], neighbours, words_with)
            words[word] = join(words[word], ranks)
            _note(word, words[word], counts[word], neighbours, words_with)
    return list(ranks)


def join(parts: Sequence[str], ranks: Mapping[str, int]) -> list[str]:
    """Join neighbours, those with the lowest rank first, until no joint piece has a rank."""
    parts = list(parts)
    while True:
        joint = [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not joint:
            return parts
        _, at = min(joint)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def _note(
    word: str,
    parts: Sequence[str],
    count: int,
    neighbours: Counter[str],
    words_with: defaultdict[str, set[str]],
) -> None:
    """Add the neighbours in a word to the counts."""
    for a, b in pairwise(parts):
        neighbours[a + b] += count
        words_with[a + b].add(word)


class Pieces:
    """Numbers for the pieces of a text.

    Args:
        pieces: The pieces in the order in which they were learned; their places are their numbers.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = tuple(pieces)
        self._ranks = {piece: rank for rank, piece in enumerate(self.pieces)}
        self._known: dict[str, list[int]] = {}  # words that have been cut before

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """The numbers of the pieces of a text.

        Raises:
            ValueError: A character of the text is no piece.
        """
        if strange := sorted(set(text) - self._ranks.keys()):
            raise ValueError(f"no piece has the characters {''.join(strange)!r}")
        ids: list[int] = []
        for word in WORD.findall(text):
            if word not in self._known:
                self._known[word] = [self._ranks[piece] for piece in join(word, self._ranks)]
            ids += self._known[word]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the pieces with these numbers: `decode(encode(text))` is `text`."""
        return "".join(self.pieces[number] for number in ids)
