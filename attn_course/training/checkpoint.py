"""A training run on disk: written so that nothing is lost, read so that nothing is mixed up.

A checkpoint is a dictionary of tensors, numbers and strings. Its entry `identity` says which run it
belongs to: every setting, layer and weight, by name, in words.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor, nn

Checkpoint = dict[str, Any]
Identity = dict[str, str]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint at `path`, completely or not at all.

    The new one is written to a file next to it, `NAME.part`, which is then renamed. Whatever
    happens in between, even a loss of power, `path` holds a whole checkpoint, the old or the new.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_checkpoint(path: Path, identity: Identity) -> Checkpoint | None:
    """Return the checkpoint at `path`, or None if there is no such file. It can hold no code.

    Raises:
        ValueError: The file cannot be read, is not a checkpoint, or belongs to a run with another
            `identity`; the message lists the differences.
    """
    if not path.exists():
        return None
    try:
        _require_whole(path)
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file fails in many ways
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"{path} cannot be read; delete it to start over ({reason})") from error
    if not isinstance(checkpoint, dict) or "identity" not in checkpoint:
        raise ValueError(f"{path} is not a checkpoint of a training run; choose another path")
    if differences := list(_differences(checkpoint["identity"], identity)):
        more = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
        raise ValueError(
            f"{path} belongs to another run; delete it to start over, or choose another path. "
            f"The two differ in {'; '.join(differences[:5])}{more}"
        )
    return checkpoint


def identity_of(model: nn.Module, settings: Mapping[str, object]) -> Identity:
    """Describe a run so that two runs with the same description are interchangeable."""
    identity = {name: str(value) for name, value in settings.items()}
    for name, layer in model.named_modules():
        identity[f"layer {name or 'outermost'}"] = f"{type(layer).__name__}({layer.extra_repr()})"
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    for name, tensor in model.state_dict().items():
        how = "trained" if name in trained else "fixed"
        identity[name] = f"{tuple(tensor.shape)} {tensor.dtype} {how}"
    return identity


def fingerprint(batch: object) -> str:
    """Return a short text that is the same for the same numbers in the tensors of a batch."""
    digest = hashlib.blake2b(digest_size=16)
    for tensor in _tensors(batch):
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().flatten().contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _require_whole(path: Path) -> None:
    """Check the checksums in the file, which `torch.load` does not check."""
    with ZipFile(path) as archive:
        if (damaged := archive.testzip()) is not None:
            raise BadZipFile(f"{damaged} is damaged")


def _tensors(thing: object) -> Iterator[Tensor]:
    if isinstance(thing, Tensor):
        yield thing
    elif isinstance(thing, Mapping | list | tuple):
        for part in thing.values() if isinstance(thing, Mapping) else thing:
            yield from _tensors(part)


def _differences(there: Identity, here: Identity) -> Iterator[str]:
    for name in there | here:
        if there.get(name) != here.get(name):
            yield f"{name}: {there.get(name, 'absent')} there, {here.get(name, 'absent')} here"
