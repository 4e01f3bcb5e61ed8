"""The same operator after migration."""

import torch
import triton
import triton.language as tl
from tiny.tritonport_runtime import on_cube_cores


@triton.jit
def gram_kernel(
    x,
    g,
    o,
    s,
    cu,
    table,
    T,
    scale,
    H: tl.constexpr,
    HV: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    IS_VARLEN: tl.constexpr,
    tasks_0,
    tasks_1,
):
    tasks = tasks_0 * tasks_1
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    share = tasks // cores
    more = tasks % cores
    start = core * share + tl.minimum(core, more)
    stop = start + share + (core < more).to(tl.int32)
    for task in range(start, stop):
        pid_0 = task % tasks_0
        pid_1 = task // tasks_0
        gram_kernel_task(pid_0, pid_1, x, g, o, s, cu, table, T, scale, H, HV, D, BT, IS_VARLEN)


@triton.jit
def gram_kernel_task(
    pid_0,
    pid_1,
    x,
    g,
    o,
    s,
    cu,
    table,
    T,
    scale,
    H: tl.constexpr,
    HV: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    IS_VARLEN: tl.constexpr,
):
    i_t, i_h = pid_0, pid_1
    i_c = i_t
    if IS_VARLEN:
        i_n = tl.load(table + i_t * 2).to(tl.int32)
        i_t = tl.load(table + i_t * 2 + 1).to(tl.int32)
        bos = tl.load(cu + i_n).to(tl.int32)
        T = tl.load(cu + i_n + 1).to(tl.int32) - bos
    else:
        bos = 0
    x += bos * H * D + i_h // (HV // H) * D
    o_t = i_t * BT + tl.arange(0, BT)
    o_d = tl.arange(0, D)
    m_t = o_t < T
    b_x = tl.load(x + o_t[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None], other=0.0)
    b_g = tl.load(g + (bos + o_t) * HV + i_h, mask=m_t, other=0.0).to(tl.float32)
    b_a = tl.dot(b_x, tl.trans(b_x)) * tl.exp(b_g[:, None] - b_g[None, :])
    b_a = tl.where(o_t[:, None] >= o_t[None, :], b_a, 0.0)
    b_v = tl.load(x + o_t[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None], other=0.0)
    b_o = tl.dot(b_a.to(b_v.dtype), b_v) * scale
    p_o = o + (bos + o_t)[:, None] * (HV * D) + i_h * D + o_d[None, :]
    tl.store(p_o, b_o.to(o.dtype.element_ty), mask=m_t[:, None])
    p_s = s + i_c * HV + i_h
    tl.store(p_s, tl.load(p_s) + tl.sum(b_g, axis=0))


def gram(x, g, s, cu=None, chunk=16, scale=0.5):
    T, H, D = x.shape
    HV = g.shape[1]
    table = None if cu is None else chunk_table(cu, chunk)
    chunks = triton.cdiv(T, chunk) if table is None else len(table)
    o = torch.empty(T, HV, D, dtype=x.dtype, device=x.device)
    on_cube_cores(gram_kernel)[(chunks, HV)](
        x, g, o, s, cu, table, T, scale, H=H, HV=HV, D=D, BT=chunk, IS_VARLEN=cu is not None,
        tasks_0=chunks, tasks_1=HV,
    )  # fmt: skip
    return o


def chunk_table(cu, chunk):
    bounds = cu.tolist()
    rows = [
        (n, c) for n in range(len(bounds) - 1) for c in range(triton.cdiv(bounds[n + 1] - bounds[n], chunk))
    ]
    return torch.tensor(rows, dtype=torch.int64)
