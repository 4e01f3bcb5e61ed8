"""The contract of an operator kind: which inputs a case means, and what float64 says the answer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from tritonport.verify.cases import Case

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
Values = dict[str, Any]


class Kind(ABC):
    """outputs: names of the results in order. differentiable: roles that get a gradient when the case
    asks."""

    outputs: tuple[str, ...] = ("o",)
    differentiable: tuple[str, ...] = ()

    @abstractmethod
    def inputs(self, case: Case) -> Values:
        """role -> value, drawn from the case's seed; and `grad_<output>` in fp32 for each output returned."""

    @abstractmethod
    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        """output -> float64 tensor, differentiable with respect to values (float64 leaves)."""

    @abstractmethod
    def reduction(self, case: Case) -> int:
        """Terms of the longest sum, for the tolerance."""


def drawing(case: Case) -> torch.Generator:
    return torch.Generator().manual_seed(case.seed)


def bounds_of(case: Case) -> tuple[int, ...]:
    """The sequence bounds of a varlen batch, else one sequence per batch entry as if they were joined."""
    if case.cu_seqlens is not None:
        return case.cu_seqlens
    return tuple(case.length * n for n in range(case.batch + 1))


def chunks_of(case: Case, size: int) -> list[slice]:
    """Rows of each chunk in the joined sequences."""
    bounds = bounds_of(case)
    return [
        slice(start, min(start + size, stop))
        for begin, stop in pairwise(bounds)
        for start in range(begin, stop, size)
    ]
