"""Parts of the gated delta rule that upstream also offers alone; they reach kernels that no whole operator
launches."""

from __future__ import annotations

import torch
from torch import Tensor

from tritonport.verify.cases import Case
from tritonport.verify.child.kinds import DTYPES, Kind, Values, chunks_of, drawing


class L2Norm(Kind):
    """x / sqrt(sum(x * x) + eps) over the last axis, eps 1e-6."""

    differentiable = ("x",)

    def inputs(self, case: Case) -> Values:
        rng = drawing(case)
        shape = (case.batch, case.length, case.heads, case.key_dim)
        x = torch.randn(*shape, generator=rng).to(DTYPES[case.dtype])
        return {"x": x, "grad_o": torch.randn(*shape, generator=rng)}

    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        x = values["x"]
        return {"o": x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)}

    def reduction(self, case: Case) -> int:
        return case.key_dim


class ChunkSum(Kind):
    """Running sums within chunks of the rows; from the end with the flag `reverse`."""

    def inputs(self, case: Case) -> Values:
        shape = (case.batch, case.length, case.heads, *((case.key_dim,) if case.key_dim else ()))
        values: Values = {"g": torch.randn(*shape, generator=drawing(case)).to(DTYPES[case.dtype])}
        values["chunk_size"] = case.chunk_size or 64
        if case.cu_seqlens is not None:
            values["cu_seqlens"] = torch.tensor(case.cu_seqlens, dtype=torch.int64)
        return values | dict.fromkeys(case.flags, True)

    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        g = values["g"].flatten(0, 1)
        out = torch.empty_like(g)
        for rows in chunks_of(case, case.chunk_size or 64):
            part = g[rows]
            out[rows] = part.flip(0).cumsum(0).flip(0) if "reverse" in case.flags else part.cumsum(0)
        return {"o": out.view_as(values["g"])}

    def reduction(self, case: Case) -> int:
        return case.chunk_size or 64


class TriangularInverse(Kind):
    """(I + A)^-1 of the strictly lower triangular chunks A [B, T, H, chunk]."""

    def inputs(self, case: Case) -> Values:
        size = case.chunk_size or 64
        a = torch.zeros(case.batch * case.length, case.heads, size)
        rng = drawing(case)
        for rows in chunks_of(case, size):
            n = rows.stop - rows.start
            block = torch.randn(case.heads, n, n, generator=rng).tril(-1) * size**-0.5
            a[rows, :, :n] = block.transpose(0, 1)
        values: Values = {"A": a.view(case.batch, case.length, case.heads, size).to(DTYPES[case.dtype])}
        if case.cu_seqlens is not None:
            values["cu_seqlens"] = torch.tensor(case.cu_seqlens, dtype=torch.int64)
        return values

    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        a = values["A"].flatten(0, 1)
        out = torch.zeros_like(a)
        for rows in chunks_of(case, case.chunk_size or 64):
            n = rows.stop - rows.start
            block = a[rows, :, :n].transpose(0, 1) + torch.eye(n, dtype=a.dtype, device=a.device)
            out[rows, :, :n] = torch.linalg.inv(block).transpose(0, 1)
        return {"o": out.view_as(values["A"])}

    def reduction(self, case: Case) -> int:
        return case.chunk_size or 64
