"""Records every launch as the run time would make it, and executes none.

Part of the capture worker: runs inside the toolchain's environment, which has no tritonport.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

_Options = tuple[dict[str, Any], dict[str, Any]]


@dataclass
class Unit:
    """One distinct specialisation of a kernel: what the compiler is asked to compile."""

    key: str
    jit: Any
    signature: dict[str, str]
    constants: dict[str, Any]
    attrs: Any
    options: dict[str, Any]
    unknown_options: dict[str, Any]


@dataclass
class Recorder:
    """units: by key, in order of first launch. launches: of the case that runs now.

    variants: by kernel, sets of tile sizes that each launch is recorded with too; tried: those of the case.
    """

    units: dict[str, Unit] = field(default_factory=dict)
    launches: list[dict[str, Any]] = field(default_factory=list)
    variants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tried: list[dict[str, Any]] = field(default_factory=list)

    def record(self, jit: Any, args: tuple[Any, ...], grid: Any, kwargs: dict[str, Any]) -> None:
        """Mirrors JITFunction.run of triton-ascend 3.2.0 up to its call of the compiler."""
        # by name: the triton that a type checker sees is another version
        driver: Any = importlib.import_module("triton.runtime.driver").driver
        make_backend: Any = importlib.import_module("triton.compiler.compiler").make_backend
        backend = make_backend(driver.active.get_current_target())
        if not jit.binder:
            jit.create_binder(backend)
        kwargs = {"debug": False, **kwargs, **(getattr(jit, "bishengir_option", None) or {})}
        bound, spec, _, _, excess = jit.binder(*args, **kwargs)
        options = dict(backend.parse_options(kwargs).__dict__)
        unknown = {key: kwargs[key] for key in excess if key not in options}
        values = tuple(bound.values())
        attrs = backend.get_attrs_descriptor(jit.params, values)
        unit = self._unit(jit, spec, values, attrs, asked=(options, unknown))
        name = kernel_name(jit)
        self.launches.append({"kernel": name, "unit": unit.key, "grid": _grid(grid, bound)})
        for number, tiles in enumerate(self.variants.get(name, ())):
            sizes = {key: _tile(bound[size], limit) for key, (size, limit) in tiles.items()}
            changed = tuple(sizes.get(key, value) for key, value in bound.items())
            tried = self._unit(jit, spec, changed, attrs, asked=(options, unknown))
            self.tried.append({"kernel": name, "variant": number, "unit": tried.key})

    def _unit(self, jit: Any, spec: Any, values: tuple[Any, ...], attrs: Any, *, asked: _Options) -> Unit:
        """asked: the options that the compiler knows, and the others of the launch."""
        options, unknown = asked
        names = [jit.params[i].name for i in jit.non_constexpr_indices]
        # `None` is a null pointer: a constant, with any pointer type
        signature = {name: "*i8" if kind == "none" else kind for name, kind in zip(names, spec, strict=False)}
        fixed = attrs.get_constants()
        constants = {
            param.name: value
            for param, value in zip(jit.params, values, strict=True)
            if param.is_constexpr or param.num in fixed or value is None
        }
        identity = repr((kernel_name(jit), signature, constants, attrs.to_dict(), options, unknown))
        key = hashlib.sha256(identity.encode()).hexdigest()[:16]
        return self.units.setdefault(key, Unit(key, jit, signature, constants, attrs, options, unknown))


def _tile(size: int, limit: int) -> int:
    """As `tile` of the emitted run-time module."""
    return min(max(1 << (max(size, 1) - 1).bit_length(), 16), limit)


def kernel_name(jit: Any) -> str:
    return f"{jit.fn.__module__}:{jit.fn.__qualname__}"


def first_line(jit: Any) -> int:
    """Line of the kernel's `def`; the decorators stand above it."""
    lines, start = inspect.getsourcelines(jit.fn)
    return start + next((i for i, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)


def _grid(grid: Any, bound: dict[str, Any]) -> list[int]:
    sizes = cast("Sequence[Any]", grid(bound) if callable(grid) else grid)
    return [int(size) for size in (*sizes, 1, 1)[:3]]


@contextmanager
def capturing(recorder: Recorder) -> Generator[None, None, None]:
    """While it holds, every `kernel[grid](...)` is recorded and returns at once."""
    JITFunction: Any = importlib.import_module("triton.runtime.jit").JITFunction  # noqa: N806

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        recorder.record(self, args, grid, kwargs)

    original = JITFunction.run
    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = original
