"""Rosters as spreadsheets write them: read, or refused with the row before anybody is entered."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, Student

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.roster.table import read_table
from hintgrader.testing.commands import type_command
from tests.example import SETTINGS

COLUMNS = Student.__table__.c.keys()
ZOE = {"first_name": "Zoë", "last_name": "Müller", "email": "zoe@example.org"}
HEAD = "id,first_name,last_name,email"
ROW = "zoe,Zoë,Müller,zoe@example.org"


def table(tmp_path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path = tmp_path / "roster.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (f"{HEAD}\r\n{ROW}\r\n\r\n,,,\r\n", "utf-8"),  # a last row of commas
        (f"{HEAD}\n{ROW}\n", "utf-8-sig"),
        (f"{HEAD}\n{ROW}\n", "utf-16"),
        (f"{HEAD}\r{ROW}\r", "utf-8"),
        (f"{HEAD}\n{ROW}".replace(",", ";"), "utf-8-sig"),
        (f"{HEAD}\n{ROW}".replace(",", "\t"), "utf-16"),
        (f"{HEAD}\n{ROW}".replace(",", ", "), "utf-8"),
        (f"{HEAD}\n{ROW}".replace(",", "\u00a0,\u00a0"), "utf-8"),
        (f"sep=;\n{HEAD}\n{ROW}".replace(",", ";"), "utf-8"),
        (f'"sep=,"\n{HEAD}\n{ROW}', "utf-8-sig"),
        (f"ID, First Name,LAST-NAME , E-Mail,Email\n{ROW.replace('zoe@', 'x,zoe@')}", "utf-8"),
        ('"id";"first_name";"last_name";"email"\n"zoe"; "Zoë";"Müller";"zoe@example.org"', "utf-8"),
        (f"\n\n{HEAD},,\n{ROW},,\n", "utf-8"),
        (f"{HEAD}\n{ROW}\n{HEAD}\n", "utf-8"),  # two tables, one below the other
        (f"{HEAD}\n{ROW}".replace("zoe,", '="zoe",'), "utf-8"),
        (f"{HEAD}\n{ROW}".replace("zoe,", '"=""zoe""",'), "utf-8"),
        (f"{HEAD}\n\ufeffzoe\u200b,Zoe\u0308,Mu\u0308ller,zoe@example.org", "utf-8"),
    ],
)
def test_roster_of_a_spreadsheet_is_read(tmp_path: Path, content: str, encoding: str) -> None:
    rows, _ = read_table(table(tmp_path, content, encoding), "id", COLUMNS)
    assert rows == {"zoe": ZOE}


@pytest.mark.parametrize("cell", ['="0815"', '"=""0815"""', "'0815", "0815"])
def test_number_that_is_kept_as_text_has_its_zeros(tmp_path: Path, cell: str) -> None:
    rows, _ = read_table(table(tmp_path, f"id,last_name\n{cell},'Ndiaye"), "id", COLUMNS)
    assert rows == {"0815": {"last_name": "'Ndiaye"}}


