"""The switches of PyTorch that change what is computed, or how fast, or whether at all."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import overrides
from torch._tensor_str import PRINT_OPTS
from torch.utils import _device as devices
from torch.utils import _python_dispatch as dispatch

from hintgrader.worker.switch import Switch, fixed
from hintgrader.worker.wall import WORKER

FULL = ("none", "ieee")  # the words for a precision that rounds no operand
PRINTED = dict(vars(PRINT_OPTS))  # how tensors are


@dataclass(frozen=True)
class _Modes:
    """The modes that PyTorch asks before each of its functions, the default device among them.

    Args:
        modes: All that are entered.
        default: The one that was set for good, if any; it is one of them.
        device: The device of the one that is, if any.
    """

    modes: list[Any]
    default: Any
    device: torch.device | None


def _function_modes() -> _Modes:
    default = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return _Modes(overrides._get_current_function_mode_stack(), default, devices.CURRENT_DEVICE)


def _set_function_modes(value: _Modes) -> None:
    for _ in overrides._get_current_function_mode_stack():
        overrides._pop_mode()
    for mode in value.modes:
        overrides._push_mode(mode)
    torch._GLOBAL_DEVICE_CONTEXT.device_context = value.default
    devices.CURRENT_DEVICE = value.device


def _set_dispatch_modes(modes: list[Any]) -> None:
    for mode in reversed(dispatch._get_current_dispatch_mode_stack()):
        dispatch._pop_mode(getattr(mode, "_mode_key", None))
    for mode in modes:
        dispatch._push_mode(mode)


def _own(modes: list[Any]) -> list[Any]:
    """The modes that the grader looks on by."""
    return [mode for mode in modes if type(mode).__module__.startswith(f"{WORKER}.")]


def _matmul_precision() -> str | None:
    """The precision of matrix products, in the words of before PyTorch 2.9; None if it has none."""
    with suppress(RuntimeError):  # it has been said in both ways
        return torch.get_float32_matmul_precision()
    return None


def _set_matmul_precision(value: str | None) -> None:
    if value is not None:
        torch.set_float32_matmul_precision(value)


def _precision_of(backend: str, operation: str) -> Switch:
    """The precision of one kind of operation, as PyTorch 2.9 and later have it."""
    read = partial(torch._C._get_fp32_precision_getter, backend, operation)
    write = partial(torch._C._set_fp32_precision_setter, backend, operation)
    return Switch(read, write, lambda now: now if now in FULL else FULL[0])


def _precisions() -> Iterator[Switch]:
    yield Switch(_matmul_precision, _set_matmul_precision, lambda now: now and "highest")
    if hasattr(torch._C, "_get_fp32_precision_getter"):
        kinds = [("generic", "all"), ("mkldnn", "all"), ("cuda", "all"), ("cuda", "matmul")]
        kinds += [("mkldnn", operation) for operation in ("matmul", "conv", "rnn")]
        yield from (_precision_of(*kind) for kind in kinds)


def _flushes_denormals(one: float = 1.0) -> bool:
    return sys.float_info.min / 4 * one == 0


def _flags() -> Iterator[Switch]:
    """Those that are on unless somebody turns them off, and the other way round."""
    cuda, mha = torch.backends.cuda, torch.backends.mha
    yield fixed(cuda.math_sdp_enabled, cuda.enable_math_sdp, True)
    yield fixed(cuda.flash_sdp_enabled, cuda.enable_flash_sdp, True)
    yield fixed(cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp, True)
    yield fixed(mha.get_fastpath_enabled, mha.set_fastpath_enabled, True)
    yield fixed(torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled, True)
    yield fixed(_flushes_denormals, torch.set_flush_denormal, False)
    for kind in ("cpu", "cuda"):
        read, write = torch.is_autocast_enabled, torch.set_autocast_enabled
        yield fixed(partial(read, kind), partial(write, kind), False)


def _deterministic() -> tuple[bool, bool]:
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    return torch.are_deterministic_algorithms_enabled(), only_warns


def _set_deterministic(value: tuple[bool, bool]) -> None:
    torch._C._set_deterministic_algorithms(value[0], warn_only=value[1])


def _anomaly() -> tuple[bool, bool]:
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def _set_anomaly(value: tuple[bool, bool]) -> None:
    torch.set_anomaly_enabled(*value)


TORCH_SWITCHES = (
    Switch(_function_modes, _set_function_modes, lambda now: _Modes(_own(now.modes), None, None)),
    Switch(dispatch._get_current_dispatch_mode_stack, _set_dispatch_modes, _own),
    fixed(torch.is_grad_enabled, torch._C._set_grad_enabled, True),
    fixed(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    fixed(torch.get_num_threads, torch.set_num_threads, 1),
    fixed(_deterministic, _set_deterministic, (False, False)),
    fixed(_anomaly, _set_anomaly, (False, True)),
    *_precisions(),
    *_flags(),
    fixed(lambda: dict(vars(PRINT_OPTS)), vars(PRINT_OPTS).update, PRINTED),
)
