"""The least that Triton's interpreter needs to run kernels on a CPU, and a log of what was launched.

This is the tests' own, independent of the product's: tests compare the product with what originals do here.
Call `install()` before anything imports triton. With CASE_PROGRAMS=0,7 in the environment only those programs
of each launch run, and its grid must be one-dimensional. It does not make bfloat16 right; tests use float32.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("TRITON_INTERPRET", "1")

import numpy as np


@dataclass(frozen=True)
class Launched:
    """One launch: the kernel's function name, its module, and its grid filled up to three axes."""

    kernel: str
    module: str
    grid: tuple[int, int, int]

    @property
    def programs(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


_LOG: list[Launched] = []
_installed: list[str] = []
_patched: set[Any] = set()
"""Functions whose builtins are patched in the launch that runs now."""


@contextlib.contextmanager
def launches() -> Any:
    """Everything that is launched inside the block, in order."""
    start = len(_LOG)
    seen: list[Launched] = []
    try:
        yield seen
    finally:
        seen.extend(_LOG[start:])


def install() -> None:
    if _installed:
        return
    _installed.append("done")
    _stub_device()
    _first_config()
    _tensor_loop_variables()
    _captured_builtins()
    _patch_once_per_launch()
    _products_by_value()
    _count_launches()


class _NoDevice(contextlib.AbstractContextManager[None]):
    """Stands for torch.cuda.device(index) and torch.cpu.device(index)."""

    def __init__(self, index: object = None) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        return None


def _stub_device() -> None:
    import torch

    if not hasattr(torch.cpu, "device"):
        torch.cpu.device = _NoDevice  # type: ignore[attr-defined]
    if not torch.cuda.is_available():
        torch.cuda.device = _NoDevice  # type: ignore[misc,assignment]
        # Libraries ask for the number of devices before they build their lists of configurations.
        torch.cuda.device_count = lambda: 1


def _first_config() -> None:
    """No benchmarks without a device: prune as usual, then take the first configuration."""
    from triton.runtime.autotuner import Autotuner

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        config = (self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs)[0]
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        try:
            return self.fn.run(*args, **{**config.all_kwargs(), **kwargs})
        finally:
            self.nargs = None

    Autotuner.run = run


def _tensor_loop_variables() -> None:
    """The compiler makes the variable of `range` an int32 tensor; the interpreter leaves a Python int."""
    import triton.language as tl
    import triton.runtime.interpreter as it

    class Transformer(it.ASTTransformer):
        def visit_For(self, node: ast.For) -> ast.For:
            self.generic_visit(node)
            called = node.iter.func if isinstance(node.iter, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "range" and isinstance(node.target, ast.Name):
                line = f"{node.target.id} = _support_loop_variable({node.target.id})"
                node.body.insert(0, ast.parse(line).body[0])
            return node

    def loop_variable(value: Any) -> Any:
        handle = it.TensorHandle(np.array([int(value)], dtype=np.int32), tl.int32)
        return tl.tensor(handle, tl.int32)

    # The rewriter copies the interpreter module's globals into the kernel's module.
    it._support_loop_variable = loop_variable  # type: ignore[attr-defined]
    it.FunctionRewriter.ast_transformer = Transformer()


def _products_by_value() -> None:
    """BLAS adds up a transposed view in another order than a copy of it; the compiler has no such views."""
    import triton.runtime.interpreter as it

    plain = it.InterpreterBuilder.create_dot

    def copied(handle: Any) -> Any:
        return it.TensorHandle(np.array(handle.data, order="C"), handle.dtype)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return plain(self, copied(a), copied(b), *rest)

    it.InterpreterBuilder.create_dot = create_dot  # type: ignore[method-assign]


def _captured_builtins() -> None:
    """`exp = tl.exp` at module level keeps a builtin that the interpreter patches only in triton.language."""
    import sys

    import triton.language as tl
    import triton.runtime.interpreter as it

    plain = it._patch_lang

    def patch(fn: Any) -> Any:
        scope = plain(fn)
        module = sys.modules.get(fn.__module__)
        if module is not None and module.__dict__ is fn.__globals__:
            for name, value in list(fn.__globals__.items()):
                if callable(value) and not isinstance(value, type(sys)) and tl.core.is_builtin(value):
                    it._patch_attr(module, name, value, it.interpreter_builder, scope)
        return scope

    it._patch_lang = patch


def _patch_once_per_launch() -> None:
    """Every call of a jit helper patches triton.language anew, which costs more than most helpers do."""
    import triton.runtime.interpreter as it

    plain = it._patch_lang

    def patch(fn: Any) -> Any:
        if fn in _patched:
            return _NothingToRestore()
        _patched.add(fn)
        return plain(fn)

    it._patch_lang = patch


class _NothingToRestore:
    def restore(self) -> None:
        pass


def _count_launches() -> None:
    """The one point that heuristics, autotuner and plain launches all pass."""
    import triton.runtime.interpreter as it

    plain = it.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if callable(self.grid):
            self.grid = self.grid(_bound(self, args, kwargs))
        full = (*(int(n) for n in self.grid), 1, 1)[:3]
        _patched.clear()
        _LOG.append(Launched(self.fn.__name__, self.fn.__module__, full))
        some = os.environ.get("CASE_PROGRAMS")
        if some is None:
            return plain(self, *args, **kwargs)
        return _run_programs(self, [int(x) for x in some.split(",")], full, _bound(self, args, kwargs))

    it.GridExecutor.__call__ = call


def _bound(executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, launch options left out."""
    known = inspect.getfullargspec(executor.fn).args
    return inspect.getcallargs(executor.fn, *args, **{k: v for k, v in kwargs.items() if k in known})


def _run_programs(executor: Any, some: list[int], grid: tuple[int, int, int], bound: dict[str, Any]) -> None:
    """Run only some programs of a launch, where the whole launch would take minutes."""
    import triton.runtime.interpreter as it

    scope = it._patch_lang(executor.fn)
    try:
        given = {n: v if n in executor.constexprs else it._implicit_cvt(v) for n, v in bound.items()}
        it.interpreter_builder.set_grid_dim(*grid)
        for program in some:
            it.interpreter_builder.set_grid_idx(program, 0, 0)
            executor.fn(**given)
    finally:
        scope.restore()
