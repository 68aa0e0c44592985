"""Slots with a role and a content, and the difference of two contents, which no mean can give."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

NUM_ROLES, D_CONTENT = 6, 8


class MemoryBatch(NamedTuple):
    """Memories, each with its slots in an order of its own.

    Attributes:
        roles: The role of each slot, (batch, num_roles).
        contents: The content of each slot, independent normal numbers,
            (batch, num_roles, d_content).
        difference: The content of role 0 minus the content of role 1, (batch, d_content).
    """

    roles: Tensor
    contents: Tensor
    difference: Tensor

    def to(self, device: torch.device | str) -> "MemoryBatch":
        """The batch on another device."""
        return MemoryBatch(*(part.to(device) for part in self))


def memory_batches(seed: int, batch_size: int = 256) -> Iterator[MemoryBatch]:
    """Yield batches without end; the same seed gives the same batches."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        roles = torch.rand(batch_size, NUM_ROLES, generator=generator).argsort(1)
        contents = torch.randn(batch_size, NUM_ROLES, D_CONTENT, generator=generator)
        slot = roles.argsort(1)[..., None].expand_as(contents)
        by_role = contents.gather(1, slot)
        yield MemoryBatch(roles, contents, by_role[:, 0] - by_role[:, 1])
