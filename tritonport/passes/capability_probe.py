"""capability-probe: questions about a GPU get the target's answer on the target, and are not asked there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

import libcst as cst

from tritonport.discover.functions import JIT
from tritonport.engine.context import FileContext, dotted_text
from tritonport.engine.rule import RuleResult
from tritonport.facts.asked import UNKNOWN, Evaluator, NotFollowed, Query, Size
from tritonport.facts.walk import children, code_of, find
from tritonport.passes._build import call, import_from_runtime, runtime_name
from tritonport.passes.syntax import written
from tritonport.record import RuleClass
from tritonport.resources import rules_root
from tritonport.toml import read_toml

WRAPPER = "for_target"
_NOT_FOLLOWED = object()
_ASKING = (
    cst.Comparison,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.Name,
)


class CapabilityProbe:
    """Finds the largest expressions of host code whose value follows from what a GPU says about itself."""

    slug = "capability-probe"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        first = next((plan.key for plan, _ in file.planned()), None)
        if first is None and not any(set(s.kernels) & set(file.programs.plans) for s in file.sites):
            return result
        _Search(file, result, first).block(file.tree, {})
        if result.edits:
            import_from_runtime(file, result, [WRAPPER])
        return result


@cache
def queries() -> dict[str, Query]:
    """rules/capabilities.toml by name of the query."""
    found = read_toml(rules_root() / "capabilities.toml")["query"]
    return {
        q["name"]: Query(q["name"], _frozen(q["answer"]), bool(q.get("raises") or q.get("pin")))
        for q in found
    }


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]


class _Search:
    """Walks host code from the outside in; what it rewrites, it does not enter."""

    def __init__(self, file: FileContext, result: RuleResult, first: str | None) -> None:
        self.file, self.result = file, result
        self.evaluator = Evaluator(file.analysis.index, queries())
        self.name = runtime_name(file, WRAPPER)
        self.kernel = first
        self.assigned = frozenset(v.name for v in file.analysis.index.values(file.module.name))
        self.written = frozenset(written(file.tree))
        self.answered = self._answered()

    def block(self, node: cst.CSTNode, env: dict[str, Any]) -> None:
        for child in _evaluated(node):
            if isinstance(child, cst.FunctionDef):
                self._function(child, env)
            elif child in self.written or not (isinstance(child, _ASKING) and self._asks(child, env)):
                self.block(child, env)

    def _function(self, node: cst.FunctionDef, env: dict[str, Any]) -> None:
        if node.name.value in self.answered:
            return
        outer, key = self.kernel, f"{self.file.module.name}:{node.name.value}"
        launched = (
            k
            for s in self.file.sites
            if s.unit == node.name.value
            for k in s.kernels
            if k in self.file.programs.plans
        )
        self.kernel = key if key in self.file.programs.plans else next(launched, outer)
        for decorator in node.decorators:
            self.block(decorator, env)
        if not _is_jit(self.file, node):
            self.block(node.body, {**env, **_local(node)})
        self.kernel = outer

    def _asks(self, node: cst.BaseExpression, env: dict[str, Any]) -> bool:
        """Rewrites an expression that asks; True where nothing below it is to be looked at."""
        if isinstance(node, cst.Name) and (node.value in env or node.value in self.assigned):
            return True  # its assignment is rewritten
        if isinstance(node, cst.Call) and dotted_text(node.func) == self.name:
            return True
        value = self._value(node, env)
        if value is _NOT_FOLLOWED:
            return False
        if not any(query.wrong for query in self.evaluator.asked.values()):
            return True  # the target gives this answer itself, and asks nothing else for it
        if isinstance(value, Size):
            why = f"`{code_of(node)}` is a size of the GPU: choose by a compare with it, or give the target's size"
            self.result.unresolved(node, why, kernel=self.kernel)
        else:
            self.result.rewrite(node, lambda updated: self._wrapped(updated, value), kernel=self.kernel)
        return True

    def _value(self, node: cst.BaseExpression, env: dict[str, Any]) -> Any:
        expr = ast.parse(f"({code_of(node)})", mode="eval").body
        try:
            return self.evaluator.evaluate(self.file.module.name, expr, env)
        except NotFollowed:
            return _NOT_FOLLOWED

    def _answered(self) -> frozenset[str]:
        """Functions of the file that only ask: their calls are answered as a whole, so their bodies stay."""
        found: set[str] = set()
        for node in find(self.file.tree, cst.Call):
            if dotted_text(node.func) in self.file.functions:
                value = self._value(node, {})
                if (
                    isinstance(value, bool | int | str | tuple)
                    and not isinstance(value, Size)
                    and self.evaluator.asked
                ):
                    found |= {key.partition(":")[2] for key in self.evaluator.ran}
        return frozenset(found)

    def _wrapped(self, updated: cst.CSTNode, value: Any) -> cst.Call:
        assert isinstance(updated, cst.BaseExpression)
        question = updated.func if isinstance(updated, cst.Call) and not updated.args else _lambda(updated)
        return call(self.name, [cst.Arg(question), cst.Arg(cst.parse_expression(repr(value)))])


def _lambda(body: cst.BaseExpression) -> cst.Lambda:
    return cst.Lambda(cst.Parameters(), body)


def _evaluated(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Children that are evaluated: no targets of assignments, names of keywords and attributes, no imports."""
    if isinstance(node, cst.Import | cst.ImportFrom | cst.Annotation):
        return
    if isinstance(node, cst.AssignTarget | cst.Parameters | cst.Param):
        return
    if isinstance(node, cst.Attribute):
        yield node.value
    elif isinstance(node, cst.Arg | cst.AnnAssign):
        if node.value is not None:
            yield node.value
    else:
        yield from children(node)


def _is_jit(file: FileContext, node: cst.FunctionDef) -> bool:
    targets = (d.decorator for d in node.decorators)
    return any(not JIT.isdisjoint(file.externals(t.func if isinstance(t, cst.Call) else t)) for t in targets)


def _local(function: cst.FunctionDef) -> dict[str, Any]:
    """What a function's names stand for: an expression where there is one assignment, else unknown."""
    parameters = [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]
    found: dict[str, Any] = {p.name.value: UNKNOWN for p in parameters}
    for node in find(function.body, cst.Assign):
        for target in node.targets:
            for name in find(target.target, cst.Name):
                plain = target.target is name and name.value not in found
                found[name.value] = (
                    ast.parse(f"({code_of(node.value)})", mode="eval").body if plain else UNKNOWN
                )
    for node in (*find(function.body, cst.For), *find(function.body, cst.AugAssign)):
        found |= dict.fromkeys((n.value for n in find(node.target, cst.Name)), UNKNOWN)
    return found


RULE = CapabilityProbe()
