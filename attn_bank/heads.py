"""Models whose heads an answer may turn down, one by one."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from attn_course.induction import AttentionOnly


@dataclass(frozen=True, eq=False)
class Heads:
    """A model of heads alone; what each head adds to the stream is multiplied by a number.

    Args:
        model: The model.
        name: What it shows itself by.
    """

    model: AttentionOnly
    name: str = "a model"

    def __call__(self, tokens: Tensor, scale: Tensor) -> Tensor:
        """The logits at each token, (batch, length, vocab_size).

        Args:
            tokens: Numbers of tokens, (batch, length).
            scale: By what the output of each head is multiplied, (num_layers, num_heads).

        Raises:
            ValueError: The tokens are no batch of texts, or negative, or there is not a number for
                each head.
        """
        expected = (len(self.model.blocks), self.model.blocks[0].attention.num_heads)
        if tuple(scale.shape) != expected:
            raise ValueError(f"scale of shape {tuple(scale.shape)}; expected {expected}")
        if tokens.ndim != 2:
            raise ValueError(f"tokens of shape {tuple(tokens.shape)}; expected (batch, length)")
        if tokens.numel() and tokens.min() < 0:
            raise ValueError(
                f"a token is {tokens.min()}; none is below 0, unless something was written into"
                " the tokens that were given"
            )
        scale = scale.to(torch.float32)

        def turn_down(layer: int, part: str, given: Tensor) -> Tensor:
            return given * scale[layer][:, None, None] if part == "output" else given

        with torch.no_grad():
            return self.model.forward(tokens, turn_down)

    def __repr__(self) -> str:
        return self.name


def random_heads(
    generator: Generator, vocab_size: int, d_model: int, num_layers: int, num_heads: int
) -> Heads:
    """A model that has learned nothing, and whose heads add much to the stream."""
    model = AttentionOnly(vocab_size, d_model, num_heads, num_layers)
    for weight in model.parameters():
        spread = 1.5 / weight.shape[-1] ** 0.5
        weight.data = spread * torch.randn(weight.shape, generator=generator)
    return Heads(model.eval().requires_grad_(False))
