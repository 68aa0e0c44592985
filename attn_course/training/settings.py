"""The settings in which one run may differ from another."""

from dataclasses import dataclass

import torch

from attn_course.shapes import require_positive


@dataclass(frozen=True)
class Settings:
    """The settings of a run besides model, loss and batches; `train` explains each of them.

    Raises:
        ValueError: A setting makes no sense.
    """

    steps: int
    learning_rate: float
    betas: tuple[float, float]
    warm_up: int
    clip: float
    seed: int
    device: torch.device
    bfloat16: bool
    validate_every: int | None
    patience: int | None

    def __post_init__(self) -> None:
        for name in ("steps", "learning_rate", "validate_every", "patience"):
            if (number := getattr(self, name)) is not None:
                require_positive(name, number)
        if not self.clip > 0:  # infinity is allowed
            raise ValueError(f"clip={self.clip} must be positive")
        if self.patience is not None and self.validate_every is None:
            raise ValueError(f"patience={self.patience} needs a function to validate with")
