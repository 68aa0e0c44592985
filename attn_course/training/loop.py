"""`train`: the loop itself."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn

from attn_course.shapes import require_positive
from attn_course.training.checkpoint import read_checkpoint, write_checkpoint
from attn_course.training.history import History
from attn_course.training.progress import progress_bar
from attn_course.training.run import Run, next_batch
from attn_course.training.settings import Settings
from attn_course.training.surroundings import layers_in_mode, own_randomness

Validate = Callable[[nn.Module], float]


class Batch(Protocol):
    """The examples of one step: for instance a NamedTuple of tensors with this method."""

    def to(self, device: torch.device) -> Self:
        """Return the batch with its tensors on `device`."""


def train(
    model: nn.Module,
    batches: Iterable[Batch],
    loss: Callable[[nn.Module, Any], Tensor],
    steps: int,
    *,
    learning_rate: float = 3e-3,
    betas: tuple[float, float] = (0.9, 0.98),
    warm_up: int = 30,
    clip: float = 1.0,
    seed: int = 0,
    device: torch.device | str | None = None,
    bfloat16: bool = False,
    validate: Validate | None = None,
    validate_every: int = 100,
    patience: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 100,
    progress: bool = True,
) -> History:
    """Train `model` in place with Adam, one batch per step.

    All layers are in training mode during the run; afterwards each returns to its earlier mode.
    Dropout draws from `seed`; the caller's random numbers are not touched.

    Args:
        model: The model to train; weights that require no gradient stay as they are.
        batches: At least as many as there are steps. To resume, give the same batches from the
            first one on, such as a new stream made from the same seed.
        loss: Called with the model and a batch on the model's device; returns one number.
        steps: Number of batches to learn from.
        learning_rate: The peak; `learning_rate_at` says how the rate rises and falls.
        betas: Adam's decay rates for the mean of the gradients and of their squares.
        warm_up: Steps until the learning rate reaches its peak.
        clip: The greatest length of the gradient, over all weights; a longer one is scaled down.
            `math.inf` lets every gradient pass.
        seed: Seed of the random numbers drawn during the run.
        device: The device to train on, where the model then stays; None leaves it where it is.
        bfloat16: If True, the loss is computed in bfloat16 wherever autocast considers it safe;
            the weights stay as they are.
        validate: Called with the model in evaluation mode, without gradients; returns a number,
            the lower the better. It does not affect the training.
        validate_every: Steps from one validation to the next; one more follows the last step.
        patience: Stop after this many validations in a row without a better value. The model then
            ends with the weights of its best validation, whether it stopped early or not. None
            never stops early, and leaves the weights of the last step.
        checkpoint: The file that saves the run. A run begun there continues; a finished one
            returns its result at once. Ctrl-C saves the run before it stops.
        checkpoint_every: Steps from one checkpoint to the next; one more follows the last step.
        progress: If True, show a progress bar to anyone who watches; see
            `attn_course.training.progress`.

    Raises:
        ValueError: There are fewer batches than steps; the checkpoint is damaged, belongs to
            another run, or has seen other batches; or a setting makes no sense.
        FloatingPointError: A loss or a gradient is infinite or NaN, or a validation is NaN. The
            model keeps the weights of the step before.
    """
    require_positive("checkpoint_every", checkpoint_every)
    place, path = _place(model, device), None if checkpoint is None else Path(checkpoint)
    every = None if validate is None else validate_every
    settings = Settings(
        steps, learning_rate, betas, warm_up, clip, seed, place, bfloat16, every, patience
    )
    with own_randomness(seed, place), layers_in_mode(model, training=True):
        run = Run(model.to(place), loss, settings)
        stream = _resume(run, batches, path)
        with progress_bar(progress, steps, run.history.losses) as show, _kept(run, path):
            _go(run, stream, validate, path, checkpoint_every, show)
    if run.best is not None:
        model.load_state_dict(run.best)
    return run.history


def _resume(run: Run, batches: Iterable[Batch], path: Path | None) -> Iterator[Batch]:
    """Restore the run from its checkpoint, if there is one; return the remaining batches."""
    stream = iter(batches)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)  # fail here, not after a hundred steps
        checkpoint = read_checkpoint(path, run.identity)
        if checkpoint is not None:
            run.resume(checkpoint, stream)
    return stream


def _go(
    run: Run,
    stream: Iterator[Batch],
    validate: Validate | None,
    path: Path | None,
    checkpoint_every: int,
    show: Callable[[], None],
) -> None:
    """Take the remaining steps."""
    _validate_if_due(run, validate)  # the run may have been stopped just before
    while not run.is_finished:
        run.step(next_batch(stream, run.history.steps, run.settings.steps))
        show()
        _validate_if_due(run, validate)
        if path is not None and run.history.steps % checkpoint_every == 0:
            write_checkpoint(path, run.to_checkpoint())


def _validate_if_due(run: Run, validate: Validate | None) -> None:
    if validate is not None and run.is_due_for_validation:
        run.validate(validate)


@contextmanager
def _kept(run: Run, path: Path | None) -> Iterator[None]:
    """Write a checkpoint when the run ends, by itself or by Ctrl-C, but not if it fails."""
    try:
        yield
    except BaseException as error:
        run.undo_half_a_step()
        if path is not None and isinstance(error, KeyboardInterrupt):
            write_checkpoint(path, run.to_checkpoint())
        raise
    if path is not None:
        write_checkpoint(path, run.to_checkpoint())


def _place(model: nn.Module, device: torch.device | str | None) -> torch.device:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if not weights:
        raise ValueError("no weight of the model requires a gradient: there is nothing to train")
    return weights[0].device if device is None else torch.device(device)
