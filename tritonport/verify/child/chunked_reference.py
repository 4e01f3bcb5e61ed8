"""The gated delta rule in float64 by blocks of tokens: the same sums as `reference`, fast enough for real lengths.

Within a block every token's correction u solves a triangular system, which follows from writing the recurrence
S_t = a_t S_(t-1) + k_t u_t^T, u_t = beta_t (v_t - a_t S_(t-1)^T k_t) out from the state before the block, with
a_t = exp(g_t). A test holds it against the token-by-token form.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 64
"""Tokens per block: only speed depends on it."""


def sequence(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor | None, beta: Tensor, scale: float, initial: Tensor | None
) -> tuple[Tensor, Tensor]:
    """q, k [B, T, HV, K]; v [B, T, HV, V]; g (log decay), beta [B, T, HV]; initial [B, HV, K, V]; all float64.

    Returns o [B, T, HV, V] and the last state [B, HV, K, V].
    """
    batch, length, heads, key_dim = q.shape
    state = q.new_zeros(batch, heads, key_dim, v.shape[-1]) if initial is None else initial
    decay = torch.zeros_like(beta) if g is None else g
    by_head = [x.transpose(1, 2) for x in (q * scale, k, v, decay[..., None], beta[..., None])]
    outputs: list[Tensor] = []
    for start in range(0, length, BLOCK):
        o, state = _block(state, *(x[:, :, start : start + BLOCK] for x in by_head))
        outputs.append(o)
    return (torch.cat(outputs, 2).transpose(1, 2) if outputs else torch.zeros_like(v)), state


def _block(state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """q, k [B, H, C, K]; v [B, H, C, V]; g, beta [B, H, C, 1]; state [B, H, K, V]."""
    since = g.cumsum(2)  # log decay from the start of the block to each token
    between = since - since.transpose(2, 3)  # [.., t, s]: from token s to token t
    causal = torch.ones_like(between, dtype=torch.bool).tril()
    weight = torch.where(causal, between, -torch.inf).exp()  # the other half would overflow, then be masked
    earlier = (weight * (k @ k.transpose(2, 3)) * beta).tril(-1)
    left = torch.eye(earlier.shape[-1], dtype=earlier.dtype, device=earlier.device) + earlier
    right = beta * (v - since.exp() * (k @ state))
    u = torch.linalg.solve_triangular(left, right, upper=False, unitriangular=True)
    o = since.exp() * (q @ state) + (weight * (q @ k.transpose(2, 3))) @ u
    total = since[:, :, -1:]
    after = total.exp() * state + ((total - since).exp() * k).transpose(2, 3) @ u
    return o, after
