"""Store trained weights in half precision next to the code, and read them back."""

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

import attn_course.trained.measure as measure
from attn_course.data.tokens import Vocabulary
from attn_course.data.translation import SentencePair
from attn_course.seq2seq import Translator
from attn_course.trained.translator_recipes import find_recipe

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class TrainedTranslator:
    """A translator with its two vocabularies, ready to translate."""

    model: Translator
    source_words: Vocabulary
    target_words: Vocabulary

    def translate(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """Translate English sentences, a sequence of words each, greedily, into French words."""
        return measure.translate(self.model, self.source_words, self.target_words, sentences)

    def align(self, pairs: Sequence[SentencePair]) -> list[Tensor]:
        """Weights of each pair under teacher forcing, (French words, English words and EOS)."""
        return measure.align(self.model, self.source_words, self.target_words, pairs)


def round_to_half(model: torch.nn.Module) -> None:
    """Round the weights as storing does, so that the measured model is the stored one."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half())


def save(name: str, trained: TrainedTranslator) -> None:
    """Write the weights of the recipe `name`, and the words to which their rows belong."""
    words = {
        "source_words": json.dumps(trained.source_words.words, ensure_ascii=False),
        "target_words": json.dumps(trained.target_words.words, ensure_ascii=False),
    }
    save_weights(FOLDER, name, trained.model, words)


def save_weights(
    folder: Path, name: str, model: torch.nn.Module, words: dict[str, str] | None = None
) -> None:
    """Write the weights of a model in half precision, and words that belong to them."""
    weights = {
        key: value.half().contiguous() if value.is_floating_point() else value
        for key, value in model.state_dict().items()
    }
    save_file(weights, folder / f"{name}.safetensors", words)


def load_weights(folder: Path, name: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The stored weights, in float32, and the words that belong to them.

    Raises:
        ValueError: These weights do not come with the course.
    """
    with safe_open(shipped_weights(folder, name), "pt") as file:
        words = file.metadata() or {}
        stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    return {
        key: value.float() if value.is_floating_point() else value for key, value in stored.items()
    }, words


def shipped_weights(folder: Path, name: str) -> Path:
    """The file with the weights of this name in a folder of this package.

    Raises:
        ValueError: There is no such file; the message lists the weights that come with the course.
    """
    path = folder / f"{name}.safetensors"
    if not path.exists():
        shipped = ", ".join(sorted(file.stem for file in folder.glob("*.safetensors")))
        raise ValueError(
            f"the weights of {name!r} do not come with the course; there are {shipped}"
        )
    return path


def load(name: str) -> TrainedTranslator:
    """The trained translator of the recipe `name`, in float32 and ready to translate.

    Raises:
        ValueError: There is no such recipe, or its weights do not come with the course.
    """
    recipe, (weights, words) = find_recipe(name), load_weights(FOLDER, name)
    source_words = Vocabulary(json.loads(words["source_words"]))
    target_words = Vocabulary(json.loads(words["target_words"]))
    with torch.random.fork_rng(devices=[]):  # the first weights are thrown away
        model = recipe.build(len(source_words), len(target_words))
    model.load_state_dict(weights)
    return TrainedTranslator(model.eval(), source_words, target_words)


def record(name: str) -> dict[str, Any]:
    """The measurements of `name` and the settings with which it was made.

    Raises:
        ValueError: Nothing with this name has been recorded.
    """
    path = FOLDER / f"{name}.json"
    if not path.exists():
        recorded = ", ".join(sorted(file.stem for file in FOLDER.glob("*.json")))
        raise ValueError(f"there is no record of {name!r}; there are {recorded}")
    return json.loads(path.read_text(encoding="utf-8"))


def write_record(name: str, runs: Sequence[Mapping[str, object]], **settings: object) -> None:
    """Write the file that `record` reads: the runs, their settings, and the software behind them.

    Args:
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
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
