"""Returns nested in constexpr and run-time branches, several of them, with work after each."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("early return nested constexpr", "early return nested runtime"),
    "outcome": {"steps": "converted"},
}


@triton.jit
def steps(src, kind, dst, count, SPAN: tl.constexpr, SKIP_ODD: tl.constexpr, SHORT: tl.constexpr):
    job = tl.program_id(0)
    at = job * SPAN + tl.arange(0, SPAN)
    value = tl.load(src + at)
    if SKIP_ODD:
        if job % 2 == 1:
            return
        value = value + 1.0
    mode = tl.load(kind + job)
    if mode > 0:
        value = value * 2.0
        if mode > 1:
            tl.store(dst + at, -value)
            return
        else:
            value = value + 0.5
    elif mode < 0:
        if SHORT:
            return
        value = value - 4.0
    tl.store(dst + at, value)
    if job == count - 1:
        return
    tl.store(dst + count * SPAN + at, value)


def make_inputs(device):
    kind = torch.tensor([0, 1, 2, -1, 1, 0, -3, 2], dtype=torch.int32, device=device)
    return {"src": torch.randn(8 * 4, device=device), "kind": kind}


def launch(src, kind):
    outs = []
    for skip in (False, True):
        for short in (False, True):
            dst = torch.zeros(2 * src.numel(), device=src.device)
            steps[(kind.numel(),)](src, kind, dst, kind.numel(), SPAN=4, SKIP_ODD=skip, SHORT=short)
            outs.append(dst)
    return tuple(outs)


def _reference(src, kind, skip, short):
    once, again = torch.zeros_like(src), torch.zeros_like(src)
    last = len(kind) - 1
    for job, mode in enumerate(kind.tolist()):
        part = slice(job * 4, job * 4 + 4)
        if (skip and job % 2) or (mode < 0 and short):
            continue
        value = src[part] + skip
        if mode > 1:
            once[part] = -2.0 * value
            continue
        value = value * 2.0 + 0.5 if mode == 1 else value - 4.0 if mode < 0 else value
        once[part] = value
        if job != last:
            again[part] = value
    return torch.cat([once, again])


def reference(src, kind):
    return tuple(_reference(src, kind, skip, short) for skip in (False, True) for short in (False, True))
