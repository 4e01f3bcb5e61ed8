"""The kernels, and how they are launched."""

import torch
import triton
import triton.language as tl

import hops

from .far import place
from .far import where as far_where
from .near import (
    other,  # twice the id
    where,
)
from .starred import starred_kernel
from . import flat

other_task = 5
again = flat


@triton.jit
def handed_on_kernel(dst):
    tl.store(dst + flat(), 1.0)


@triton.jit
def dotted_kernel(dst):
    tl.store(dst + hops.flat(), 2.0)


@triton.jit
def renamed_kernel(dst):
    tl.store(dst + place(), 3.0 + again())


@triton.jit
def taken_kernel(dst, more):
    tl.store(dst + tl.program_id(0), other() + more)


@triton.jit
def alike_kernel(dst):
    tl.store(dst + tl.program_id(0), where(10) + far_where(0.5))


def run(jobs, device):
    dst = torch.zeros(6, jobs, device=device)
    handed_on_kernel[(jobs,)](dst[0])
    dotted_kernel[(jobs,)](dst[1])
    renamed_kernel[(jobs,)](dst[2])
    taken_kernel[(jobs,)](dst[3], other_task)
    alike_kernel[(jobs,)](dst[4])
    starred_kernel[(jobs,)](dst[5])
    return dst
