"""A kernel's fingerprint: one digest over its normalized source and that of the jit functions it calls.

Normalized means the syntax tree without comments, layout, docstrings, quotes and the function's own name. Formatting
does not change it, and neither does the version of Python that reads it; any other edit does.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction, reached

# Position in an expression, and what only some Pythons write down.
_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def fingerprints(analysis: Analysis) -> dict[str, str]:
    """`sha256:...` by kernel (`module:function`), for every kernel that is an ordinary jit function."""
    own: dict[str, str] = {key: _digest(function) for key, function in analysis.functions.items()}
    names = (kernel.name for kernel in analysis.discovery.kernels if kernel.name in analysis.functions)
    return {name: _joined(name, analysis, own) for name in names}


def _joined(name: str, analysis: Analysis, own: dict[str, str]) -> str:
    called = sorted(own[f.key] for f in reached(analysis.functions, name) if f.key != name)
    return "sha256:" + hashlib.sha256("\n".join([own[name], *called]).encode()).hexdigest()


def _digest(function: JitFunction) -> str:
    node = function.definition.node
    parts = (
        part for name, value in ast.iter_fields(node) if name != "name" for part in _value(name, value, node)
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def normal_form(node: ast.AST) -> Iterator[str]:
    """The parts of a syntax tree in order; empty fields are left out, so that a newer Python's fields do not count."""
    yield f"({type(node).__name__}"
    for name, value in ast.iter_fields(node):
        yield from _value(name, value, node)
    yield ")"


def _value(name: str, value: object, owner: ast.AST) -> Iterator[str]:
    if name in _SKIPPED or (value is None and not isinstance(owner, ast.Constant)) or value == []:
        return
    yield name
    if isinstance(value, ast.AST):
        yield from normal_form(value)
    elif isinstance(value, list):
        items: list[object] = value
        for item in items[1:] if name == "body" and _is_docstring(items[0]) else items:
            yield from normal_form(item) if isinstance(item, ast.AST) else (repr(item),)
        yield ";"
    else:
        yield f"{type(value).__name__} {value!r}"


def _is_docstring(statement: object) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
