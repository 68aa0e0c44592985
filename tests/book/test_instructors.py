"""The commands and settings that the pages for instructors and students name exist.

That the commands do what the page says is for the tests of nbgrader, of grading and of learning
systems; here every line is parsed by the program that it calls, and every setting is looked up.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
from hintgrader.__main__ import app
from hintgrader.nbgrader.archives.collector import RosterCollector
from hintgrader.nbgrader.course import HintGrader
from hintgrader.nbgrader.exchange.collect import OwnerCollect
from hintgrader.nbgrader.exports.learning_systems import TableExporter
from hintgrader.records.records import STATES
from hintgrader.supervisor.results import MAX_OUTPUT
from hintgrader.worker import limits
from hintgrader.worker.time_limits import (
    CALL_SECONDS,
    CELL_SECONDS,
    IDLE_SECONDS,
    NOTEBOOK_SECONDS,
    SLOW_CELLS,
)
from nbgrader.apps import NbGraderApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.exchange import Exchange
from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Application, Config

from attn_bank import find_exercise
from tests.conftest import ROOT

PAGES = {
    name: (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("instructors", "assistants", "problem_sets")
}
GUIDE = PAGES["instructors"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`((?:nbgrader|hintgrader|python -m|make) [^`]+)`")
# Commands of the system, which take what is written there.
OTHERS = {
    "bwrap",
    "cd",
    "chgrp",
    "chmod",
    "export",
    "find",
    "git",
    "jupyter",
    "mkdir",
    "pg_dump",
    "rm",
    "source",
    "sudo",
    "tar",
}


def blocks(language: str) -> Iterator[str]:
    """The fenced blocks of a language on these pages."""
    for page in PAGES.values():
        yield from (text for found, text in BLOCK.findall(page) if found == language)


def commands() -> list[str]:
    """Every command line that the pages show, in a block or within a sentence."""
    lines = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
    prose = [BLOCK.sub("", page) for page in PAGES.values()]
    lines += [line for page in prose for line in INLINE.findall(page) if "/" not in line]
    return sorted({*lines})


def nbgrader_app(words: list[str]) -> tuple[Application, list[str]]:
    """The application that a command line of nbgrader starts, and what it is given."""
    found: Application = NbGraderApp()
    while words and words[0] in found.subcommands:
        kind, words = found.subcommands[words[0]][0], words[1:]
        found = named(kind)() if isinstance(kind, str) else kind()
    return found, words


def named(path: str) -> type:
    """The class of this full name."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def check_nbgrader(words: list[str]) -> None:
    """Every option is one of the subcommand, and what names a class names one that there is."""
    found, given = nbgrader_app(words)
    assert not found.subcommands, f"no subcommand {words}"
    for word in given:
        name, _, value = word.removeprefix("--").partition("=")
        if word.startswith("--"):
            assert name in {*found.aliases, *found.flags}, f"{found.name}: no option {word}"
        if name in ("exporter", "collector"):
            assert issubclass(named(value), BasePlugin)


def check_click(command: Any, words: list[str]) -> None:
    """A program's own parser takes the words; Typer has a click of its own."""
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    if not words:  # a name in a sentence
        return
    try:
        command.make_context("it", list(words))
    except Exception as error:  # of the one click or the other
        raise AssertionError(f"{command.name}: {error}") from error


