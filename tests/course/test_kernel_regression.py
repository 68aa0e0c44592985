"""Kernel regression: by hand, by its laws, and against statsmodels and scikit-learn."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from attn_course import kernel_regression
from attn_course.data.regression import noisy_curve
from attn_course.kernel_regression import (
    choose_width,
    kernel_scores,
    leave_one_out,
    leave_one_out_error,
    log_boxcar,
    log_epanechnikov,
    log_gaussian,
    log_triangular,
    nadaraya_watson,
)
from attn_course.layer import blocks
from attn_course.retrieval import masked_softmax
from tests.sampling import left_to_proofs
from tests.tensors import DEVICES, TIGHTLY

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
# Each kernel as its textbook writes it, in the distance u in widths and not its square.
DEFINITIONS = {
    log_gaussian: lambda u: math.exp(-u * u / 2),
    log_boxcar: lambda u: 1.0 if u <= 1 else 0.0,
    log_triangular: lambda u: max(0.0, 1 - u),
    log_epanechnikov: lambda u: max(0.0, 1 - u * u),
}
COMPACT = [log_boxcar, log_triangular, log_epanechnikov]
every_kernel = pytest.mark.parametrize(
    "log_kernel", DEFINITIONS, ids=lambda kernel: kernel.__name__
)
numbers = st.floats(-5, 5, allow_nan=False, width=32)
some_law = settings(max_examples=60, deadline=None, derandomize=True)


def column(*rows: float) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64).unsqueeze(-1)


def sample(
    query_len: int = 5, key_len: int = 7, d_key: int = 2, d_value: int = 3, batch: tuple = ()
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw a query, key and value in float64, with sizes that no swapped axis survives."""
    generator = torch.Generator().manual_seed(key_len)
    shapes = [(query_len, d_key), (key_len, d_key), (key_len, d_value)]
    draw = {"generator": generator, "dtype": torch.float64}
    query, key, value = (torch.randn(*batch, *shape, **draw) for shape in shapes)
    return query, key, value


def by_the_formula(
    query: Tensor, key: Tensor, value: Tensor, width: float, log_kernel: Callable
) -> Tensor:
    """Write out Σ κ v / Σ κ with loops over plain numbers; zero where it says 0/0."""
    kernel, rows = DEFINITIONS[log_kernel], []
    for one in query.tolist():
        kappas = [kernel(math.dist(one, other) / width) for other in key.tolist()]
        total = sum(kappas) or 1.0
        columns = value.mT.tolist()
        rows.append([sum(k * v for k, v in zip(kappas, c, strict=True)) / total for c in columns])
    return torch.tensor(rows, dtype=torch.float64)


# The kernels


@pytest.mark.parametrize(
    ("log_kernel", "heights"),
    [
        (log_gaussian, [1.0, 0.8824969025845955, 0.6065306597126334, 0.1353352832366127]),
        (log_boxcar, [1.0, 1.0, 1.0, 0.0]),
        (log_triangular, [1.0, 0.5, 0.0, 0.0]),
        (log_epanechnikov, [1.0, 0.75, 0.0, 0.0]),
    ],
)
def test_kernel_at_zero_half_one_and_two_widths(log_kernel: Callable, heights: list[float]) -> None:
    distance = torch.tensor([0.0, 0.5, 1.0, 2.0], dtype=torch.float64)
    found = log_kernel(distance.square()).exp()
    assert_close(found, torch.tensor(heights, dtype=torch.float64), **TIGHTLY)


