"""Tensors to test with, the devices to test on, and how close float64 results have to be."""

import pytest
import torch
from torch import Tensor

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
