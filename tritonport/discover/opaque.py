"""Kernels that the rules cannot take: made inside a function, or by a call of `triton.jit` instead of a decorator.

They are listed, so that a run never ends well with a kernel that nobody looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonport.discover.functions import JitFunction, is_jit_decorator
from tritonport.discover.index import Definition, FunctionNode, Index

NESTED = "the kernel is defined inside {outer}: move it to the top level of its module"
CALLED = "`{text}` makes the kernel: decorate the function with @triton.jit instead"


@dataclass(frozen=True)
class OpaqueKernel:
    """name: qualified name in its module. unit: key of the top-level function or class that it is part of, if any."""

    module: str
    name: str
    unit: str | None
    node: ast.expr | FunctionNode
    why: str

    @property
    def key(self) -> str:
        return f"{self.module}:{self.name}"


def opaque_kernels(index: Index, functions: dict[str, JitFunction]) -> tuple[OpaqueKernel, ...]:
    """Every such kernel of the closure, in module and source order."""
    return tuple(
        found
        for name, module in index.modules.items()
        for found in _Finder(index, name, frozenset(functions)).below(module.tree, ())
    )


class _Finder:
    def __init__(self, index: Index, module: str, known: frozenset[str]) -> None:
        self.index, self.module, self.known = index, module, known

    def below(self, node: ast.AST, outer: tuple[str, ...]) -> Iterator[OpaqueKernel]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if not self._jit(child):
                    yield from self.below(child, (*outer, child.name))
                elif not self._known((*outer, child.name)) and not self._helper(child, node):
                    why = NESTED.format(outer=f"`{'.'.join(outer)}`" if outer else "a statement")
                    yield OpaqueKernel(
                        self.module, ".".join((*outer, child.name)), self._unit(outer), child, why
                    )
            elif isinstance(child, ast.ClassDef):
                yield from self.below(child, (*outer, child.name))
            else:
                if isinstance(child, ast.Call):
                    yield from self._call(child, outer)
                yield from self.below(child, outer)

    def _jit(self, node: FunctionNode) -> bool:
        return any(is_jit_decorator(self.index, self.module, d) for d in node.decorator_list)

    def _known(self, name: tuple[str, ...]) -> bool:
        return f"{self.module}:{'.'.join(name)}" in self.known

    def _helper(self, node: FunctionNode, scope: ast.AST) -> bool:
        """A jit function that another jit function of the same scope calls is no kernel."""
        return any(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == node.name
            for sibling in ast.iter_child_nodes(scope)
            if isinstance(sibling, ast.FunctionDef) and sibling is not node and self._jit(sibling)
            for call in ast.walk(sibling)
        )

    def _call(self, call: ast.Call, outer: tuple[str, ...]) -> Iterator[OpaqueKernel]:
        """`triton.jit(f)` and `triton.jit(...)(f)`; `triton.jit(...)` without a function is a decorator."""
        if not is_jit_decorator(self.index, self.module, call.func):
            return
        for argument in call.args[:1]:
            name = argument.id if isinstance(argument, ast.Name) else "<kernel>"
            found = (m.key for m in self.index.meanings(self.module, argument) if isinstance(m, Definition))
            unit = self._unit(outer) or next(found, None)
            why = CALLED.format(text=ast.unparse(call)[:60])
            yield OpaqueKernel(self.module, ".".join((*outer, name)), unit, call, why)

    def _unit(self, outer: tuple[str, ...]) -> str | None:
        return f"{self.module}:{outer[0]}" if outer else None
