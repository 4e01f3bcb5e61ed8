"""Which host functions can take a head-first copy from their caller, and which callers make one for several.

A function *takes* the copy of a parameter where the parameter stays what the caller passed, and nothing before its use
writes memory that may be the parameter's. A function *makes* a copy where it has several uses and nothing from the
first to the last of them writes that memory.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tritonport.discover import Analysis
from tritonport.discover.index import Definition
from tritonport.discover.launches import RUNTIME_MODULE
from tritonport.facts.hosts.memory import Host, Key, is_plain, runtime_helper
from tritonport.facts.hosts.syntax import passed, positions, stored_names
from tritonport.facts.hosts.writes import HostWrites

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
"""What binds names of its own: a name in it may be another one."""
COPY = "head_first"
"""The run-time helper that makes one copy: `head_first(tensor, heads)`."""


@dataclass(frozen=True)
class Use:
    """One place of a function that needs the head-first form of a name. number: of the call, in source order.

    statement: the one of the function's own body around it. kernel: what a copy is made for.
    takes: (function, parameter) that the name is handed to, None for a copy.
    """

    number: int
    statement: int
    kernel: str | None
    takes: tuple[str, str] | None


@dataclass(frozen=True)
class Share:
    """What becomes of one name in one function. given: it gets the copy by keyword. makes: it makes one itself."""

    function: Definition
    name: str
    uses: tuple[Use, ...]
    given: bool
    makes: bool


@dataclass(frozen=True)
class Refused:
    """A function with several uses of one name that may not share a copy."""

    function: Definition
    name: str
    why: str


@dataclass(frozen=True)
class _Call:
    """A call of a function's own body. callee: None for a copy."""

    call: ast.Call
    number: int
    statement: int
    kernel: str | None
    callee: Host | None


@dataclass
class _Name:
    """One name in one function, with the copies that it is needed for."""

    definition: Definition
    host: Host
    name: str
    uses: list[Use] = field(default_factory=list[Use])

    @property
    def key(self) -> tuple[str, str]:
        return self.definition.key, self.name


