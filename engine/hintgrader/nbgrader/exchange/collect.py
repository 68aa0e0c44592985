"""Collects what students hand in through the exchange, from nobody but its owner.

Anybody may make a folder in `inbound/` and give it a classmate's name, write any time into it, and
put links to other people's files there. nbgrader's own collector warns of the first, and takes it.
"""

import os
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import parse_utc
from traitlets import Dict, Unicode

from hintgrader.nbgrader.safe_copy import RefusedError, SafeCopy, opened
from hintgrader.nbgrader.times import TIMESTAMP

with suppress(ImportError):  # Windows has no exchange
    import pwd

EPOCH = datetime(1970, 1, 1)  # in UTC, without a zone, as the gradebook keeps times


@dataclass(frozen=True)
class Inbound:
    """A folder in `inbound/`; its name says whose it is and when it was made, and may lie.

    Args:
        name: As `ada+01_retrieval+2027-02-28 21:05:00 UTC+Xy12`.
        student: The id in its name.
        time: When the last of it was changed, in UTC without a zone, as the file system has it.
    """

    name: str
    student: str
    time: datetime


class OwnerCollect(ExchangeCollect):
    """Collects the newest hand-in of each student that belongs to the student's account.

    The file system says who the owner is, and the time. Links, devices and files of others are
    left, and the log lists them.
    """

    accounts = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="Accounts whose names are not the ids of their students, by id.",
    ).tag(config=True)

    def init_src(self) -> None:
        """Find what was handed in, by whom it belongs to and when it was changed."""
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        self.inbound_path = os.path.join(self.root, self.coursedir.course_id, "inbound")
        if not os.access(self.inbound_path, os.R_OK | os.X_OK):
            self.fail(f"Not a folder that you can read: {self.inbound_path}")
        self.duedate = self._due()
        self._left = 0
        self.src_records = defaultdict(list)
        for hand_in in self.found():
            self.src_records[hand_in.student].append(hand_in)

    def found(self) -> Iterator[Inbound]:
        """The hand-ins that can be taken; the log says what is left, and why."""
        with os.scandir(self.inbound_path) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            if (student := self._student(name)) is None:
                continue
            try:
                yield Inbound(name, student, self._copy(name, student, None))
            except RefusedError as error:
                self._log_refused(name, error)

    def copy_files(self) -> None:
        """Collect one hand-in of each student: the newest that can be taken."""
        done = [self._collect(student, found) for student, found in self.src_records.items()]
        collected = f"Collected: {sum(done)}; there already: {done.count(False)}"
        self.log.info("%s; left, for the reasons above: %d", collected, self._left)

    def _collect(self, student: str, found: list[Inbound]) -> bool:
        """Take the newest hand-in of a student; False if it is there already or none can be."""
        target = Path(
            self.coursedir.format_path(
                self.coursedir.submitted_directory, student, self.coursedir.assignment_id
            )
        )
        for hand_in in sorted(found, key=self._rank, reverse=True):
            if not self._is_wanted(hand_in, target):
                self.log.info(
                    "Already collected, or newer; use --update to replace it: %s", student
                )
                return False
            try:
                self._take(hand_in, target)
            except RefusedError as error:
                self._log_refused(hand_in.name, error)
                continue
            except OSError as error:
                self.fail(f"Cannot write {target}: {error.strerror}")
            self.log.info("Collected: %s, %s UTC", student, hand_in.time)
            return True
        return False

    def _rank(self, hand_in: Inbound) -> tuple[bool, datetime]:
        due = self.duedate if self.before_duedate else None
        return due is not None and hand_in.time <= due, hand_in.time

    def _is_wanted(self, hand_in: Inbound, target: Path) -> bool:
        if not target.is_dir():
            return True
        try:
            there = parse_utc((target / TIMESTAMP).read_text(encoding="utf-8-sig").strip())
        except (OSError, ValueError, OverflowError):
            there = None  # put there by hand, or by a collector that believed what it read
        newer = there is None or hand_in.time > there
        return (self.update and newer) or (self.before_duedate and hand_in.time != there)

    def _take(self, hand_in: Inbound, target: Path) -> None:
        """Put a copy in the place of what was collected before, once it is complete."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".collecting-", dir=target.parent) as made:
            folder = Path(made, "new")
            time = self._copy(hand_in.name, hand_in.student, folder)
            (folder / TIMESTAMP).write_text(f"{time} UTC\n", encoding="utf-8")
            if target.exists():
                target.rename(Path(made, "old"))
            folder.rename(target)

    def _copy(self, name: str, student: str, target: Path | None) -> datetime:
        """Copy a hand-in, or only look at it; when it was changed.

        Raises:
            RefusedError: It cannot be taken.
            OSError: The copy cannot be written.
        """
        inbound = os.open(self.inbound_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with opened(name, inbound, self._account(student)) as (folder, found):
                if not stat.S_ISDIR(found.st_mode):
                    raise RefusedError("is not a folder")
                copy = SafeCopy(self.coursedir, found.st_uid)
                copy.folder(folder, target)
        finally:
            os.close(inbound)
        notebooks = [path for path in copy.taken if path.suffix == ".ipynb"]
        if copy.left and not notebooks:
            why = ", ".join(f"{str(path)!r} {why}" for path, why in list(copy.left.items())[:5])
            raise RefusedError(f"holds no notebook that can be taken: {why}")
        for path, why in copy.left.items() if target else ():
            self._log_refused(f"{name}/{path}", why)
        return EPOCH + timedelta(microseconds=copy.changed // 1000)

    def _account(self, student: str) -> int | None:
        """The number of a student's account; None for any, if the settings do not check it."""
        if not self.check_owner:
            return None
        name = self.accounts.get(student, student)
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            raise RefusedError(f"is of {student!r}, and there is no account {name!r}") from None

    def _student(self, name: str) -> str | None:
        """The student that a folder names; None if it was not asked for."""
        student, *rest = name.rsplit("+", 3)
        if len(rest) < 2 or rest[0] != (self.coursedir.assignment_id or rest[0]):
            return None
        if student in ("", ".", ".."):  # no name of a folder in `submitted`
            self._log_refused(name, "names no student")
            return None
        return student if fnmatchcase(student, self.coursedir.student_id or "*") else None

    def _due(self) -> datetime | None:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            try:
                return gradebook.find_assignment(self.coursedir.assignment_id).duedate
            except MissingEntry:
                return None

    def _log_refused(self, name: str, why: object) -> None:
        self._left += 1
        self.log.warning("Left in inbound: %r %s", name, why)  # its name may hold anything
