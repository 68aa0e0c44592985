"""The surroundings that a run changes and restores: random numbers, modes of layers, Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Generator, Tensor, nn


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from `seed` inside the block, on the CPU and on `device`; then restore the generators.

    Unlike `torch.manual_seed`, it leaves the generators of other devices alone.
    """
    before = random_states(device)
    try:
        for generator in _generators(device):
            generator.manual_seed(seed)
        yield
    finally:
        set_random_states(before, device)


def random_states(device: torch.device) -> list[Tensor]:
    """The states of the generators from which a run on `device` draws."""
    return [generator.get_state() for generator in _generators(device)]


def set_random_states(states: list[Tensor], device: torch.device) -> None:
    """Restore the states of the generators."""
    for generator, state in zip(_generators(device), states, strict=True):
        generator.set_state(state)


@contextmanager
def layers_in_mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Put all layers into training or evaluation mode, and restore each one's own afterwards."""
    before = {layer: layer.training for layer in model.modules()}
    model.train(training)
    try:
        yield
    finally:
        for layer, mode in before.items():
            layer.training = mode


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done: a run could not resume from half an update."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # no KeyboardInterrupt comes here
        return
    arrived = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: arrived.append(signal_and_frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(*arrived[0])


def _generators(device: torch.device) -> list[Generator]:
    if device.type != "cuda":
        return [torch.default_generator]
    torch.cuda.init()  # without it there are no generators
    number = torch.cuda.current_device() if device.index is None else device.index
    return [torch.default_generator, torch.cuda.default_generators[number]]
