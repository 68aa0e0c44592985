"""Instruments of laws: what they measure, and how readings from another process are added."""

import pytest
import torch

from hintgrader.worker import watching
from hintgrader.worker.instrument import active_instruments, paused
from hintgrader.worker.measurements import (
    INSTRUMENTS,
    Count,
    Kept,
    Largest,
    measure_here,
)
from hintgrader.worker.student_packages import NO_PACKAGES
from hintgrader.worker.submission import LocalSubmission


def test_largest_tensor_is_the_largest_that_is_stored():
    column = torch.ones(7, 1)
    with Largest() as largest:
        repeated = column.expand(7, 1000)
    assert largest.numbers == 7  # a view repeats what it shows, and stores nothing
    with Largest() as largest:
        answer = LocalSubmission(lambda x: (x + 1).sum().reshape(1), (), ())
        answer.call({"x": repeated[:, :11].contiguous()})
    assert (largest.numbers, largest.shape) == (77, (7, 11))


def test_kept_counts_what_is_alive_together_and_what_is_raised():
    table = torch.ones(3, 5)
    with Kept() as kept:
        first = table + 1
        second = first * 2
        view = second[:, :2]
        second.mul_(3)  # written into, not made
        del first, second, view
        third = table.square().sum(0) + 7
    assert kept.held == 30  # the view stores nothing, and the first two are gone before the third
    assert kept.raised == set()
    with Kept() as kept:
        held = [third.exp(), torch.softmax(table.T[:, :2], 0), 2.0 ** table[:, :4], table**2]
    assert kept.held == sum(tensor.numel() for tensor in held)
    assert kept.raised == {5, 2, 3, 4}


def test_count_counts_every_operation():
    with Count() as count:
        torch.ones(3) + torch.ones(3)
    assert count.number == 3


def test_active_instruments_are_those_whose_block_is_open():
    assert active_instruments() == ()
    with Largest() as largest, Count() as count:
        assert active_instruments() == (largest, count)
        with Kept() as kept:
            assert active_instruments() == (largest, count, kept)
        assert active_instruments() == (largest, count)
    assert active_instruments() == ()


def test_error_inside_the_block_closes_it():
    with pytest.raises(ValueError, match="inside"), Count():
        raise ValueError("inside")
    assert active_instruments() == ()


def test_paused_instruments_see_nothing():
    with Kept() as kept, Count() as count:
        torch.ones(2)
        with paused() as instruments:
            assert instruments == (kept, count)
            held = torch.ones(5).exp()
            with paused():
                pass
            held = held.exp()  # a pause inside a pause does not end it
        torch.ones(3)
    assert (count.number, kept.held, kept.numbers, kept.raised) == (2, 3, 3, set())


def takes_powers_in_pieces(x):
    return torch.stack([row.exp() for row in x])


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_readings_from_elsewhere_are_added_to_those_made_here(name):
    call = LocalSubmission(takes_powers_in_pieces, (), ()).call
    inputs = {"x": torch.ones(3, 7)}
    call(inputs)  # what the first call loads must not count
    with INSTRUMENTS[name]() as here:
        call(inputs)
    with INSTRUMENTS[name]() as grader, paused() as instruments:
        elsewhere = [type(instrument).__name__ for instrument in instruments]
        with measure_here(elsewhere) as measured:
            call(inputs)
        for instrument, other in zip(instruments, measured, strict=True):
            instrument.add(other.readings())
    assert grader.readings() == here.readings()
    assert any(here.readings().values())


def test_adding_takes_the_larger_the_union_and_the_sum():
    largest, kept, count = Largest(), Kept(), Count()
    for numbers, shape in ((6, (2, 3)), (35, (5, 7)), (2, (2,))):
        readings = {"numbers": numbers, "shape": shape}
        largest.add(readings)
        kept.add(readings | {"held": numbers + 1, "raised": shape})
        count.add({"number": numbers, "made": 2 * numbers, "products": 0})
    assert largest.readings() == {"numbers": 35, "shape": (5, 7)}
    assert kept.readings() == {"numbers": 35, "shape": (5, 7), "held": 36, "raised": (2, 3, 5, 7)}
    assert count.readings() == {"number": 43, "made": 86, "products": 0}


@pytest.mark.parametrize("readings", [{}, {"numbers": "many", "shape": ()}, {"numbers": None}])
def test_what_is_no_reading_is_refused(readings):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Kept().add(readings)


def test_instrument_of_no_such_name_is_refused():
    with pytest.raises(KeyError, match="Clock"), measure_here(["Clock"]):
        pass


def test_watching_an_answer_does_not_notice_the_instruments():
    borrowed = []
    with Kept(), watching.watched((), (), NO_PACKAGES, borrowed):
        torch.ones(3).exp()
    assert borrowed == []
