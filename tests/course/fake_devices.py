"""Devices that this machine need not have: tensors with a shape and a device, and no numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

# c10::DeviceType, and the table in which a build of PyTorch keeps how it switches between devices
# of a type. Fake tensors never run on one, but indexing them asks the table all the same.
NUMBERS = {"cuda": 1, "mps": 13, "meta": 14}
TABLE, TYPES = "_ZN3c104impl26device_guard_impl_registryE", 20


@contextmanager
def pretend(device: str) -> Iterator[None]:
    """Let tensors be made and computed with on a device, without any numbers."""
    if device == "meta":
        yield
        return
    library = Path(torch.__file__).parent / "lib" / "libc10.so"
    table = (ctypes.c_void_p * TYPES).in_dll(ctypes.CDLL(str(library)), TABLE)
    before = table[NUMBERS[device]]
    if before is None:
        table[NUMBERS[device]] = table[NUMBERS["meta"]]  # which does nothing
    try:
        with FakeTensorMode():
            yield
    finally:
        table[NUMBERS[device]] = before