def check_make(words: list[str]) -> None:
    """There is such a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{words[0]}:", makefile, re.M), f"no target {words[0]}"


GRADE = typer.main.get_command(app)


@pytest.mark.parametrize("line", commands())
def test_command_is_one_that_its_program_takes(line: str) -> None:
    program, *words = shlex.split(line, comments=True)
    if program == "nbgrader":
        check_nbgrader(words)
    elif program == "hintgrader":
        check_click(GRADE, words)
    elif program == "make":
        check_make(words)
    elif program == "python" and words[0] == "-c":
        compile(words[1], line, "exec")
    elif program == "python":
        assert words[0] == "-m"
        assert words[1] in ("hintgrader", "nbgrader")
        if words[1] == "hintgrader":
            check_click(GRADE, words[2:])
        elif words[2:]:  # else a name in a sentence
            check_nbgrader(words[2:])
    else:
        assert program in OTHERS, line


def test_guide_explains_every_option_of_the_command_that_grades() -> None:
    explained = re.findall(r"^\| `(--[^`]+)` \|", GUIDE, re.M)
    for option in explained:
        check_click(GRADE, ["autograde", "01_retrieval", *option.split()])
    there = {o for param in GRADE.commands["autograde"].params for o in param.opts}
    named = {option.split()[0] for option in explained} | {"--scheduler", "--help"}
    assert {option for option in there if option.startswith("-")} <= named


def test_wrong_commands_would_be_noticed() -> None:
    for line in ("zip_colect 01", "export --too=x", "db student ad x"):
        with pytest.raises(AssertionError):
            check_nbgrader(shlex.split(line))
    for line in ("grade 01", "autograde 01 --levels limits"):
        with pytest.raises(AssertionError):
            check_click(GRADE, shlex.split(line))


def known_settings() -> dict[str, set[str]]:
    """Return the names of the settings of each class that the pages name."""
    own = {HintGrader, OwnerCollect, RosterCollector, TableExporter}
    exchange = {Exchange, ExchangeCollect}
    classes = own | exchange | {AssignLatePenalties, CourseDirectory, LateSubmissionPlugin}
    return {cls.__name__: {*cls.class_traits(config=True)} for cls in classes}


def test_every_setting_is_one_of_its_class() -> None:
    settings = [block for block in blocks("python") if re.search(r"^c\.", block, re.M)]
    config, known = Config(), known_settings()
    for block in settings:
        exec(block, {"c": config, "get_config": lambda: config})
    assert len(config) == len(
        {line for b in settings for line in re.findall(r"^c\.(\w+)", b, re.M)}
    )
    for name, values in config.items():
        assert set(values) <= known[name], name


def test_rule_for_late_submissions_is_one(tmp_path) -> None:
    (block,) = (block for block in blocks("python") if "class PointADay" in block)
    names: dict = {}
    exec(block, names)
    assert names["PointADay"]().late_submission_penalty("ada", 20.0, 3 * 86400 + 5) == 4


def test_folder_that_the_pattern_is_written_for_fits_it() -> None:
    (folder,) = re.findall(r"Brightspace's folders\s`([^`]+)`", GUIDE)
    (pattern,) = re.findall(r'named_regexp = r"([^"]+)"', GUIDE)
    found = re.match(pattern, f"/course/{folder}/01_retrieval.ipynb")
    assert found["full_name"] == "Ada Lovelace"
    forged = ROOT / "engine" / "tests" / "test_archive_names.py"  # tries it on forged names
    assert f'r"{pattern}"' in forged.read_text(encoding="utf-8")


def test_limits_in_the_guide_are_those_of_the_program() -> None:
    in_words = {10: "10 seconds", 120: "two minutes", 180: "three minutes", 1800: "half an hour"}
    call, cell = in_words[CALL_SECONDS], in_words[int(CELL_SECONDS)]
    trains = find_exercise("04_bahdanau/train_and_translate").checks
    (training,) = {in_words[check.seconds] for check in trains if check.slow}
    text = " ".join(GUIDE.split())
    assert f"stopped after {call}, or after {training} if it trains a model" in text
    assert f"a cell is stopped after {cell}." in text
    whole = in_words[int(NOTEBOOK_SECONDS)]
    assert f"no more than {whole} (or ten times the limit for a cell" in text
    assert SLOW_CELLS == 10
    assert "as much of it is allowed, and at least half a minute" in text
    assert IDLE_SECONDS == 30
    assert f"shows, {MAX_OUTPUT / 10**6:g} million characters are kept" in text
    assert f"memory ({limits.MEMORY / 2**30:g} GB)" in text
    assert f"at most {limits.PROCESSES} processes" in text


def test_guide_explains_every_state() -> None:
    assert set(re.findall(r"^\| ([\w ]+\??) \| (?:the|nothing|a) ", GUIDE, re.M)) >= set(STATES)