@every_kernel
@some_law
@given(distance=st.floats(0, 4))
def test_logarithm_of_a_kernel_agrees_with_its_definition(
    log_kernel: Callable, distance: float
) -> None:
    squared = torch.tensor(distance * distance, dtype=torch.float64)
    wanted = torch.tensor(DEFINITIONS[log_kernel](distance), dtype=torch.float64)
    if abs(distance - 1) > 1e-9:  # the jump of the boxcar depends on the last digit of the square
        assert_close(log_kernel(squared).exp(), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("log_kernel", [log_gaussian, log_triangular, log_epanechnikov])
def test_kernel_has_a_finite_gradient_at_its_centre_at_its_edge_and_outside(
    log_kernel: Callable,
) -> None:
    squared = torch.tensor([0.0, 0.3, 1.0, 7.0], requires_grad=True)
    height = log_kernel(squared)
    height.where(height > -math.inf, 0).sum().backward()
    assert squared.grad.isfinite().all()


def test_kernel_leaves_its_argument_alone() -> None:
    for log_kernel in DEFINITIONS:
        squared = torch.tensor([0.0, 0.5, 3.0])
        before = squared.clone()
        log_kernel(squared)
        assert_close(squared, before, rtol=0, atol=0)


@every_kernel
def test_score_of_a_key_is_the_logarithm_of_the_kernel_at_its_distance(
    log_kernel: Callable,
) -> None:
    query, key, _ = sample(d_key=2)
    scores = kernel_scores(query, key, 1.7, log_kernel)
    wanted = [
        [DEFINITIONS[log_kernel](math.dist(q, k) / 1.7) for k in key.tolist()]
        for q in query.tolist()
    ]
    assert_close(scores.exp(), torch.tensor(wanted, dtype=torch.float64), **TIGHTLY)


def test_score_outside_a_compact_kernel_is_a_mask() -> None:
    query, key, value = column(0.0, 2.6), column(-0.5, 0.9, 2.0, 3.1), column(1.0, 2.0, 4.0, 8.0)
    for log_kernel in COMPACT:
        inside = (query - key.mT).abs() < 1
        scores = kernel_scores(query, key, 1.0, log_kernel)
        assert_close(scores > -math.inf, inside)
        finite = scores.where(inside, 5.0)
        assert_close(
            nadaraya_watson(query, key, value, 1.0, log_kernel),
            masked_softmax(finite, inside) @ value,
            **TIGHTLY,
        )


# The estimate: by hand


@pytest.mark.parametrize(
    ("log_kernel", "estimate"),
    [
        (log_boxcar, (10 + 20 + 60) / 3),
        (log_triangular, (0.5 * 10 + 1 * 20) / 1.5),
        (log_epanechnikov, (0.75 * 10 + 1 * 20) / 1.75),
        (log_gaussian, None),
    ],
)
def test_estimate_from_three_keys_as_on_paper(log_kernel: Callable, estimate: float | None) -> None:
    # distances 1, 0 and 2, which are 0.5, 0 and 1 widths; the Gaussian weighs them by
    # e^(-1/8), 1 and e^(-1/2): (8.824969 + 20 + 36.391840) / 2.489028
    found = nadaraya_watson(column(1.0), column(0, 1, 3), column(10, 20, 60), 2.0, log_kernel)
    gaussian = (8.824969025846 + 20 + 36.391839582758) / 2.489027562297
    assert_close(found, column(estimate or gaussian), rtol=1e-10, atol=0)


def test_distance_counts_all_features_together() -> None:
    key = torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
    query = torch.zeros(1, 2, dtype=torch.float64)
    # 5 from the first key, half a width: weights 0.75 and 1
    found = nadaraya_watson(query, key, column(7.0, 0.0), 10.0, log_epanechnikov)
    assert_close(found, column(0.75 * 7 / 1.75), **TIGHTLY)


@every_kernel
@pytest.mark.parametrize("d_key", [1, 2, 5])
def test_estimate_agrees_with_the_formula_written_out(log_kernel: Callable, d_key: int) -> None:
    query, key, value = sample(query_len=11, key_len=13, d_key=d_key)
    wanted = by_the_formula(query, key, value, 1.3, log_kernel)
    assert_close(nadaraya_watson(query, key, value, 1.3, log_kernel), wanted, **TIGHTLY)


# The estimate: its laws


@every_kernel
@some_law
@given(keys=st.lists(numbers, min_size=1, max_size=9), query=numbers, constant=numbers)
def test_constant_values_are_reproduced(
    log_kernel: Callable, keys: list[float], query: float, constant: float
) -> None:
    key = column(*keys)
    width = float((key - query).abs().min()) + 0.5  # some key is in the window
    found = nadaraya_watson(column(query), key, torch.full_like(key, constant), width, log_kernel)
    assert_close(found, column(constant), **TIGHTLY)


@every_kernel
@some_law
@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9), query=numbers)
def test_estimate_lies_between_the_values_in_the_window(
    log_kernel: Callable, pairs: list[tuple[float, float]], query: float
) -> None:
    key, value = (column(*part) for part in zip(*pairs, strict=True))
    width = float((key - query).abs().min()) + 0.5
    reach = math.inf if log_kernel is log_gaussian else width
    inside = value[(key - query).abs() <= reach]
    found = nadaraya_watson(column(query), key, value, width, log_kernel).item()
    assert inside.min() - 1e-9 <= found <= inside.max() + 1e-9