class Sharing:
    """The plan for a closure."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.writes = HostWrites(analysis)
        self.refused: list[Refused] = []
        self._kernels = {id(site.node): site.kernels for site in analysis.sites}
        self._known: dict[Key, tuple[_Call, ...]] = {}

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """Every name of every function that takes, hands on or makes a copy."""
        names = self._found()
        makers = {key for key, found in names.items() if len(found.uses) > 1 and self._holds(found)}
        given: set[tuple[str, str]] = set()
        todo = [use.takes for key in makers for use in names[key].uses if use.takes is not None]
        while todo:
            key = todo.pop()
            if key not in given:
                given.add(key)
                todo += [use.takes for use in names[key].uses if use.takes is not None]
        return tuple(
            Share(found.definition, found.name, tuple(found.uses), key in given, key in makers)
            for key, found in names.items()
            if key in given | makers
        )

    def _found(self) -> dict[tuple[str, str], _Name]:
        """Names with uses; those of callees that take a copy count, so callees are looked at before their callers."""
        hosts = list(self._hosts())
        names: dict[tuple[str, str], _Name] = {}
        takers: dict[tuple[str, str], _Name] = {}
        for _ in range(len(hosts) + 1):
            names = {}
            for definition, host in hosts:
                for name, use in self._uses(host, takers):
                    names.setdefault((definition.key, name), _Name(definition, host, name)).uses.append(use)
            more = {key: found for key, found in names.items() if self._takes(found)}
            if more.keys() == takers.keys():
                break
            takers = more
        return names

    def _hosts(self) -> Iterator[tuple[Definition, Host]]:
        """Functions and methods at the top level of modules, but for jit functions and the run-time helpers.

        One that is defined twice is left out: which of them is called is not known.
        """
        found = [d for d in self._functions() if d.module.rpartition(".")[2] != RUNTIME_MODULE]
        times = Counter(definition.key for definition in found)
        for definition in found:
            node = definition.node
            if times[definition.key] == 1 and not isinstance(node, ast.ClassDef):
                yield definition, self.writes.memory.host(definition.module, node)

    def _functions(self) -> Iterator[Definition]:
        for definition in self.analysis.index.definitions:
            if isinstance(definition.node, ast.ClassDef):
                for node in definition.node.body:
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield Definition(definition.module, node, definition.node.name)
            elif definition.key not in self.analysis.functions:
                yield definition

    def _uses(self, host: Host, takers: Mapping[tuple[str, str], _Name]) -> Iterator[tuple[str, Use]]:
        for found in self._calls(host):
            if found.callee is None:
                yield ast.unparse(found.call.args[0]), Use(found.number, found.statement, found.kernel, None)
                continue
            given = list(passed(found.call, positions(found.callee.node)))
            for name, value in given if all(name is not None for name, _ in given) else ():
                key = (f"{found.callee.home}:{found.callee.node.name}", str(name))
                if key in takers and isinstance(value, ast.Name):
                    yield value.id, Use(found.number, found.statement, None, key)

    def _calls(self, host: Host) -> tuple[_Call, ...]:
        """The calls of a function's own body that copy a name, or call a function of the closure."""
        if host.key not in self._known:
            self._known[host.key] = tuple(self._read_calls(host))
        return self._known[host.key]

    def _read_calls(self, host: Host) -> Iterator[_Call]:
        inner = (n for n in ast.walk(host.node) if isinstance(n, _SCOPES) and n is not host.node)
        inside = {id(node) for scope in inner for node in ast.walk(scope)}
        kernels: dict[int, str] = {}
        places: dict[int, int] = {}
        for place, statement in enumerate(host.node.body):
            for node in ast.walk(statement):
                places[id(node)] = place
                for kernel in self._kernels.get(id(node), ())[:1]:
                    kernels.update({id(part): kernel for part in ast.walk(node)})
        for number, call in enumerate(calls_of(host.node)):
            if id(call) in inside or id(call) not in places:
                continue
            copies = self._copies(host, call)
            callee = None if copies else self.writes.memory.callee(host, call)
            if copies or callee is not None:
                yield _Call(call, number, places[id(call)], kernels.get(id(call)), callee)

    def _copies(self, host: Host, call: ast.Call) -> bool:
        """`head_first(name, heads)`, without a copy made before."""
        plain = len(call.args) == 2 and not call.keywords and isinstance(call.args[0], ast.Name)
        return plain and runtime_helper(self.analysis.index, host.home, call) == COPY

    def _takes(self, found: _Name) -> bool:
        """Whether a caller may hand over the copy of this parameter."""
        host = found.host
        if found.definition.owner is not None or found.name in host.local:
            return False
        if not is_plain(self.analysis.index, host):
            return False
        if found.name not in host.parameters or isinstance(host.node, ast.AsyncFunctionDef):
            return False
        args = host.node.args
        if any(a is not None and a.arg == found.name for a in (args.vararg, args.kwarg)):
            return False
        body, last = host.node.body, max(use.statement for use in found.uses)
        whole = len(found.uses) > 1 or not isinstance(body[last], ast.Expr | ast.Assign | ast.Return)
        return self.writes.between(host, body[: last + whole], found.name) is None

    def _holds(self, found: _Name) -> bool:
        """Whether one copy, made before the first use, holds for all uses."""
        body = found.host.node.body
        first, last = (pick(use.statement for use in found.uses) for pick in (min, max))
        rest = [*body[first:], *found.host.nested]
        if any(found.name in stored_names(part) for part in rest):
            why = f"`{found.name}` is assigned again"
        elif found.name not in found.host.local | found.host.parameters:
            why = f"`{found.name}` is no local name"
        else:
            writer = self.writes.between(found.host, body[first : last + 1], found.name)
            why = None if writer is None else f"what writes between the uses of `{found.name}`: {writer}"
        if why is not None:
            self.refused.append(Refused(found.definition, found.name, why))
        return why is None


def calls_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.Call]:
    """Calls of a body in source order, outer before inner where both start at one place.

    Those in formatted strings are left out: Python tells their places wrongly before 3.12.
    """
    calls = (call for statement in function.body for call in _calls(statement))
    return sorted(
        calls, key=lambda c: (c.lineno, c.col_offset, -(c.end_lineno or 0), -(c.end_col_offset or 0))
    )


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)
