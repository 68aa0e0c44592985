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
    """What a stream gives for one step: a NamedTuple of tensors with this method, for example."""

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
    """Train `model` in place by Adam, one batch a step.

    All layers are in training mode during the run, and afterwards each in the mode that it was in.
    Dropout draws from `seed`; the caller's random numbers are not touched.

    Args:
        model: What is trained; weights that want no gradient stay as they are.
        batches: As many as there are steps, or more. To resume, give the same batches from the
            first one on, as a new stream made from the same seed does.
        loss: Called with the model and a batch on the model's device; returns one number.
        steps: How many batches to learn from.
        learning_rate: The highest; `learning_rate_at` says how it rises and falls.
        betas: How long Adam remembers the gradients, and their squares.
        warm_up: Steps until the learning rate is at its highest.
        clip: The greatest length of the gradient, over all weights; a longer one is scaled down.
            `math.inf` lets every gradient pass.
        seed: Of the random numbers drawn during the run.
        device: Where to train, and where the model stays; None means where it is.
        bfloat16: Whether to compute the loss in bfloat16 wherever autocast thinks it safe; the
            weights stay as they are.
        validate: Called with the model in evaluation mode, without gradients; returns a number,
            the lower the better. It changes nothing in the training.
        validate_every: Steps from one validation to the next; one more follows the last step.
        patience: Stop when so many validations in a row brought nothing better. With it the model
            ends with the weights of the best validation, whether it stopped or not; None never
            stops, and leaves the weights of the last step.
        checkpoint: The file that keeps the run. If it has been begun there it goes on, and if it
            is finished its result comes back at once. Ctrl-C keeps the run before it ends it.
        checkpoint_every: Steps from one checkpoint to the next; one more follows the last step.
        progress: Whether to show a bar to those who watch, see `attn_course.training.progress`.

    Raises:
        ValueError: The batches are fewer than the steps; or the checkpoint is damaged, belongs to
            another run, or has seen other batches; or a setting makes no sense.
        FloatingPointError: A loss or a gradient is infinite or NaN, or a validation NaN. The model
            keeps the weights of the step before.
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
    """Bring the run to where its checkpoint stands, if there is one; return the batches to come."""
    stream = iter(batches)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)  # now, not after a hundred steps
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
    """Take the steps that are left."""
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
    """Write a checkpoint when the run ends, by itself or by Ctrl-C; not when it fails."""
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
        raise ValueError("the model has no weight that wants a gradient: there is nothing to train")
    return weights[0].device if device is None else torch.device(device)
