"""A class on a real JupyterHub, set up by the script that the guide gives.

`make test-hub` runs it. It takes root, `useradd`, and a Python that other accounts may run, with
JupyterHub and its proxy beside it: `ATTN_HUB` names their environment, `ATTN_HUB_ACCOUNTS` says how
many students there are.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import nbformat
import pytest
from hintgrader.testing.accounts import Account, account, needs_root, open_folder

from tests.conftest import ROOT
from tests.engine.hubs import HUB, Hub, jupyterhub

SET = "01_least_squares"
COURSE = ROOT / "engine" / "examples" / "methods"
ODD = ("eve", "absent", "broken", "twice")
STUDENTS = ("ada", *ODD, *(f"s{n}" for n in range(5, int(os.environ.get("ATTN_HUB_ACCOUNTS", 6)))))
POINTS = {"fit": 4, "summarise": 3}
FORM = {"course_id": "methods", "assignment_id": SET}
pytestmark = needs_root


@pytest.fixture(scope="module")
def everybody() -> Iterator[tuple[Hub, dict[str, Account], Path]]:
    """A hub, the accounts of an instructor and the students, and a folder that all may enter."""
    with ExitStack() as opened:
        place = opened.enter_context(open_folder())
        people = {name: opened.enter_context(account(name)) for name in ("prof", *STUDENTS)}
        for one in people.values():
            home = place / one.name
            home.mkdir(mode=0o700)
            subprocess.run(["usermod", "--home", home, "--shell", "/bin/sh", one.name], check=True)
            os.chown(home, one.user, one.user)
        course = place / people["prof"].name / "methods"
        ignored = shutil.ignore_patterns("__pycache__", "grading")
        shutil.copytree(ROOT / "engine" / "examples" / "methods", course, ignore=ignored)
        subprocess.run(["chown", "-R", people["prof"].name, course], check=True)
        script = [ROOT / "tools" / "set_up_hub.sh", "--no-install", "--course-id", "methods"]
        script += ["--python", HUB / "bin" / "python", "--exchange", place / "exchange"]
        script += ["--instructor", people["prof"].name, "--course", course]
        subprocess.run(list(map(str, script)), check=True)
        with jupyterhub(place) as hub:
            hub.start(*people.values())
            yield hub, people, place


def typed(person: Account, folder: Path, *words: str) -> str:
    """Return what a command prints that somebody types in a terminal of the server's."""
    path = f"{HUB}/bin:{ROOT}/.venv/bin:/usr/bin:/bin"
    line = f'export HOME={folder.parent} PATH={path}; cd {folder}; exec "$@" 2>&1'
    return person.does(line, "python", "-m", *words)


def test_formgrader_opens_on_the_course_though_the_server_starts_at_home(everybody) -> None:
    hub, people, place = everybody
    prof = people["prof"].name
    course = place / prof / "methods"
    typed(people["prof"], course, "nbgrader", "generate_assignment", SET)
    status, said = hub.ask(f"/user/{prof}/formgrader/api/assignments")
    assert status == 200, said
    assert SET in {one["name"] for one in json.loads(said)}
    status, page = hub.ask(f"/user/{prof}/formgrader")
    assert status == 200
    assert 'url_prefix = "methods"' in page


def test_students_do_not_have_the_instructors_menus(everybody) -> None:
    hub, people, _ = everybody
    for name, sees in (("prof", True), ("ada", False)):
        status, _ = hub.ask(f"/user/{people[name].name}/formgrader/api/assignments")
        assert (status == 200) == sees
        _, page = hub.ask(f"/user/{people[name].name}/lab")
        (config,) = re.findall(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)
        off = json.loads(config).get("disabledExtensions", [])
        assert ("@jupyter/nbgrader:formgrader" not in off) == sees
        assert "@jupyter/nbgrader:assignment-list" not in off