@every_kernel
def test_order_of_the_keys_does_not_matter(log_kernel: Callable) -> None:
    query, key, value = sample(key_len=17)
    order = torch.randperm(17, generator=torch.Generator().manual_seed(1))
    assert_close(
        nadaraya_watson(query, key[order], value[order], 0.9, log_kernel),
        nadaraya_watson(query, key, value, 0.9, log_kernel),
        **TIGHTLY,
    )


@every_kernel
def test_order_of_the_queries_is_kept(log_kernel: Callable) -> None:
    query, key, value = sample(query_len=11)
    order = torch.randperm(11, generator=torch.Generator().manual_seed(1))
    whole = nadaraya_watson(query, key, value, 0.9, log_kernel)
    assert_close(
        nadaraya_watson(query[order], key, value, 0.9, log_kernel), whole[order], **TIGHTLY
    )


@every_kernel
@some_law
@given(shift=st.integers(-64, 64), factor=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_moving_or_stretching_the_axis_with_the_width_changes_nothing(
    log_kernel: Callable, shift: int, factor: float
) -> None:
    query, key, value = sample()
    before = nadaraya_watson(query, key, value, 0.9, log_kernel)
    # powers of two, so that the boxcar's edge stays where it is to the last digit
    stretched = nadaraya_watson(factor * query, factor * key, value, factor * 0.9, log_kernel)
    assert_close(stretched, before, **TIGHTLY)
    moved = nadaraya_watson(query + shift, key + shift, value, 0.9, log_kernel)
    assert_close(moved, before, rtol=1e-9, atol=1e-9)


@every_kernel
def test_estimate_is_linear_in_the_values(log_kernel: Callable) -> None:
    query, key, value = sample(d_value=3)
    first = nadaraya_watson(query, key, value, 0.9, log_kernel)
    second = nadaraya_watson(query, key, value.square(), 0.9, log_kernel)
    both = nadaraya_watson(query, key, 2 * value - 3 * value.square(), 0.9, log_kernel)
    assert_close(both, 2 * first - 3 * second, **TIGHTLY)


def test_narrow_gaussian_returns_the_nearest_value() -> None:
    query, key, value = sample(query_len=11, key_len=13)
    nearest = (query.unsqueeze(-2) - key).square().sum(-1).argmin(-1)
    assert_close(nadaraya_watson(query, key, value, 1e-6), value[nearest], **TIGHTLY)


@every_kernel
def test_wide_kernel_returns_the_mean(log_kernel: Callable) -> None:
    query, key, value = sample()
    wide = nadaraya_watson(query, key, value, 1e9, log_kernel)
    assert_close(wide, value.mean(0).expand(5, 3), rtol=0, atol=1e-8)


@every_kernel
@pytest.mark.parametrize("d_key", [1, 3])
def test_batch_axes_are_worked_through_one_by_one(log_kernel: Callable, d_key: int) -> None:
    query, key, value = sample(batch=(2, 3), d_key=d_key)
    empty = torch.arange(18, dtype=torch.float64).reshape(2, 3, 3)
    whole = nadaraya_watson(query, key, value, 0.6, log_kernel, empty)
    for i in range(2):
        for j in range(3):
            one = nadaraya_watson(query[i, j], key[i, j], value[i, j], 0.6, log_kernel, empty[i, j])
            assert_close(whole[i, j], one, **TIGHTLY)


def test_no_queries_and_no_batch_give_no_estimates() -> None:
    query, key, value = sample()
    assert nadaraya_watson(query[:0], key, value, 1.0).shape == (0, 3)
    assert nadaraya_watson(*(t.expand(0, *t.shape) for t in sample()), 1.0).shape == (0, 5, 3)


def test_arguments_are_left_alone() -> None:
    for d_key in (1, 2):
        given_in = sample(d_key=d_key)
        before = [tensor.clone() for tensor in given_in]
        nadaraya_watson(*given_in, 0.7, log_triangular)
        leave_one_out(*given_in[1:], 0.7, log_triangular)
        for tensor, copy in zip(given_in, before, strict=True):
            assert_close(tensor, copy, rtol=0, atol=0)


# The estimate: other libraries


@pytest.mark.filterwarnings("ignore::FutureWarning:pandas")  # about a default of statsmodels
@pytest.mark.parametrize("d_key", [1, 2])
def test_gaussian_agrees_with_statsmodels(d_key: int) -> None:
    from statsmodels.nonparametric.kernel_regression import KernelReg

    query, key, value = sample(query_len=41, key_len=53, d_key=d_key, d_value=1)
    model = KernelReg(
        value.numpy(), key.numpy(), var_type="c" * d_key, reg_type="lc", bw=[0.37] * d_key
    )
    theirs = torch.from_numpy(model.fit(query.numpy())[0]).unsqueeze(-1)
    assert_close(nadaraya_watson(query, key, value, 0.37), theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::FutureWarning:pandas")
@pytest.mark.parametrize("width", [0.1, 0.37, 2.0])
def test_leave_one_out_error_agrees_with_statsmodels(width: float) -> None:
    from statsmodels.nonparametric.kernel_regression import KernelReg

    key, value = (tensor.double() for tensor in noisy_curve(0, num_points=43))
    model = KernelReg(value.numpy(), key.numpy(), var_type="c", reg_type="lc", bw=[width])
    theirs = torch.from_numpy(model.cv_loo(model.bw, model.est["lc"])).squeeze()
    assert_close(leave_one_out_error(key, value, width), theirs, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("log_kernel", "weight_at"),
    [
        (log_boxcar, lambda u: torch.ones_like(u)),
        (log_triangular, lambda u: 1 - u),
        (log_epanechnikov, lambda u: 1 - u**2),
    ],
)
def test_compact_kernels_agree_with_scikit_learn(
    log_kernel: Callable, weight_at: Callable[[Tensor], Tensor]
) -> None:
    from sklearn.neighbors import RadiusNeighborsRegressor

    query, key, value = sample(query_len=41, key_len=97)
    width = 2.9

    def weigh(distances: Any) -> Any:
        rows = [weight_at(torch.from_numpy(row) / width).numpy() for row in distances]
        stacked = torch.zeros(len(rows), dtype=torch.float64).numpy().astype(object)
        stacked[:] = rows
        return stacked

    model = RadiusNeighborsRegressor(radius=width, weights=weigh).fit(key.numpy(), value.numpy())
    theirs = torch.from_numpy(model.predict(query.numpy()))
    assert_close(nadaraya_watson(query, key, value, width, log_kernel), theirs, **TIGHTLY)


# Many features, by one product


@pytest.mark.parametrize("d_key", [3, 8, 32])
@pytest.mark.parametrize("place", [0, 1000])
def test_product_is_taken_where_it_rounds_little_wherever_the_points_are(
    d_key: int, place: int
) -> None:
    query, key, value = (
        part.float() for part in sample(query_len=101, key_len=103, d_key=d_key, d_value=1)
    )
    query, key = query + place, key + place
    reach = max(float((part - key.mean(0)).norm(dim=-1).max()) for part in (query, key))
    for squared_widths, is_product in ((30, True), (250, True), (260, False)):
        width = reach / squared_widths**0.5
        assert (kernel_regression._middle(query, key, width) is not None) == is_product
        if is_product:
            exact = by_the_formula(*(p.double() for p in (query, key, value)), width, log_gaussian)
            found = nadaraya_watson(query, key, value, width).double()
            assert_close(found, exact, rtol=0, atol=2e-5 * value.abs().max().item())


# Empty windows


@pytest.mark.parametrize("log_kernel", COMPACT)
def test_query_with_an_empty_window_gets_zero_or_what_it_is_given(log_kernel: Callable) -> None:
    query, key = column(0.2, 9.0), column(0.0, 0.5, 1.0)
    value = torch.tensor([[1.0, 4.0], [2.0, 5.0], [6.0, 9.0]], dtype=torch.float64)
    plain = nadaraya_watson(query, key, value, 0.6, log_kernel)
    assert_close(plain[1], torch.zeros(2, dtype=torch.float64), rtol=0, atol=0)
    mean = nadaraya_watson(query, key, value, 0.6, log_kernel, value.mean(0))
    assert_close(mean[1], torch.tensor([3.0, 6.0], dtype=torch.float64), **TIGHTLY)
    assert_close(mean[0], plain[0], rtol=0, atol=0)


@pytest.mark.parametrize("log_kernel", COMPACT)
@pytest.mark.parametrize("stand_in", [False, True])
def test_empty_window_has_finite_gradients_and_hands_them_to_its_stand_in(
    log_kernel: Callable, stand_in: bool
) -> None:
    tensors = [column(0.2, 9.0), column(0.0, 0.5), column(1.0, 2.0), torch.tensor(0.6).double()]
    query, key, value, width = (tensor.requires_grad_() for tensor in tensors)
    empty = torch.tensor([7.0], dtype=torch.float64, requires_grad=True)
    found = nadaraya_watson(query, key, value, width, log_kernel, empty if stand_in else None)
    found.sum().backward()
    assert value.grad.isfinite().all()
    for tensor in (query, key, width):
        if log_kernel is log_boxcar:
            assert tensor.grad is None  # it is flat: there is no way to go
        else:
            assert tensor.grad.isfinite().all()
    assert log_kernel is log_boxcar or query.grad[1] == 0
    assert value.grad.sum().item() == pytest.approx(1)
    if stand_in:
        assert empty.grad.item() == 1


def test_gaussian_window_is_never_empty_in_reach_of_the_dtype() -> None:
    # exp(-u²/2) itself is 0 in float64 from 39 widths on
    found = nadaraya_watson(column(0.0), column(100.0, 101.0), column(3.0, 5.0), 1.0)
    assert_close(found, column(3.0), **TIGHTLY)


# Blocks


@pytest.fixture
def blocks_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Give a function that makes blocks of so many numbers, and returns where they started."""
    starts: list[int] = []
    estimate = kernel_regression._estimate

    def noted(*args: Any) -> Tensor:
        starts.append(args[-2])
        return estimate(*args)

    def limit(numbers: int) -> list[int]:
        monkeypatch.setattr(blocks, "NUMBERS_IN_A_BLOCK", numbers)
        monkeypatch.setattr(blocks, "NUMBERS_IN_A_SMALL_BLOCK", numbers)
        monkeypatch.setattr(kernel_regression, "_estimate", noted)
        return starts

    return limit


def estimates_and_gradients(log_kernel: Callable, d_key: int, batch: tuple) -> list[Tensor]:
    tensors = [*sample(query_len=11, key_len=13, d_key=d_key, batch=batch)]
    tensors += [torch.tensor(0.8, dtype=torch.float64), torch.ones(*batch, 3).double()]
    query, key, value, width, empty = (tensor.requires_grad_() for tensor in tensors)
    estimate = nadaraya_watson(query, key, value, width, log_kernel, empty)
    alone = leave_one_out(key, value, width, log_kernel, empty)
    loss = (estimate.sin() * 3).sum() + (alone.cos() * 2).sum()
    gradients = torch.autograd.grad(loss, [query, key, value, width, empty], allow_unused=True)
    with torch.no_grad():
        plain = nadaraya_watson(query, key, value, width, log_kernel, empty)
    return [estimate, alone, plain, *(g for g in gradients if g is not None)]


@every_kernel
@pytest.mark.parametrize(("d_key", "batch"), [(1, ()), (2, ()), (2, (3,)), (5, ())])
@pytest.mark.parametrize("length", [1, 3, 10])
def test_blocks_change_neither_values_nor_gradients(
    log_kernel: Callable,
    d_key: int,
    batch: tuple,
    length: int,
    blocks_of: Callable[[int], list[int]],
) -> None:
    whole = estimates_and_gradients(log_kernel, d_key, batch)
    starts = blocks_of(length * 13 * math.prod(batch) + 5)
    in_blocks = estimates_and_gradients(log_kernel, d_key, batch)
    assert starts[: math.ceil(11 / length)] == list(range(0, 11, length))
    assert len(in_blocks) == len(whole)
    for one, other in zip(in_blocks, whole, strict=True):
        assert_close(one, other, **TIGHTLY)


def test_blocks_work_without_any_gradient_and_with_a_kernel_that_learns(
    blocks_of: Callable[[int], list[int]],
) -> None:
    query, key, value = sample(query_len=11, key_len=13)
    power = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)

    def learned(squared_distance: Tensor) -> Tensor:
        return -(squared_distance**power)

    whole = nadaraya_watson(query, key, value, 0.8, learned)
    (wanted,) = torch.autograd.grad(whole.sin().sum(), power)
    blocks_of(3 * 13)
    in_blocks = nadaraya_watson(query, key, value, 0.8, learned)
    (found,) = torch.autograd.grad(in_blocks.sin().sum(), power)
    assert_close(in_blocks, whole, **TIGHTLY)
    assert_close(found, wanted, **TIGHTLY)


def test_first_block_is_held_to_the_signature(blocks_of: Callable[[int], list[int]]) -> None:
    blocks_of(3 * 13)
    with pytest.raises(TypeError, match=r"attend: all tensors must share one dtype.*float32"):
        nadaraya_watson(*sample(query_len=11, key_len=13), 1.0, lambda squared: -squared.float())


LARGE = """
import pathlib, re, resource, sys, torch
from attn_course.kernel_regression import nadaraya_watson
generator = torch.Generator().manual_seed(0)
query, key, value = (torch.rand(20_000, 1, generator=generator) for _ in range(3))
estimate = nadaraya_watson(query, key, value, 0.1)
assert estimate.shape == (20_000, 1) and bool(estimate.isfinite().all())
status = pathlib.Path("/proc/self/status")
if status.exists():  # Linux, where getrusage counts the memory of pytest, too
    print(int(re.search("VmHWM: *(.*) kB", status.read_text().replace("\\t", " "))[1]) * 1024)
else:
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


@left_to_proofs  # that the blocks are small is for the tests above
def test_twenty_thousand_queries_and_keys_stay_below_a_gigabyte() -> None:
    # with gradients the same holds, which benchmarks/ measures: here it would take too long
    ours = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}  # tests keep memory
    run = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, env=ours)
    assert run.returncode == 0, run.stderr
    assert 1e8 < int(run.stdout) < 1e9


