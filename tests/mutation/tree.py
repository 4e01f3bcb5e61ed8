"""A migrated folder as the mutation suite sees it: each launched kernel, the task that it loops over, and facts.

Nothing here knows a kernel or a local name. A launched kernel is a jit function with a loop that hands program
ids and its own parameters to another jit function of its module, which holds upstream's body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst

from tritonport.discover import analyse
from tritonport.engine.context import FileContext, Settings
from tritonport.facts.algebra import Access, Def, KernelFacts, accesses
from tritonport.facts.programs import plan_programs
from tritonport.facts.walk import find, walk
from tritonport.passes.kernels import kernels
from tritonport.sources.tree import SourceTree
from tritonport.verify.model import KernelTarget

_BLANK = cst.Module(body=[])


def code(node: cst.CSTNode) -> str:
    return _BLANK.code_for_node(node)


class _Replace(cst.CSTTransformer):
    def __init__(self, edits: Mapping[cst.CSTNode, cst.CSTNode]) -> None:
        self.edits = edits

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        new = self.edits.get(original_node)
        return updated_node if new is None else new.deep_clone()


def replaced(node: cst.CSTNode, edits: Mapping[cst.CSTNode, cst.CSTNode]) -> Any:
    """The node with all edits at once: LibCST gives every node below a replaced one a new identity."""
    return node.visit(_Replace(edits))


@dataclass(frozen=True)
class TaskKernel:
    """key: `module:function` of the launched kernel. call: the statement of its loop that runs one task."""

    key: str
    file: str
    tree: cst.Module
    launched: cst.FunctionDef
    loop: cst.For
    call: cst.Call
    facts: KernelFacts
    hosts: tuple[cst.FunctionDef, ...]
    context: FileContext

    @property
    def task(self) -> cst.FunctionDef:
        return self.facts.function

    def line(self, node: cst.CSTNode) -> int:
        """The line of a node in the migrated file."""
        return self.context.upstream_line(node)

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        return accesses(self.facts)

    @property
    def ids(self) -> list[tuple[str, cst.BaseExpression]]:
        """The program ids: parameters of the task that are not handed on under their own name."""
        params = [p.name.value for p in self.task.params.params]
        pairs = zip(params, (a.value for a in self.call.args), strict=False)
        return [(n, e) for n, e in pairs if not (isinstance(e, cst.Name) and e.value == n)]

    def definition(self, name: cst.Name) -> Def | None:
        """The one assignment that reaches a use, None where there are several."""
        found = self.facts.reads.get(name, frozenset[Def]())
        return next(iter(found)) if len(found) == 1 else None

    def pointer_parameters(self) -> frozenset[str]:
        return frozenset(base for access in self.accesses for base in access.bases)


@dataclass(frozen=True)
class MigratedTree:
    """name: for reports. source: the originals. out: what migrate wrote. targets: what of it has to be proved."""

    name: str
    source: SourceTree
    out: Path
    targets: tuple[KernelTarget, ...]

    @cached_property
    def kernels(self) -> tuple[TaskKernel, ...]:
        return tuple(self._kernels())

    def _kernels(self) -> Iterator[TaskKernel]:
        texts = {p.relative_to(self.out).as_posix(): p.read_text() for p in sorted(self.out.rglob("*.py"))}
        analysis = analyse(self.source, overlay={n: t for n, t in texts.items() if "/" in n})
        # What an earlier run wrote is hidden from rules; here it is what is looked at.
        programs = replace(plan_programs(analysis), migrated=set())
        for module in analysis.index.modules.values():
            file = module.file.as_posix()
            if file in texts:
                tree = cst.parse_module(texts[file])
                context = FileContext(module, tree, analysis, programs, Settings())
                yield from _of_file(file, tree, context)


def _of_file(file: str, tree: cst.Module, context: FileContext) -> Iterator[TaskKernel]:
    facts = {kernel.key.partition(":")[2]: kernel.facts for kernel in kernels(context)}
    for name, nodes in context.functions.items():
        loops = [s for s in nodes[0].body.body if isinstance(s, cst.For)]
        if name in facts or len(nodes) != 1 or not loops:
            continue
        called = [(c, c.func.value) for c in find(loops[-1], cst.Call) if isinstance(c.func, cst.Name)]
        found = next(((call, facts[inner]) for call, inner in called if inner in facts), None)
        if found is not None:
            hosts = tuple(n[0] for n in context.functions.values() if len(n) == 1 and _launches(n[0], name))
            key = f"{context.module.name}:{name}"
            yield TaskKernel(key, file, tree, nodes[0], loops[-1], *found, hosts, context)


def _launches(function: cst.FunctionDef, kernel: str) -> bool:
    """Whether a function has a launch, `...kernel...[grid](...)`."""
    for node in walk(function.body):
        launch = (
            node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Subscript) else None
        )
        if launch is not None and any(isinstance(n, cst.Name) and n.value == kernel for n in walk(launch)):
            return True
    return False
