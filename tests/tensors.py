"""Tensors to test with, the devices to test on, and how close float64 results have to be."""

from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)
ON_CUDA = pytest.param("cuda", marks=pytest.mark.cuda)
DEVICES = ["cpu", *([ON_CUDA] if torch.cuda.is_available() else [])]
EXACTLY = {"rtol": 0, "atol": 0}
# float64, for one layer: a few dozen operations
TIGHTLY = {"rtol": 1e-12, "atol": 1e-14}
# float64, for a network or its gradients: a few hundred operations
CLOSELY = {"rtol": 1e-10, "atol": 1e-12}


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Return normal numbers in float64, the same for the same seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def some_mask(*shape: int) -> Tensor:
    """Return a mask that allows about half of the keys, and key 2 in any case."""
    mask = draw(*shape, seed=3) > 0
    mask[..., 2] = True
    return mask


def filled(model: Model) -> Model:
    """Return the model in float64 with all its weights random, even the weights of its norms."""
    model = model.double()
    with torch.no_grad():
        for number, weight in enumerate(model.parameters()):
            weight.copy_(draw(*weight.shape, seed=number) / 2)
    return model


def by_complex_numbers(vectors: Tensor, start: int = 0) -> Tensor:
    """Multiply each pair of numbers, as one complex number, by one of length 1."""
    pairs = torch.view_as_complex(vectors.unflatten(-1, (-1, 2)).contiguous())
    half = pairs.shape[-1]
    frequency = torch.tensor([10_000 ** (-i / half) for i in range(half)], dtype=torch.float64)
    angle = torch.arange(start, start + vectors.shape[-2]).outer(frequency)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