# Leave one out


@every_kernel
@pytest.mark.parametrize("d_key", [1, 3])
def test_leave_one_out_equals_the_loop_that_deletes_one_key(
    log_kernel: Callable, d_key: int
) -> None:
    _, key, value = sample(key_len=17, d_key=d_key)
    empty = value.mean(0)
    rows = []
    for i in range(17):
        others = torch.arange(17) != i
        one = nadaraya_watson(key[i : i + 1], key[others], value[others], 0.7, log_kernel, empty)
        rows.append(one)
    found = leave_one_out(key, value, 0.7, log_kernel, empty)
    assert_close(found, torch.cat(rows), **TIGHTLY)


def test_leave_one_out_of_two_keys_swaps_their_values() -> None:
    key, value = column(0.0, 1.0), column(2.0, 6.0)
    assert_close(leave_one_out(key, value, 3.0), column(6.0, 2.0), **TIGHTLY)
    assert leave_one_out_error(key, value, 3.0).item() == 16.0


def test_leave_one_out_of_one_key_has_an_empty_window() -> None:
    key, value = column(0.4), column(3.0)
    assert_close(leave_one_out(key, value, 1.0), column(0.0), **TIGHTLY)
    assert_close(leave_one_out(key, value, 1.0, log_boxcar, value.mean(0)), value, **TIGHTLY)


