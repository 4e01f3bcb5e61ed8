"""gate-layout: per-head vectors of [.., T, H] tensors are read and written head first, contiguously."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts, accesses
from tritonport.facts.hosts.overlap import Overlap
from tritonport.facts.naming import fresh
from tritonport.facts.walk import names_in
from tritonport.passes.head_first import HeadFirst, Heads, NoHead, Stopped, head_parameters
from tritonport.passes.host_layout import HostLayout, LaunchStopped, Relaid
from tritonport.passes.kernels import TileKernel, kernels
from tritonport.passes.syntax import replace
from tritonport.record import RuleClass

_WAY_OUT = (
    " (the kernel is right without this rule: suppress the finding, or turn the rule off for the kernel)"
)


class GateLayout:
    """[.., T, H] tensors that a kernel walks one head at a time become [H, ..] around its launch."""

    slug = "gate-layout"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        host = HostLayout(file)
        for kernel in kernels(file):
            self._kernel(file, kernel, host, result)
        host.add_edits(result)
        return result

    def _kernel(self, file: FileContext, found_in: TileKernel, host: HostLayout, result: RuleResult) -> None:
        facts, kernel = found_in.facts, found_in.key
        if not facts.calls_of("dot"):
            # The host's copies would cost as much as a kernel that only moves such tensors.
            return
        changed: list[_Changed] = []
        for found in head_parameters(facts):
            if isinstance(found, NoHead):
                result.not_applicable(facts.function.name, f"`{found.base}`: {found.why}", kernel=kernel)
                continue
            if isinstance(found, tuple):
                result.unresolved(facts.function.name, f"`{found[0]}`: {found[1]}", kernel=kernel)
                continue
            others = _others(file, kernel, facts, found)
            same = next((other for other, overlap in others.items() if overlap is Overlap.MAY), None)
            if same is not None:
                why = f"a launch may pass the same memory as `{same}`: of two copies none sees what the other gets"
                result.not_applicable(facts.function.name, f"`{found.base}`: {why}", kernel=kernel)
                continue
            try:
                changed.append(change_parameter(facts, found, _unasked(changed, found, others)))
            except Stopped as why:
                result.unresolved(facts.function.name, f"`{found.base}`: {why}", kernel=kernel)
        if not changed:
            return
        try:
            host.relay(launches(file, kernel), facts.function, [c.relaid for c in changed])
        except LaunchStopped as why:
            result.unresolved(facts.function.name, f"{why}{_WAY_OUT}", kernel=kernel)
            return
        for change in changed:
            add_edits(change, result, kernel)
        result.note(kernel, _moved([c.relaid for c in changed]))
        for relaid in (c.relaid for c in changed if c.relaid.apart):
            others = ", ".join(f"`{name}`" for name in relaid.apart)
            result.note(
                kernel, f"gate-layout: each launch checks that `{relaid.name}` shares no memory with {others}"
            )
        new = with_parameters(facts.function.params, changed, at_end=not host.keyword_only)
        replace(result, facts.function.params, new, kernel, counts=False)


def _moved(relaid: list[Relaid]) -> str:
    """What the layout costs on the host, in bytes per launch; sizes are known at run time only."""
    copies = [(r.name, 2 if r.loaded else 0, 2 if r.stored else 0) for r in relaid]
    total = " + ".join(f"{before + after} * bytes({name})" for name, before, after in copies)
    return (
        f"gate-layout moves at least {total} on the host at each launch: every copy reads and writes its tensor once;"
        " nothing with one head"
    )


def _others(file: FileContext, kernel: str, facts: KernelFacts, heads: Heads) -> dict[str, Overlap]:
    """Other parameters that may be the same memory, where one of the two is written."""
    kinds: dict[str, set[str]] = {}
    for access in accesses(facts):
        for base in access.bases:
            kinds.setdefault(base, set()).add(access.kind)
    written = (
        other
        for other, found in kinds.items()
        if other != heads.base and (found | kinds[heads.base]) - {"load"}
    )
    found = {other: file.launch_memory.overlap(kernel, heads.base, other) for other in written}
    return {other: overlap for other, overlap in found.items() if overlap}


def _unasked(changed: list[_Changed], heads: Heads, others: Iterable[str]) -> tuple[str, ...]:
    """Those that an earlier parameter's check has not asked about this one."""
    asked = {c.relaid.name for c in changed if heads.base in c.relaid.apart}
    return tuple(name for name in others if name not in asked)


@dataclass(frozen=True)
class _Changed:
    relaid: Relaid
    edits: list[tuple[cst.CSTNode, cst.CSTNode]]


def change_parameter(facts: KernelFacts, heads: Heads, apart: tuple[str, ...] = ()) -> _Changed:
    """The edits inside the kernel for one parameter. apart: see Relaid. Raises Stopped."""
    taken = {name.value for name in names_in(facts.function)}
    rows = fresh(f"{heads.base}_rows", taken)
    relaid = Relaid(heads.base, heads.heads, rows, heads.loaded, heads.stored, apart)
    return _Changed(relaid, HeadFirst(facts, heads, rows).edits())


def add_edits(changed: _Changed, result: RuleResult, kernel: str) -> None:
    for i, (old, new) in enumerate(changed.edits):
        replace(result, old, new, kernel, counts=i == 0)


def launches(file: FileContext, key: str) -> list[LaunchSite]:
    """Every launch of a kernel. Raises LaunchStopped where one cannot be edited from this file."""
    if any(key in function.calls for function in file.analysis.functions.values()):
        raise LaunchStopped("another kernel calls this one: let both call a helper")
    sites = [site for site in file.analysis.sites if key in site.kernels]
    if not sites:
        raise LaunchStopped("no launch of this kernel is known")
    if away := next((site for site in sites if site.module != file.module.name), None):
        place = f"{file.analysis.index.modules[away.module].file}:{away.node.lineno}"
        raise LaunchStopped(f"a launch in another file, {place}: launch it beside the kernel")
    if any(len(site.kernels) != 1 for site in sites):
        raise LaunchStopped("a launch through a name that may be another kernel: launch each by its own name")
    return sites


def with_parameters(params: cst.Parameters, changed: list[_Changed], *, at_end: bool) -> cst.Parameters:
    """The signature with the row counts: each after its tensor, or all at the end where launches are positional."""
    new: list[cst.Param] = []
    extra = {c.relaid.name: c.relaid.rows for c in changed}
    for param in params.params:
        new.append(param)
        if not at_end and param.name.value in extra:
            new.append(param.with_changes(name=cst.Name(extra[param.name.value])))
    if at_end:
        last = new[-1]
        default = cst.Integer("0") if last.default is not None else None
        separated = [p if isinstance(p.comma, cst.Comma) else p.with_changes(comma=_COMMA) for p in new]
        new = [*separated, *(_plain(rows, default) for rows in extra.values())]
    return params.with_changes(params=new)


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _plain(name: str, default: cst.BaseExpression | None) -> cst.Param:
    return cst.Param(cst.Name(name), default=default)


RULE = GateLayout()
