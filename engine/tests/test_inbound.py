"""`nbgrader collect` by the course's settings: from owners alone, with the time of the file system.

Two accounts of this machine hand in, and one of them forges; the third is the instructor's.
"""

from __future__ import annotations

import io
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.exchange import ExchangeFactory

from hintgrader.nbgrader import safe_copy
from hintgrader.nbgrader.course import Course
from hintgrader.testing.accounts import Account, account, needs_root, open_folder
from hintgrader.testing.commands import type_command
from tests.example import FIRST as SET
from tests.example import SETTINGS

COURSE_ID = "methods"
pytestmark = needs_root


@pytest.fixture(scope="module")
def accounts() -> Iterator[tuple[Account, Account]]:
    """Ada, and somebody who would like to hand in for her."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(account(name)) for name in ("ada", "mallory"))


@pytest.fixture
def ada(accounts: tuple[Account, Account]) -> Account:
    return accounts[0]


@pytest.fixture
def mallory(accounts: tuple[Account, Account]) -> Account:
    return accounts[1]


@pytest.fixture
def place() -> Iterator[Path]:
    """A course, and beside it an exchange with an `inbound/` as nbgrader makes it."""
    with open_folder() as folder:
        course, inbound = folder / "course", folder / "exchange" / COURSE_ID / "inbound"
        course.mkdir(mode=0o755)
        shutil.copy(SETTINGS, course)
        inbound.mkdir(parents=True)
        (folder / "exchange").chmod(0o777)
        inbound.chmod(0o2733)
        yield folder


def folder_of(place: Path, name: str, time: str = "2027-01-01 12:00:00 UTC") -> Path:
    return place / "exchange" / COURSE_ID / "inbound" / f"{name}+{SET}+{time}+Xy"


def nbgrader(course: Path, *words: str) -> str:
    """Run an nbgrader command in a course; return what it says."""
    run = type_command("nbgrader", *words, folder=course)
    assert run.status == 0, run.stdout
    return run.stdout


# As `nbgrader submit` does; $1 is the folder, $2 what the notebook says.
HAND_IN = f"""mkdir "$1"
echo "$2" > "$1/{SET}.ipynb"
echo "2020-01-01 00:00:00 UTC" > "$1/timestamp.txt"
chmod 777 "$1"
"""


def collect(place: Path, **settings: object) -> str:
    """Collect as `nbgrader collect` does, by the course's settings; return what it says."""
    course = Course(place / "course")
    course.config.Exchange.root = str(place / "exchange")
    directory = course.directory
    directory.assignment_id = SET
    for name in ("student_id", "max_dir_size"):
        setattr(directory, name, settings.pop(name, getattr(directory, name)))
    collector = ExchangeFactory(config=course.config).Collect(coursedir=directory, **settings)
    said = io.StringIO()
    collector.log = logging.Logger("collect")
    collector.log.addHandler(logging.StreamHandler(said))
    collector.start()
    return said.getvalue()


def collected(place: Path, student: str) -> dict[str, str]:
    """Return the files collected of a student, without the time."""
    folder = place / "course" / "grading" / "submitted" / student / SET
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".txt"]
    return {path.relative_to(folder).as_posix(): path.read_text().strip() for path in files}


def time_of(place: Path, student: str) -> datetime:
    path = place / "course" / "grading" / "submitted" / student / SET / "timestamp.txt"
    return datetime.fromisoformat(path.read_text().strip().removesuffix(" UTC")).replace(tzinfo=UTC)


def test_hand_in_of_another_account_is_left_and_said(
    place: Path, ada: Account, mallory: Account
) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "hers")
    forged = folder_of(place, ada.name, "2030-01-01 12:00:00 UTC")
    mallory.does(HAND_IN, forged, "forged")
    exchange = f"--Exchange.root={place / 'exchange'}"
    said = nbgrader(place / "course", "collect", SET, exchange, "--update")
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}
    assert f"'{forged.name}' belongs to {mallory.name}, not to {ada.name}" in said
    assert "Collected: 1; there already: 0; left, for the reasons above: 1" in said


def test_nothing_is_collected_where_only_a_forged_one_is(
    place: Path, ada: Account, mallory: Account
) -> None:
    mallory.does(HAND_IN, folder_of(place, ada.name), "forged")
    collect(place)
    assert collected(place, ada.name) == {}


def test_file_of_another_in_ones_folder_is_left(
    place: Path, ada: Account, mallory: Account
) -> None:
    hers = folder_of(place, ada.name)
    ada.does(HAND_IN, hers, "hers")
    mallory.does('echo forged > "$1/extra.ipynb"; mkdir "$1/data"; echo x > "$1/data/x"', hers)
    said = collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}
    assert f"'{hers.name}/extra.ipynb' belongs to {mallory.name}, not to {ada.name}" in said
    assert f"'{hers.name}/data' belongs to {mallory.name}" in said