def test_mean_stands_in_for_a_key_without_neighbours_in_the_error() -> None:
    # keys 0 and 1 see each other, 9 sees nobody: (6-2)², (2-6)² and (4 - 4)²
    key, value = column(0.0, 1.0, 9.0), column(2.0, 6.0, 4.0)
    error = leave_one_out_error(key, value, 2.0, log_epanechnikov)
    assert error.item() == pytest.approx((16 + 16 + 0) / 3)


def test_own_value_does_not_enter_its_leave_one_out_estimate() -> None:
    _, key, value = sample(key_len=7, d_value=1)
    jacobian = torch.autograd.functional.jacobian(lambda v: leave_one_out(key, v, 0.9), value)
    diagonal = jacobian[:, 0, :, 0].diagonal()
    assert_close(diagonal, torch.zeros_like(diagonal), rtol=0, atol=0)


# The width


def test_chosen_width_has_the_least_leave_one_out_error() -> None:
    key, value = noisy_curve(seed=5, num_points=61)
    widths = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
    errors = [leave_one_out_error(key, value, width).item() for width in widths]
    assert choose_width(key, value, widths) == widths[errors.index(min(errors))]
    assert errors.index(min(errors)) not in (0, len(widths) - 1)
    backwards = choose_width(key, value, (width for width in reversed(widths)))
    assert backwards == choose_width(key, value, widths)


