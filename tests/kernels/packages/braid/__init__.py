"""A small package of kernels: ids in one module, kernels in another, host code in a third."""

from .rows import interleave, separate

__all__ = ["interleave", "separate"]
