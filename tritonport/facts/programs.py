"""How the programs of each kernel become tasks: which axes, which extra parameters, what each launch site passes.

A grid axis is either passed by the host as one integer (`grid_0`), or, where it depends on a parameter that a tuner
chooses (`cdiv(V, meta['BV']) * NT`), rebuilt in the kernel from that parameter; the parts that the kernel does not
have are then passed by the host (`grid_NT`). Where no tuner stands between the launch and the kernel, the grid is read
when it is launched, whatever it is: handed in by a caller, taken from an object, a function of the launch's arguments.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tritonport.discover import Analysis
from tritonport.discover.functions import is_tuned, reached
from tritonport.discover.launches import LaunchSite
from tritonport.discover.model import Kernel
from tritonport.facts.axes import AxisFormula, Refusal, read_axes, site_formulas
from tritonport.facts.escapes import escapes
from tritonport.facts.ids import IdUse, IdUses
from tritonport.facts.naming import fresh, names_of

MAX_RANK = 3
"""Axes of a launch."""


@dataclass(frozen=True)
class SitePlan:
    """What one launch site hands to the wrapper besides its grid: (parameter, host expression)."""

    site: LaunchSite
    extra: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TaskVariant:
    """A jit function as a task: its program ids, and the grid sizes that it asks for, as its first parameters."""

    key: str
    name: str
    pids: tuple[tuple[int, str], ...]
    sizes: tuple[tuple[int, str], ...]

    @property
    def leading(self) -> tuple[str, ...]:
        return tuple(name for _, name in (*self.pids, *self.sizes))


@dataclass(frozen=True)
class ProgramPlan:
    """One kernel as a persistent kernel.

    axes: per axis, the in-kernel expression of its size, `None` where the parameter of `axis_names` carries it.
    extra: parameters that the persistent kernel gets in addition.
    """

    key: str
    cube: bool
    rank: int
    axis_names: tuple[str, ...]
    formulas: tuple[str | None, ...]
    extra: tuple[str, ...]
    sites: tuple[SitePlan, ...]
    variant: TaskVariant

    @property
    def cores(self) -> str:
        return "cube" if self.cube else "vector"


@dataclass
class Programs:
    """Plans by kernel, the task variants that helpers need, and why a kernel has no plan."""

    plans: dict[str, ProgramPlan] = field(default_factory=dict[str, ProgramPlan])
    helpers: dict[str, TaskVariant] = field(default_factory=dict[str, TaskVariant])
    refused: dict[str, Refusal] = field(default_factory=dict[str, Refusal])
    persistent: set[str] = field(default_factory=set[str])
    """Kernels that an earlier run already made persistent."""
    migrated: set[str] = field(default_factory=set[str])
    """Those, and every jit function that they call: an earlier run's output, which no rule on tiles looks at again."""

    def variant(self, key: str) -> TaskVariant | None:
        plan = self.plans.get(key)
        return plan.variant if plan is not None else self.helpers.get(key)

    def site_extra(self, site: LaunchSite) -> tuple[tuple[str, str], ...]:
        """What the wrapper of a launch site gets; the same for every kernel that the site may launch."""
        found = {
            p.extra
            for key in site.kernels
            if key in self.plans
            for p in self.plans[key].sites
            if p.site is site
        }
        (extra,) = found
        return extra


GRID_COLLAPSE = "grid-collapse"
"""The rule without which a launch keeps its grid."""


ONE_GRID = "write its grid once, as a tuple or a function of the tiles"


def plan_programs(analysis: Analysis, *, keep_grids: bool = False) -> Programs:
    """Plan every reachable kernel that counts or stands apart; unreachable ones stay as they are.

    keep_grids: launches keep their grids in this run, so that nobody has to understand them.
    """
    programs = Programs()
    uses = IdUses(analysis)
    escaped = escapes(analysis)
    wanted: list[str] = []
    entry = set(analysis.discovery.tree.entry_files())
    for kernel in analysis.discovery.kernels:
        if kernel.opaque is not None and kernel.reachable:
            programs.refused[kernel.name] = Refusal(str(kernel.file), kernel.line, kernel.opaque)
        elif kernel.opaque is None and (kernel.reachable or _started_unseen(analysis, escaped, kernel)):
            wanted.append(kernel.name)
        elif kernel.opaque is None and kernel.file in entry and not _launched(analysis, kernel):
            programs.refused[kernel.name] = escaped.get(kernel.name) or Refusal(
                str(kernel.file),
                kernel.line,
                "no launch of it is found: nothing here starts it; name a folder that holds its launches",
            )
    for key in wanted:
        sites = tuple(s for s in analysis.sites if key in s.kernels)
        if sites and all(site.wrapped for site in sites):
            programs.persistent.add(key)
            programs.migrated |= {function.key for function in reached(analysis.functions, key)}
            continue
        outcome = escaped.get(key) or _plan(analysis, uses, key, sites)
        if isinstance(outcome, Refusal) and keep_grids and key not in escaped and not _partly_done(sites):
            outcome = _assemble(analysis, key, uses.of(key), 0, (), (), dict.fromkeys(sites, ()))
        if isinstance(outcome, Refusal):
            programs.refused[key] = outcome
        else:
            programs.plans[key] = outcome
    _drop_shared_refusals(analysis, programs)
    for key in programs.plans:
        for helper in uses.helpers(key):
            if helper not in programs.plans:
                programs.helpers[helper] = _variant(analysis, helper, uses.of(helper))
    return programs


