"""heads-in-tile: a scan along rows, one head per program, becomes a scan of a [rows, heads] tile."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.poly import Poly
from tritonport.facts.algebra.values import Num, shape_of
from tritonport.facts.naming import fresh
from tritonport.facts.walk import names_in, walk
from tritonport.passes.gate_layout import launches
from tritonport.passes.grid_axis import GridStopped, drop_factor, without_factor
from tritonport.passes.host_layout import LaunchStopped, keyword_added
from tritonport.passes.kernels import TileKernel, kernels
from tritonport.passes.lift_heads import CannotLift, Edit, Lift
from tritonport.passes.syntax import method, replace
from tritonport.record import RuleClass


class HeadsInTile:
    """The head axis leaves the grid and enters the tile; each head is scanned by itself as before."""

    slug = "heads-in-tile"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            if kernel.facts.calls_of("cumsum", "associative_scan") and not kernel.facts.calls_of("dot"):
                self._kernel(file, kernel, result)
        return result

    def _kernel(self, file: FileContext, kernel: TileKernel, result: RuleResult) -> None:
        facts = kernel.facts
        split = head_split(facts)
        if split is None or not _scans_vectors(facts):
            return
        try:
            width = fresh("HEADS", {n.value for n in names_in(facts.function)})
            edits = [
                *split.edits(width),
                *_wide_products(facts, split),
                *Lift(facts, split.head, split.heads, width).edits(),
            ]
            sites = launches(file, kernel.key)
            host = [drop_factor(file, site, split.axis, _passed(site, split.heads)) for site in sites]
            widths = [_width_argument(file, site, split.heads, width) for site in sites]
        except (CannotLift, GridStopped, LaunchStopped) as why:
            result.not_applicable(facts.function.name, str(why), kernel=kernel.key)
            return
        params = _with_width(facts.function.params, split.heads, width)
        replace(result, facts.function.params, params, kernel.key)
        for old, build in (*edits, *(constant(*edit) for edit in host), *widths):
            result.rewrite(old, build, kernel=kernel.key, counts=False)


def _width_argument(file: FileContext, site: LaunchSite, heads: str, width: str) -> Edit:
    """The launch with the tile's extent; the grid inside it may be edited too."""
    triton = file.analysis.index.local_name(file.module.name, "triton") or "triton"
    text = f"{triton}.next_power_of_2({_passed(site, heads)})"
    return file.launch_call(site), lambda updated: keyword_added(
        cst.ensure_type(updated, cst.Call), width, text
    )


def constant(old: cst.CSTNode, new: cst.CSTNode) -> Edit:
    return old, lambda _: new.deep_clone()


def _passed(site: LaunchSite, name: str) -> str:
    found = next((k.value for k in site.node.keywords if k.arg == name), None)
    if found is None:
        raise LaunchStopped(f"a launch that does not pass `{name}` by keyword")
    return ast.unparse(found)


@dataclass(frozen=True)
class Split:
    """`head, batch = pid % H, pid // H`. axis: of the grid; whole: expressions that become the pid itself.

    flat: an argument of a helper that holds the factor H.
    """

    head: Def
    heads: str
    axis: int
    modulo: cst.BinaryOperation
    quotients: tuple[cst.BinaryOperation, ...]
    flat: cst.BaseExpression | None

    def edits(self, width: str) -> list[Edit]:
        found = [constant(self.modulo, cst.parse_expression(f"tl.arange(0, {width})[None, :]"))]
        found += [constant(q, q.left) for q in self.quotients]
        if self.flat is not None:
            found.append(constant(self.flat, without_factor(self.flat, self.heads)))
        return found


def _wide_products(facts: KernelFacts, split: Split) -> list[Edit]:
    """A head of 64 bits stays one where it is multiplied by what only the host knows: `head * rows` may not fit 32."""
    number = facts.value(split.modulo)
    if not isinstance(number, Num) or number.dtype != "int64":
        return []
    return [
        (use, lambda updated: method(cst.ensure_type(updated, cst.Name), "to", "tl.int64"))
        for use in facts.uses(split.head)
        if _times_runtime(facts, use)
    ]


def _times_runtime(facts: KernelFacts, use: cst.Name) -> bool:
    parent = facts.parents[use]
    if not isinstance(parent, cst.BinaryOperation) or not isinstance(parent.operator, cst.Multiply):
        return False
    factor = facts.value(parent.right if parent.left is use else parent.left)
    return isinstance(factor, Num) and not factor.constexpr


def head_split(facts: KernelFacts) -> Split | None:
    """The one assignment of a head from a program id."""
    for definition in facts.defs.values():
        node = definition.expr
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
            split = _split(facts, definition, node)
            if split is not None:
                return split
    return None


def _split(facts: KernelFacts, definition: Def, node: cst.BinaryOperation) -> Split | None:
    if not isinstance(node.left, cst.Name) or not isinstance(node.right, cst.Name):
        return None
    source = facts.value(node.left)
    place = _place(facts, source, node.right.value) if isinstance(source, Num) else None
    if place is None:
        return None
    quotients: list[cst.BinaryOperation] = []
    for origin in facts.reads.get(node.left, frozenset[Def]()):
        for use in facts.uses(origin):
            parent = facts.parents[use]
            if parent is node:
                continue
            if not _is_quotient(parent, use, node.right.value):
                return None
            assert isinstance(parent, cst.BinaryOperation)
            quotients.append(parent)
    return Split(definition, node.right.value, place[0], node, tuple(quotients), place[1])


def _is_quotient(node: cst.CSTNode, use: cst.Name, heads: str) -> bool:
    return (
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.FloorDivide)
        and node.left is use
        and isinstance(node.right, cst.Name)
        and node.right.value == heads
    )


def _place(facts: KernelFacts, source: Num, heads: str) -> tuple[int, cst.BaseExpression | None] | None:
    """(grid axis, helper's argument) of a program id, or of the remainder of one that a helper took."""
    symbol = next(iter(source.poly.symbols), None)
    if symbol is None or source.poly != Poly.of(symbol):
        return None
    if symbol.kind == "pid":
        return int(symbol.label[-2]), None
    if not symbol.key.startswith("mod(program_id("):
        return None
    inner = next(iter(symbol.parts[0].symbols))
    for call in (n for n in walk(facts.function.body) if isinstance(n, cst.Call)):
        value = facts.value(call.args[0].value) if len(call.args) == 1 and call not in facts.calls else None
        if isinstance(value, Num) and value.poly == symbol.parts[1]:
            return int(inner.label[-2]), call.args[0].value
    return None


def _scans_vectors(facts: KernelFacts) -> bool:
    calls = facts.calls_of("cumsum", "associative_scan")
    return all(len(shape_of(facts.value(c.args[0].value)) or ()) == 1 for c in calls)


def _with_width(params: cst.Parameters, heads: str, width: str) -> cst.Parameters:
    new: list[cst.Param] = []
    for param in params.params:
        new.append(param)
        if param.name.value == heads:
            new.append(param.with_changes(name=cst.Name(width), default=None))
    return params.with_changes(params=new)


RULE = HeadsInTile()
