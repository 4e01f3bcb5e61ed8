"""Triton under other names, kernels in a match statement, names in two spellings, launches that start at one place."""

import sys

import torch
import triton

T = triton
language = T.language
again = language

META = {
    "covers": ("module aliases", "a kernel in a match statement", "NFKC names", "subscript calls at one place"),
    "outcome": {"first": "converted", "second": "converted", "third": "converted"},
}


@T.jit
def first(dst, scale):
    language.store(dst + language.program_id(0), scale * again.program_id(0))


match sys.version_info[0]:
    case 3:

        @triton.jit
        def second(dst, scale):
            T.language.store(dst + T.language.program_id(0), scale + T.language.num_programs(0))

    case _:
        second = None


@triton.jit
def ｔhird(dst, scale):
    place = language.ｐrogram_id(0)
    language.store(dst + place, scale - place)


HOLD = [lambda kernel: kernel]


def make_inputs(device):
    return {"jobs": 7, "device": device}


def launch(jobs, device):
    dst = torch.zeros(3, jobs, device=device)
    first[(jobs,)](dst[0], 2.0)
    second[(jobs,)](dst[1], 0.5)
    HOLD[0](third)[(jobs,)](
        dst[2], 1.0
    )
    return dst


def reference(jobs, device):
    job = torch.arange(jobs, dtype=torch.float32, device=device)
    return torch.stack([2 * job, torch.full_like(job, jobs + 0.5), 1 - job])