def test_field_with_a_comma_or_a_quotation_mark_is_one_field(tmp_path: Path) -> None:
    text = f'{HEAD}\nzoe,"Zoë ""Zo""", "Müller, Dr.",\n'
    rows, _ = read_table(table(tmp_path, text), "id", COLUMNS)
    assert rows["zoe"] == {"first_name": 'Zoë "Zo"', "last_name": "Müller, Dr.", "email": None}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (f"{HEAD}\n{ROW}".encode("cp1252"), r"row 2: zoe,Zo\\xeb,.* no UTF-8. .* \*CSV UTF-8"),
        (f"{HEAD}\n{ROW}".encode("utf-16-le"), "holds NUL bytes"),
        (b"PK\x03\x04rest", "is a workbook"),
        ("", "one column 'id'; it has: nothing"),
        ("name,mail\nzoe,x", "one column 'id'; it has: 'name', 'mail'"),
        ("id,ID\nzoe,x", "one column 'id'; it has: 'id', 'ID'"),
        ("id,email,E Mail,Email\nzoe,x,y,z", "names 'email' twice"),
        (f"{HEAD}\n,Zoë,,", "row 2 has no id"),
        (f"{HEAD}\n{ROW}\n\n{ROW}", "row 4: 'zoe' is in row 2 already"),
        ("id\nzoe\nZoe", "row 3: 'Zoe' is in row 2 already"),
        ("id\nzoe\n zoe ", "row 3: 'zoe' is in row 2 already"),
        ("id,lms_user_id\nada,4711\nzoe,4711", "row 3: lms_user_id 4711 is in row 2 already"),
        (f"{HEAD}\nzoe,Zoë,Müller, Dr.,z@x.org", "row 2 has 5 fields, and the first row 4"),
        ("id\n1.0E+05", "row 2: id is 1.0E.05, as a spreadsheet rounds it"),
        ("id;lms_user_id\nzoe;1,23457E+11", "lms_user_id is 1,23457E.11"),
        ("id,lms_user_id\nzoe,4711.0", "lms_user_id is 4711.0"),
        ("id,email\nzoe,#N/A", "email is #N/A, an error of the spreadsheet's"),
        ("id\n..", "cannot be the name of a folder"),
        ("id\na/b", "cannot be the name of a folder"),
        ("id\nzo\x1be", "id 'zo.x1be' is unprintable"),
        ("id,email\nzoe," + 129 * "x", "is longer than 128 characters"),
        ('id,first_name\nzoe,"Zoë\nada,Ada', "row 2: .* look for a quotation mark"),
        ('id,first_name\nzoe,"Zoë\nada,"Ada"', "row 2: .* look for a quotation mark"),
    ],
)
def test_roster_that_is_not_understood_is_refused_with_its_row(
    tmp_path: Path, content: str | bytes, why: str
) -> None:
    with pytest.raises(CourseError, match=why):
        read_table(table(tmp_path, content), "id", COLUMNS)


def test_what_may_be_lost_is_said(tmp_path: Path) -> None:
    text = "id,Vorname\n0815,A\n4711,B\n42,C\n"
    _, remarks = read_table(table(tmp_path, text), "id", COLUMNS)
    assert [remark.split(":")[0] for remark in remarks] == [
        "Columns that mean nothing here, and are left out",
        "id 42 has fewer digits than others",
    ]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "course").mkdir()
    shutil.copy(SETTINGS, tmp_path / "course")
    return tmp_path / "course"


def imported(course: Path, content: str, encoding: str = "utf-8") -> tuple[int, str]:
    path = table(course, content, encoding)
    environment = {"JUPYTER_CONFIG_DIR": str(course / "none"), "HINTGRADER_DB_URL": None}
    words = ("db", "student", "import", str(path))
    run = type_command("nbgrader", *words, folder=course, environment=environment)
    assert "Traceback" not in run.stdout
    return run.status, run.stdout


def test_command_imports_all_or_nothing(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINTGRADER_DB_URL", raising=False)
    monkeypatch.delenv("HINTGRADER_SECRET", raising=False)
    status, said = imported(course, f"{HEAD}\nada,Ada,,\n{ROW},more,\n")
    assert status == 1
    assert "Nothing was imported." in said
    with Course(course).gradebook() as gradebook:
        assert gradebook.students == []
    assert imported(course, f"{HEAD}\n{ROW}\n,,,".replace(",", "; "), "utf-16")[0] == 0
    status, said = imported(course, "id\nada\nZoe")
    assert status == 1
    assert "'Zoe' is in the gradebook as 'zoe'" in said
    with Gradebook(Course(course).directory.db_url) as gradebook:
        (zoe,) = gradebook.students
        assert {name: getattr(zoe, name) for name in ZOE} == ZOE


def test_names_of_strangers_give_no_orders_to_the_terminal(course: Path) -> None:
    odd = "x\x1b[31m"
    environment = {"JUPYTER_CONFIG_DIR": str(course / "none"), "HINTGRADER_DB_URL": None}
    for words in (("add", f"{odd}\n[forged]"), ("list",)):
        command = ("nbgrader", "db", "student", *words)
        run = type_command(*command, folder=course, environment=environment)
        assert run.status == 0, run.stdout
        assert "\x1b" not in run.stdout
        assert r"x\x1b[31m" in run.stdout
