"""Operator kinds: which inputs a case means, how the operator is called, and what float64 says the answer
is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tritonport.verify.cases import Case
from tritonport.verify.child.kinds import DTYPES, Kind, Values, drawing
from tritonport.verify.child.pieces import ChunkSum, L2Norm, TriangularInverse
from tritonport.verify.child.reference import gated_delta_rule


class GatedDeltaRule(Kind):
    """Gated delta rule, chunked or recurrent."""

    outputs = ("o", "ht")
    differentiable = ("q", "k", "v", "g", "beta", "initial_state", "A_log", "dt_bias")

    def inputs(self, case: Case) -> Values:
        rng = drawing(case)
        values = self._sequences(case, rng)
        values["scale"] = case.key_dim**-0.5
        values["output_final_state"] = case.final_state
        if case.initial_state:
            values["initial_state"] = torch.randn(*_state_shape(case), generator=rng)
        if case.cu_seqlens is not None:
            values["cu_seqlens"] = torch.tensor(case.cu_seqlens, dtype=torch.int64)
        if case.chunk_size is not None:
            values["chunk_size"] = case.chunk_size
        values.update(dict.fromkeys(case.flags, True))
        values.update(dict.fromkeys(case.nothing))
        heads = case.value_heads or case.heads
        values["grad_o"] = torch.randn(case.batch, case.length, heads, case.value_dim, generator=rng)
        if case.final_state:
            values["grad_ht"] = torch.randn(*_state_shape(case), generator=rng)
        return values

    def _sequences(self, case: Case, rng: torch.Generator) -> Values:
        dtype, heads = DTYPES[case.dtype], case.value_heads or case.heads
        rows = (case.batch, case.length)
        q = torch.randn(*rows, case.heads, case.key_dim, generator=rng)
        k = torch.randn(*rows, case.heads, case.key_dim, generator=rng)
        v = torch.randn(*rows, heads, case.value_dim, generator=rng)
        if "l2norm" not in case.flags:
            k = functional.normalize(k, dim=-1)
        beta = torch.randn(*rows, heads, generator=rng)
        if "beta_sigmoid" not in case.flags:
            beta = beta.sigmoid()
        values: Values = {"q": q.to(dtype), "k": k.to(dtype), "v": v.to(dtype), "beta": beta.to(dtype)}
        values = {name: _laid_out(tensor, case) for name, tensor in values.items()}
        return values | self._gate(case, rng, torch.randn(*rows, heads, generator=rng))

    def _gate(self, case: Case, rng: torch.Generator, draw: Tensor) -> Values:
        if case.gate == "none":
            return {}
        if "gate_in_kernel" in case.flags:
            heads = draw.shape[-1]
            return {
                "g": draw,
                "A_log": torch.log(torch.rand(heads, generator=rng) * 4 + 1),
                "dt_bias": torch.randn(heads, generator=rng) * 0.1,
            }
        scale = {"log_sigmoid": 1.0, "strong": 20.0, "zero": 0.0}[case.gate]
        return {"g": (functional.logsigmoid(draw) * scale).clamp(min=-50.0)}

    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        q, k, g = values["q"], values["k"], values.get("g")
        beta = values["beta"] if values["beta"] is not None else torch.ones_like(values["v"][..., 0])
        if "l2norm" in case.flags:
            q, k = functional.normalize(q, dim=-1), functional.normalize(k, dim=-1)
        if "beta_sigmoid" in case.flags:
            beta = beta.sigmoid()
        if "gate_in_kernel" in case.flags and g is not None:
            g = decay(g, values["A_log"], values["dt_bias"])
        initial = values.get("initial_state")
        first = "state_v_first" in case.flags
        if initial is not None and first:
            initial = initial.transpose(-1, -2)
        o, state = gated_delta_rule(q, k, values["v"], g, beta, case.key_dim**-0.5, initial, case.cu_seqlens)
        return {"o": o, "ht": state.transpose(-1, -2) if first else state} if case.final_state else {"o": o}

    def reduction(self, case: Case) -> int:
        return case.length + case.key_dim


class DecayGate(Kind):
    """The log decay of Mamba 2 and Gated DeltaNet: -exp(A_log) * softplus(g + dt_bias)."""

    differentiable = ("g", "A_log", "dt_bias")

    def inputs(self, case: Case) -> Values:
        rng = drawing(case)
        shape = (case.batch, case.length, case.heads)
        return {
            "g": torch.randn(*shape, generator=rng).to(DTYPES[case.dtype]),
            "A_log": torch.log(torch.rand(case.heads, generator=rng) * 4 + 1),
            "dt_bias": torch.randn(case.heads, generator=rng) * 0.1,
            "grad_o": torch.randn(*shape, generator=rng),
        }

    def reference(self, case: Case, values: Values) -> dict[str, Tensor]:
        return {"o": decay(values["g"], values["A_log"], values["dt_bias"])}

    def reduction(self, case: Case) -> int:
        return case.batch * case.length


def decay(g: Tensor, a_log: Tensor, bias: Tensor) -> Tensor:
    return -a_log.exp() * functional.softplus(g + bias)


def _state_shape(case: Case) -> tuple[int, ...]:
    n = case.batch if case.cu_seqlens is None else len(case.cu_seqlens) - 1
    dims = (case.key_dim, case.value_dim)
    return (n, case.value_heads or case.heads, *(dims[::-1] if "state_v_first" in case.flags else dims))


def _laid_out(tensor: Tensor, case: Case) -> Tensor:
    """The tensor; or the same values as a slice of a wider one, so that its last axis alone is contiguous; or as
    a view of [B, H, T, ...], so that tokens of one head follow each other."""
    if case.layout == "contiguous":
        return tensor
    if case.layout == "heads_first":
        return tensor.transpose(1, 2).contiguous().transpose(1, 2)
    wide = torch.zeros(*tensor.shape[:-1], tensor.shape[-1] + 16, dtype=tensor.dtype)
    wide[..., 8:-8] = tensor
    return wide[..., 8:-8]


KINDS: Mapping[str, Kind] = {
    "gated_delta_rule": GatedDeltaRule(),
    "decay_gate": DecayGate(),
    "l2norm": L2Norm(),
    "chunk_sum": ChunkSum(),
    "triangular_inverse": TriangularInverse(),
}


def run_operator(
    kind: Kind, case: Case, function: Callable[..., Any], names: Mapping[str, str], values: Values
) -> dict[str, Tensor]:
    """Call the operator and, when the case asks, its backward. Returns outputs and `d<role>` gradients."""
    arguments = {role: value for role, value in values.items() if not role.startswith("grad_")}
    leaves = _require_gradients(kind, case, arguments)
    result = function(**{names[role]: value for role, value in arguments.items()})
    results = result if isinstance(result, (tuple, list)) else (result,)
    outputs = {n: r for n, r in zip(kind.outputs, results, strict=False) if isinstance(r, Tensor)}
    if leaves:
        _backward(outputs, values)
        gradients = {f"d{role}": leaf.grad for role, leaf in leaves.items() if leaf.grad is not None}
        return {name: out.detach() for name, out in outputs.items()} | gradients
    return outputs


def run_reference(kind: Kind, case: Case, values: Values) -> dict[str, Tensor]:
    """The same in float64, from the same (already rounded) inputs."""
    wide = {
        n: v.detach().double() if isinstance(v, Tensor) and v.is_floating_point() else v
        for n, v in values.items()
    }
    arguments = {role: value for role, value in wide.items() if not role.startswith("grad_")}
    leaves = _require_gradients(kind, case, arguments)
    outputs = kind.reference(case, arguments)
    if leaves:
        rounded = {f"grad_{n}": _rounded(n, case, values) for n in outputs if f"grad_{n}" in values}
        _backward(outputs, rounded)
        gradients = {f"d{role}": leaf.grad for role, leaf in leaves.items() if leaf.grad is not None}
        return {name: out.detach() for name, out in outputs.items()} | gradients
    return outputs


def _rounded(output: str, case: Case, values: Values) -> Tensor:
    """The output gradient that the operator saw: rounded to the output's type, which for states is fp32."""
    grad = values[f"grad_{output}"]
    return (grad.to(DTYPES[case.dtype]) if output == "o" else grad).double()


def _require_gradients(kind: Kind, case: Case, arguments: Values) -> dict[str, Tensor]:
    if not case.backward:
        return {}
    leaves = {
        role: arguments[role].detach().requires_grad_(True)
        for role in kind.differentiable
        if arguments.get(role) is not None
    }
    arguments.update(leaves)
    return leaves


def _backward(outputs: Mapping[str, Tensor], values: Values) -> None:
    names = [n for n, out in outputs.items() if f"grad_{n}" in values and out.requires_grad]
    gradients = [values[f"grad_{n}"].to(outputs[n].dtype) for n in names]
    torch.autograd.backward([outputs[n] for n in names], gradients)
