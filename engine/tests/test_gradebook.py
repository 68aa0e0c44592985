"""nbgrader's gradebook, when several make the same in it at the same moment."""

import gc
import logging
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from nbgrader.api import Gradebook, InvalidEntry
from sqlalchemy import QueuePool

from hintgrader.nbgrader import gradebook
from hintgrader.nbgrader.gradebook import prepare_gradebook, with_retries
from hintgrader.testing import postgresql

AT_ONCE = 4
STUDENTS = ["ada", "emmy", "grace"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'gradebook.db'}?timeout=60"
    elif lacking := postgresql.missing():
        pytest.skip(lacking)
    else:
        with postgresql.running_server() as server:
            yield server


def prepare_at_once(url: str) -> None:
    """Let several prepare one gradebook, beginning at the same moment."""
    ready = Barrier(AT_ONCE)

    def prepare(_: int) -> None:
        ready.wait()
        prepare_gradebook(url, "attention", STUDENTS)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(prepare, range(AT_ONCE)))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_gradebook_prepared_by_several_at_once_has_everything_once(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "tornado.application")  # nbgrader's, of each collision
    prepare_at_once(url)
    gc.collect()  # what nbgrader opened and could not use, it leaves open
    with Gradebook(url, "attention") as prepared:
        assert [student.id for student in prepared.students] == STUDENTS


def test_gradebook_opened_again_has_its_statements_and_a_fork_none_of_its_connections(
    url: str,
) -> None:
    prepare_gradebook(url, "attention", STUDENTS)

    def read() -> None:
        with Gradebook(url, "attention") as forked:
            assert [student.id for student in forked.students] == STUDENTS

    with Gradebook(url, "attention") as first, Gradebook(url, "attention") as second:
        assert first.engine is second.engine
        assert second.students
        second.db.remove()  # its connection waits in the pool, where a fork would find it
        pool = second.engine.pool  # of a file, which is opened anew, there is none
        idle = pool.checkedin() if isinstance(pool, QueuePool) else 1
        child = multiprocessing.get_context("fork").Process(target=read)
        child.start()
        child.join(30)
        assert (idle > 0, child.exitcode) == (True, 0)
        assert [student.id for student in second.students] == STUDENTS


def test_patience_ends_with_what_the_database_says() -> None:
    tried = []

    def refuse() -> None:
        tried.append(1)
        raise InvalidEntry("no such assignment")

    with pytest.raises(InvalidEntry, match="no such assignment"):
        with_retries(refuse, seconds=0)
    assert len(tried) == gradebook.TRIES
