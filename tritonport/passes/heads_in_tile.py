"""heads-in-tile: a kernel that walks rows, one head per program, takes [rows, heads] tiles."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts, accesses
from tritonport.facts.algebra.values import Num, shape_of
from tritonport.facts.naming import fresh
from tritonport.facts.walk import code_of, names_in
from tritonport.passes.gate_layout import launches
from tritonport.passes.grid_axis import GridStopped, change_factor
from tritonport.passes.head_first import Heads, head_parameters
from tritonport.passes.head_split import Edit, Split, head_split
from tritonport.passes.host_layout import LaunchStopped, keyword_added
from tritonport.passes.kernels import TileKernel, axis_parameters, kernels
from tritonport.passes.lift_heads import CannotLift, Lift
from tritonport.passes.syntax import method, replace
from tritonport.record import RuleClass

AT_MOST = 32
"""Heads of one tile. With 64 rows and 8 heads chunk_local_cumsum takes 8.3 % of the unified buffer, so 32 a third."""


class HeadsInTile:
    """The head axis of the grid becomes groups of heads, and the heads of a group an axis of the tile."""

    slug = "heads-in-tile"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            if not kernel.facts.calls_of("dot"):
                self._kernel(file, kernel, result)
        return result

    def _kernel(self, file: FileContext, kernel: TileKernel, result: RuleResult) -> None:
        facts = kernel.facts
        split = head_split(facts, axis_parameters(file, kernel.key))
        if split is None or not (_scans_vectors(facts) or _walks_heads(facts, split)):
            return
        try:
            taken = {n.value for n in names_in(facts.function)}
            width, first = fresh("HEADS", taken), fresh(f"{split.head.name}_first", taken)
            edits = [
                *split.edits(facts, width, first),
                *_wide_products(facts, split),
                *Lift(facts, split.head, split.heads, width, first).edits(),
            ]
            sites = launches(file, kernel.key)
            passed = [_passed(facts, site, split.heads) for site in sites]
            grids = [
                (site, *_in_groups(file, kernel.key, site, split, heads))
                for site, heads in zip(sites, passed, strict=True)
            ]
            widths = [
                _width_argument(file, site, heads, width) for site, heads in zip(sites, passed, strict=True)
            ]
        except (CannotLift, GridStopped, LaunchStopped) as why:
            result.not_applicable(facts.function.name, str(why), kernel=kernel.key)
            return
        positional = any(_counts_past(facts, site, split.heads) for site in sites)
        params = _with_width(facts.function.params, split.heads, width, at_end=positional)
        exact = not facts.calls_of(*_SCANS, *_REDUCTIONS)
        result.rewrite(
            facts.function.params,
            lambda _: params.deep_clone(),
            kernel=kernel.key,
            rule_class="exact" if exact else None,
        )
        for site, old, new in grids:
            # What else reads the grid's size gets to know it.
            file.memo.axes[site.ordinal, split.axis] = code_of(new)
            replace(result, old, new, kernel.key, counts=False)
        for old, build in (*edits, *widths):
            result.rewrite(old, build, kernel=kernel.key, counts=False)


_SCANS = ("cumsum", "associative_scan")
_REDUCTIONS = ("sum", "max", "min")


def _in_groups(
    file: FileContext, key: str, site: LaunchSite, split: Split, heads: str
) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    """The axis of the launch's grid, and with groups of heads for heads. Raises GridStopped."""
    plan = file.programs.plans.get(key)
    if plan is not None and plan.formulas[split.axis] is not None:
        raise GridStopped("the kernel computes the size of that axis from its tiles")
    triton = file.analysis.index.local_name(file.module.name, "triton") or "triton"
    return change_factor(file, site, split.axis, heads, f"{triton}.cdiv({heads}, {AT_MOST})")