def test_first_of_tied_widths_is_chosen() -> None:
    key, value = column(0.0, 1.0), column(2.0, 6.0)
    assert choose_width(key, value, [3, 2, 5], log_boxcar) == 3
    assert choose_width(key, value, [5, 2, 3], log_boxcar) == 5


def learn_width(loss: Callable[[Tensor], Tensor], start: float, steps: int) -> float:
    log_width = torch.tensor(math.log(start), requires_grad=True)
    optimiser = torch.optim.Adam([log_width], lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(log_width.exp()).backward()
        optimiser.step()
    return log_width.exp().item()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_learned_width_comes_to_the_leave_one_out_optimum(seed: int) -> None:
    key, value = noisy_curve(seed)
    grid = torch.logspace(-1.5, 0.5, 161).tolist()
    best = choose_width(key, value, grid)
    learned = learn_width(lambda width: leave_one_out_error(key, value, width), 0.6, steps=80)
    least = leave_one_out_error(key, value, best).item()
    assert leave_one_out_error(key, value, learned).item() <= least * 1.001
    assert learned == pytest.approx(best, rel=0.15)


def test_width_learned_without_leaving_one_out_collapses() -> None:
    key, value = noisy_curve(seed=0)

    def training_error(width: Tensor) -> Tensor:
        return (nadaraya_watson(key, key, value, width) - value).square().mean()

    learned = learn_width(training_error, 0.6, steps=80)
    assert learned < 0.02
    assert leave_one_out_error(key, value, learned) > 1.3 * leave_one_out_error(key, value, 0.25)


# Gradients, dtypes, devices, transforms


@every_kernel
@pytest.mark.parametrize("d_key", [1, 2])
def test_gradients_agree_with_finite_differences(log_kernel: Callable, d_key: int) -> None:
    query, key, value = sample(query_len=3, key_len=5, d_key=d_key, d_value=2)
    width = torch.tensor(1.9, dtype=torch.float64)
    inputs = [tensor.requires_grad_() for tensor in (query, key, value, width)]
    assert torch.autograd.gradcheck(lambda *given: nadaraya_watson(*given, log_kernel), inputs)
    assert torch.autograd.gradcheck(lambda *given: leave_one_out(*given, log_kernel), inputs[1:])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@every_kernel
def test_dtype_and_device_are_kept_and_rounding_stays_small(
    log_kernel: Callable, dtype: torch.dtype, device: str
) -> None:
    # on eighths every dtype holds the inputs exactly, and no key lies on the edge of the width
    generator = torch.Generator().manual_seed(2)
    shapes = [(11, 1), (13, 1), (13, 3)]
    exact = [torch.randint(-16, 17, shape, generator=generator) / 8 for shape in shapes]
    query, key, value = (tensor.to(device, dtype) for tensor in exact)
    width = torch.tensor(1.6875)
    wanted = by_the_formula(*(tensor.double() for tensor in exact), 1.6875, log_kernel)
    found = nadaraya_watson(query, key, value, width.to(device), log_kernel)
    assert found.dtype == dtype
    assert found.device.type == device
    # a score of a few units, so a weight off by a few rounding errors, near the edge by more
    few = 40 * torch.finfo(dtype).eps
    assert_close(found.cpu().double(), wanted, rtol=0, atol=few)
    alone = leave_one_out(key, value, 1.6875, log_kernel)
    assert (alone.dtype, alone.device.type) == (dtype, device)


def test_compiled_function_gives_the_same() -> None:
    query, key, value = sample()
    compiled = torch.compile(nadaraya_watson, backend="eager")
    for log_kernel in (log_gaussian, log_epanechnikov):
        found = compiled(query, key, value, 0.8, log_kernel)
        assert_close(found, nadaraya_watson(query, key, value, 0.8, log_kernel), **TIGHTLY)


def test_vmap_over_a_batch_gives_the_same() -> None:
    query, key, value = sample(batch=(3,))
    mapped = torch.func.vmap(lambda *given: nadaraya_watson(*given, 0.8, log_triangular))
    whole = nadaraya_watson(query, key, value, 0.8, log_triangular)
    assert_close(mapped(query, key, value), whole, **TIGHTLY)


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacrev])
def test_transforms_of_torch_func_take_more_queries_than_one_block(
    monkeypatch: pytest.MonkeyPatch, transform: Callable
) -> None:
    _, key, value = sample()
    width = torch.tensor(0.8, dtype=key.dtype)
    error = partial(leave_one_out_error, key, value)
    whole = transform(error)(width)
    monkeypatch.setattr(blocks, "NUMBERS_IN_A_SMALL_BLOCK", len(key))
    assert_close(transform(error)(width), whole, **TIGHTLY)


