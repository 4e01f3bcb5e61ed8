"""A declared operator as a unit of verification: arguments from its declaration, upstream's plain form in float64 as
the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from tritonport.declared import Declared, size_of
from tritonport.verify.child.compare import DTYPE_NAMES
from tritonport.verify.child.unit import NotHereError, Unit, accepts, first_of, required
from tritonport.verify.tolerance import Tolerance, ToleranceSpec


class DeclaredUnit(Unit):
    """Runs one declared case. NotHereError where this release has no such function or parameter."""

    def __init__(self, case: Declared, tolerances: ToleranceSpec) -> None:
        self._case, self._spec = case, tolerances
        self._function = first_of(case.call)
        self._types: dict[str, torch.dtype] = {}

    def inputs(self) -> dict[str, Any]:
        case = self._case
        given: dict[str, Any] = {**_values(case), **_tensors(case), **dict.fromkeys(case.nothing)}
        if case.cu_seqlens is not None:
            given["cu_seqlens"] = torch.tensor(case.cu_seqlens, dtype=torch.int64)
        needed = (*case.requires, *(("cu_seqlens",) if case.cu_seqlens is not None else ()))
        for name in needed:
            if not accepts(self._function, name):
                raise NotHereError(f"{case.operator} of this release takes no {name}")
        given = {name: value for name, value in given.items() if accepts(self._function, name)}
        if missing := required(self._function) - given.keys():
            raise NotHereError(f"{case.operator} of this release requires {', '.join(sorted(missing))}")
        return given

    def run(self, values: dict[str, Any]) -> dict[str, Tensor]:
        leaves = self._leaves(values)
        outputs = self._named(self._function(**{**values, **leaves}))
        self._types = {name: out.dtype for name, out in outputs.items()}
        return self._with_gradients(outputs, leaves)

    def reference(self, values: dict[str, Any]) -> dict[str, Tensor] | None:
        """None where upstream has no plain form, or the plain form lacks what the case asks for."""
        if not self._case.reference:
            return None
        function, names = first_of(self._case.reference), self._case.reference_names
        if any(isinstance(v, Tensor) and not accepts(function, names.get(n, n)) for n, v in values.items()):
            return None
        wide = {name: _widened(value) for name, value in values.items()}
        leaves = self._leaves(wide)
        given = {names.get(name, name): value for name, value in {**wide, **leaves}.items()}
        given = {name: value for name, value in given.items() if accepts(function, name)}
        with _InDouble():
            result = self._called(function, given | dict(self._case.reference_values))
            outputs = {name: out for name, out in self._named(result).items() if name in self._types}
            whole = (
                outputs.keys() == self._types.keys()
            )  # else the gradients lack what comes through the others
            return self._with_gradients(outputs, leaves if whole else {}, self._types)

    def tolerance(self, name: str, output: Tensor) -> Tolerance:
        case = self._case
        length = sum(size_of(axis, case.sizes) for axis in case.reduction if axis in case.sizes)
        inputs = DTYPE_NAMES[getattr(torch, case.dtypes["data"])]
        bound = self._spec.against_reference(inputs, DTYPE_NAMES.get(output.dtype, "fp32"), length)
        return bound.scaled(self._spec.conditioning.get(name, 1.0) * case.conditioning.get(name, 1.0))

    def _leaves(self, values: Mapping[str, Any]) -> dict[str, Tensor]:
        """Fresh leaves of the parameters that get a gradient."""
        if not self._case.backward:
            return {}
        return {
            name: value.detach().requires_grad_(True)
            for name, value in values.items()
            if isinstance(value, Tensor) and value.is_floating_point() and name not in self._case.constant
        }

    def _called(self, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
        """A plain form that has heads before tokens gets its arguments so; its first result is turned back."""
        if not self._case.heads_first:
            return function(**given)
        by_token = {
            name for name, (_, *axes) in self._case.tensors.items() if axes[1:2] == ["T"] and len(axes) > 2
        }
        result = function(**{n: v.transpose(1, 2) if n in by_token else v for n, v in given.items()})
        first, *rest = result if isinstance(result, (tuple, list)) else (result,)
        return (first.transpose(1, 2), *rest)

    def _named(self, result: Any) -> dict[str, Tensor]:
        results = result if isinstance(result, (tuple, list)) else (result,)
        names = (*self._case.outputs, *(f"o{n}" for n in range(len(self._case.outputs), len(results))))
        return {n: r for n, r in zip(names, results, strict=False) if isinstance(r, Tensor)}

    def _with_gradients(
        self,
        outputs: Mapping[str, Tensor],
        leaves: Mapping[str, Tensor],
        rounded_to: Mapping[str, torch.dtype] | None = None,
    ) -> dict[str, Tensor]:
        """Outputs, and `d<parameter>` for every leaf. rounded_to: the types in which the operator saw the gradients."""
        roots = {name: out for name, out in outputs.items() if out.requires_grad}
        rng = torch.Generator().manual_seed(self._case.seed + 1)
        gradients = [torch.randn(out.shape, generator=rng) for out in roots.values()]
        if rounded_to is not None:
            gradients = [g.to(rounded_to[name]) for name, g in zip(roots, gradients, strict=True)]
        if leaves and roots:
            every = zip(gradients, roots.values(), strict=True)
            torch.autograd.backward(list(roots.values()), [g.to(out) for g, out in every])
        found = {f"d{name}": leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
        return {name: out.detach() for name, out in outputs.items()} | found


def _values(case: Declared) -> dict[str, Any]:
    """Plain arguments; the name of a type stands for it where the parameter says dtype."""
    kinds = case.dtypes
    return {
        name: getattr(torch, kinds.get(value, value)) if name.endswith("dtype") else value
        for name, value in case.values.items()
    }


def _tensors(case: Declared) -> dict[str, Tensor]:
    rng = torch.Generator().manual_seed(case.seed)
    made: dict[str, Tensor] = {}
    for name, (kind, *axes) in case.tensors.items():
        dtype = getattr(torch, case.dtypes.get(kind, kind))
        shape = [size_of(axis, case.sizes) for axis in axes]
        made[name] = _drawn(case.draws.get(name, "normal"), shape, case, rng).to(dtype)
    return made


def _drawn(how: str, shape: list[int], case: Declared, rng: torch.Generator) -> Tensor:
    """how: a name of `DRAWS`, or `below SIZE` for whole numbers."""
    word, _, size = how.partition(" ")
    if word == "below":
        return torch.randint(0, size_of(size, case.sizes), shape, generator=rng)
    return DRAWS[word](torch.randn(*shape, generator=rng))


DRAWS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "normal": lambda x: x,
    "unit": lambda x: functional.normalize(x, dim=-1),
    "sigmoid": torch.sigmoid,
    "log_sigmoid": functional.logsigmoid,
    "positive": lambda x: x.abs() + 0.1,
    "decay": lambda x: -x.abs() * 0.1,
    "near_one": lambda x: 1 + 0.1 * x,
    "small": lambda x: 0.1 * x,
    "cos": torch.cos,
    "sin": torch.sin,
}


def _widened(value: Any) -> Any:
    floating = isinstance(value, Tensor) and value.is_floating_point()
    return value.detach().double() if floating else value


class _InDouble(TorchFunctionMode):
    """Plain forms ask for float32 by name; here they get float64, so that the reference is better than what it
    judges."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is Tensor.float:
            return args[0].double()
        wide = {name: _in_double(value) for name, value in (kwargs or {}).items()}
        return func(*(_in_double(value) for value in args), **wide)


def _in_double(value: Any) -> Any:
    return torch.float64 if value is torch.float32 else value
