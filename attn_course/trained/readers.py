"""Models as small as a model with attention can be: one word looks, and a linear layer reads.

Nothing else helps: there is no second layer and no nonlinearity but the softmax.
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
    """Answers questions about a sentence from what one of its words sees.

    Args:
        vocab_size: Number of words.
        d_model: Width of a word, and of the attention.
        num_heads: Number of heads.
        num_questions: How many words have to be found.
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
        """Where each head looks, (batch, num_heads, length)."""
        query, key, _, mask = self._asked(batch)
        return self.attention.weights(query, key, mask).squeeze(-2)

    def _asked(self, batch: PhraseBatch) -> tuple[Tensor, Tensor, None, Tensor]:
        """The word that asks, (batch, 1, d_model), all words, and which of them are there."""
        length = batch.words.shape[1]
        tokens = self.embedding(batch.words) + self.positions(length)
        asking = batch.asking[:, None, None].expand(-1, 1, tokens.shape[-1])
        return tokens.gather(1, asking), tokens, None, padding_mask(batch.length, length)


class Memory(nn.Module):
    """Reads from slots that are found by their role and hold a content: one query, always the same.

    Keys are made from roles alone and values from contents alone, so that the weights cannot depend
    on what is read.

    Args:
        num_roles: Number of slots, each with another role.
        d_content: Width of a content, and of what is read.
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
        """What is read: roles (batch, num_roles) and contents with an axis more to (batch, d)."""
        question = self.question.weight.expand(len(roles), -1, -1)
        return self.read_out(self.attention(question, self.roles(roles), contents)).squeeze(-2)

    def weights(self) -> Tensor:
        """How much each head looks at each role, (num_heads, num_roles)."""
        return self.attention.weights(self.question.weight, self.roles.weight).squeeze(-2)


@contextmanager
def without_head(layer: MultiHeadAttention, head: int) -> Iterator[None]:
    """Within the block, the output of one head is zero; the others, and all weights, stay."""
    width = layer.project_output.in_features // layer.num_heads
    kept = torch.ones(layer.project_output.in_features)
    kept[head * width : (head + 1) * width] = 0
    hook = layer.project_output.register_forward_pre_hook(lambda _, given: given[0] * kept)
    try:
        yield
    finally:
        hook.remove()
