"""Fresh memory holds NaN (the largest integer for integers), so that what a kernel never writes shows."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def poisoned_allocations() -> Generator[None, None, None]:
    """torch.empty, empty_like, new_empty and empty_strided hand out poison inside this context.

    PyTorch fills uninitialised memory when deterministic algorithms are on (its documentation of
    torch.utils.deterministic.fill_uninitialized_memory).
    """
    before = torch.are_deterministic_algorithms_enabled()
    switch: Any = torch.utils.deterministic
    fill = switch.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    switch.fill_uninitialized_memory = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*deterministic.*")
            yield
    finally:
        torch.use_deterministic_algorithms(before)
        switch.fill_uninitialized_memory = fill
