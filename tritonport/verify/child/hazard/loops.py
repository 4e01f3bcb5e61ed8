"""A dot accumulator of a loop that never runs: on Ascend A2 and A3 it holds whatever was there (triton-ascend
pull request 2254). Here such an accumulator becomes NaN, so that a result that does not mask it shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from tritonport.verify.child.hazard.monitor import Monitor
from tritonport.verify.child.shims.untyped import interp, tl

_LOOP, _SETTLE = "_tritonport_loop", "_tritonport_settle"


class _Trips:
    """Iterates a range and remembers whether it ran; runtime: whether its bounds are known only at run
    time."""

    def __init__(self, values: Any, runtime: bool) -> None:
        self._values = values
        self.runtime = runtime
        self.ran = False

    def __iter__(self) -> Iterator[Any]:
        for value in self._values:
            self.ran = True
            yield value


def install() -> None:
    """On top of the shims' transformer, which makes loop variables tensors."""
    base: Any = interp.ASTTransformer

    class Transformer(base):
        def visit_For(self, node: ast.For) -> Any:
            sums = _dot_sums(node) if _is_plain_range(node.iter) else set[str]()
            pure = {name: _only_summed(node, name) for name in sorted(sums)}
            done = super().visit_For(node)
            return _guarded(done, pure) if pure else done

    setattr(interp, _LOOP, _loop)
    setattr(interp, _SETTLE, _settle)
    interp.ASTTransformer = Transformer
    interp.FunctionRewriter.ast_transformer = Transformer()


def _is_plain_range(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
    return (
        name == "range"
        and isinstance(node, ast.Call)
        and not any(isinstance(a, ast.Starred) for a in node.args)
    )


def _dot_sums(loop: ast.For) -> set[str]:
    """Names that a statement of the loop sets from themselves and a dot."""
    names: set[str] = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and _has_dot(node.value):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _has_dot(node.value):
            target = node.targets[0].id
            if any(isinstance(n, ast.Name) and n.id == target for n in ast.walk(node.value)):
                names.add(target)
    return names


def _only_summed(loop: ast.For, name: str) -> bool:
    """Whether the loop does nothing with an accumulator but add products. One that it reads, scales or stores is
    a tile of its own before the loop, and not the product's first addend alone."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and node.id == name and not _in_sum(loop, node):
            return False
    return True


def _in_sum(loop: ast.For, name: ast.Name) -> bool:
    """Whether a name stands where its own sum does: as target, or once in the value with the product."""
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and _has_dot(node.value) and node.target is name:
            return True
        if isinstance(node, ast.Assign) and _has_dot(node.value) and any(n is name for n in ast.walk(node)):
            target = node.targets[0]
            return isinstance(target, ast.Name) and target.id == name.id
    return False


def _has_dot(value: ast.expr) -> bool:
    calls = (n.func for n in ast.walk(value) if isinstance(n, ast.Call))
    return any((f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")) == "dot" for f in calls)


def _guarded(loop: ast.For, pure: dict[str, bool]) -> list[ast.stmt]:
    """`trips = _loop(args...)`, the loop over it, and each sum settled by it afterwards."""
    trips = f"_tritonport_trips_{loop.lineno}"
    call = loop.iter
    assert isinstance(call, ast.Call)
    start = ast.Assign(targets=[ast.Name(trips, ast.Store())], value=_call(_LOOP, *call.args))
    loop.iter = ast.Name(trips, ast.Load())
    settle = [_settled(trips, name, only) for name, only in pure.items()]
    new: list[ast.stmt] = [start, loop, *settle]
    for statement in (start, *settle):
        ast.copy_location(statement, loop)
        ast.fix_missing_locations(statement)
    return new


def _settled(trips: str, name: str, pure: bool) -> ast.Try:
    """A sum of a branch that the constants leave out has no value to settle."""
    call = _call(_SETTLE, ast.Name(trips, ast.Load()), ast.Name(name, ast.Load()), ast.Constant(pure))
    unbound = ast.ExceptHandler(type=ast.Name("NameError", ast.Load()), name=None, body=[ast.Pass()])
    assign = ast.Assign(targets=[ast.Name(name, ast.Store())], value=call)
    return ast.Try(body=[assign], handlers=[unbound], orelse=[], finalbody=[])


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(name, ast.Load()), args=list(args), keywords=[])


def _loop(*bounds: Any) -> _Trips:
    runtime = any(isinstance(bound, tl.tensor) for bound in bounds)
    return _Trips(range(*(index(bound) for bound in bounds)), runtime)


def _settle(trips: _Trips, value: Any, pure: bool) -> Any:
    """NaN for a sum whose loop did not run although the compiler could not know that, if it was zero before: zeros
    alone are left to the first product to set up."""
    monitor = Monitor.current
    if monitor is None or trips.ran or not trips.runtime or not value.dtype.is_floating():
        return value
    handle = value.handle
    pure = pure and not np.asarray(handle.data).any()
    monitor.never_summed(pure=pure)
    if not pure:
        return value
    fill = np.full_like(handle.data, 0x7FC0 if handle.dtype.scalar == tl.bfloat16 else np.nan)
    return tl.tensor(interp.TensorHandle(fill, handle.dtype), value.type)