@pytest.mark.parametrize("kind", ["file", "folder", "hand-in", "hard"])
def test_links_lead_nowhere(place: Path, mallory: Account, kind: str) -> None:
    secret = place / "secret.txt"
    secret.write_text("the instructor's")
    folder = folder_of(place, mallory.name)
    mallory.does(HAND_IN, folder, "mine")
    link, target = folder / "notes.txt", secret
    if kind == "folder":
        target = place
    if kind == "hand-in":
        target, link = folder, folder_of(place, mallory.name, "2031-01-01 12:00:00 UTC")
    if kind == "hard":  # as where the kernel does not protect files from it
        os.link(secret, link)
    else:
        mallory.does('ln -s "$1" "$2"', target, link)
    said = collect(place)
    assert collected(place, mallory.name) == {f"{SET}.ipynb": "mine"}
    shown = link.relative_to(folder.parent)
    why = f"belongs to root, not to {mallory.name}" if kind == "hard" else "is a link"
    assert f"Left in inbound: '{shown}' {why}" in said


def test_pipe_is_left_and_nobody_waits_for_it(place: Path, ada: Account) -> None:
    folder = folder_of(place, ada.name)
    ada.does(HAND_IN + 'mkfifo "$1/pipe"', folder, "hers")
    said = collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}
    assert f"'{folder.name}/pipe' is neither a file nor a folder" in said


def test_older_one_is_taken_where_the_newest_holds_no_notebook_but_a_link(
    place: Path, ada: Account
) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "hers")
    newest = folder_of(place, ada.name, "2027-01-02 12:00:00 UTC")
    ada.does(f'mkdir "$1"; ln -s /etc/passwd "$1/{SET}.ipynb"', newest)
    said = collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}
    assert f"'{newest.name}' holds no notebook that can be taken: '{SET}.ipynb' is a link" in said


@pytest.mark.parametrize("how", ['touch -d 2020-01-01 "$1" "$1"/*', "true"])
def test_time_is_that_of_the_file_system(place: Path, ada: Account, how: str) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    ada.does(HAND_IN + how, folder_of(place, ada.name, "2020-01-01 00:00:00 UTC"), "late")
    collect(place)
    assert before <= time_of(place, ada.name) <= datetime.now(UTC)


def test_answer_that_is_changed_later_was_handed_in_later(place: Path, ada: Account) -> None:
    folder = folder_of(place, ada.name)
    ada.does(HAND_IN, folder, "early")
    collect(place)
    early = time_of(place, ada.name)
    ada.does(f'cd "$1"; echo late > {SET}.ipynb; touch -d 2020-01-01 {SET}.ipynb', folder)
    assert "Already collected, or newer" not in collect(place, update=True)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "late"}
    assert time_of(place, ada.name) > early
    assert "Already collected, or newer" in collect(place, update=True)


def test_newest_by_the_file_system_wins_whatever_the_names_say(place: Path, ada: Account) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name, "2031-01-01 12:00:00 UTC"), "first")
    ada.does(HAND_IN, folder_of(place, ada.name, "no time at all"), "second")
    collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "second"}


def test_last_one_in_time_is_collected_where_that_is_asked_for(place: Path, ada: Account) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "in time")
    due = datetime.now(UTC) + timedelta(seconds=0.5)
    with Course(place / "course").gradebook() as gradebook:
        gradebook.add_assignment(SET, duedate=due.replace(tzinfo=None))
    time.sleep(0.6)
    ada.does(HAND_IN, folder_of(place, ada.name, "2019-01-01 12:00:00 UTC"), "late")
    collect(place, before_duedate=True)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "in time"}
    collect(place, update=True)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "late"}


def test_copy_is_private(place: Path, ada: Account, mallory: Account) -> None:
    ada.does(
        HAND_IN + 'mkdir -m 777 "$1/data"; echo 1 > "$1/data/x"', folder_of(place, ada.name), ""
    )
    collect(place)
    folder = place / "course" / "grading" / "submitted" / ada.name / SET
    for opened in folder.parents[:3]:  # as if somebody had opened those around it by mistake
        opened.chmod(0o777)
    copies = [folder, *folder.rglob("*")]
    assert len(copies) == 5
    reached = 'cat "$1" || ls "$1" || echo forged > "$1" || touch "$1/new"'
    assert [copy for copy in copies if mallory.runs(reached, copy).returncode == 0] == []


def test_id_without_account_is_left_until_the_settings_name_one(
    place: Path, ada: Account, mallory: Account
) -> None:
    ada.does(HAND_IN, folder_of(place, "lovelace"), "hers")
    said = collect(place)
    assert "is of 'lovelace', and there is no account 'lovelace'" in said
    with (place / "course" / "nbgrader_config.py").open("a") as settings:
        settings.write(f'c.OwnerCollect.accounts = {{"lovelace": "{ada.name}"}}\n')
    mallory.does(HAND_IN, folder_of(place, "lovelace", "2030-01-01"), "forged")
    collect(place)
    assert collected(place, "lovelace") == {f"{SET}.ipynb": "hers"}


