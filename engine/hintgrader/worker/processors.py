"""A confined process computes on one processor, whatever a notebook asks for.

PyTorch starts at once the threads that it is asked for. In a sandbox there is no room for as many
as a large machine has processors, and threads do not outlive the forks that answers run in.
"""

import os
from collections.abc import Callable

import torch


def grant_threads() -> None:
    """Let a notebook ask for threads of PyTorch's, and for the number of processors, without
    effect."""
    asked = 1
    check: Callable[[int], None] = torch.set_num_threads

    def set_num_threads(number: int) -> None:
        """Remember a number of threads, of which one is used."""
        nonlocal asked
        check(min(number, 1))  # whatever is no number of threads is refused as ever
        asked = number

    def get_num_threads() -> int:
        return asked

    for function in (set_num_threads, get_num_threads):
        for place in (torch, torch._C):
            setattr(place, function.__name__, function)
    os.cpu_count = lambda: 1
