"""Archives of learning systems: what is wrong with one upload costs nobody else's."""

from __future__ import annotations

import gzip
import io
import logging
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from hintgrader.nbgrader.course import Course
from tests.example import SETTINGS

SET = "01_retrieval"
NOTEBOOK = f"{SET}.ipynb"
HONEST = ["ada", "grace"]
NAMES = {"ada": "Ada Lovelace", "eve": "Eve Odd", "grace": "Grace Hopper"}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with a roster of three, and a folder for archives."""
    course = tmp_path / "course"
    (course / "grading" / "downloaded" / SET / "archive").mkdir(parents=True)
    shutil.copy(SETTINGS, course)
    url = f"sqlite:///{course}/grading/gradebook.db"
    with Gradebook(url, "attention") as book:
        book.add_assignment(SET)
        for student, name in NAMES.items():
            first, last = name.split()
            book.add_student(student, first_name=first, last_name=last)
    return course


def collect(course: Path, caplog: pytest.LogCaptureFixture, **settings: int) -> dict[str, list]:
    """The files that are collected, by student, after `nbgrader zip_collect`."""
    config = Course(course).config.copy()
    config.CourseDirectory.assignment_id = SET
    config.CourseDirectory.update(settings)
    log = logging.getLogger("collector")  # a program's logger keeps it to itself
    app = ZipCollectApp(config=config, coursedir=CourseDirectory(config=config), log=log)
    with caplog.at_level("WARNING"):
        app.init_plugins()
        for plugin in (app.extractor_plugin_inst, app.collector_plugin_inst):
            plugin.log = log
        app.extract_archive_files()
        app.process_extracted_files()
    handed_in = course / "grading" / "submitted"
    found = {student: [] for student in NAMES}
    for path in sorted(handed_in.rglob("*")):
        if path.is_file():
            found[path.relative_to(handed_in).parts[0]].append(path.name)
    return found


def moodle(course: Path, **uploads: dict[str, bytes]) -> None:
    """Put an archive of Moodle's in its place: uploads by student, in each files by name."""
    place = course / "grading" / "downloaded" / SET / "archive" / "all.zip"
    with ZipFile(place, "w", ZIP_DEFLATED) as packed:
        for student, files in uploads.items():
            for name, content in files.items():
                packed.writestr(f"{NAMES[student]}_7_assignsubmission_file/{name}", content)