def _width_argument(file: FileContext, site: LaunchSite, heads: str, width: str) -> Edit:
    """The launch with the tile's extent; the grid inside it may be edited too."""
    triton = file.analysis.index.local_name(file.module.name, "triton") or "triton"
    text = f"min({triton}.next_power_of_2({heads}), {AT_MOST})"
    return file.launch_call(site), lambda updated: keyword_added(
        cst.ensure_type(updated, cst.Call), width, text
    )


def _passed(facts: KernelFacts, site: LaunchSite, name: str) -> str:
    """What a launch gives a parameter, by keyword or position, as text that may be evaluated again."""
    names = [p.name.value for p in facts.function.params.params]
    if name not in names:
        raise LaunchStopped(f"`{name}` is a parameter by keyword alone")
    found = next((k.value for k in site.node.keywords if k.arg == name), None)
    at = names.index(name)
    if found is None and any(isinstance(arg, ast.Starred) for arg in site.node.args[: at + 1]):
        raise LaunchStopped("a launch with unpacked arguments: write them out")
    if found is None and at < len(site.node.args):
        found = site.node.args[at]
    if found is None:
        raise LaunchStopped(f"a launch that does not pass `{name}`: pass it there")
    if any(not _repeats(node) for node in ast.walk(found)):
        raise LaunchStopped(f"`{ast.unparse(found)}` is passed as `{name}`: give it a name before the launch")
    return ast.unparse(found)


def _counts_past(facts: KernelFacts, site: LaunchSite, name: str) -> bool:
    """Whether a launch passes what comes after this parameter by position."""
    names = [p.name.value for p in facts.function.params.params]
    after = site.node.args[names.index(name) + 1 :]
    return bool(after) or any(isinstance(arg, ast.Starred) for arg in site.node.args)


def _repeats(node: ast.AST) -> bool:
    """Whether evaluating this once more changes nothing, as far as its own form goes."""
    if isinstance(node, ast.Call):
        func = node.func
        return func.attr == "size" if isinstance(func, ast.Attribute) else ast.unparse(func) in _NUMBERS
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))


_NUMBERS = frozenset({"len", "int", "min", "max"})


def _wide_products(facts: KernelFacts, split: Split) -> list[Edit]:
    """A head of 64 bits stays one where it is multiplied by what only the host knows: `head * rows` may not fit 32."""
    number = facts.value(split.whole)
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


def _scans_vectors(facts: KernelFacts) -> bool:
    calls = facts.calls_of(*_SCANS)
    return bool(calls) and all(len(shape_of(facts.value(c.args[0].value)) or ()) == 1 for c in calls)


def _walks_heads(facts: KernelFacts, split: Split) -> bool:
    """Whether every tile that the kernel moves is one value per row, of one head."""
    bases = {h.base for h in head_parameters(facts) if isinstance(h, Heads) and h.heads == split.heads}
    tiles = {a.base for access in accesses(facts) for a in access.addresses if a.shape}
    known = all(access.why is None for access in accesses(facts))
    return known and bool(bases) and tiles <= bases


def _with_width(params: cst.Parameters, heads: str, width: str, *, at_end: bool) -> cst.Parameters:
    """The signature with the tile's extent: behind the heads, or at the end where launches count arguments."""
    new = list(params.params)
    at = len(new) if at_end else 1 + next(i for i, p in enumerate(new) if p.name.value == heads)
    own = next(p for p in new if p.name.value == heads)
    # Every launch passes it; Python wants a default behind another one.
    default = cst.Integer("1") if new[at - 1].default is not None else None
    added = own.with_changes(name=cst.Name(width), default=default, comma=new[at - 1].comma)
    if default is not None:
        added = added.with_changes(equal=cst.AssignEqual())
    if not isinstance(new[at - 1].comma, cst.Comma):
        new[at - 1] = new[at - 1].with_changes(
            comma=cst.Comma(cst.SimpleWhitespace(""), cst.SimpleWhitespace(" "))
        )
    return params.with_changes(params=[*new[:at], added, *new[at:]])


RULE = HeadsInTile()
