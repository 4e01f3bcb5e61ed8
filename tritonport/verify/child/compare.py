"""Compares tensors of the two sides bit for bit, and with a reference by relative error and units in the last
place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

DTYPE_NAMES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.float64: "fp64"}


@dataclass(frozen=True, slots=True)
class Difference:
    """relative: ||a - b|| / ||b||, absolute where b is zero. ulps: the largest error in units in the last
    place of a's type at max(|b|, rms(b)). why: what makes a number meaningless (shapes, types, NaN), else
    None."""

    bitwise: bool
    relative: float = 0.0
    ulps: float = 0.0
    why: str | None = None


def compare(a: Tensor, b: Tensor) -> Difference:
    """a: what was computed; b: what it should be."""
    if a.shape != b.shape:
        return Difference(False, why=f"shape {tuple(a.shape)} instead of {tuple(b.shape)}")
    if a.dtype == b.dtype and _bits(a).equal(_bits(b)):
        return Difference(True)
    if not (a.is_floating_point() and b.is_floating_point()):
        if a.dtype != b.dtype:
            return Difference(False, why=f"type {a.dtype} instead of {b.dtype}")
        return Difference(False, why=f"{int((a != b).sum())} of {a.numel()} values differ")
    return _distance(a, b)


def _distance(a: Tensor, b: Tensor) -> Difference:
    x, y = a.detach().double(), b.detach().double()
    odd = int((~torch.isfinite(x) & (torch.isfinite(y))).sum())
    if odd:
        return Difference(False, why=f"{odd} of {a.numel()} values are NaN or infinite (never written?)")
    both = torch.isfinite(x) & torch.isfinite(y)
    if not both.all() and not torch.equal(torch.isfinite(x), torch.isfinite(y)):
        return Difference(False, why="finite where it should be NaN or infinite")
    x, y = x[both], y[both]
    if not x.numel():
        return Difference(False, why="no finite value to compare")
    norm = float(y.norm())
    error = (x - y).abs()
    rms = norm / y.numel() ** 0.5
    unit = torch.finfo(a.dtype).eps * y.abs().clamp(min=rms if rms > 0 else 1.0)
    return Difference(
        False, float(error.norm()) / (norm if norm > 1e-12 else 1.0), float((error / unit).max())
    )


def _bits(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of a decoded value with a readable path: `[0]`, `.name`."""
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}[{i}]")
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key], f"{path}.{key}")
    else:
        yield path, value
