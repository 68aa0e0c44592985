"""Kernel regression side by side with statsmodels, and what 20,000 x 20,000 pairs cost.

    python benchmarks/kernel_regression.py

Takes about a minute. Close other programs first: a busy core makes the ratio smaller than it is.
"""

import re
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import torch
from side_by_side import in_turns, seconds
from torch import Tensor

from attn_course.kernel_regression import nadaraya_watson

WIDTH = 0.25  # about what leave-one-out chooses for the 100 points of chapter 02


def points(number: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the experiment of chapter 02: `2 sin x + x + ε` on [0, 4]."""
    generator = torch.Generator().manual_seed(0)
    query = 4 * torch.rand(number, 1, generator=generator, dtype=dtype)
    key = 4 * torch.rand(number, 1, generator=generator, dtype=dtype)
    noise = torch.randn(number, 1, generator=generator, dtype=dtype)
    return query, key, 2 * key.sin() + key + noise


def compare(number: int, dtype: torch.dtype) -> None:
    """Time both libraries in turns, print the median of each and of the ratios of neighbours."""
    from statsmodels.nonparametric.kernel_regression import KernelReg

    query, key, value = points(number, dtype)
    model = KernelReg(
        value.double().numpy(), key.double().numpy(), var_type="c", reg_type="lc", bw=[WIDTH]
    )

    @torch.no_grad()
    def ours() -> Tensor:
        return nadaraya_watson(query, key, value, WIDTH)

    def theirs() -> Tensor:
        return torch.from_numpy(model.fit(query.double().numpy())[0])

    difference = (ours().squeeze(-1) - theirs()).abs().max().item()
    # ten short calls take about as long as one long one, so that neither starts from cold
    slow, fast, ratio = in_turns(theirs, ours, (1, 10))
    print(
        f"{number} x {number}, {str(dtype).removeprefix('torch.')}: statsmodels {slow:.1f} ms, "
        f"attn_course {fast:.1f} ms, {ratio:.0f} times as fast; they differ by {difference:.0e}"
    )


def measure_large(number: int, with_gradient: bool) -> None:
    """Print time and peak memory of this process for the estimates, and for their gradients."""
    query, key, value = points(number, torch.float32)
    before = memory()
    width = torch.tensor(WIDTH, requires_grad=with_gradient)
    output = None

    def forward() -> None:
        nonlocal output
        output = nadaraya_watson(query, key, value, width)

    taken = [("forward", seconds(forward))]
    if with_gradient:
        taken.append(("backward", seconds(lambda: output.sum().backward())))
    spent = ", ".join(f"{what} {time_taken:.1f} s" for what, time_taken in taken)
    print(
        f"{number} x {number}, float32: {spent}, peak {memory():.0f} MB, "
        f"of which {before:.0f} MB before the call"
    )


def memory() -> float:
    """Peak of the resident memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux, where getrusage counts the process that started this one, too
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> None:
    """Run the comparison here, and each large case in a process of its own."""
    if "--large" in sys.argv:
        measure_large(20_000, with_gradient="--gradient" in sys.argv)
        return
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}", flush=True)
    warnings.simplefilter("ignore", FutureWarning)  # statsmodels, about a change of its own
    for dtype in (torch.float32, torch.float64):
        compare(2_000, dtype)
    sys.stdout.flush()
    for options in ([], ["--gradient"]):
        subprocess.run([sys.executable, __file__, "--large", *options], check=True)


if __name__ == "__main__":
    main()
