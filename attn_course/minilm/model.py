"""The pretrained model with its word pieces: from a sentence to vectors and weights."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from attn_course.minilm.encoder import Encoder
from attn_course.minilm.word_pieces import UNKNOWN, WordPieces
from attn_course.scaled_dot_product import padding_mask


class MiniLM:
    """A pretrained encoder of English sentences, to examine; it keeps no gradients.

    Args:
        encoder: The network, an ordinary module: used directly it has gradients, and it may be
            moved or cast.
        word_pieces: Cuts sentences into the pieces for which the network has numbers.

    Source: Wang et al. 2020 (MiniLM); Reimers and Gurevych 2019 (vectors of sentences).
    """

    def __init__(self, encoder: Encoder, word_pieces: WordPieces) -> None:
        self.encoder, self.word_pieces = encoder, word_pieces

    def tokenise(self, sentence: str) -> list[str]:
        """The pieces of a sentence, from `[CLS]` to `[SEP]`.

        Capitals and accents are lost; a word that cannot be made of pieces is `[UNK]`.

        Raises:
            ValueError: There is no word in the sentence.
        """
        pieces = self.word_pieces.split(sentence)
        if not pieces:
            raise ValueError(f"there is no word in the sentence {sentence!r}")
        return ["[CLS]", *pieces, "[SEP]"]

    def batch(
        self, sentences: Sequence[str]
    ) -> tuple[Int64[Tensor, "batch length"], Bool[Tensor, "batch 1 length"]]:
        """The arguments of `encoder` for some sentences: numbers of pieces, padded, and the mask.

        Raises:
            ValueError: There is no sentence, or one has no word or is too long.
        """
        if isinstance(sentences, str) or not sentences:
            raise ValueError(f"expected a list of sentences, not {sentences!r}")
        ids = [self._ids(sentence) for sentence in sentences]
        length = torch.tensor([len(row) for row in ids], device=ids[0].device)
        padding = self.word_pieces.number["[PAD]"]
        padded = pad_sequence(ids, batch_first=True, padding_value=padding)
        return padded, padding_mask(length, padded.shape[-1])

    @torch.no_grad()
    def states(self, sentence: str) -> list[Float[Tensor, "length d_model"]]:
        """The vectors of the pieces: before the first layer, and after each layer.

        Raises:
            ValueError: There is no word in the sentence, or it has more pieces than positions.
        """
        return self.encoder.states(self._ids(sentence))

    @torch.no_grad()
    def weights(self, sentence: str) -> Float[Tensor, "num_layers num_heads length length"]:
        """The weights of each head in each layer: a row for each piece, which sums to 1.

        Raises:
            ValueError: There is no word in the sentence, or it has more pieces than positions.
        """
        return self.encoder.weights(self._ids(sentence))

    @torch.no_grad()
    def word_vector(self, word: str) -> Float[Tensor, " d_model"]:
        """The vector of a word without any context: its row of the input embedding.

        Raises:
            ValueError: The word is not a single piece, so it has no row.
        """
        pieces = [word] if word in self.word_pieces.number else self.word_pieces.split(word)
        if len(pieces) != 1 or (pieces == [UNKNOWN] and word != UNKNOWN):
            raise ValueError(f"{word!r} is not one piece, which would have a vector, but {pieces}")
        return self.encoder.words.weight[self.word_pieces.number[pieces[0]]].clone()

    def sentence_vector(self, sentence: str) -> Float[Tensor, " d_model"]:
        """Mean of the vectors of all pieces after the last layer, scaled to length 1.

        `[CLS]` and `[SEP]` count too. The model was trained so that the dot product of two such
        vectors measures how close two sentences are in meaning.

        Raises:
            ValueError: There is no word in the sentence, or it has more pieces than positions.
        """
        return functional.normalize(self.states(sentence)[-1].mean(-2), dim=-1)

    def _ids(self, sentence: str) -> Int64[Tensor, " length"]:
        pieces, max_len = self.tokenise(sentence), len(self.encoder.positions.vectors)
        if len(pieces) > max_len:
            raise ValueError(
                f"the sentence has {len(pieces)} pieces with [CLS] and [SEP], "
                f"but there are vectors for {max_len} positions"
            )
        numbers = [self.word_pieces.number[piece] for piece in pieces]
        return torch.tensor(numbers, device=self.encoder.segment.device)
