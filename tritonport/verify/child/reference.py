"""Operators written the slow and plain way in float64, one token at a time. Differentiable by autograd.

Written from the papers' formulas (Yang, Kautz, Hatamizadeh: Gated Delta Networks, arXiv:2412.06464, equation
10), not from any kernel.
"""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter

import torch
from torch import Tensor

from tritonport.verify.child import chunked_reference

TOKEN_BY_TOKEN = 512
"""Longest sequence that is computed one token at a time; beyond it the block form takes seconds, not hours."""


def gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor | None,
    beta: Tensor,
    scale: float,
    initial: Tensor | None,
    bounds: tuple[int, ...] | None,
) -> tuple[Tensor, Tensor]:
    """q, k [B, T, H, K]; v [B, T, HV, V]; g (log decay), beta [B, T, HV]; initial [N, HV, K, V]; all float64.

    bounds: sequence bounds of a varlen batch (B = 1), or None. Returns o [B, T, HV, V] and the states [N, HV,
    K, V].
    """
    if bounds is None:
        return _sequence(q, k, v, g, beta, scale, initial)
    outputs: list[Tensor] = []
    states: list[Tensor] = []
    for n, (start, stop) in enumerate(pairwise(bounds)):
        part = itemgetter((slice(None), slice(start, stop)))
        own = None if initial is None else initial[n : n + 1]
        o, state = _sequence(
            part(q), part(k), part(v), None if g is None else part(g), part(beta), scale, own
        )
        outputs.append(o)
        states.append(state)
    return torch.cat(outputs, 1), torch.cat(states, 0)


def _sequence(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor | None, beta: Tensor, scale: float, initial: Tensor | None
) -> tuple[Tensor, Tensor]:
    batch, length, heads, key_dim = q.shape
    value_heads, value_dim = v.shape[2:]
    q, k = (x.repeat_interleave(value_heads // heads, dim=2) for x in (q, k))
    if length > TOKEN_BY_TOKEN:
        return chunked_reference.sequence(q, k, v, g, beta, scale, initial)
    state = q.new_zeros(batch, value_heads, key_dim, value_dim) if initial is None else initial
    outputs: list[Tensor] = []
    for t in range(length):
        if g is not None:
            state = state * g[:, t].exp()[..., None, None]
        error = v[:, t] - torch.einsum("bhk,bhkv->bhv", k[:, t], state)
        state = state + k[:, t][..., None] * (error * beta[:, t][..., None])[:, :, None, :]
        outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
    return (torch.stack(outputs, 1) if outputs else torch.zeros_like(v)), state