def _started_unseen(analysis: Analysis, escaped: dict[str, Refusal], kernel: Kernel) -> bool:
    """No launch of it is known, but reachable host code hands it on."""
    return not _launched(analysis, kernel) and kernel.name in escaped and kernel.name in analysis.reachable


def _launched(analysis: Analysis, kernel: Kernel) -> bool:
    return any(kernel.name in site.kernels for site in analysis.sites)


def _drop_shared_refusals(analysis: Analysis, programs: Programs) -> None:
    """A site that may launch several kernels is wrapped for all of them or for none."""
    changed = True
    while changed:
        changed = False
        for site in analysis.sites:
            refused = [k for k in site.kernels if k in programs.refused]
            planned = [k for k in site.kernels if k in programs.plans]
            extras = {p.extra for k in planned for p in programs.plans[k].sites if p.site is site}
            if planned and (refused or len(extras) > 1):
                other = refused[0] if refused else planned[-1]
                file = str(analysis.index.modules[site.module].file)
                why = f"one launch site starts this kernel and `{other}`, which cannot be treated alike"
                for key in planned:
                    del programs.plans[key]
                    programs.refused[key] = Refusal(file, site.node.lineno, why)
                changed = True


def _variant(analysis: Analysis, key: str, use: IdUse) -> TaskVariant:
    function = analysis.functions[key]
    node = function.definition.node
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(function.parameters)
    prefix = f"_{function.definition.owner}_" if function.definition.owner else ""
    module = analysis.index.modules[function.definition.module].tree
    return TaskVariant(
        key=key,
        name=fresh(f"{prefix}{node.name}_task", taken | names_of(module)),
        pids=tuple((axis, fresh(f"pid_{axis}", taken)) for axis in sorted(use.pids)),
        sizes=tuple((axis, fresh(f"grid_{axis}", taken)) for axis in sorted(use.sizes)),
    )


def _plan(analysis: Analysis, uses: IdUses, key: str, sites: tuple[LaunchSite, ...]) -> ProgramPlan | Refusal:
    refusal = uses.refusal(key) or _refuse_sites(analysis, key, sites)
    if refusal is not None:
        return refusal
    use = uses.of(key)
    function = analysis.functions[key]
    taken = set(function.parameters)
    names = tuple(fresh(f"grid_{axis}", taken) for axis in range(MAX_RANK))
    obscure = any(_obscure(site) is not None for site in sites)
    rank = max([*(len(g.axes) for s in sites for g in s.grids), *(axis + 1 for axis in use.pids | use.sizes)])
    rank = MAX_RANK if obscure else rank
    names = names[:rank]
    if obscure or not is_tuned(analysis.index, function):
        # All that a grid may ask for is known at the launch, which is the surest place to read it.
        per_site = {site: read_axes(site.grids, names) for site in sites}
        return _assemble(analysis, key, use, rank, names, (None,) * rank, per_site)
    found = site_formulas(analysis, function, sites, rank, names)
    if isinstance(found, Refusal):
        return found
    formulas, per_site = found
    return _assemble(analysis, key, use, rank, names, formulas, per_site)


def _assemble(
    analysis: Analysis,
    key: str,
    use: IdUse,
    rank: int,
    names: tuple[str, ...],
    formulas: tuple[AxisFormula | None, ...],
    per_site: dict[LaunchSite, tuple[tuple[str, str], ...]],
) -> ProgramPlan:
    extra: dict[str, None] = {}
    for axis, formula in enumerate(formulas):
        for name in (names[axis],) if formula is None else formula.terms:
            extra.setdefault(name)
    kernel = next(k for k in analysis.discovery.kernels if k.name == key)
    return ProgramPlan(
        key=key,
        cube=kernel.cube,
        rank=rank,
        axis_names=names,
        formulas=tuple(None if f is None else f.text for f in formulas),
        extra=tuple(extra),
        sites=tuple(SitePlan(site, extras) for site, extras in per_site.items()),
        variant=_variant(analysis, key, use),
    )


def _refuse_sites(analysis: Analysis, key: str, sites: tuple[LaunchSite, ...]) -> Refusal | None:
    tuned = is_tuned(analysis.index, analysis.functions[key])
    for site in sites:
        file = str(analysis.index.modules[site.module].file)
        if site.wrapped:
            return Refusal(file, site.node.lineno, "only some of its launches are already migrated")
        why = _obscure(site)
        if why is not None and tuned:
            return Refusal(file, site.node.lineno, f"{why}, and the kernel is tuned: {ONE_GRID}")
    return None


def _partly_done(sites: tuple[LaunchSite, ...]) -> bool:
    return any(site.wrapped for site in sites)


def _obscure(site: LaunchSite) -> str | None:
    """Why the source does not say how many axes a grid has and what is in them; None where it does."""
    for grid in site.grids:
        if grid.form == "unknown":
            return grid.why or "the grid cannot be understood"
    if len({(g.form == "tuple", len(g.axes)) for g in site.grids}) > 1:
        return "the grid has a different form on different branches"
    return None
