"""The readers of chapter 08 with fewer projections: what is right, and who looks at its answer.

They have `nn.Identity` in the place of some matrices of the attention; in one, query and key share
theirs. `python -m attn_course.trained fewer_projections` trains three seeds of each.
"""

import math

import torch
from torch import Tensor, nn

from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.self_attention import SelfAttention
from attn_course.trained.store import write_record
from attn_course.trained.who_does_what import (
    D_MODEL,
    LEARNING_RATE,
    STEPS,
    HeapReader,
    heaps,
    learn,
    share_right,
)

SHARED, DIVIDED = "one W for both", "basic, divided"
# The matrices that are left out.
LACKING = {
    "projections": (),
    "without W_Q": ("query",),
    "without W_K": ("key",),
    "without W_V": ("value",),
    "without W_Q, W_K": ("query", "key"),
    SHARED: ("value",),
    DIVIDED: ("query", "key", "value"),
}
SEEDS = (0, 1, 2)


class Divided(nn.Module):
    """Basic self-attention, its scores divided by the root of the width."""

    def weights(self, tokens: Tensor) -> Tensor:
        """Return the weights with which each token looks at each."""
        return masked_softmax(1 / math.sqrt(D_MODEL) * dot_scores(tokens, tokens))

    def forward(self, tokens: Tensor) -> Tensor:
        """Blend the tokens, which are their own values."""
        return self.weights(tokens) @ tokens


def build(name: str) -> SelfAttention | Divided:
    """Make one of the layers, with weights drawn at random."""
    if name == DIVIDED:
        return Divided()
    layer = SelfAttention(D_MODEL)
    for part in LACKING[name]:
        setattr(layer, f"project_{part}", nn.Identity())
    if name == SHARED:
        layer.project_key = layer.project_query
    return layer


def run(name: str, seed: int) -> dict[str, object]:
    """Train a reader with this layer, and tell the share of right answers, and of looks at them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = HeapReader(build(name))
        learn(reader, seed)
    reader.requires_grad_(False)
    looks = reader.weights(next(heaps(999, 1000)).words).argmax(-1)
    most = (looks == (torch.arange(9) + 3) % 9).float().mean()
    right = round(share_right(reader), 4)
    return {"reader": name, "seed": seed, "right": right, "most": round(float(most), 4)}


def make() -> None:
    """Train all readers, and record what each reaches: half a minute."""
    runs = [run(name, seed) for name in LACKING for seed in SEEDS]
    write_record(__file__, "fewer_projections", runs, steps=STEPS, learning_rate=LEARNING_RATE)
