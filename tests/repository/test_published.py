"""The means of publishing the course are in step with it: workflows, the wheel, pages about it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from nbformat.v4 import new_notebook
from packaging.specifiers import SpecifierSet

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from hosted import with_first_cell

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ("attn_bank", "attn_course")
# Runs in a process that sees the wheels' packages, and not the packages of this folder.
SOLVE = """
import sys
import attn_bank, attn_course, hintgrader, torch
for package in (attn_bank, attn_course, hintgrader):
    assert package.__file__.startswith(sys.argv[1]), package.__file__
from attn_course.trained import load
load("bahdanau")
def softmax(scores):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)
points = attn_bank.check("01_retrieval/softmax", softmax)
print(float(points), points.of)
"""


def lines_run() -> list[str]:
    """Every line that a workflow runs, with each of its commands."""
    found = []
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            more = [one["command"] for one in matrix.get("include", ()) if "command" in one]
            commands = [*matrix.get("command", [""]), *more]
            for step in job["steps"]:
                for command in commands if "run" in step else ():
                    found.append(step["run"].replace("${{ matrix.command }}", command))
    return found


def test_workflows_are_what_the_forge_expects() -> None:
    schema = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*schema, "vendor.github-workflows", *map(str, WORKFLOWS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [str(zizmor), "--offline", "--quiet", str(FOLDER)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_workflows_run_what_there_is() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in lines_run():
        command = line.removeprefix("sudo ")
        if target := re.match(r"make (\S+)", command):
            assert re.search(rf"^{target[1]}:", makefile, re.MULTILINE), line
        elif "/" in command.split()[0]:
            assert (ROOT / command.split()[0]).is_file(), line
    wanted = {".ci/run", "make book", "make proofs", "make peers", "make oldest", "make newest"}
    wanted |= {"make release"}
    assert wanted <= set(lines_run())


def test_readme_types_what_make_book_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for quiet in ("--quiet ", "--disable-pip-version-check ", "@", "\\\n\t"):
        makefile = makefile.replace(quiet, "")
    typed = re.findall(r"^\.venv/bin/(.*)$", readme, re.MULTILINE)
    assert len(typed) == 3
    assert [line for line in typed if f"$(BIN)/{line}\n" not in makefile] == []


def test_a_release_holds_the_print_edition() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^release:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    assert "print\n" in recipe[1]
    text = (FOLDER / "release.yml").read_text(encoding="utf-8")
    assert "dist/*" in text  # and so all that the recipe makes is attached


def test_workflows_try_the_pythons_that_the_package_names() -> None:
    text = (FOLDER / "test.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["test"]
    tried, new = job["strategy"]["matrix"]["python"], job["strategy"]["matrix"]["include"]
    asked = SpecifierSet(PROJECT["requires-python"])
    assert all(version in asked for version in tried)
    assert tried == ["3.11", "3.12", "3.13"]
    assert new == [{"python": "3.14", "may-fail": True}]
    assert "matrix.may-fail" in job["continue-on-error"]


def test_a_branch_with_a_pull_request_is_tried_once() -> None:
    text = (FOLDER / "test.yml").read_text(encoding="utf-8")
    events = yaml.safe_load(text)[True]  # YAML reads the key `on` as a truth value
    assert events == {"push": {"branches": ["main"]}, "pull_request": None}


def test_citation_names_the_version_and_keywords_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["keywords"] == PROJECT["keywords"]
    changes = (ROOT / "CHANGES.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(PROJECT['version'])} \(", changes, re.MULTILINE)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The two wheels of a release, by the names of the distributions."""
    folder = tmp_path_factory.mktemp("wheels")
    settings = ["pyproject.toml", "_config.yml"]
    files = subprocess.run(
        ["git", "ls-files", "-z", "attn_*", "engine", *settings, "README.md", "LICENSE*"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, files):  # a copy: building leaves its traces in the folder
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    build = ["wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    where = ["--no-build-isolation", "--wheel-dir", folder]
    sources = [folder / "source" / "engine", folder / "source"]
    subprocess.run([sys.executable, "-m", "pip", *build, *where, *sources], check=True)
    found = {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}
    assert set(found) == {"attn_course", "hintgrader"}
    return found


@pytest.mark.parametrize(
    ("name", "packages", "most"),
    [("attn_course", PACKAGES, 300), ("hintgrader", ("hintgrader",), 180)],
)
def test_wheel_holds_every_file_of_the_packages(
    wheels: dict[str, Path], name: str, packages: tuple[str, ...], most: int
) -> None:
    source = wheels[name].parent / "source"
    ours = source / "engine" if name == "hintgrader" else source
    paths = (path for one in packages for path in (ours / one).rglob("*") if path.is_file())
    files = {str(path.relative_to(ours)) for path in paths}
    assert len(files) > most
    assert sorted(files - set(zipfile.ZipFile(wheels[name]).namelist())) == []


def test_notebooks_ask_for_the_wheels_that_there_are(wheels: dict[str, Path]) -> None:
    root = wheels["attn_course"].parent / "source"
    asked = with_first_cell(new_notebook(), root).cells[0].source
    assert f'"./{wheels["hintgrader"].name}"' in asked
    assert f'"./{wheels["attn_course"].name}[course]"' in asked


def test_a_set_runs_from_the_wheels(wheels: dict[str, Path]) -> None:
    folder = wheels["attn_course"].parent
    installed = folder / "installed"
    for wheel in wheels.values():
        zipfile.ZipFile(wheel).extractall(installed)
    code = f"import sys; sys.path.insert(0, sys.argv[1])\n{SOLVE}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(installed)],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    points, most = map(float, done.stdout.split()[-2:])
    assert points == most > 0