def zipped(files: dict[str | ZipInfo, bytes], compression: int = ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with ZipFile(target, "w", compression) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return target.getvalue()


def tarred(names: list[str], size: int = 2, kind: bytes = tarfile.REGTYPE) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as packed:
        for name in names:
            about = tarfile.TarInfo(name)
            about.size, about.type, about.linkname = size, kind, "/etc/passwd"
            packed.addfile(about, io.BytesIO(bytes(size)))
    return target.getvalue()


def nested(depth: int, content: bytes) -> bytes:
    """A notebook in an archive in an archive, so many times."""
    for _ in range(depth):
        content = zipped({"x.zip": content})
    return content


def bomb() -> bytes:
    """Ten archives in each of ten, each with a file that is larger than anybody may hand in."""
    inner = zipped({f"{n}.ipynb": bytes(3_000_000) for n in range(3)})
    return zipped({f"{n}.zip": zipped({f"{m}.zip": inner for m in range(10)}) for n in range(10)})


def link() -> bytes:
    about = ZipInfo(NOTEBOOK)
    about.external_attr = 0o120777 << 16
    return zipped({about: b"/etc/passwd"})


def broken_in_the_middle() -> bytes:
    return bytes(b ^ (i == 60) for i, b in enumerate(zipped({NOTEBOOK: b"{}" * 400}, ZIP_STORED)))


BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "broken zip": ("x.zip", lambda: zipped({NOTEBOOK: b"{}"})[:-9], "not a zip file"),
    "damaged zip": ("x.zip", broken_in_the_middle, "CRC"),
    "gz that is none": ("x.gz", lambda: b"no gzip", "gzipped"),
    "tgz that is no tar": ("x.tgz", lambda: gzip.compress(b"{}" * 999), "invalid header"),
    "cut tar": ("x.tar.gz", lambda: tarred([NOTEBOOK], 9000)[:60], "end-of-stream"),
    "bomb": ("x.zip", bomb, "unpacks to more than 1000 files or 5,000,000 bytes"),
    "too deep": ("x.zip", lambda: nested(9, b"{}"), "archives in archives, more than 3 deep"),
    "many files": ("x.tgz", lambda: tarred([f"{n}.py" for n in range(1100)]), "than 1000 files"),
    "out of it": ("x.zip", lambda: zipped({f"../../{NOTEBOOK}": b"{}"}), "leads out"),
    "rare method": ("x.zip", lambda: zipped({NOTEBOOK: b"{}"}, ZIP_BZIP2), "not a usual one"),
    "long name": ("x.zip", lambda: zipped({f"{'x' * 300}.ipynb": b"{}"}), "too long"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_upload_is_left_by_itself_and_counts_as_unreadable(
    kind: str, course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name, make, why = BAD[kind]
    honest = {student: {NOTEBOOK: b"{}"} for student in HONEST}
    moodle(course, ada=honest["ada"], eve={name: make()}, grace=honest["grace"])
    sizes = {"max_file_size": 4000, "max_dir_size": 5000}
    found = collect(course, caplog, **sizes)
    assert [found[student] for student in HONEST] == [[NOTEBOOK], [NOTEBOOK]]
    assert len(found["eve"]) == 1
    assert found["eve"] != [NOTEBOOK]  # there is something, and no notebook: unreadable, not absent
    said = " ".join(caplog.messages)
    assert why in said
    assert "Eve Odd" in said
    written = sum(p.stat().st_size for p in (course / "grading" / "downloaded").rglob("*.*"))
    assert written < 6_000_000


def test_only_what_is_left_behind_is_warned_of(course: Path, caplog) -> None:
    moodle(course, ada={NOTEBOOK: b"{}"})
    with ZipFile(course / "grading" / "downloaded" / SET / "archive" / "more.zip", "w") as packed:
        packed.writestr(f"Mary Stranger_8_assignsubmission_file/{NOTEBOOK}", b"{}")
    assert collect(course, caplog)["ada"] == [NOTEBOOK]
    assert "0 students of the roster fit 'Mary Stranger_8_assignsubmission_file'" in caplog.text
    assert "Ada Lovelace" not in caplog.text
    assert "submitted" not in caplog.text.replace("Stranger_8_assignsubmission", "")


def test_archive_that_is_broken_itself_leaves_the_others(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moodle(course, ada={NOTEBOOK: b"{}"})
    (course / "grading" / "downloaded" / SET / "archive" / "b.zip").write_bytes(b"nothing")
    assert collect(course, caplog)["ada"] == [NOTEBOOK]
    assert "Left as it is: 'b.zip'" in caplog.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("work.zip", zipped({f"my folder/{NOTEBOOK}": b"{}", f"__MACOSX/._{NOTEBOOK}": b"\0"})),
        ("work.zip", zipped({"mine.ipynb": b"{}", ".ipynb_checkpoints/mine.ipynb": b"{}"})),
        ("WORK.ZIP", nested(2, zipped({"work.ipynb": b"{}"}))),
        ("work.tar.gz", tarred([f"work/{NOTEBOOK}"])),
        ("work.gz", tarred([NOTEBOOK])),
        (f"{NOTEBOOK}.gz", gzip.compress(b"{}")),
        ("09_multi_head (1).ipynb", b"{}"),
    ],
    ids=["macOS", "checkpoints", "nested", "tar", "tar called gz", "gzip", "of a browser"],
)
def test_odd_but_honest_upload_is_collected(
    name: str, content: bytes, course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moodle(course, eve={name: content})
    assert collect(course, caplog)["eve"] == [NOTEBOOK]
    assert "Left" not in caplog.text


@pytest.mark.parametrize(
    "content",
    [link(), tarred([NOTEBOOK], 0, tarfile.SYMTYPE), zipped({"a/": b""}), zipped({"._a": b""})],
    ids=["zip", "tar", "folders", "junk"],
)
def test_upload_of_nothing_but_links_is_not_unpacked_but_kept_and_named(
    content: bytes, course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moodle(course, eve={"x.zip" if content[:2] == b"PK" else "x.tgz": content})
    (name,) = collect(course, caplog)["eve"]
    assert name in (f"{SET}.zip", f"{SET}.tgz")
    assert "it holds no file that can be taken" in caplog.text
    assert not [path for path in course.rglob("*") if path.is_symlink()]


def test_many_bombs_use_up_nobodys_room(
    course: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hintgrader.nbgrader.archives.extractor.LEAST_ROOM", 12_000_000)
    bombs = {f"{n}.zip": bomb() for n in range(4)}
    moodle(course, ada={NOTEBOOK: b"{}"}, eve=bombs, grace={NOTEBOOK: b"{}"})
    found = collect(course, caplog, max_file_size=4000, max_dir_size=5000)
    assert [found[student] for student in HONEST] == [[NOTEBOOK], [NOTEBOOK]]


def test_of_two_notebooks_the_one_with_the_right_name_is_taken(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moodle(course, ada={NOTEBOOK: b"{}", "draft.ipynb": b"?"}, grace={NOTEBOOK: b"{}"})
    found = collect(course, caplog)
    assert (found["ada"], found["grace"]) == ([NOTEBOOK], [NOTEBOOK])
    assert (course / "grading/submitted/ada" / SET / NOTEBOOK).read_text() == "{}"
    assert "ada: collected is " in caplog.text
    assert "and not 1 more: 'all/Ada Lovelace_7_assignsubmission_file/draft.ipynb'" in caplog.text


def test_notebooks_among_which_nothing_decides_are_left_and_named(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moodle(course, ada={"one.ipynb": b"{}", "two.ipynb": b"?"}, grace={NOTEBOOK: b"{}"})
    found = collect(course, caplog)
    assert (found["ada"], found["grace"]) == ([], [NOTEBOOK])
    assert "put the right one in its place by hand" in caplog.text


def test_very_many_notebooks_of_one_are_said_in_one_line(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    many = zipped({f"{'n' * 50}{number}.ipynb": b"{}" for number in range(990)})
    moodle(course, ada={NOTEBOOK: b"{}"}, eve={"many.zip": many})
    assert collect(course, caplog)["ada"] == [NOTEBOOK]
    (said,) = [message for message in caplog.messages if "by hand" in message]
    assert said.startswith("eve: 990 notebooks; put the right one in its place by hand: ")
    assert len(said) < 1000  # and not a list of all for each
