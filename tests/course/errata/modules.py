"""Two published modules, typed out as `das2024infamous` prints them, without checks and comments.

The first is credited there to Maab Nimir, and is from Ben Trevett's pytorch-seq2seq; the second to
Analytics Vidhya, and is from Phillip Lippe's UvA deep learning tutorials. Both are under MIT.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """Additive attention; its line breaks and the import of `F` are ours."""

    def __init__(self, enc_hid_dim: int, dec_hid_dim: int) -> None:
        super().__init__()
        self.attn = nn.Linear((enc_hid_dim * 2) + dec_hid_dim, dec_hid_dim)
        self.v = nn.Linear(dec_hid_dim, 1, bias=False)

    def forward(self, hidden: Tensor, encoder_outputs: Tensor) -> Tensor:
        src_len = encoder_outputs.shape[0]
        hidden = hidden.unsqueeze(1).repeat(1, src_len, 1)
        encoder_outputs = encoder_outputs.permute(1, 0, 2)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs), dim=2)))
        return F.softmax(self.v(energy).squeeze(2), dim=1)


class MultiheadAttention(nn.Module):
    """Attention in several heads; the two functions that it calls are not printed with it."""

    def __init__(self, input_dim: int, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.qkv_proj = nn.Linear(input_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, return_attention: bool = False
    ) -> tuple[Tensor, Tensor]:
        batch_size, seq_length, _ = x.size()
        if mask is not None:
            mask = expand_mask(mask)
        qkv = self.qkv_proj(x)
        qkv = qkv.reshape(batch_size, seq_length, self.num_heads, 3 * self.head_dim)
        q, k, v = qkv.permute(0, 2, 1, 3).chunk(3, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask=mask)
        values = values.permute(0, 2, 1, 3).reshape(batch_size, seq_length, self.embed_dim)
        return self.o_proj(values), attention
