"""The kernel that chapter 13 shows, in Triton's interpreter, and compiled for a GPU."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attn_course.long_context import SlowMemory, attend_in_tiles
from attn_course.scaled_dot_product import attention, causal_mask, scaled_dot_scores

pytest.importorskip("triton")  # its packages are made for Linux alone

from tests.course.peers import triton_tiles

TILE = 16
LENGTHS = (1, 15, 16, 37, 64, 100)
# What each line is for: without it, the result is another.
CHANGES = {
    "no rescaling of the total": ("total * kept", "total"),
    "no rescaling of the blend": ("blend * kept", "blend"),
    "keys past the end": ("(columns < n) & ", ""),
    "keys of the future": ("(columns <= rows) |", "(columns >= 0) |"),
}


def drawn(length: int) -> Tensor:
    return torch.randn(3, length, 32, generator=torch.manual_seed(length))


def expected(qkv: Tensor, is_causal: bool) -> Tensor:
    return attention(*qkv, causal_mask(qkv.shape[-2]) if is_causal else None)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
def test_kernel_is_attention(length: int, is_causal: bool) -> None:
    qkv = drawn(length)
    found = triton_tiles.attend(*qkv, is_causal=is_causal, tile_len=TILE)
    assert_close(found, expected(qkv, is_causal), rtol=0, atol=2e-6)


@pytest.mark.parametrize("length", LENGTHS)
def test_kernel_is_the_tiled_function_of_the_chapter(length: int) -> None:
    qkv = drawn(length)
    found = triton_tiles.attend(*qkv, is_causal=False, tile_len=TILE)
    wanted = attend_in_tiles(*qkv, SlowMemory(), tile_len=TILE)
    assert_close(found, wanted, rtol=0, atol=2e-6)


def changed(old: str, new: str, folder: Path) -> ModuleType:
    """Load the kernel with a change, from a file, since Triton reads its source."""
    source = Path(triton_tiles.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    (path := folder / "changed.py").write_text(source.replace(old, new), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("changed", path)
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_without_one_of_its_lines_it_is_not(change: tuple[str, str], tmp_path: Path) -> None:
    qkv, (old, new) = drawn(37), change
    is_causal = "rows" in old
    found = changed(old, new, tmp_path).attend(*qkv, is_causal=is_causal, tile_len=TILE)
    assert (found - expected(qkv, is_causal)).abs().max() > 0.01


@pytest.mark.parametrize("sum_of", ["total", "blend"])
def test_without_rescaling_rows_are_wrong_whose_best_key_is_late(
    sum_of: str, tmp_path: Path
) -> None:
    qkv = drawn(100)
    late = scaled_dot_scores(*qkv[:2]).argmax(-1) >= TILE
    module = changed(*CHANGES[f"no rescaling of the {sum_of}"], tmp_path)
    found = module.attend(*qkv, is_causal=False, tile_len=TILE)
    apart = (found - expected(qkv, False)).abs().amax(-1)
    assert apart[~late].max() < 2e-6
    assert apart[late].min() > 1e-3


def test_it_compiles_for_a_gpu(tmp_path: Path) -> None:
    command = """
import triton
from triton.backends.compiler import GPUTarget
from tests.course.peers.triton_tiles import attend_to_tiles

constants = {"causal": True, "d": 64, "B": 64}
types = dict.fromkeys(["Q", "K", "V", "out"], "*fp32") | {"n": "i32"}
types |= dict.fromkeys(constants, "constexpr")
source = triton.compiler.ASTSource(attend_to_tiles, types, constants)
made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
assert len(made.asm["cubin"]) > 10_000
"""
    environment = os.environ | {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", command], env=environment, check=True)
