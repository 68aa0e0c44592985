"""The schedule of the learning rate, and the record that a run keeps of itself."""

from dataclasses import dataclass, field

FLOOR = 0.02  # lowest learning rate, as a share of the peak


@dataclass
class History:
    """The record of a run; `dataclasses.asdict` makes JSON of it, `History(**...)` reads it.

    Attributes:
        losses: The loss of each step's batch, before the step.
        learning_rates: The learning rate of each step.
        validation_steps: For each validation, the number of steps before it.
        validation_values: The result of each validation; lower is better.
        seconds: Wall time of the run, summed over its parts if it was resumed.
    """

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    validation_steps: list[int] = field(default_factory=list)
    validation_values: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return len(self.losses)

    @property
    def validations_since_best(self) -> int:
        """Number of validations since the best value, up to the latest."""
        values = self.validation_values
        return len(values) - 1 - values.index(min(values)) if values else 0


def learning_rate_at(step: int, steps: int, peak: float, warm_up: int) -> float:
    """Learning rate of a step, counted from 0: up to the peak, level, and down from halfway.

    It rises linearly over the first `warm_up` steps, while Adam knows little about the size of the
    gradients, and falls linearly over the second half of the run, to no less than a fiftieth of
    the peak.
    """
    rise = min(1.0, (step + 1) / max(1, warm_up))
    fall = max(FLOOR, min(1.0, 2 * (1 - step / steps)))
    return peak * rise * fall
