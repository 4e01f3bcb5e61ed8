"""Tiles that a tuner chooses: which keys its configurations have, and the decorator that chooses instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from tritonport.discover.functions import JIT
from tritonport.discover.index import Value
from tritonport.engine.context import FileContext, JitNode
from tritonport.facts.walk import find
from tritonport.passes._build import call, quote, runtime_name
from tritonport.passes._host_tile import numbers_in
from tritonport.passes.launch_options import CONFIG

WITHOUT = "without_tiles"
_CONFIGS = "configs"
_HEURISTICS = ("triton.heuristics", "triton.runtime.heuristics", "triton.runtime.autotuner.heuristics")


class Tuner:
    """The tuner of one kernel, if it has one."""

    def __init__(self, file: FileContext, jit: JitNode) -> None:
        self.file, self.jit = file, jit
        self.module = jit.function.definition.module
        self.keys: dict[str, set[int]] = {}
        for decorator in jit.function.definition.node.decorator_list:
            if isinstance(decorator, ast.Call):
                for found in self._expressions(decorator, 0):
                    self._read(found)

    def chosen(self) -> frozenset[str]:
        """Keys that a heuristic chooses, whatever the configurations say."""
        return frozenset(
            key.evaluated_value
            for decorator in self.jit.node.decorators
            if self.file.is_call_of(decorator.decorator, *_HEURISTICS)
            for table in find(decorator.decorator, cst.Dict)
            for element in table.elements
            for key in [getattr(element, "key", None)]
            if isinstance(key, cst.SimpleString) and isinstance(key.evaluated_value, str)
        )

    def _expressions(self, node: ast.AST, depth: int) -> Iterator[ast.AST]:
        """The expression, and those behind the module-level names in it."""
        yield node
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and depth < 4:
                for meaning in self.file.analysis.index.resolve(self.module, name.id):
                    if isinstance(meaning, Value):
                        yield from self._expressions(meaning.expr, depth + 1)

    def _read(self, node: ast.AST) -> None:
        iterated = {
            name.id: generator.iter
            for part in ast.walk(node)
            if isinstance(part, ast.comprehension)
            for generator in [part]
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        for config in ast.walk(node):
            if isinstance(config, ast.Call) and self._is_config(config):
                keys = config.args[0] if config.args else None
                if isinstance(keys, ast.Dict):
                    for key, value in zip(keys.keys, keys.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            numbers = self.keys.setdefault(key.value, set())
                            numbers |= self._numbers(value, iterated)

    def _is_config(self, node: ast.Call) -> bool:
        return bool(CONFIG & set(self.file.analysis.index.externals(self.module, node.func)))

    def _numbers(self, value: ast.expr, iterated: dict[str, ast.expr]) -> set[int]:
        source = iterated.get(value.id, value) if isinstance(value, ast.Name) else value
        return {n for part in self._expressions(source, 0) for n in numbers_in(part)}

    def decorator(self) -> cst.Decorator | None:
        """The decorator with the configurations in this tree."""
        for decorator in self.jit.node.decorators:
            if isinstance(decorator.decorator, cst.Call) and self._argument(decorator.decorator) is not None:
                return decorator
        return None

    def _argument(self, node: cst.Call) -> cst.Arg | None:
        named = [a for a in node.args if a.keyword is not None and a.keyword.value == _CONFIGS]
        if named:
            return named[0]
        is_tuner = self.file.is_call_of(node, "triton.autotune", "triton.runtime.autotune")
        return node.args[0] if is_tuner and node.args and not node.args[0].star else None

    def without(self, updated: cst.CSTNode, names: list[str]) -> cst.Decorator:
        """The tuner's decorator with configurations that no longer have these keys."""
        decorator = cst.ensure_type(updated, cst.Decorator)
        node = cst.ensure_type(decorator.decorator, cst.Call)
        old = self._argument(node)
        assert old is not None, "found before the edit"
        mark = quote(self.file)
        keys = [cst.Arg(cst.parse_expression(f"{mark}{name}{mark}")) for name in names]
        new = old.with_changes(value=call(runtime_name(self.file, WITHOUT), [cst.Arg(old.value), *keys]))
        return decorator.with_changes(
            decorator=node.with_changes(args=[new if arg is old else arg for arg in node.args])
        )


def jit_decorator(file: FileContext, node: cst.FunctionDef) -> cst.Decorator:
    """The decorator that makes a function a kernel: the tiles are chosen right above it, so nothing overrides them."""
    for decorator in node.decorators:
        target = decorator.decorator
        if not JIT.isdisjoint(file.externals(target.func if isinstance(target, cst.Call) else target)):
            return decorator
    raise AssertionError("a kernel without a jit decorator")


def chosen_above(
    file: FileContext, updated: cst.CSTNode, values: dict[str, str]
) -> cst.FlattenSentinel[cst.CSTNode]:
    """A heuristics decorator with these keys above the jit decorator."""
    decorator = cst.ensure_type(updated, cst.Decorator)
    triton = file.analysis.index.local_name(file.module.name, "triton") or "triton"
    mark = quote(file)
    lines = "".join(f"    {mark}{name}{mark}: lambda args: {text},\n" for name, text in values.items())
    parsed = cst.parse_module(f"@{triton}.heuristics({{\n{lines}}})\ndef f(): pass\n").body[0]
    new = cst.ensure_type(parsed, cst.FunctionDef).decorators[0]
    return cst.FlattenSentinel(
        [
            new.with_changes(leading_lines=decorator.leading_lines),
            decorator.with_changes(leading_lines=[]),
        ]
    )
