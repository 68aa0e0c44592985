"""A sentence as the pieces that BERT reads: frequent words whole, other words in parts."""

import unicodedata
from collections.abc import Callable, Sequence

UNKNOWN = "[UNK]"
# A longer word is unknown without being searched for.
MAX_CHARACTERS = 100
# The ranges of Chinese characters, each of which is a word of its own. They include no Japanese
# syllables and no Korean.
CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieces:
    """Cuts words into the longest pieces that a list holds, from the left.

    Args:
        pieces: The list; a piece that does not begin a word has `##` in front. The position of a
            piece in the list is its number.

    Source: Devlin et al. 2019 and its published code; Wu et al. 2016, section 4.1.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = tuple(pieces)
        self.number = {piece: number for number, piece in enumerate(self.pieces)}

    def __len__(self) -> int:
        return len(self.pieces)

    def split(self, sentence: str) -> list[str]:
        """The pieces of all words of a sentence; `[UNK]` for a word that cannot be made of them.

        Text that looks like a special piece, such as `[SEP]`, is three words here: two brackets
        and the word between them.
        """
        return [piece for word in split_words(sentence) for piece in self._split_word(word)]

    def _split_word(self, word: str) -> list[str]:
        found, start = [], 0
        while start < len(word) <= MAX_CHARACTERS:
            ends = range(len(word), start, -1)
            candidates = (("##" if start else "") + word[start:end] for end in ends)
            piece = next((piece for piece in candidates if piece in self.number), UNKNOWN)
            if piece == UNKNOWN:
                return [UNKNOWN]
            found.append(piece)
            start += len(piece.removeprefix("##"))
        return found or [UNKNOWN]


def split_words(sentence: str) -> list[str]:
    """Words and single punctuation marks, in lower case, without accents.

    White space separates words; control characters vanish.
    """
    kept = "".join(character for character in sentence if not _vanishes(character))
    plain = unicodedata.normalize("NFD", _set_apart(_is_chinese, kept))
    letters = (character for character in plain if unicodedata.category(character) != "Mn")
    # one by one: a Greek sigma at the end of a word gets the form of any other
    lower = "".join(character.lower() for character in letters)
    return _set_apart(_is_punctuation, lower).split()


def _set_apart(is_word: Callable[[str], bool], text: str) -> str:
    """The text with spaces around the characters that are words of their own."""
    return "".join(f" {character} " if is_word(character) else character for character in text)


def _vanishes(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in CHINESE)


def _is_punctuation(character: str) -> bool:
    """True if a character is a word of its own; in ASCII, any that is no letter or digit."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")
