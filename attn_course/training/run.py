"""The state of a run, and the steps, validations and checkpoints that change or save it."""

import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from attn_course.training.checkpoint import Checkpoint, Identity, fingerprint, identity_of
from attn_course.training.history import History, learning_rate_at
from attn_course.training.settings import Settings
from attn_course.training.surroundings import (
    interrupts_wait,
    layers_in_mode,
    own_randomness,
    random_states,
    set_random_states,
)


class Run:
    """A run between two steps.

    A failed step has drawn random numbers, and may have changed running means, but no weights: its
    effects are undone from the states remembered after the step before.
    """

    def __init__(
        self, model: nn.Module, loss: Callable[[nn.Module, Any], Tensor], settings: Settings
    ) -> None:
        self.model, self.loss, self.settings = model, loss, settings
        self.weights = list(model.parameters())
        rate, betas = settings.learning_rate, settings.betas
        self.optimizer = torch.optim.Adam(self.weights, lr=rate, betas=betas)
        self.history = History()
        self.best: dict[str, Any] | None = None
        self.batch: Any = None
        self.clock = time.perf_counter()
        self._remember(batch=None)

    @property
    def identity(self) -> Identity:
        """The description by which a checkpoint recognizes this run."""
        settings = asdict(self.settings) | {"device": self.settings.device.type}
        return identity_of(self.model, settings)

    @property
    def is_finished(self) -> bool:
        """True once all steps are done or patience has run out."""
        patience = self.settings.patience
        if patience is not None and self.history.validations_since_best >= patience:
            return True
        return self.history.steps >= self.settings.steps

    @property
    def is_due_for_validation(self) -> bool:
        """True if the model, in its current state, has yet to be validated."""
        steps, every = self.history.steps, self.settings.validate_every
        if every is None or steps == 0 or steps in self.history.validation_steps[-1:]:
            return False
        return steps % every == 0 or steps == self.settings.steps

    def step(self, batch: Any) -> None:
        """Learn from one batch."""
        settings = self.settings
        rate = learning_rate_at(
            self.history.steps, settings.steps, settings.learning_rate, settings.warm_up
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self._gradient(batch)
        with interrupts_wait():
            self.optimizer.step()
            self.history.losses.append(loss)
            self.history.learning_rates.append(rate)
            self._remember(batch)

    def undo_half_a_step(self) -> None:
        """Go back to the end of the step before."""
        for buffer, before in zip(self.model.buffers(), self.buffers, strict=True):
            buffer.copy_(before)

    def validate(self, validate: Callable[[nn.Module], float]) -> None:
        """Validate the model; with `patience`, keep its weights if the value is the best so far.

        Raises:
            FloatingPointError: The validation gives NaN.
        """
        history, settings = self.history, self.settings
        randomness = own_randomness(settings.seed, settings.device)
        with randomness, layers_in_mode(self.model, training=False), torch.no_grad():
            value = float(validate(self.model))
        if math.isnan(value):
            raise FloatingPointError(f"the validation after {history.steps} steps gives nan")
        with interrupts_wait():
            is_best = self.best is None or value < min(history.validation_values)
            if settings.patience is not None and is_best:
                self.best = copy.deepcopy(self.model.state_dict())
            history.validation_steps.append(history.steps)
            history.validation_values.append(value)
            self._count_seconds()

    def to_checkpoint(self) -> Checkpoint:
        """Return all that `resume` needs."""
        return {
            "identity": self.identity,
            "weights": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "history": asdict(self.history),
            "best": self.best,
            "random": self.random,
            "fingerprint": fingerprint(self.batch),
        }

    def resume(self, checkpoint: Checkpoint, stream: Iterator[Any]) -> None:
        """Continue from a checkpoint, skipping the batches that the run has already seen.

        Raises:
            ValueError: The stream gives different batches from those the run has seen, or fewer.
        """
        history = History(**checkpoint["history"])
        for number in range(history.steps):
            self.batch = next_batch(stream, number, self.settings.steps)
        if fingerprint(self.batch) != checkpoint["fingerprint"]:
            raise ValueError(
                f"the checkpoint has seen another batch {history.steps - 1}: give a new stream, "
                "made from the same seed, or delete the checkpoint"
            )
        self.model.load_state_dict(checkpoint["weights"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.history, self.best, self.clock = history, checkpoint["best"], time.perf_counter()
        set_random_states(checkpoint["random"], self.settings.device)
        self._remember(self.batch)

    def _gradient(self, batch: Any) -> float:
        """Return the loss of a batch, and leave its gradient, clipped, with the weights."""
        device = self.settings.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.settings.bfloat16):
            loss = self.loss(self.model, batch.to(device))
        self._require_finite("loss", loss.item())
        self.optimizer.zero_grad()
        loss.backward()
        length = clip_grad_norm_(self.weights, self.settings.clip)
        self._require_finite("length of the gradient", length.item())
        return loss.item()

    def _require_finite(self, what: str, number: float) -> None:
        if not math.isfinite(number):
            losses = ", ".join(f"{loss:.4g}" for loss in self.history.losses[-5:]) or "none"
            raise FloatingPointError(
                f"step {self.history.steps}: the {what} is {number}; the losses before: {losses}"
            )

    def _remember(self, batch: Any) -> None:
        """Remember the state of the run after a step."""
        self.batch = batch
        self.random = random_states(self.settings.device)
        self.buffers = [buffer.clone() for buffer in self.model.buffers()]
        self._count_seconds()

    def _count_seconds(self) -> None:
        now = time.perf_counter()
        self.history.seconds += now - self.clock
        self.clock = now


def next_batch(stream: Iterator[Any], number: int, steps: int) -> Any:
    """Return the next batch of a stream that has given `number` so far.

    Raises:
        ValueError: There is none.
    """
    for batch in stream:
        return batch
    raise ValueError(f"the batches ended after {number}, but {steps} steps need {steps} of them")
