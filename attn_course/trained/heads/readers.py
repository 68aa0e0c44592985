"""The smallest models with attention: one word looks, and a linear layer reads the result.

There is nothing else: no second layer, and no nonlinearity except the softmax.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attn_course.data.phrases import PhraseBatch
from attn_course.multi_head import MultiHeadAttention
from attn_course.scaled_dot_product import padding_mask
from attn_course.self_attention import LearnedPositions


class Reader(nn.Module):
    """A model that answers questions about a sentence from the output of one word's attention.

    Args:
        vocab_size: Number of words.
        d_model: Width of a word, and of the attention.
        num_heads: Number of heads.
        num_questions: Number of words to find.
    """

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, num_questions: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(16, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.read_out = nn.Linear(d_model, num_questions * vocab_size)
        self.num_questions = num_questions

    def forward(self, batch: PhraseBatch) -> Tensor:
        """Logits of the words for each question, (batch, num_questions, vocab_size)."""
        seen = self.attention(*self._asked(batch)).squeeze(-2)
        return self.read_out(seen).unflatten(-1, (self.num_questions, -1))

    def weights(self, batch: PhraseBatch) -> Tensor:
        """The weights of each head, (batch, num_heads, length)."""
        query, key, _, mask = self._asked(batch)
        return self.attention.weights(query, key, mask).squeeze(-2)

    def _asked(self, batch: PhraseBatch) -> tuple[Tensor, Tensor, None, Tensor]:
        """The word that asks, (batch, 1, d_model), all words, and the padding mask."""
        length = batch.words.shape[1]
        tokens = self.embedding(batch.words) + self.positions(length)
        asking = batch.asking[:, None, None].expand(-1, 1, tokens.shape[-1])
        return tokens.gather(1, asking), tokens, None, padding_mask(batch.length, length)


class Memory(nn.Module):
    """A model that reads from slots, each found by its role, with one query that never changes.

    Keys are made from roles alone and values from contents alone, so the weights cannot depend on
    the contents.

    Args:
        num_roles: Number of slots, each with a different role.
        d_content: Width of a content, and of the output.
        d_model: Width of the attention.
        num_heads: Number of heads.
    """

    def __init__(self, num_roles: int, d_content: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.question = nn.Embedding(1, d_model)
        self.roles = nn.Embedding(num_roles, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, d_value=d_content, bias=False)
        self.read_out = nn.Linear(d_model, d_content, bias=False)

    def forward(self, roles: Tensor, contents: Tensor) -> Tensor:
        """The output, (batch, d_content), from roles, (batch, num_roles), and their contents."""
        question = self.question.weight.expand(len(roles), -1, -1)
        return self.read_out(self.attention(question, self.roles(roles), contents)).squeeze(-2)

    def weights(self) -> Tensor:
        """The weight of each role in each head, (num_heads, num_roles)."""
        return self.attention.weights(self.question.weight, self.roles.weight).squeeze(-2)


@contextmanager
def without_head(layer: MultiHeadAttention, head: int) -> Iterator[None]:
    """Set the output of one head to zero within the block; other heads and all weights stay."""
    width = layer.project_output.in_features // layer.num_heads
    kept = torch.ones(layer.project_output.in_features)
    kept[head * width : (head + 1) * width] = 0
    hook = layer.project_output.register_forward_pre_hook(lambda _, given: given[0] * kept)
    try:
        yield
    finally:
        hook.remove()
