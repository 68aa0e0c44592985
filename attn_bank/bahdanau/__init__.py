"""Problem set 04: additive attention, from the score to a translator that looks back."""

import torch
from torch import Generator, Tensor

NUMBER = "04"


def draw_lengths(generator: Generator, batch: int, most: int, least: int = 1) -> Tensor:
    """Lengths of sentences, in no order: one is `most`, one `least`, the others are between."""
    between = torch.randint(least, most + 1, (batch,), generator=generator)
    lengths = torch.cat([torch.tensor([most, least]), between])[:batch]
    return lengths[torch.randperm(batch, generator=generator)]


def padding_after(lengths: Tensor, size: int) -> Tensor:
    """True at the places behind the end of each sentence, (batch, 1, size)."""
    return torch.arange(size, device=lengths.device) >= lengths[:, None, None]
