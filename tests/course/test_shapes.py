"""`checked` lets right calls pass untouched, and names what is wrong with the others."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import pytest
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.func import vmap
from torch.testing import assert_close

from attn_course.retrieval import attend, dot_scores
from attn_course.shapes import (
    checked,
    checking,
    is_true_of_any,
    known_nonzero,
    require_positive,
    unchecked,
)

ROWS, COLUMNS, DEPTH = 3, 5, 7
NAN = math.nan


@checked
def scaled_sum(
    left: Float[Tensor, "*batch rows columns"],
    right: Float[Tensor, "*batch rows columns"],
    scale: float | Float[Tensor, ""] = 1.0,
    mask: Bool[Tensor, "*#batch #rows #columns"] | None = None,
) -> Float[Tensor, "*batch rows columns"]:
    """Add two matrices, scale them, and put zeros where the mask is False."""
    total = (left + right) * scale
    return total if mask is None else total.masked_fill(~mask, 0)


@checked
def rows_twice(table: Shaped[Tensor, "rows columns"]) -> Shaped[Tensor, "rows columns"]:
    """Break its own promise: the result has twice as many rows."""
    return torch.cat([table, table])


@checked
def through_nan(left: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    """Call a checked function with NaN of its own making, and return its result."""
    return scaled_sum(left / 0 * 0, left)


@checked
def count_words(
    tokens: Int[Tensor, "batch length *rest"], mask: Bool[Tensor, "batch length"]
) -> Int[Tensor, " batch *rest"]:
    """Have a variadic axis behind the others, and whole numbers."""
    return tokens.sum(1)


@checked
def distances(
    left: Float[Tensor, "_ 3"], right: Float[Tensor, "_ 3"], twice: Float[Tensor, "_ 3 ..."]
) -> None:
    """Have axes that must have three, and axes without a name."""


@checked
def row_where(
    table: Float[Tensor, "rows columns"], row: int | None
) -> Float[Tensor, " columns"] | None:
    """Return a row, or nothing."""
    return None if row is None else table[row]


class Layer(nn.Module):
    """A module with a checked method."""

    @checked
    def forward(
        self, table: Float[Tensor, "rows columns"], before: Layer | None = None
    ) -> Float[Tensor, "rows columns"]:
        """Mention its own class, which is being defined, in its annotations."""
        return table if before is None else before(table)


def ones(*shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Tensor:
    """Return a tensor of ones."""
    return torch.ones(shape, dtype=dtype, device=device)


# --- what passes --------------------------------------------------------------------------------


def test_right_call_returns_what_the_function_returns() -> None:
    left, right = torch.randn(2, ROWS, COLUMNS), torch.randn(2, ROWS, COLUMNS)
    assert_close(scaled_sum(left, right, 3.0), 3 * (left + right), rtol=0, atol=0)


def test_arguments_may_be_named_and_left_out() -> None:
    left = ones(ROWS, COLUMNS)
    mask = torch.zeros(ROWS, COLUMNS, dtype=torch.bool)
    assert scaled_sum(right=left, left=left).sum() == 2 * ROWS * COLUMNS
    assert scaled_sum(left, left, mask=mask).sum() == 0
    assert scaled_sum(left, left, mask=None).sum() == 2 * ROWS * COLUMNS
    assert scaled_sum(left, left, 3).sum() == 6 * ROWS * COLUMNS


def test_name_signature_and_docstring_stay() -> None:
    assert scaled_sum.__name__ == "scaled_sum"
    assert scaled_sum.__doc__.startswith("Add two matrices")
    assert list(inspect.signature(scaled_sum).parameters) == ["left", "right", "scale", "mask"]


def test_sizes_of_one_call_do_not_bind_the_next() -> None:
    for rows, columns in [(3, 5), (5, 3), (0, 7), (1, 1)]:
        assert scaled_sum(ones(rows, columns), ones(rows, columns)).shape == (rows, columns)


@pytest.mark.parametrize("batch", [(), (2,), (2, 11), (0,)])
def test_any_number_of_batch_axes_may_stand_in_front(batch: tuple[int, ...]) -> None:
    table = ones(*batch, ROWS, COLUMNS)
    assert scaled_sum(table, table).shape == (*batch, ROWS, COLUMNS)


@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (1, COLUMNS), (ROWS, 1), (1, 1), (2, 1, 1)])
def test_axis_marked_for_broadcasting_may_be_one(shape: tuple[int, ...]) -> None:
    table = ones(2, ROWS, COLUMNS)
    assert scaled_sum(table, table, mask=torch.ones(shape, dtype=torch.bool)).sum() == 60


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_every_floating_point_dtype_passes(dtype: torch.dtype) -> None:
    table = ones(ROWS, COLUMNS, dtype=dtype)
    assert scaled_sum(table, table).dtype == dtype


def test_number_without_axes_may_have_another_dtype_and_device() -> None:
    table = ones(ROWS, COLUMNS)
    assert scaled_sum(table, table, torch.tensor(2.0, dtype=torch.float64)).sum() == 60
    on_meta = table.to("meta")
    assert scaled_sum(on_meta, on_meta, torch.tensor(2.0)).is_meta


def test_infinity_passes() -> None:
    table = torch.full((ROWS, COLUMNS), math.inf)
    assert scaled_sum(table, table).isinf().all()
    table[1] = -math.inf  # the sum over the table is NaN, but no number is
    assert scaled_sum(table, table).isinf().all()


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_whose_sum_overflows_pass(sign: int) -> None:
    table = torch.full((ROWS, COLUMNS), sign * 6e4, dtype=torch.float16)
    assert scaled_sum(table, table, 0.5).isinf().sum() == ROWS * COLUMNS


def test_result_may_be_none_where_the_signature_says_so() -> None:
    assert row_where(ones(ROWS, COLUMNS), None) is None
    assert row_where(ones(ROWS, COLUMNS), 1).shape == (COLUMNS,)


def test_result_that_is_a_tuple_passes() -> None:
    @checked
    def split(table: Float[Tensor, "rows columns"]) -> tuple[Float[Tensor, " columns"], Tensor]:
        return table[0], table[1:]

    assert [part.shape for part in split(ones(ROWS, COLUMNS))] == [(5,), (2, 5)]


def test_gradient_passes_through() -> None:
    left = ones(ROWS, COLUMNS).requires_grad_()
    scaled_sum(left, left, 3.0).sum().backward()
    assert_close(left.grad, torch.full((ROWS, COLUMNS), 6.0))


# --- what is refused ----------------------------------------------------------------------------

WIDE, TALL = ones(ROWS, COLUMNS), ones(COLUMNS, ROWS)
REFUSED: dict[str, tuple[tuple[object, ...], type[Exception], str]] = {
    "one axis": (
        (WIDE, ones(ROWS, DEPTH)),
        ValueError,
        r"scaled_sum: right has shape \(3, 7\); expected \(\*batch, rows, columns\): "
        r"columns=5 in left but 7 here$",
    ),
    "two axes": (
        (WIDE, TALL),
        ValueError,
        r"right has shape \(5, 3\).*: rows=3 in left but 5 here; columns=5 in left but 3 here$",
    ),
    "the first batch": (
        (ones(2, ROWS, COLUMNS), WIDE),
        ValueError,
        r"right has shape \(3, 5\).*: batch=\(2,\) in left but \(\) here$",
    ),
    "the batch of the mask": (
        (ones(2, ROWS, COLUMNS), ones(2, ROWS, COLUMNS), 1.0, ones(11, 1, 1).bool()),
        ValueError,
        r"mask has shape \(11, 1, 1\).*: batch=\(2,\) in left but \(11,\) here$",
    ),
    "an axis of the mask": (
        (WIDE, WIDE, 1.0, ones(1, DEPTH).bool()),
        ValueError,
        r"mask has shape \(1, 7\); expected \(\*batch, rows, columns\): "
        r"columns=5 in left but 7 here$",
    ),
    "an axis of a mask for the whole batch": (
        (ones(2, ROWS, COLUMNS), ones(2, ROWS, COLUMNS), 1.0, ones(1, 1, DEPTH).bool()),
        ValueError,
        r"mask has shape \(1, 1, 7\); expected \(\*batch, rows, columns\): "
        r"columns=5 in left but 7 here$",
    ),
    "too few axes": (
        (ones(COLUMNS), WIDE),
        ValueError,
        r"left has shape \(5,\); expected \(\*batch, rows, columns\), "
        r"at least 2 axes, but it has 1$",
    ),
    "axes where there should be none": (
        (WIDE, WIDE, ones(1)),
        ValueError,
        r"scale has shape \(1,\); expected \(\)",
    ),
    "a list": (
        ([[1.0, 2.0]], WIDE),
        TypeError,
        r"left is \[\[1\.0, 2\.0\]\] \(list\); expected a torch\.Tensor of shape \(\*batch, rows",
    ),
    "None where a tensor must be": ((WIDE, None), TypeError, "right is None; expected a torch"),
    "a number where a tensor must be": ((WIDE, 2.0), TypeError, r"right is 2\.0 \(float\)"),
    "a word where a number must be": ((WIDE, WIDE, "2"), TypeError, r"scale is '2' \(str\)"),
    "whole numbers": (
        (WIDE.long(), WIDE.long()),
        TypeError,
        r"left has dtype torch\.int64; expected a floating-point dtype",
    ),
    "a mask of numbers": (
        (WIDE, WIDE, 1.0, WIDE),
        TypeError,
        r"mask has dtype torch\.float32; expected torch\.bool",
    ),
    "two dtypes": (
        (WIDE, WIDE.double()),
        TypeError,
        r"must share one dtype, but these are: left torch\.float32, right torch\.float64$",
    ),
    "two devices": (
        (WIDE, ones(ROWS, COLUMNS, device="meta")),
        ValueError,
        r"must share one device, but these are: left cpu, right meta$",
    ),
    "a mask on another device": (
        (WIDE, WIDE, 1.0, ones(1, 1, device="meta").bool()),
        ValueError,
        r"must share one device, but these are: left cpu, right cpu, mask meta$",
    ),
}


REFUSED_ELSEWHERE: dict[str, tuple[Callable[..., Tensor], tuple[object, ...], type, str]] = {
    "an axis in front of a variadic one": (
        count_words,
        (ones(2, 3, 5).long(), ones(2, 7).bool()),
        ValueError,
        r"count_words: mask has shape \(2, 7\); expected \(batch, length\): "
        r"length=3 in tokens but 7 here$",
    ),
    "numbers with a fraction": (
        count_words,
        (ones(2, 3), ones(2, 3).bool()),
        TypeError,
        r"tokens has dtype torch\.float32; expected an integer dtype$",
    ),
    "an axis that has a size for a name": (
        distances,
        (ones(7, 3), ones(5, 4), ones(2, 3)),
        ValueError,
        r"right has shape \(5, 4\); expected \(_, 3\)$",
    ),
    "the size in front of any number of axes": (
        distances,
        (ones(7, 3), ones(5, 3), ones(2, 4, 11)),
        ValueError,
        r"twice has shape \(2, 4, 11\); expected \(_, 3, \.\.\.\)$",
    ),
    "too many axes": (
        count_words,
        (ones(2, 3).long(), ones(2, 3, 1).bool()),
        ValueError,
        r"mask has shape \(2, 3, 1\); expected \(batch, length\), 2 axes, but it has 3$",
    ),
    "a method": (
        Layer(),
        (ones(ROWS),),
        ValueError,
        r"^Layer\.forward: table has shape \(3,\); expected \(rows, columns\), 2 axes",
    ),
    "a method that is called inside": (
        Layer(),
        (ones(ROWS), Layer()),
        ValueError,
        r"^Layer\.forward: table",
    ),
}


@pytest.mark.parametrize(
    ("function", "arguments", "error", "text"),
    REFUSED_ELSEWHERE.values(),
    ids=REFUSED_ELSEWHERE,
)
def test_wrong_argument_of_another_function_is_refused(
    function: Callable[..., Tensor], arguments: tuple[object, ...], error: type, text: str
) -> None:
    with pytest.raises(error, match=text):
        function(*arguments)


@pytest.mark.parametrize(("arguments", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_wrong_argument_is_refused_by_its_name(
    arguments: tuple[object, ...], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        scaled_sum(*arguments)


def test_argument_is_refused_before_the_function_runs() -> None:
    ran = []

    @checked
    def function(table: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
        ran.append(True)
        return table

    with pytest.raises(ValueError, match=r"^function: table has shape"):
        function(ones(ROWS))
    assert ran == []


def test_missing_argument_is_refused_as_python_does() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'right'"):
        scaled_sum(WIDE)


def test_result_of_another_shape_than_promised_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rows_twice: the result has shape \(6, 5\).*rows=3"):
        rows_twice(WIDE)


# --- what is remembered -------------------------------------------------------------------------

RIGHT: dict[str, object] = {"left": WIDE, "right": WIDE, "scale": 1.0, "mask": None}
CHANGES: dict[str, tuple[dict[str, object], type[Exception], str]] = {
    "another shape": ({"right": ones(ROWS, DEPTH)}, ValueError, "columns=5 in left but 7"),
    "another dtype": ({"right": WIDE.double()}, TypeError, "must share one dtype"),
    "another kind of dtype": ({"right": WIDE.long()}, TypeError, "right has dtype torch.int64"),
    "another device": ({"right": WIDE.to("meta")}, ValueError, "must share one device"),
    "no tensor": ({"right": [1.0]}, TypeError, r"right is \[1.0\]"),
    "a scale with an axis": ({"scale": ones(1)}, ValueError, "scale has shape"),
    "a mask of numbers": ({"mask": WIDE}, TypeError, "mask has dtype"),
}


@pytest.mark.parametrize(("change", "error", "text"), CHANGES.values(), ids=CHANGES)
def test_right_call_does_not_excuse_a_wrong_one(
    change: dict[str, object], error: type[Exception], text: str
) -> None:
    for _ in range(2):
        scaled_sum(**RIGHT)
        with pytest.raises(error, match=text):
            scaled_sum(**RIGHT | change)


def test_two_places_of_a_tensor_are_told_apart() -> None:
    @checked
    def either(
        table: Float[Tensor, "rows columns"] | None = None,
        vector: Float[Tensor, " columns"] | None = None,
    ) -> None:
        pass

    either(table=WIDE)
    with pytest.raises(ValueError, match="vector has shape"):
        either(vector=WIDE)


def test_result_is_held_to_the_signature_again_when_it_changes() -> None:
    @checked
    def first(table: Float[Tensor, "rows columns"], axis: int) -> Float[Tensor, " columns"]:
        return table.select(axis, 0)

    for _ in range(2):
        first(WIDE, 0)
        with pytest.raises(ValueError, match=r"the result has shape \(3,\).*columns=5 in table"):
            first(WIDE, 1)


def promise_of(function: Callable[..., object]) -> checking._Promise:
    """Return the promise that `checked` keeps for a function."""
    kept = (cell.cell_contents for cell in function.__closure__)
    return next(thing for thing in kept if isinstance(thing, checking._Promise))


def test_what_has_passed_is_not_checked_again_but_not_remembered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at, check = [], checking.check_tensor
    monkeypatch.setattr(
        checking, "check_tensor", lambda *given: looked_at.append(given[1]) or check(*given)
    )
    monkeypatch.setattr(checking, "LOOKS_REMEMBERED", 4)

    @checked
    def doubled(table: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
        return table * 2

    for _ in range(3):
        doubled(WIDE)
    assert looked_at == ["table", "table", "the result"]
    for rows in range(7):
        doubled(ones(rows, COLUMNS))
        assert len(promise_of(doubled).passed) <= 4
    looked_at.clear()
    doubled(WIDE)
    assert looked_at == ["table", "table", "the result"]


# --- autocast -----------------------------------------------------------------------------------


def test_under_autocast_float32_counts_as_what_it_is_cast_to() -> None:
    query, key, value = torch.randn(3, 2, ROWS, COLUMNS, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", torch.bfloat16):
        scores = dot_scores(query, key)
        output = attend(scores, value)
        expected = torch.softmax(query @ key.mT, -1) @ value
    assert (scores.dtype, output.dtype) == (torch.bfloat16, torch.bfloat16)
    assert_close(output, expected, rtol=0, atol=0)
    assert_close(output.float(), attend(dot_scores(query, key), value), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_under_autocast_bfloat16_meets_every_dtype_that_is_cast_to_it(dtype: torch.dtype) -> None:
    query, key = torch.randn(2, ROWS, COLUMNS, generator=torch.Generator().manual_seed(0))
    query, key = query.to(dtype), key.bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(dot_scores(query, key), query.bfloat16() @ key.mT, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("left", "right", "autocast"),
    [
        (torch.float32, torch.float64, torch.bfloat16),
        (torch.bfloat16, torch.float64, torch.bfloat16),
        (torch.float32, torch.bfloat16, None),
    ],
)
def test_other_dtypes_are_kept_apart_under_autocast_and_after_it(
    left: torch.dtype, right: torch.dtype, autocast: torch.dtype | None
) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        scaled_sum(WIDE, WIDE.bfloat16())  # passes, and is remembered
    text = f"these are: left {left}, right {right}$"
    with (
        torch.autocast("cpu", autocast, enabled=autocast is not None),
        pytest.raises(TypeError, match=text),
    ):
        scaled_sum(WIDE.to(left), WIDE.to(right))


def test_autocast_of_another_device_changes_nothing() -> None:
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(TypeError, match="one dtype"):
        scaled_sum(WIDE.to("meta"), WIDE.bfloat16().to("meta"))


# --- NaN ----------------------------------------------------------------------------------------


def with_nan(*places: tuple[int, int]) -> Tensor:
    """Return a matrix with NaN in some places."""
    table = ones(ROWS, COLUMNS)
    for place in places:
        table[place] = NAN
    return table


@pytest.mark.parametrize("name", ["left", "right"])
def test_nan_is_refused_with_its_number_and_first_place(name: str) -> None:
    arguments = {"left": WIDE, "right": WIDE, name: with_nan((1, 4), (2, 0))}
    expected = rf"scaled_sum: {name} holds 2 NaN among 15 numbers, the first at index \(1, 4\)$"
    with pytest.raises(ValueError, match=expected):
        scaled_sum(**arguments)


def test_nan_is_found_in_a_tensor_that_is_given_twice() -> None:
    table = with_nan((0, 3))
    with pytest.raises(ValueError, match=r"left holds 1 NaN among 15 .* index \(0, 3\)"):
        scaled_sum(table, table)
    table[0, 3] = 1
    assert_close(scaled_sum(table, table), 2 * table)


def test_nan_of_the_function_itself_is_returned() -> None:
    table = torch.full((ROWS, COLUMNS), math.inf)
    assert scaled_sum(table, -table).isnan().all()


def test_nan_is_looked_for_in_the_outermost_call_only() -> None:
    assert through_nan(WIDE).isnan().all()
    with pytest.raises(ValueError, match="through_nan: left holds 1 NaN"):
        through_nan(with_nan((0, 0)))


def test_nan_is_looked_for_again_after_a_call_that_failed_inside() -> None:
    @checked
    def failing(table: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        failing(WIDE)
    with pytest.raises(ValueError, match="left holds 1 NaN"):
        scaled_sum(with_nan((0, 0)), WIDE)


# --- torch.compile and torch.vmap ---------------------------------------------------------------


def test_compiled_in_one_graph_it_gives_the_same_and_checks_nothing() -> None:
    torch.compiler.reset()
    compiled = torch.compile(scaled_sum, backend="eager", fullgraph=True)
    assert_close(compiled(WIDE, WIDE, 2.0), scaled_sum(WIDE, WIDE, 2.0))
    assert compiled(with_nan((0, 0)), WIDE).isnan().sum() == 1


def test_under_vmap_shapes_are_checked_and_nan_is_not_looked_for() -> None:
    tables = torch.stack([WIDE, with_nan((0, 0))])
    assert vmap(scaled_sum)(tables, tables).isnan().sum() == 1
    with pytest.raises(ValueError, match="columns=5 in left but 7 here"):
        vmap(scaled_sum)(tables, ones(2, ROWS, DEPTH))


# --- the helpers --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 0.5, 1e-300, torch.tensor(2.0), torch.tensor([3])])
def test_positive_number_passes(number: float | Tensor) -> None:
    require_positive("width", number)


@pytest.mark.parametrize("wrap", [float, torch.tensor])
@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "width=0 "), (-2.5, "width=-2.5 "), (NAN, "width=nan "), (math.inf, "width=inf ")],
)
def test_number_that_is_not_positive_and_finite_is_refused(
    number: float, text: str, wrap: Callable[[float], object]
) -> None:
    with pytest.raises(ValueError, match=text + "must be positive and finite"):
        require_positive("width", wrap(number))


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        ("2", r"'2' \(str\)"),
        (None, "None"),
        ([1.0], r"\[1\.0\] \(list\)"),
        (ones(2), r"a tensor of shape \(2,\)"),
        (1j, r"1j \(complex\)"),
    ],
)
def test_what_is_not_one_number_is_refused(thing: object, text: str) -> None:
    with pytest.raises(TypeError, match=f"width must be one number, not {text}"):
        require_positive("width", thing)


def test_number_of_a_vmapped_call_is_not_looked_at() -> None:
    def half(number: torch.Tensor) -> torch.Tensor:
        require_positive("width", number)
        return number / 2

    assert vmap(half)(torch.tensor([2.0, -4.0])).tolist() == [1.0, -2.0]


def test_values_are_looked_at_where_that_is_possible() -> None:
    assert is_true_of_any(torch.tensor([False, True]))
    assert not is_true_of_any(torch.tensor([False, False]))
    assert not is_true_of_any(torch.tensor([True]).to("meta"))
    assert not vmap(lambda row: row + is_true_of_any(row > 0))(torch.zeros(2, 3)).any()
    assert not vmap(lambda row: row * 0 + is_true_of_any(row > 0))(torch.ones(2, 3)).any()


def test_values_are_not_looked_at_while_a_cuda_graph_is_captured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    for is_captured in (True, False):
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda now=is_captured: now)
        assert is_true_of_any(torch.tensor([True])) is not is_captured
        assert known_nonzero(torch.ones(2, 3)) is not is_captured


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_zero_and_nan_are_seen_among_other_numbers(dtype: torch.dtype) -> None:
    others = torch.tensor([[-3.0, math.inf], [1e-7, 2.0]], dtype=dtype, requires_grad=True)
    assert known_nonzero(others)
    for odd in (0.0, -0.0, math.nan):
        assert not known_nonzero(torch.cat([others, torch.full((1, 2), odd, dtype=dtype)]))
    assert not known_nonzero(others[:0])
    assert not vmap(lambda row: row * 0 + known_nonzero(row))(torch.ones(2, 3)).any()
    with unchecked():
        assert not known_nonzero(others)


@checked(nan_propagates=True)
def reciprocal(
    number: Float[Tensor, "*batch"], mask: Bool[Tensor, "*batch"] | None = None
) -> Float[Tensor, "*batch"]:
    found = 1 / number
    return found - found + found if mask is None else found.where(mask, 0)


def test_nan_that_shows_in_the_result_is_blamed_on_the_argument_that_holds_it() -> None:
    with pytest.raises(ValueError, match=r"number holds 1 NaN among 3 numbers.*\(1,\)"):
        reciprocal(torch.tensor([1.0, math.nan, 2.0]))
    hidden = reciprocal(torch.tensor([2.0, math.nan]), torch.tensor([True, False]))
    assert hidden.tolist() == [0.5, 0.0]


def test_nan_that_only_the_result_holds_is_told_too() -> None:
    with pytest.raises(ValueError, match=r"reciprocal: the result holds 2 NaN, though no argument"):
        reciprocal(torch.tensor([0.0, 1.0, 0.0]))


@pytest.mark.parametrize(
    ("layer", "given", "text"),
    [
        (nn.Embedding(7, 2), torch.tensor([1, 7, -1]), r"Embedding has 7 vectors, but .* \[7\]"),
        (nn.LayerNorm(3), torch.ones(2, 4), r"LayerNorm takes vectors of 3 .* shape \(2, 4\)"),
        (nn.Linear(3, 2), torch.ones(2, 4), r"Linear takes vectors of 3 .* shape \(2, 4\)"),
        (nn.GRU(3, 2), torch.ones(1, 2, 4), r"GRU takes vectors of 3 .* shape \(1, 2, 4\)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_layer_of_pytorch_within_a_call_says_why_its_input_does_not_fit(
    layer: nn.Module, given: Tensor, text: str
) -> None:
    @checked
    def through(given: Shaped[Tensor, "*any"]) -> Tensor:
        return layer(given)

    with pytest.raises(ValueError, match="through: " + text):
        through(given)
