"""What a run does to the learning rate, and what it remembers of itself."""

from dataclasses import dataclass, field

FLOOR = 0.02  # of the peak learning rate: none falls lower


@dataclass
class History:
    """What happened in a run; `dataclasses.asdict` makes JSON of it, `History(**...)` reads it.

    Attributes:
        losses: The loss of each step's batch, before the step.
        learning_rates: The learning rate of each step.
        validation_steps: After how many steps the model was validated.
        validation_values: What each validation gave; lower is better.
        seconds: Wall time of the run, summed over its parts if it was resumed.
    """

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    validation_steps: list[int] = field(default_factory=list)
    validation_values: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self.losses)

    @property
    def validations_since_best(self) -> int:
        """How many validations in a row, up to the latest, brought no better value."""
        values = self.validation_values
        return len(values) - 1 - values.index(min(values)) if values else 0


def learning_rate_at(step: int, steps: int, peak: float, warm_up: int) -> float:
    """Learning rate of a step, counted from 0: up to the peak, level, and down from half way.

    It grows in proportion over the first `warm_up` steps, while Adam knows little of the size of
    the gradients, and falls in proportion over the second half of the run, to a fiftieth of the
    peak at the lowest.
    """
    rise = min(1.0, (step + 1) / max(1, warm_up))
    fall = max(FLOOR, min(1.0, 2 * (1 - step / steps)))
    return peak * rise * fall
