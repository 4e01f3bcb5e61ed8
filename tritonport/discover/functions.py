"""The jit functions of a closure: which are decorated, what they call, what they use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonport.discover.index import Definition, FunctionNode, Index, Meaning, Value

JIT = frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit"})
DOTS = frozenset({"triton.language.dot", "triton.language.dot_scaled"})
PROGRAM_ID = "triton.language.program_id"
NUM_PROGRAMS = "triton.language.num_programs"


@dataclass
class JitFunction:
    """One `@triton.jit` function. calls: keys of the jit functions that it calls."""

    definition: Definition
    calls: set[str] = field(default_factory=set[str])
    uses_dot: bool = False
    uses_program: bool = False
    """Whether its own body asks for a program id or the number of programs."""
    gives_value: bool = False
    """Whether it returns something: then it is called by kernels, and no kernel itself."""

    @property
    def key(self) -> str:
        return self.definition.key

    @property
    def parameters(self) -> tuple[str, ...]:
        node = self.definition.node
        return () if isinstance(node, ast.ClassDef) else parameters(node)


def is_jit_decorator(index: Index, module: str, decorator: ast.expr) -> bool:
    """`@triton.jit` and `@triton.jit(...)`, under whatever name it was imported."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return any(name in JIT for name in index.externals(module, target))


def is_tuned(index: Index, function: JitFunction) -> bool:
    """Whether something stands between a launch and the kernel that may add arguments (autotune, heuristics)."""
    definition = function.definition
    return any(not is_jit_decorator(index, definition.module, d) for d in definition.node.decorator_list)


def _functions(index: Index) -> Iterator[Definition]:
    for found in index.definitions:
        if isinstance(found.node, ast.ClassDef):
            for node in found.node.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield Definition(found.module, node, owner=found.node.name)
        else:
            yield found


def jit_functions(index: Index) -> dict[str, JitFunction]:
    """Every jit function of the closure by key, with its calls among them."""
    found = {
        d.key: JitFunction(d)
        for d in _functions(index)
        if any(is_jit_decorator(index, d.module, x) for x in d.node.decorator_list)
    }
    for function in found.values():
        _read_body(index, found, function)
    return found


def _read_body(index: Index, known: dict[str, JitFunction], function: JitFunction) -> None:
    module = function.definition.module
    for node in ast.walk(function.definition.node):
        if isinstance(node, ast.Return) and node.value is not None:
            none = isinstance(node.value, ast.Constant) and node.value.value is None
            function.gives_value |= not none
        if not isinstance(node, ast.Call):
            continue
        externals = set(index.externals(module, node.func))
        function.uses_dot |= bool(externals & DOTS)
        function.uses_program |= bool(externals & {PROGRAM_ID, NUM_PROGRAMS})
        for meaning in jit_meanings(index, known, module, node.func):
            function.calls.add(meaning)


def jit_meanings(index: Index, known: dict[str, JitFunction], module: str, expr: ast.expr) -> tuple[str, ...]:
    """Keys of the jit functions that a dotted expression may stand for."""
    return tuple(dict.fromkeys(_jit_meanings(index, known, index.meanings(module, expr), 0)))


def _jit_meanings(
    index: Index, known: dict[str, JitFunction], meanings: tuple[Meaning, ...], depth: int
) -> Iterator[str]:
    for meaning in meanings:
        if isinstance(meaning, Definition) and meaning.key in known:
            yield meaning.key
        elif isinstance(meaning, Value) and depth < 8:
            for name in _aliased(meaning.expr):
                yield from _jit_meanings(index, known, index.meanings(meaning.module, name), depth + 1)


def _aliased(expr: ast.expr) -> Iterator[ast.expr]:
    """The names that an expression may hand on: unchanged, decorated (`triton.autotune(...)(kernel)`), in a table."""
    if isinstance(expr, ast.Name | ast.Attribute):
        yield expr
    elif isinstance(expr, ast.IfExp):
        yield from _aliased(expr.body)
        yield from _aliased(expr.orelse)
    elif isinstance(expr, ast.Call | ast.Dict | ast.Tuple | ast.List):
        parts = (
            expr.args
            if isinstance(expr, ast.Call)
            else expr.values
            if isinstance(expr, ast.Dict)
            else expr.elts
        )
        for part in parts:
            yield from _aliased(part)


def reached(functions: dict[str, JitFunction], key: str) -> Iterator[JitFunction]:
    """A jit function and every jit function that it calls, directly or through others."""
    todo, seen = [key], {key}
    while todo:
        function = functions[todo.pop()]
        yield function
        for call in sorted(function.calls - seen):
            seen.add(call)
            todo.append(call)


def called_by_jit(functions: dict[str, JitFunction]) -> frozenset[str]:
    return frozenset(call for function in functions.values() for call in function.calls)


def parameters(node: FunctionNode) -> tuple[str, ...]:
    """Parameter names in order, positional and keyword-only."""
    args = node.args
    return tuple(a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs])
