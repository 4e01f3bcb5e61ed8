"""Runs the host code of one case on CPU tensors of real size. Values do not matter: no kernel runs.

Part of the capture worker: runs inside the toolchain's environment, which has no tritonport.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = dict[str, Any]


def run(case: Case) -> list[str]:
    """Runs one case; returns notes (a function that this release does not have)."""
    return {"operator": _operator, "functions": _functions, "module": _module}[case["kind"]](case)


def _dtype(case: Case, kind: str) -> Any:
    """A kind of number that the case declares (`gate`), or a torch dtype's name."""
    import torch

    return getattr(torch, case["dtypes"].get(kind, kind))


def _size(term: Any, sizes: dict[str, int]) -> int:
    """One axis: a number, a name of the case's sizes, or a product of them (`B*NT`)."""
    return math.prod(int(part) if part.isdigit() else sizes[part] for part in str(term).split("*"))


def make_arguments(case: Case, *, grad: bool) -> dict[str, Any]:
    """Every tensor and value that the case declares, by the name of the host parameter that takes it."""
    import torch

    made: dict[str, Any] = {}
    for name, value in case.get("values", {}).items():
        made[name] = _dtype(case, value) if name.endswith("dtype") else value
    for name, (kind, *shape) in case["tensors"].items():
        dtype = _dtype(case, kind)
        tensor = torch.zeros(*(_size(term, case["sizes"]) for term in shape), dtype=dtype)
        wanted = grad and dtype.is_floating_point and name not in case.get("constant", ())
        made[name] = tensor.requires_grad_(wanted)
    made.update(dict.fromkeys(case.get("nothing", ())))
    if case.get("cu_seqlens"):
        made["cu_seqlens"] = torch.tensor(case["cu_seqlens"], dtype=torch.int64)
    return made


def _load(place: str) -> Callable[..., Any] | None:
    """`module:function`, or None where this release does not have it."""
    module_name, _, name = place.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        return None
    return getattr(module, name, None)


def accepted(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given arguments that the function names. TypeError when it needs others."""
    signature = inspect.signature(inspect.unwrap(function))
    missing = [
        p.name
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name not in given
    ]
    if missing:
        raise TypeError(f"{function.__name__} needs {', '.join(missing)}, which the case does not declare")
    return {name: value for name, value in given.items() if name in signature.parameters}


def _operator(case: Case) -> list[str]:
    """Forward, and backward through autograd, of one public operator."""
    operator = case["operator"]
    places = [operator] if isinstance(operator, str) else operator
    function = next((found for found in map(_load, places) if found is not None), None)
    if function is None:
        return [f"no {' or '.join(places)} in this release"]
    backward = case.get("backward", False)
    given = make_arguments(case, grad=backward)
    arguments = accepted(function, given)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in _parameters(function)):
        arguments.update({name: given[name] for name in case.get("extra", []) if name in given})
    missing = [name for name in case.get("requires", []) if name not in arguments]
    if missing:
        return [f"{places[0]} does not take {', '.join(missing)} in this release"]
    outputs = function(**arguments)
    if backward:
        _backward(outputs)
    return []


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(inspect.unwrap(function)).parameters.values())


def _backward(outputs: Any) -> None:
    import torch

    flat = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    roots = [item for item in flat if isinstance(item, torch.Tensor) and item.requires_grad]
    torch.autograd.backward(roots, [torch.zeros_like(root) for root in roots])


def _functions(case: Case) -> list[str]:
    """Host functions that no operator of this release calls, each by itself; `call` lists its places by release."""
    notes: list[str] = []
    for part in case["functions"]:
        function = next((found for found in map(_load, part["call"]) if found is not None), None)
        if function is None:
            notes.append(f"no {' or '.join(part['call'])} in this release")
            continue
        given = {name: {**case.get(name, {}), **part.get(name, {})} for name in ("tensors", "values")}
        function(**accepted(function, make_arguments({**case, **given}, grad=False)))
    return notes


def _module(case: Case) -> list[str]:
    """A module of the user: `launch(**make_inputs(device))`."""
    module = _import(case)
    inputs = getattr(module, case["inputs"])(device="cpu")
    module.launch(**inputs)
    return []


def _import(case: Case) -> Any:
    if case.get("module"):
        return importlib.import_module(case["module"])
    path = Path(case["path"])
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]  # else the next import would find half a module, and blame what it lacks
        raise
    return module


def module_inputs(path: str, module: str | None = None) -> list[str]:
    """Names of a module's `make_*inputs` functions; none if it has no `launch`."""
    loaded = _import({"path": path, "module": module})
    if not callable(getattr(loaded, "launch", None)):
        return []
    names = (name for name in vars(loaded) if name.startswith("make_") and name.endswith("inputs"))
    return [name for name in names if callable(getattr(loaded, name))]
