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


SHIMS = (remember_builtins,)
