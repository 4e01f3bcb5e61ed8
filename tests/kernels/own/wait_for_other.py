"""Programs wait in turn for a flag that the one before them sets; a search loop waits for nobody."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("order between programs",),
    "outcome": {"in_turn": "needs-review", "first_not_below": "converted"},
}


@triton.jit
def in_turn(flag, src, dst):
    line = tl.program_id(0)
    seen = tl.load(flag + line)
    while seen == 0:
        seen = tl.load(flag + line)
    tl.store(dst + line, tl.load(src + line) + 1)
    tl.store(flag + line + 1, 1)


@triton.jit
def first_not_below(keys, dst):
    line = tl.program_id(0)
    place = 0
    while tl.load(keys + place) < line:
        place += 1
    tl.store(dst + line, place)


def make_inputs(device):
    return {"src": torch.randint(0, 9, (6,), device=device), "keys": torch.arange(0, 14, 2, device=device)}


def launch(src, keys):
    flag = torch.zeros(src.numel() + 1, dtype=torch.int64, device=src.device)
    flag[0] = 1
    first, second = torch.empty_like(src), torch.empty_like(src)
    in_turn[(src.numel(),)](flag, src, first)
    first_not_below[(src.numel(),)](keys, second)
    return first, second


def reference(src, keys):
    return src + 1, torch.searchsorted(keys, torch.arange(src.numel(), device=src.device))
