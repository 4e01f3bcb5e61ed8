"""One unit of verification as a worker sees it: values in, named tensors out, and perhaps a reference."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from tritonport.declared import Declared
from tritonport.verify.cases import Case, CaseSet, Operator, Script
from tritonport.verify.child.compare import DTYPE_NAMES, leaves
from tritonport.verify.child.declared import DeclaredUnit
from tritonport.verify.child.operators import KINDS, run_operator, run_reference
from tritonport.verify.child.unit import NotHereError, Unit, accepts, first_of, required
from tritonport.verify.tolerance import Tolerance


class OperatorUnit(Unit):
    """A declared case of a known operator."""

    def __init__(self, case: Case, cases: CaseSet, version: str | None) -> None:
        operator = cases.operators[case.operator]
        _require_version(case, version)
        self._case, self._spec, self._kind = case, cases.tolerances, KINDS[operator.kind]
        self._function = first_of(operator.callables)
        self._operator = operator

    def inputs(self) -> dict[str, Any]:
        values = self._kind.inputs(self._case)
        _names(self._function, self._operator, values)  # raises NotHereError before anything runs
        return values

    def run(self, values: dict[str, Any]) -> dict[str, Tensor]:
        names = _names(self._function, self._operator, values)
        return run_operator(self._kind, self._case, self._function, names, values)

    def reference(self, values: dict[str, Any]) -> dict[str, Tensor]:
        return run_reference(self._kind, self._case, values)

    def tolerance(self, name: str, output: Tensor) -> Tolerance:
        dtype = DTYPE_NAMES.get(output.dtype, "fp32")
        bound = self._spec.against_reference(self._case.dtype, dtype, self._kind.reduction(self._case))
        return bound.scaled(self._spec.conditioning.get(name, 1.0) * self._case.conditioning.get(name, 1.0))


class ScriptUnit(Unit):
    """A module with make_inputs, launch and perhaps reference; META['rtol'] bounds the error to its
    reference."""

    def __init__(self, script: Script) -> None:
        self._module = _load(script)
        self._inputs = script.inputs

    def inputs(self) -> dict[str, Any]:
        torch.manual_seed(0)
        return getattr(self._module, self._inputs)("cpu")

    def run(self, values: dict[str, Any]) -> dict[str, Tensor]:
        result = self._module.launch(**values)
        named = {f"result{path}": leaf for path, leaf in leaves(result)}
        named |= {f"{path[1:]} afterwards": leaf for path, leaf in leaves(values) if isinstance(leaf, Tensor)}
        return {name: _as_tensor(leaf) for name, leaf in named.items()}

    def reference(self, values: dict[str, Any]) -> dict[str, Tensor] | None:
        if not hasattr(self._module, "reference"):
            return None
        return {f"result{path}": _as_tensor(leaf) for path, leaf in leaves(self._module.reference(**values))}

    def tolerance(self, name: str, output: Tensor) -> Tolerance:
        meta = getattr(self._module, "META", {})
        return Tolerance(
            float(meta.get("rtol", 1e-5)), float("inf"), "META['rtol'] of the script, 1e-5 without"
        )


def make_unit(what: Case | Declared | Script, cases: CaseSet, version: str | None) -> Unit:
    if isinstance(what, Declared):
        return DeclaredUnit(what, cases.tolerances)
    return ScriptUnit(what) if isinstance(what, Script) else OperatorUnit(what, cases, version)


def _require_version(case: Case, version: str | None) -> None:
    from packaging.version import Version

    if case.since is not None and version is not None and Version(version) < Version(case.since):
        raise NotHereError(f"needs release {case.since} or later, this is {version}")


def _names(function: Callable[..., Any], operator: Operator, values: Mapping[str, Any]) -> dict[str, str]:
    """role -> the name that this release's function takes it under."""
    names: dict[str, str] = {}
    for role in (r for r in values if not r.startswith("grad_")):
        candidates = operator.parameters.get(role, (role,))
        found = next((name for name in candidates if accepts(function, name)), None)
        if found is None:
            raise NotHereError(f"{operator.name} of this release takes no {' or '.join(candidates)}")
        names[role] = found
    if missing := required(function) - set(names.values()):
        raise NotHereError(f"{operator.name} of this release requires {', '.join(sorted(missing))}")
    return names


def _load(script: Script) -> Any:
    if script.module is not None:
        return importlib.import_module(script.module)
    name = f"tritonport_case_{script.file.stem}"
    spec = importlib.util.spec_from_file_location(name, script.file)
    if spec is None or spec.loader is None:
        raise NotHereError(f"{script.file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _as_tensor(leaf: Any) -> Tensor:
    return leaf.detach() if isinstance(leaf, Tensor) else torch.as_tensor(leaf)
