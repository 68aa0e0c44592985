"""Trained weights and records: written beside the recipe that makes them, read by name.

Weights are stored in half precision, if not in bytes. A name is of one room only, so readers need
not say which.
"""

import json
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

FOLDER = Path(__file__).parent


def round_to_half(model: torch.nn.Module) -> None:
    """Round the weights as storing does, so that the measured model is the stored one."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())


def save_weights(
    recipe: str, name: str, model: torch.nn.Module, words: dict[str, str] | None = None
) -> None:
    """Write the weights of a model in half precision, and words that belong to them.

    Args:
        recipe: The file of the recipe, `__file__` there; the weights lie beside it.
        name: The name of the weights.
        model: The model that they are of.
        words: What else the file says.
    """
    weights = {
        key: value.half().contiguous() if value.is_floating_point() else value
        for key, value in model.state_dict().items()
    }
    save_tensors(recipe, name, weights, words)


def save_tensors(
    recipe: str, name: str, tensors: dict[str, Tensor], words: dict[str, str] | None = None
) -> None:
    """Write the file that `load_weights` reads, with tensors as they are."""
    save_file(tensors, Path(recipe).with_name(f"{name}.safetensors"), words)


def load_weights(name: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The stored weights, in float32, and the words that belong to them.

    Raises:
        ValueError: These weights do not come with the course.
    """
    with safe_open(shipped_weights(name), "pt") as file:
        words = file.metadata() or {}
        stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    return {
        key: value.float() if value.is_floating_point() else value for key, value in stored.items()
    }, words


def shipped_weights(name: str) -> Path:
    """The file with the weights of this name.

    Raises:
        ValueError: There is no such file; the message lists the weights that come with the course.
    """
    files = _files("safetensors")
    if name not in files:
        raise ValueError(
            f"the weights of {name!r} do not come with the course; there are {', '.join(files)}"
        )
    return files[name]


def record(name: str) -> dict[str, Any]:
    """The measurements of `name` and the settings with which it was made.

    Raises:
        ValueError: Nothing with this name has been recorded.
    """
    files = _files("json")
    if name not in files:
        raise ValueError(f"there is no record of {name!r}; there are {', '.join(files)}")
    return json.loads(files[name].read_text(encoding="utf-8"))


def _files(suffix: str) -> dict[str, Path]:
    """The files of all rooms that end so, by their names in order."""
    return {path.stem: path for path in sorted(FOLDER.rglob(f"*.{suffix}"), key=lambda p: p.stem)}


def write_record(
    recipe: str, name: str, runs: Sequence[Mapping[str, object]], **settings: object
) -> None:
    """Write the file that `record` reads: the runs, their settings, and the software behind them.

    Args:
        recipe: The file of the recipe, `__file__` there; the record lies beside it.
        name: The name of the record, and the argument of `python -m attn_course.trained`.
        runs: The measurements of each run, ready for JSON.
        settings: The settings that all runs share.
    """
    made = {
        "command": f"python -m attn_course.trained {name}",
        **settings,
        "torch": torch.__version__.split("+")[0],
        "threads": torch.get_num_threads(),
        "machine": platform.machine(),
        "runs": list(runs),
    }
    text = json.dumps(made, ensure_ascii=False, indent=1)
    # a list of plain numbers or words fits on a line
    text = re.sub(r"\[[^][{}]*]", lambda listed: " ".join(listed[0].split()), text)
    Path(recipe).with_name(f"{name}.json").write_text(text + "\n", encoding="utf-8")