def answers(notebook: Path, name: str, right: set[str]) -> None:
    """Write answers into a notebook, right ones and others, that say whose they are."""
    source = nbformat.read(COURSE / "solutions" / SET / f"{SET}.ipynb", as_version=4)
    found = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in source.cells}
    handed_in = nbformat.read(notebook, as_version=4)
    for cell in handed_in.cells:
        part = cell.metadata.get("nbgrader", {}).get("grade_id")
        if part in POINTS:
            cell.source = f"{found[part].source if part in right else cell.source}\n# of {name}\n"
    nbformat.write(handed_in, notebook)


def parts_of(number: int) -> set[str]:
    """The parts that a student gets right; each of four kinds of students another choice."""
    return {part for place, part in enumerate(POINTS) if number >> place & 1}


def hands_in(hub: Hub, person: Account, notebook: Path, right: set[str]) -> None:
    """Solve the set, and hand it in, through the person's own server."""
    answers(notebook, person.name, right)
    answer = hub.post(f"/user/{person.name}/assignments/submit", **FORM)
    assert answer["success"], answer


def test_class_goes_through_the_hub_and_everybody_gets_back_their_own(everybody) -> None:
    """Odd ones: eve forges ada's, one hands in nothing, one half a file, one twice."""
    hub, people, place = everybody
    prof, students = people["prof"], {name: people[name] for name in STUDENTS}
    course = place / prof.name / "methods"
    typed(prof, course, "nbgrader", "generate_assignment", SET, "--force")
    typed(prof, course, "nbgrader", "release_assignment", SET)
    due: dict[str, float] = {}
    for number, (kind, one) in enumerate(students.items(), 3):
        notebook = place / one.name / SET / f"{SET}.ipynb"
        assert hub.post(f"/user/{one.name}/assignments/fetch", **FORM)["success"]
        due[one.name] = sum(POINTS[part] for part in parts_of(number))
        if kind == "absent":
            continue
        if kind == "twice":
            hands_in(hub, one, notebook, set())
        hands_in(hub, one, notebook, parts_of(number))
        if kind == "broken":
            notebook.write_bytes(notebook.read_bytes()[:1000])
            assert hub.post(f"/user/{one.name}/assignments/submit", **FORM)["success"]
    ada, eve = students["ada"].name, students["eve"]
    forged = place / "exchange" / "methods" / "inbound" / f"{ada}+{SET}+2037-01-01 00:00:00 UTC+x"
    eve.does(f'mkdir "$1"; echo "{{}}" > "$1/{SET}.ipynb"', forged)

    said = typed(prof, course, "nbgrader", "collect", SET)
    assert f"belongs to {eve.name}, not to {ada}" in said
    for one in students.values():
        typed(prof, course, "nbgrader", "db", "student", "add", one.name)
    said = typed(prof, course, "hintgrader", "autograde", SET)
    assert "isolation: sandbox" in said
    typed(prof, course, "nbgrader", "export", "--to", "grading/all.csv")
    with (course / "grading" / "all.csv").open(newline="", encoding="utf-8") as file:
        exported = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert exported.pop(students["broken"].name) == "unreadable"
    assert exported.pop(students["absent"].name) == "0.0"
    assert {name: float(score) for name, score in exported.items()} == {
        name: due[name] for name in exported
    }
    assert len(exported) == len(students) - 2

    typed(prof, course, "nbgrader", "generate_feedback", SET)
    typed(prof, course, "nbgrader", "release_feedback", SET)
    for kind, one in students.items():
        if kind == "absent":
            continue
        answer = hub.post(f"/user/{one.name}/assignments/fetch_feedback", **FORM)
        assert answer["success"], answer
        pages = [page.read_text() for page in (place / one.name / SET).rglob("*.html")]
        assert pages, f"{one.name} has no feedback"
        named = {found for page in pages for found in re.findall(r"# of ([\w-]+)", page)}
        assert named == (set() if kind == "broken" else {one.name})
