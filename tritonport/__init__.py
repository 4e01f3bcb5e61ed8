"""Turns GPU Triton kernels into kernels for Huawei Ascend NPUs, and proves what it did."""

__version__ = "0.1.0"