def test_where_all_have_one_account_the_name_counts_and_links_do_not(
    place: Path, ada: Account
) -> None:
    folder = folder_of(place, "..")
    ada.does(HAND_IN, folder, "out of the way")
    ada.does(HAND_IN + 'ln -s /etc/passwd "$1/link"', folder_of(place, "grace"), "hers")
    said = collect(place, check_owner=False)
    assert collected(place, "grace") == {f"{SET}.ipynb": "hers"}
    assert "/link' is a link" in said
    assert f"'{folder.name}' names no student" in said
    assert not (place / "course" / "grading" / SET).exists()


def test_hand_ins_of_others_and_of_other_sets_are_not_touched(place: Path, ada: Account) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "hers")
    other = folder_of(place, ada.name).name.replace(SET, "02_kernel_regression")
    ada.does(HAND_IN, folder_of(place, ada.name).with_name(other), "of another set")
    assert "Collected: 0" in collect(place, student_id="nobody")
    collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}


def test_too_much_is_left_and_the_class_goes_on(
    place: Path, ada: Account, mallory: Account
) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "hers")
    folder = folder_of(place, mallory.name)
    mallory.does(HAND_IN + 'cd "$1"; seq 1001 | xargs touch', folder, "many")
    said = collect(place)
    assert collected(place, ada.name) == {f"{SET}.ipynb": "hers"}
    assert f"'{folder.name}' holds more than 1000 files" in said
    mallory.does('rm -r "$1"', folder)
    mallory.does(HAND_IN + 'truncate -s 2000 "$1/a" "$1/b"', folder, "large")
    assert f"'{folder.name}' is larger than 3 kB" in collect(place, max_dir_size=3)
    assert collected(place, mallory.name) == {}


@pytest.fixture
def swapping(place: Path, mallory: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a file becomes a link between the first look at it and its opening."""
    folder = folder_of(place, mallory.name)
    mallory.does(HAND_IN, folder, "mine")
    look = os.stat

    def swap(path: object, **how: object) -> os.stat_result:
        found = look(path, **how)
        if path == f"{SET}.ipynb" and "dir_fd" in how:
            mallory.does('rm -f "$1"; ln -s /etc/passwd "$1"', folder / f"{SET}.ipynb")
        return found

    monkeypatch.setattr(safe_copy.os, "stat", swap)
    return folder


def test_file_that_is_exchanged_for_a_link_at_the_last_moment(swapping: Path) -> None:
    inbound = os.open(swapping, os.O_RDONLY)
    try:
        with (
            pytest.raises(safe_copy.RefusedError, match="cannot be read: Too many levels"),
            safe_copy.opened(f"{SET}.ipynb", inbound, swapping.stat().st_uid),
        ):
            raise AssertionError("it was opened")
    finally:
        os.close(inbound)


def test_folder_of_another_cannot_be_entered_by_its_new_name(
    place: Path, ada: Account, mallory: Account
) -> None:
    """One's own folder, renamed to a classmate's after it was made, is still one's own."""
    folder = folder_of(place, mallory.name)
    mallory.does(HAND_IN, folder, "forged")
    mallory.does('mv "$1" "$2"', folder, folder_of(place, ada.name))
    assert "left, for the reasons above: 1" in collect(place)
    assert collected(place, ada.name) == {}


ODD = """mkdir "$1"; cd "$1"; mkfifo pipe.ipynb secret; mkdir folder.ipynb
ln -s /dev/zero link.ipynb
ln -s secret submission_secret.txt"""


def test_list_reads_nothing_that_was_handed_in_and_prints_no_order_to_the_terminal(
    place: Path, ada: Account, mallory: Account
) -> None:
    ada.does(HAND_IN, folder_of(place, ada.name), "hers")
    mallory.does(ODD, folder_of(place, mallory.name))
    mallory.does('mkfifo "$1"', folder_of(place, mallory.name, "2031-01-01"))
    mallory.does(HAND_IN, folder_of(place, f"{mallory.name}\x1b[2J\nroot"), "red")
    exchange = f"--Exchange.root={place / 'exchange'}"
    said = nbgrader(place / "course", "list", "--inbound", exchange)
    lines = [line for line in said.splitlines() if "Left in inbound" not in line]
    assert [line.split("] ")[1][:30] for line in lines if line] == [
        "Submitted assignments:",
        f"{COURSE_ID} {ada.name} {SET}"[:30],
    ]
    assert "\x1b" not in said
    assert r"\x1b[2J\nroot" in said
    assert "pipe.ipynb' is neither a file nor a folder" in said
    collect_of_all = nbgrader(place / "course", "collect", SET, exchange)
    assert "\x1b" not in collect_of_all
