"""One unit of verification as a worker sees it: values in, named tensors out, and perhaps a reference."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from tritonport.verify.cases import Case, CaseSet, Operator, Script
from tritonport.verify.child.compare import DTYPE_NAMES, leaves
from tritonport.verify.child.operators import KINDS, run_operator, run_reference
from tritonport.verify.tolerance import Tolerance


class NotHereError(Exception):
    """This release or file cannot run the unit; the message says why."""


class Unit(ABC):
    """exact_reference: whether `reference` answers; tolerance: for one of its outputs."""

    @abstractmethod
    def inputs(self) -> dict[str, Any]: ...

    @abstractmethod
    def run(self, values: dict[str, Any]) -> dict[str, Tensor]: ...

    @abstractmethod
    def reference(self, values: dict[str, Any]) -> dict[str, Tensor] | None: ...

    @abstractmethod
    def tolerance(self, name: str, output: Tensor) -> Tolerance: ...


class OperatorUnit(Unit):
    """A declared case of a known operator."""

    def __init__(self, case: Case, cases: CaseSet, version: str | None) -> None:
        operator = cases.operators[case.operator]
        _require_version(case, version)
        self._case, self._spec, self._kind = case, cases.tolerances, KINDS[operator.kind]
        self._function = _resolve(operator)
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


def make_unit(what: Case | Script, cases: CaseSet, version: str | None) -> Unit:
    return ScriptUnit(what) if isinstance(what, Script) else OperatorUnit(what, cases, version)


def _require_version(case: Case, version: str | None) -> None:
    from packaging.version import Version

    if case.since is not None and version is not None and Version(version) < Version(case.since):
        raise NotHereError(f"needs release {case.since} or later, this is {version}")


def _resolve(operator: Operator) -> Callable[..., Any]:
    """The function under the first of its names that this release has."""
    for name in operator.callables:
        module, _, attribute = name.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise  # the module is there, something that it needs is not
        except AttributeError:
            continue
    raise NotHereError(f"this release has no {' or '.join(operator.callables)}")


def _names(function: Callable[..., Any], operator: Operator, values: Mapping[str, Any]) -> dict[str, str]:
    """role -> the name that this release's function takes it under."""
    names: dict[str, str] = {}
    for role in (r for r in values if not r.startswith("grad_")):
        candidates = operator.parameters.get(role, (role,))
        found = next((name for name in candidates if _accepts(function, name)), None)
        if found is None:
            raise NotHereError(f"{operator.name} of this release takes no {' or '.join(candidates)}")
        names[role] = found
    required = {n for n, p in inspect.signature(function).parameters.items() if _required(p)}
    if missing := required - set(names.values()):
        raise NotHereError(f"{operator.name} of this release requires {', '.join(sorted(missing))}")
    return names


def _required(parameter: inspect.Parameter) -> bool:
    plain = parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return plain and parameter.default is inspect.Parameter.empty


def _accepts(function: Callable[..., Any], name: str) -> bool:
    """Named in the signature, or taken out of **kwargs by name: an unknown keyword would be swallowed
    silently."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.name == name for p in parameters):
        return True
    swallows = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return swallows and name in inspect.unwrap(function).__code__.co_consts


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
