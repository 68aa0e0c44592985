"""The first state of the figure of kernel regression, in numbers of the package."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.markup import round_step
from attn_course.kernel_regression import (
    kernel_scores,
    log_boxcar,
    log_epanechnikov,
    log_gaussian,
    log_triangular,
    nadaraya_watson,
)
from attn_course.retrieval import effective_number_of_keys, masked_softmax

Curve = Callable[[Tensor], Tensor]
KERNELS = {
    "Gaussian": log_gaussian,
    "boxcar": log_boxcar,
    "triangular": log_triangular,
    "Epanechnikov": log_epanechnikov,
}
STEPS = 320  # the curve is drawn through this many positions, and one more


@dataclass(frozen=True)
class State:
    """A state of the figure, and the numbers from which it follows.

    Key and value are float64, rounded as on the page, so that both see the same numbers.
    """

    key: Float[Tensor, "key_len 1"]
    value: Float[Tensor, "key_len 1"]
    width: float
    asked: float
    kernel: str
    truth: Curve | None

    @cached_property
    def step(self) -> float:
        return round_step(span(self.key) / 250)

    @cached_property
    def low(self) -> float:
        below = self.key.min().item() - span(self.key) / 10
        return round(math.floor(below / self.step) * self.step, 12)

    @cached_property
    def high(self) -> float:
        above = self.key.max().item() + span(self.key) / 10
        return round(math.ceil(above / self.step) * self.step, 12)

    @cached_property
    def query(self) -> float:
        return round(self.low + round((self.asked - self.low) / self.step) * self.step, 12)

    @cached_property
    def widths(self) -> list[float]:
        """The widths to choose from: evenly spaced in ratio, and the one of the first state."""
        powers = torch.linspace(-2.3, 0.3, 53, dtype=torch.float64).tolist()
        return sorted({self.width, *(float(f"{span(self.key) * 10**p:.2g}") for p in powers)})

    @cached_property
    def positions(self) -> Float[Tensor, "num_positions 1"]:
        """Positions of the curve, computed in the script's order, so that edges agree exactly."""
        steps = torch.arange(STEPS + 1, dtype=torch.float64).unsqueeze(-1)
        return self.low + (self.high - self.low) * steps / STEPS

    @cached_property
    def curve(self) -> list[float | None]:
        """The estimate at each position, or None where the window holds no key."""
        nowhere = torch.full((1,), math.inf, dtype=torch.float64)
        estimates = nadaraya_watson(
            self.positions, self.key, self.value, self.width, KERNELS[self.kernel], nowhere
        )
        return [y if math.isfinite(y) else None for (y,) in estimates.tolist()]

    @cached_property
    def true_curve(self) -> list[tuple[float, float]]:
        """The truth at each position, if it is known."""
        if self.truth is None:
            return []
        truths = self.truth(self.positions).flatten().tolist()
        return list(zip(self.positions.flatten().tolist(), truths, strict=True))

    @cached_property
    def weights(self) -> Float[Tensor, " key_len"]:
        query = torch.tensor([[self.query]], dtype=torch.float64)
        return masked_softmax(kernel_scores(query, self.key, self.width, KERNELS[self.kernel]))[0]

    @cached_property
    def output(self) -> float:
        return (self.weights @ self.value).item()

    @cached_property
    def empty(self) -> bool:
        return not self.weights.any()

    @cached_property
    def written(self) -> dict[str, str]:
        """The numbers as shown to the reader."""
        output = f"{self.output:.{decimals_of(self.value)}f}"
        effective = effective_number_of_keys(self.weights).item()
        return {
            "width": f"{self.width:.15g}",
            "query": f"{self.query:.12g}",
            "output": f"{output}, in place of 0/0" if self.empty else output,
            "effective": f"{effective:.1f} of {len(self.key)}",
            "inside": f"{int((self.weights > 0).sum())}",
        }

    @cached_property
    def sentence(self) -> str:
        """The figure in words, for print and screen readers."""
        says = self.written
        found = (
            f"no key in the window, 0/0; the output is {says['output'].split(',')[0]} instead."
            if self.empty
            else f"output {says['output']}, effective number of keys {says['effective']}."
        )
        return f"{self.kernel} kernel of width {says['width']}, query at {says['query']}: {found}"


def span(numbers: Tensor) -> float:
    """Range of the numbers, from the smallest to the largest."""
    return (numbers.max() - numbers.min()).item()


def decimals_of(numbers: Tensor) -> int:
    """Decimals that show a thousandth of the range of the numbers."""
    return max(0, 3 - math.floor(math.log10(span(numbers) or 1)))


def rounded(numbers: Tensor) -> Tensor:
    """The numbers in float64, rounded to a thousandth of their range or finer."""
    decimals = decimals_of(numbers)
    rows = [[round(number, decimals)] for (number,) in numbers.detach().double().tolist()]
    return torch.tensor(rows, dtype=torch.float64)
