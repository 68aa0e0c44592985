"""Store the weights of captioners in half precision, and read them back."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from attn_course.captioning import Captioner
from attn_course.trained.captions.recipes import build, find_trial
from attn_course.trained.store import shipped_weights

FOLDER = Path(__file__).parent


def save_captioner(name: str, model: Captioner) -> None:
    """Write the weights of the trial `name`."""
    halved = {key: _half(value) for key, value in model.state_dict().items()}
    save_file(halved, FOLDER / f"{name}.safetensors")


def load_captioner(name: str) -> Captioner:
    """The trained captioner of the trial `name`, in float32 and ready to write.

    Raises:
        ValueError: There is no such trial, or its weights do not come with the course.
    """
    find_trial(name)
    path = shipped_weights(FOLDER, name)
    model = build(name)  # whose first weights are thrown away
    weights = {
        key: value.float() if value.is_floating_point() else value
        for key, value in load_file(path).items()
    }
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)


def _half(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.half().contiguous() if tensor.is_floating_point() else tensor
