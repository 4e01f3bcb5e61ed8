"""What a rule sees of one file: its tree, the facts of the whole closure, and small readers over LibCST nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction
from tritonport.discover.launches import LaunchSite
from tritonport.discover.parse import ParsedModule
from tritonport.engine.assume import Assumption
from tritonport.engine.choices import Choices, KernelChoice
from tritonport.engine.linemap import Origin
from tritonport.facts.algebra import KernelFacts
from tritonport.facts.hosts.overlap import LaunchMemory
from tritonport.facts.programs import ProgramPlan, Programs
from tritonport.facts.walk import children, find

_BLOCKS = (
    cst.BaseCompoundStatement,
    cst.BaseSuite,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)


@dataclass(frozen=True)
class Settings:
    """What the user chose. runtime_module: import name of the emitted run-time helpers.

    choices: tile sizes and left-out rules of single kernels, by `module:function`. unified_buffer: bits of one
    vector core's, for estimates (the default is that of A2 and A3, rules/targets). assumptions: what the user asserts.
    """

    target: str = "a2"
    profile: str = "baseline"
    schedule: str = "contiguous"
    runtime_module: str = "tritonport_runtime"
    choices: Choices = field(default_factory=dict[str, KernelChoice])
    unified_buffer: int = 1572864
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True)
class JitNode:
    """A jit function of the file: its definition in this tree, and the facts about it."""

    node: cst.FunctionDef
    function: JitFunction


@dataclass(frozen=True)
class Memo:
    """What stays true of one file while its rules run.

    facts: by definition node; a function that no rule has touched keeps its node from tree to tree. dotted: full names
    by source text. helpers: the jit function that a name means in a module; homes: the module that defines it. These
    follow upstream's text, which does not change. launches: the memory that launches pass. upstream: the file
    as upstream wrote it, by module, once a rule has asked. lines: where the nodes of the last tree that was asked
    stand.
    """

    facts: dict[cst.FunctionDef, KernelFacts] = field(default_factory=dict[cst.FunctionDef, KernelFacts])
    dotted: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    helpers: dict[tuple[str, str], tuple[cst.FunctionDef, ...]] = field(
        default_factory=dict[tuple[str, str], "tuple[cst.FunctionDef, ...]"]
    )
    homes: dict[cst.FunctionDef, str] = field(default_factory=dict[cst.FunctionDef, str])
    launches: LaunchMemory | None = None
    upstream: dict[str, FileContext] = field(default_factory=dict[str, "FileContext"])
    axes: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    lines: dict[cst.Module, dict[cst.CSTNode, int]] = field(
        default_factory=dict[cst.Module, dict[cst.CSTNode, int]]
    )

    def keep(self, tree: cst.Module) -> None:
        """Forgets functions that are no longer in the tree."""
        alive = set(find(tree, cst.FunctionDef))
        for node in [n for n in self.facts if n not in alive]:
            del self.facts[node]


@dataclass(frozen=True)
class FileContext:
    """One file in its present state. Facts from discovery speak of upstream's text, nodes of this tree."""

    module: ParsedModule
    tree: cst.Module
    analysis: Analysis
    programs: Programs
    settings: Settings
    origins: tuple[Origin, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Kernels that the rule at work passes over; it does not see their definitions."""
    memo: Memo = field(default_factory=Memo)

    @property
    def file(self) -> str:
        return str(self.module.file)

    @property
    def launch_memory(self) -> LaunchMemory:
        """Which arguments of a kernel may be one memory; upstream's host code is read once for all rules."""
        return self.memo.launches or LaunchMemory(self.analysis)

    def externals(self, node: cst.BaseExpression) -> tuple[str, ...]:
        """Dotted names outside the package that a name or attribute chain stands for (`triton.language.load`)."""
        text = dotted_text(node)
        if text is None:
            return ()
        if text not in self.memo.dotted:
            expr = ast.parse(text, mode="eval").body
            self.memo.dotted[text] = self.analysis.index.externals(self.module.name, expr)
        return self.memo.dotted[text]

    def is_call_of(self, node: cst.CSTNode, *dotted: str) -> bool:
        return isinstance(node, cst.Call) and bool(set(dotted) & set(self.externals(node.func)))

    @cached_property
    def functions(self) -> dict[str, tuple[cst.FunctionDef, ...]]:
        """Functions outside other functions by qualified name (`name`, `Class.name`)."""
        found: dict[str, list[cst.FunctionDef]] = {}
        for name, node in _definitions(self.tree.body, ""):
            if f"{self.module.name}:{name}" not in self.hidden:
                found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    def jit(self, key: str) -> JitNode | None:
        """A jit function of this file by key, where it is defined exactly once."""
        function = self.analysis.functions.get(key)
        if function is None or function.definition.module != self.module.name:
            return None
        nodes = self.functions.get(function.definition.qualname, ())
        return JitNode(nodes[0], function) if len(nodes) == 1 else None

    def planned(self) -> Iterator[tuple[ProgramPlan, JitNode]]:
        """Kernels of this file that become persistent, in source order."""
        for key, plan in self.programs.plans.items():
            jit = self.jit(key)
            if jit is not None:
                yield plan, jit

    @property
    def sites(self) -> tuple[LaunchSite, ...]:
        """Launch sites of this file, in upstream's order."""
        return tuple(s for s in self.analysis.sites if s.module == self.module.name)

    @cached_property
    def subscript_calls(self) -> tuple[cst.Call, ...]:
        """Every `x[...](...)` of the tree in source order: the n-th is that of LaunchSite.ordinal n."""
        return tuple(call for call in find(self.tree, cst.Call) if isinstance(call.func, cst.Subscript))

    def launch_call(self, site: LaunchSite) -> cst.Call:
        return self.subscript_calls[site.ordinal]

    def _lines(self) -> dict[cst.CSTNode, int]:
        if self.tree not in self.memo.lines:
            self.memo.lines.clear()
            found = MetadataWrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider)
            self.memo.lines[self.tree] = {node: position.start.line for node, position in found.items()}
        return self.memo.lines[self.tree]

    def upstream_line(self, node: cst.CSTNode) -> int:
        """Upstream's line of a node; costs a position pass, so only for what is reported."""
        line = self._lines().get(node, 1)
        origin = self.origins[line - 1] if line <= len(self.origins) else None
        return origin.line if origin is not None and origin.line is not None else line


def _definitions(nodes: Iterable[cst.CSTNode], prefix: str) -> Iterator[tuple[str, cst.FunctionDef]]:
    """Function definitions in a block, inside if/try/with/match and classes too, not inside functions."""
    for node in nodes:
        if isinstance(node, cst.FunctionDef):
            yield prefix + node.name.value, node
        elif isinstance(node, cst.ClassDef):
            yield from _definitions(node.body.body, f"{node.name.value}.")
        elif isinstance(node, _BLOCKS):
            yield from _definitions(children(node), prefix)


def dotted_text(node: cst.BaseExpression) -> str | None:
    """`a.b.c` of a name or attribute chain, None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join([node.value, *reversed(parts)])