# Bad input


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"query": torch.ones(5, 3)}, ValueError, r"d_key=3 in query but 2 here"),
        ({"key": torch.ones(6, 2)}, ValueError, r"key_len=6 in key but 7 here"),
        ({"value": torch.ones(7)}, ValueError, r"value has shape \(7,\)"),
        ({"value": torch.ones(7, 3).double()}, TypeError, r"share one dtype.*value torch.float64"),
        ({"query": torch.ones(5, 2).long()}, TypeError, r"query has dtype torch.int64; expected"),
        ({"query": [[1.0, 2.0]]}, TypeError, r"query is .*\(list\); expected a torch.Tensor"),
        ({"key": torch.tensor([[math.nan, 1.0]] * 7)}, ValueError, r"key holds 7 NaN among 14"),
        ({"key": torch.ones(0, 2), "value": torch.ones(0, 3)}, ValueError, r"key_len=0"),
        ({"width": 0.0}, ValueError, r"width=0 must be positive and finite"),
        ({"width": -1.5}, ValueError, r"width=-1.5 must be positive and finite"),
        ({"width": math.inf}, ValueError, r"width=inf must be positive and finite"),
        ({"width": math.nan}, ValueError, r"width=nan must be positive and finite"),
        ({"width": torch.tensor(-2.0)}, ValueError, r"width=-2 must be positive and finite"),
        ({"width": torch.ones(3)}, (TypeError, ValueError), r"width .*\(3,\)"),
        ({"width": "wide"}, TypeError, r"width .*'wide'"),
        ({"empty_output": torch.ones(2)}, ValueError, r"d_value=3 in value but 2 here"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    good = {"query": torch.ones(5, 2), "key": torch.ones(7, 2), "value": torch.ones(7, 3)}
    with pytest.raises(error, match=message):
        nadaraya_watson(**{"width": 1.0} | good | change)


def test_bad_width_and_missing_widths_are_refused_everywhere() -> None:
    key, value = torch.ones(7, 2), torch.ones(7, 3)
    for function in (leave_one_out, leave_one_out_error):
        with pytest.raises(ValueError, match=r"width=-1 must be positive and finite"):
            function(key, value, -1.0)
    with pytest.raises(ValueError, match=r"width=0 must be positive and finite"):
        kernel_scores(key, key, 0)
    with pytest.raises(ValueError, match=r"widths is empty; give at least one"):
        choose_width(key, value, [])
    with pytest.raises(ValueError, match=r"width=0 must be positive and finite"):
        choose_width(key, value, [1.0, 0.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_far_query_gets_the_nearest_value_whatever_the_precision(dtype: torch.dtype) -> None:
    # 300 widths: the square is too large for half precision
    query, key, value = ([[300.0]], [[0.0], [1.0]], [[5.0], [7.0]])
    given_ = [torch.tensor(each, dtype=dtype) for each in (query, key, value)]
    assert nadaraya_watson(*given_, 1.0).item() == 7
    assert leave_one_out(*given_[1:], 1.0).tolist() == [[7], [5]]


def test_squares_that_overflow_are_refused_only_if_the_kernel_reaches_so_far() -> None:
    key, value = torch.tensor([[0.0], [1.0]]), torch.tensor([[5.0], [7.0]])
    for query, width in (
        (torch.tensor([[0.5], [0.0]]), 1e-20),
        (torch.tensor([[1e30], [1.0]]), 1.0),
    ):
        with pytest.raises(ValueError, match="1 of 2 queries are so many widths away"):
            nadaraya_watson(query, key, value, width)
        assert nadaraya_watson(query, key, value, width, log_boxcar)[0] == 0
        assert nadaraya_watson(query.double(), key.double(), value.double(), width)[0] > 0
    with pytest.raises(ValueError, match="2 of 2 queries are so many widths away"):
        leave_one_out(key, value, 1e-20)
