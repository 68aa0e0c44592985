"""Chapter 14: retention in chunks. The witness is a loop over the tokens, in NumPy."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attn_course.linear_attention import in_chunks
from tests.course.errata import Slip, agrees_with, draw, slip

CHUNK, DECAY = 4, 0.9


@slip("P7")
def state_behind_the_chunk() -> Slip:
    query, key, value = draw((12, 5), (12, 5), (12, 3))
    place = torch.arange(CHUNK, dtype=torch.double)
    since = (DECAY ** (place[:, None] - place)).tril()
    xi = DECAY ** (place + 1)[:, None]
    zeta = DECAY ** (CHUNK - 1 - place)[:, None]

    def printed() -> Tensor:
        R, outputs = torch.zeros(5, 3).double(), []
        for Q, K, V in zip(*(part.split(CHUNK) for part in (query, key, value)), strict=True):
            R = K.mT @ (V * zeta) + DECAY**CHUNK * R
            outputs.append((Q @ K.mT * since) @ V + (Q @ R) * xi)
        return torch.cat(outputs)

    state, witness = np.zeros((5, 3)), []
    for q, k, v in zip(query.numpy(), key.numpy(), value.numpy(), strict=True):
        state = DECAY * state + np.outer(k, v)
        witness.append(q @ state)
    decay = torch.full((12,), DECAY, dtype=torch.double)
    return Slip(
        printed,
        lambda: in_chunks(query, key, value, decay, CHUNK),
        agrees_with(np.stack(witness)),
    )
