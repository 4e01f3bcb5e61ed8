"""Shims that change no value, only time."""

from __future__ import annotations

import inspect
from typing import Any

from tritonport.verify.child.shims.untyped import interp, tl


def remember_builtins() -> None:
    """Every call of a `@triton.jit` helper scans all of triton.language again, a third of the run time."""
    found: dict[Any, list[tuple[str, Any]]] = {}

    def patch_builtin(package: Any, builder: Any, *scope: Any) -> None:
        if package not in found:
            found[package] = [(n, m) for n, m in inspect.getmembers(package) if tl.core.is_builtin(m)]
        for name, member in found[package]:
            if getattr(package, name) is member:
                interp._patch_attr(package, name, member, builder, *scope)

    interp._patch_builtin = patch_builtin


def patch_once_per_launch() -> None:
    """Every call of a `@triton.jit` helper also patches the language again, which is patched already for the
    rest of the launch. A migrated kernel is one such call per task."""
    patched: set[int] = set()
    stock = interp.GridExecutor.__call__

    def launch(self: Any, *args: Any, **kwargs: Any) -> Any:
        patched.clear()
        try:
            return stock(self, *args, **kwargs)
        finally:
            patched.clear()  # the launch takes its patches back

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        names = id(self.fn.__globals__)
        if names not in patched:
            interp._patch_lang(self.fn)
            patched.add(names)
        function = self.rewrite()
        try:
            return function(*args, **kwargs)
        except interp.InterpreterError:
            raise
        except Exception as error:
            raise interp.InterpreterError(repr(error)) from error

    interp.GridExecutor.__call__ = launch
    interp.InterpretedFunction.__call__ = call


SHIMS = (remember_builtins, patch_once_per_launch)
