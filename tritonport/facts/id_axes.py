"""The axis of a `program_id` or `num_programs` call: a constant, or a helper's constexpr that is one constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction, jit_meanings, parameters


def axis_of(call: ast.AST) -> int | None:
    """The constant axis of a `program_id` or `num_programs` call, None where it is not a constant in 0..2."""
    argument = _argument(call)
    return _literal(argument) if argument is not None else None


def axis_in(analysis: Analysis, function: JitFunction, call: ast.AST) -> int | None:
    """The axis in a call of this function; also `AX` of a helper to which every call hands the same constant."""
    argument = _argument(call)
    if not isinstance(argument, ast.Name):
        return axis_of(call)
    node = function.definition.node
    if isinstance(node, ast.ClassDef) or argument.id not in parameters(node) or _assigned(node, argument.id):
        return None
    if any(function.key in site.kernels for site in analysis.sites):
        return None
    found = {_passed(given, node.args, argument.id) for given in _calls_of(analysis, function.key)}
    return found.pop() if len(found) == 1 else None


def _argument(call: ast.AST) -> ast.expr | None:
    if not isinstance(call, ast.Call):
        return None
    args = [*call.args, *(k.value for k in call.keywords if k.arg == "axis")]
    return args[0] if len(args) == 1 else None


def _literal(node: ast.expr) -> int | None:
    return int(node.value) if isinstance(node, ast.Constant) and node.value in (0, 1, 2) else None


def _assigned(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in ast.walk(node)
    )


def _calls_of(analysis: Analysis, key: str) -> Iterator[ast.Call]:
    """Every call in device code of what may be this function."""
    for function in analysis.functions.values():
        if key in function.calls:
            for node in ast.walk(function.definition.node):
                if isinstance(node, ast.Call):
                    module = function.definition.module
                    if key in jit_meanings(analysis.index, analysis.functions, module, node.func):
                        yield node


def _passed(call: ast.Call, args: ast.arguments, name: str) -> int | None:
    """The constant that a call gives to a parameter, by name, place or default."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    given = next((k.value for k in call.keywords if k.arg == name), None)
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    if given is None and name in names:
        at = names.index(name)
        defaults = [None] * (len(names) - len(args.defaults)) + list(args.defaults)
        given = call.args[at] if at < len(call.args) else defaults[at]
    return _literal(given) if given is not None else None
