"""As many programs as the environment asks for, each of them tiny."""

import os

import torch
import triton
import triton.language as tl

META = {"covers": ("65535, 65536 and 120000 programs",), "outcome": {"mark": "converted"}}


@triton.jit
def mark(dst, columns):
    row, column = tl.program_id(0), tl.program_id(1)
    tl.store(dst + row * columns + column, row * 10 + column)


def make_inputs(device):
    return {"rows": int(os.environ["CASE_ROWS"]), "columns": int(os.environ["CASE_COLUMNS"]), "device": device}


def launch(rows, columns, device):
    dst = torch.full((rows, columns), -1, dtype=torch.int32, device=device)
    mark[(rows, columns)](dst, columns)
    return dst if "CASE_PROGRAMS" not in os.environ else _summary(dst)


def _whole(rows, columns, device):
    rows, columns = torch.arange(rows, device=device), torch.arange(columns, device=device)
    return (rows[:, None] * 10 + columns[None, :]).int()


def _summary(dst):
    """How many tasks ran, and how many of them right."""
    ran = dst != -1
    right = ran & (dst == _whole(*dst.shape, dst.device))
    return torch.stack([ran.sum(), right.sum()])


def reference(rows, columns, device):
    """All of it; with CASE_PROGRAMS the number of tasks of those programs: sizes differ by at most one."""
    if "CASE_PROGRAMS" not in os.environ:
        return _whole(rows, columns, device)
    small, larger = divmod(rows * columns, int(os.environ["TRITONPORT_CORES"]))
    shares = [small + (int(program) < larger) for program in os.environ["CASE_PROGRAMS"].split(",")]
    return torch.tensor([sum(shares)] * 2, device=device)
