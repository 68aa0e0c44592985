"""What a run changes around itself and puts back: random numbers, modes of layers, Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Generator, Tensor, nn


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from `seed` inside, on the CPU and on `device`; outside, go on as if nothing was drawn.

    The generators of other devices are left alone, which `torch.manual_seed` would seed as well.
    """
    before = random_states(device)
    try:
        for generator in _generators(device):
            generator.manual_seed(seed)
        yield
    finally:
        set_random_states(before, device)


def random_states(device: torch.device) -> list[Tensor]:
    """Where the generators stand that a run on `device` draws from."""
    return [generator.get_state() for generator in _generators(device)]


def set_random_states(states: list[Tensor], device: torch.device) -> None:
    """Put the generators back to where they stood."""
    for generator, state in zip(_generators(device), states, strict=True):
        generator.set_state(state)


@contextmanager
def layers_in_mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Put all layers into training or evaluation mode, and each back into its own afterwards."""
    before = {layer: layer.training for layer in model.modules()}
    model.train(training)
    try:
        yield
    finally:
        for layer, mode in before.items():
            layer.training = mode


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done: half of an update could not be taken up again."""
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
    torch.cuda.init()  # before it there are no generators
    number = torch.cuda.current_device() if device.index is None else device.index
    return [torch.default_generator, torch.cuda.default_generators[number]]
