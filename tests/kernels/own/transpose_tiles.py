"""A batch of matrices transposed tile by tile; the grid is a product of four sizes unpacked by division."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("transpose", "four sizes in one program id", "strides as arguments"),
    "outcome": {"turn": "converted"},
}


@triton.jit
def turn(src, dst, rows, columns, step_b, step_r, step_c, B: tl.constexpr):
    pid = tl.program_id(0)
    across, down = tl.cdiv(columns, B), tl.cdiv(rows, B)
    column, pid = pid % across, pid // across
    row, batch = pid % down, pid // down
    at_r = row * B + tl.arange(0, B)
    at_c = column * B + tl.arange(0, B)
    tile = tl.load(
        src + batch * step_b + at_r[:, None] * step_r + at_c[None, :] * step_c,
        mask=(at_r < rows)[:, None] & (at_c < columns)[None, :],
    )
    place = dst + batch.to(tl.int64) * rows * columns + at_c[:, None] * rows + at_r[None, :]
    tl.store(place, tl.trans(tile), mask=(at_c < columns)[:, None] & (at_r < rows)[None, :])


def make_inputs(device):
    return {"src": torch.randn(3, 30, 21, device=device)[:, ::2]}


def launch(src):
    batch, rows, columns = src.shape
    dst = src.new_full((batch, columns, rows), float("nan"))
    programs = batch * triton.cdiv(rows, 8) * triton.cdiv(columns, 8)
    turn[(programs, 1, 1)](src, dst, rows, columns, *src.stride(), B=8)
    return dst


def reference(src):
    return src.transpose(1, 2).contiguous()
