"""Which arguments of a launch may share memory: new memory shares none, what comes from outside may be all the same."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import IntEnum

from tritonport.discover import Analysis
from tritonport.discover.launches import LaunchSite
from tritonport.discover.scopes import path
from tritonport.facts.hosts.memory import NONE, OUTSIDE, Host, HostMemory, Origins
from tritonport.facts.hosts.syntax import passed

_ANYTHING: Origins = frozenset({OUTSIDE})


class Overlap(IntEnum):
    """Whether two arguments share memory. UNSURE: one is what host code keeps elsewhere (a cache), or unpacked."""

    NO = 0
    UNSURE = 1
    MAY = 2


@dataclass
class LaunchMemory:
    """Answers for every kernel of a closure; each host function is read once."""

    analysis: Analysis
    _memory: HostMemory = field(init=False)
    _known: dict[int, dict[str, Origins] | None] = field(
        default_factory=dict[int, "dict[str, Origins] | None"]
    )

    def __post_init__(self) -> None:
        self._memory = HostMemory(self.analysis)

    def overlap(self, kernel: str, first: str, second: str) -> Overlap:
        """Of two parameters of `module:kernel`, over all launches; MAY where none is known, or one cannot be read."""
        sites = [site for site in self.analysis.sites if kernel in site.kernels]
        called = any(kernel in function.calls for function in self.analysis.functions.values())
        if called or not sites:
            return Overlap.MAY
        return max(self._overlap(site, kernel, first, second) for site in sites)

    def _overlap(self, site: LaunchSite, kernel: str, first: str, second: str) -> Overlap:
        given = self._given(site, kernel)
        if given is None:
            return Overlap.MAY
        one, other = (given.get(name, _ANYTHING) for name in (first, second))
        if one & other - {OUTSIDE} or (_parameters(one) and _parameters(other)):
            return Overlap.MAY
        return Overlap.UNSURE if _from_outside(one) and _from_outside(other) else Overlap.NO

    def _given(self, site: LaunchSite, kernel: str) -> dict[str, Origins] | None:
        """Where the memory of each argument of a launch comes from; None where that cannot be told."""
        if id(site.node) not in self._known:
            self._known[id(site.node)] = self._read(site, self.analysis.functions[kernel].parameters)
        return self._known[id(site.node)]

    def _read(self, site: LaunchSite, parameters: tuple[str, ...]) -> dict[str, Origins] | None:
        host = self._host(site)
        if host is None:
            return None
        states = self._memory.states(host)
        held = next((states[id(n)] for n in reversed(path(host.node, site.node)) if id(n) in states), None)
        if held is None:
            return None
        found: dict[str, Origins] = {}
        for name, value in passed(site.node, parameters):
            if name is not None:
                found[name] = found.get(name, NONE) | self._memory.origins(host, value, held)
        return found

    def _host(self, site: LaunchSite) -> Host | None:
        if not isinstance(site.scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        return self._memory.host(site.module, site.scope)


def _from_outside(origins: Origins) -> bool:
    return any(isinstance(origin, str) for origin in origins)


def _parameters(origins: Origins) -> bool:
    """Whether a caller may have passed it: two of those may be one tensor."""
    return any(isinstance(origin, str) and origin != OUTSIDE for origin in origins)
