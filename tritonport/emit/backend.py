"""`--emit fla-backend`: migrated functions as a package that registers with the dispatch of FLA itself.

The package holds copies of the migrated modules, and of those between them, under its own name; their imports of one
another lead to the copies. Every dispatched function that leads to a migrated kernel is offered as a backend that goes
before a hand port. Kernels that no dispatched function leads to cannot be reached this way and are listed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tritonport.discover import Analysis
from tritonport.discover.index import Definition, External, Index
from tritonport.emit.guards import checks
from tritonport.emit.redirect import Redirection, carried_modules, check_imports, redirected
from tritonport.emit.tree import RUNTIME, TEMPLATES, runtime_module, runtime_text
from tritonport.engine.linemap import Origin, advance, identity
from tritonport.errors import UserError
from tritonport.facts.dispatch import Dispatchers, outside_closure, parse_any
from tritonport.record import Assumption, KernelRecord

EMIT = "fla-backend"
HINT = "fla-core has one from 0.5.1 on; without --emit the output is a tree with activate.py"


@dataclass(frozen=True, slots=True)
class Dispatched:
    """One function that upstream's dispatch may hand to us.

    operation: the name it is dispatched under, None where the function itself is the entry point.
    assumptions: what must hold for the kernels that it launches.
    """

    module: str
    function: str
    operation: str | None
    assumptions: tuple[Assumption, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "module": self.module,
            "function": self.function,
            "operation": self.operation,
            "assumptions": [item.text for item in self.assumptions],
        }


@dataclass(frozen=True, slots=True)
class BackendPackage:
    """files: text by path in OUT. origins: their line maps. unreachable: kernel -> host functions that launch it."""

    name: str
    files: Mapping[str, str]
    origins: Mapping[str, tuple[Origin, ...]]
    functions: tuple[Dispatched, ...]
    unreachable: Mapping[str, tuple[str, ...]]

    def to_json(self) -> dict[str, Any]:
        """The member `backend` of run.json."""
        return {
            "package": self.name,
            "functions": [item.to_json() for item in self.functions],
            "unreachable": {kernel: list(hosts) for kernel, hosts in self.unreachable.items()},
        }


def backend_package(
    analysis: Analysis,
    kernels: Sequence[KernelRecord],
    texts: Mapping[str, str],
    origins: Mapping[str, tuple[Origin, ...]],
) -> BackendPackage:
    """The package for these migrated texts (by upstream path). Raises UserError where nothing is dispatched."""
    migrated = {
        k.name: k for k in kernels if k.outcome != "not-converted" and k.reachable and k.apart is None
    }
    launching = _launching(analysis, migrated)
    dispatchers = Dispatchers(analysis)
    found = list(_dispatched(analysis, dispatchers, launching))
    home = _home(analysis, found)
    name = f"{analysis.discovery.tree.package}_tritonport"
    functions = tuple(
        _offer(item, _launched_by(dispatchers, item, launching, migrated), analysis.index, texts)
        for item in found
    )
    guarded = {(f.module, f.function) for f in functions if any(a.guard for a in f.assumptions)}
    files, maps = _modules(analysis, name, texts, origins, guarded)
    reached = {kernel for item in found for kernel in _led_to(dispatchers, item, launching)}
    unreachable = {k: tuple(sorted(hosts)) for k, hosts in sorted(launching.items()) if k not in reached}
    files |= {
        f"{name}/__init__.py": _template("backend_init.py.in", package=name),
        f"{name}/backend.py": _registration(name, home, functions, unreachable),
        f"{name}/{RUNTIME}.py": runtime_text(),
    }
    files = _with_packages(files)
    check_imports(files)
    return BackendPackage(name, files, maps, functions, unreachable)


def asked_kernels(analysis: Analysis, kernels: Sequence[KernelRecord]) -> frozenset[str]:
    """Kernels whose guards a verifier asks of every call: each function that launches one is dispatched, and no other
    function of its module calls it directly."""
    launching = _launching(analysis, (k.name for k in kernels if k.assumptions))
    keys = {found.definition.key for found in _dispatched(analysis, Dispatchers(analysis), launching)}
    return frozenset(
        kernel
        for kernel, hosts in launching.items()
        if hosts and hosts <= keys and not any(_called_beside(analysis, host) for host in hosts)
    )


def _called_beside(analysis: Analysis, host: str) -> bool:
    """Whether another function of the module mentions a host function: such a call does not pass the dispatch."""
    module, _, name = host.partition(":")
    others = (d.node for d in analysis.index.definitions if d.module == module and d.key != host)
    return any(isinstance(n, ast.Name) and n.id == name for other in others for n in ast.walk(other))


def _launching(analysis: Analysis, migrated: Iterable[str]) -> dict[str, frozenset[str]]:
    """Per migrated kernel, the keys of the host functions that launch it."""
    wanted = set(migrated)
    found: dict[str, set[str]] = {}
    for site in analysis.sites:
        for kernel in wanted & set(site.kernels):
            found.setdefault(kernel, set()).add(f"{site.module}:{site.unit}")
    return {kernel: frozenset(units & analysis.reachable) for kernel, units in found.items()}


@dataclass(frozen=True, slots=True)
class _Found:
    """A dispatched function as upstream has it. dispatch: the dotted name of its decorator."""

    definition: Definition
    operation: str | None
    dispatch: str


def _dispatched(
    analysis: Analysis, dispatchers: Dispatchers, launching: Mapping[str, frozenset[str]]
) -> Iterator[_Found]:
    units = frozenset(unit for hosts in launching.values() for unit in hosts)
    for definition in analysis.index.definitions:
        node = definition.node
        if isinstance(node, ast.ClassDef) or definition.key not in analysis.reachable:
            continue
        for position in dispatchers.on(definition):
            if dispatchers.leads_to(definition, units):
                yield _found(analysis.index, definition, node.decorator_list[position])


def _found(index: Index, definition: Definition, decorator: ast.expr) -> _Found:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    dotted = next(
        f"{m.module}.{m.node.name}" if isinstance(m, Definition) else m.dotted
        for m in index.meanings(definition.module, target)
        if isinstance(m, Definition | External)
    )
    operation = None
    if isinstance(decorator, ast.Call):
        first = decorator.args[0] if decorator.args else None
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            raise UserError(
                f"`{ast.unparse(decorator)}` of {definition.key} does not name an operation", HINT
            )
        operation = first.value
    return _Found(definition, operation, dotted)


def _home(analysis: Analysis, found: Sequence[_Found]) -> tuple[str, bool]:
    """The module that upstream's dispatch lives in, and whether it registers by function (else by operation)."""
    if not found:
        raise UserError(
            "no function of these sources has a dispatcher that a backend can register with", HINT
        )
    homes = {_defined_in(analysis, item.dispatch) for item in found}
    if len(homes) != 1:
        raise UserError(f"more than one dispatcher: {', '.join(sorted(homes))}", HINT)
    (home,) = homes
    parsed = parse_any(analysis.discovery.tree, home)
    names = (
        {n.name for n in parsed.tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        if parsed
        else set()
    )
    if not {"BaseBackend", "BackendRegistry"} <= names:
        raise UserError(f"the dispatcher of {home} has no BaseBackend to register", HINT)
    return home, "register" in names


def _defined_in(analysis: Analysis, dotted: str) -> str:
    """The module that defines a dotted name, through re-exports in folders that are never input."""
    found = next(outside_closure(analysis.discovery.tree, dotted), None)
    return found[1].module if found is not None else dotted.rpartition(".")[0]


def _led_to(
    dispatchers: Dispatchers, found: _Found, launching: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    for kernel, units in launching.items():
        if units and dispatchers.leads_to(found.definition, units):
            yield kernel


def _launched_by(
    dispatchers: Dispatchers,
    found: _Found,
    launching: Mapping[str, frozenset[str]],
    migrated: Mapping[str, KernelRecord],
) -> list[KernelRecord]:
    """The kernels that a dispatched function launches itself."""
    key = found.definition.key
    return [migrated[k] for k in _led_to(dispatchers, found, launching) if key in launching[k]]


def _offer(found: _Found, own: Sequence[KernelRecord], index: Index, texts: Mapping[str, str]) -> Dispatched:
    """What a verifier can ask of its arguments: what rules state of the function's kernels, and the checks that the
    migrated function makes before it launches them."""
    module, name = found.definition.module, found.definition.node.name
    stated = [item for kernel in own for item in kernel.assumptions]
    stated += checks(texts.get(str(index.modules[module].file), ""), name)
    return Dispatched(module, name, found.operation, tuple(dict.fromkeys(stated)))


def _modules(
    analysis: Analysis,
    name: str,
    texts: Mapping[str, str],
    origins: Mapping[str, tuple[Origin, ...]],
    guarded: Collection[tuple[str, str]],
) -> tuple[dict[str, str], dict[str, tuple[Origin, ...]]]:
    """The copies of all modules that are needed, with their imports led to the copies.

    guarded: functions whose verifier must be asked, so that calls of them keep going through the dispatch.
    """
    index = analysis.index
    tree = analysis.discovery.tree
    changed = {tree.module_name(PurePosixPath(path)) for path in texts}
    carried = carried_modules(index, changed)
    runtime = {runtime_module(tree): f"{name}.{RUNTIME}"}
    files: dict[str, str] = {}
    maps: dict[str, tuple[Origin, ...]] = {}
    for module in carried:
        path = str(index.modules[module].file)
        text = texts.get(path, index.modules[module].text)
        to_copies = Redirection(index, frozenset(carried), name, runtime, frozenset(guarded))
        files[f"{name}/{path}"] = after = redirected(text, index.modules[module], to_copies)
        maps[f"{name}/{path}"] = advance(origins.get(path, identity(text)), text, after, EMIT)
    return files, maps


def _with_packages(files: Mapping[str, str]) -> dict[str, str]:
    """The files with an empty __init__.py in every folder that has none."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents if str(parent) != "."}
    return {**{f"{folder}/__init__.py": "" for folder in sorted(folders)}, **files}


def _registration(
    name: str,
    home: tuple[str, bool],
    functions: Sequence[Dispatched],
    unreachable: Mapping[str, Sequence[str]],
) -> str:
    module, by_function = home
    return _template(
        "backend.py.in",
        package=name,
        home=module,
        top=module.partition(".")[0],
        env=f"{module.partition('.')[0].upper()}_TRITONPORT",
        names="BaseBackend, register" if by_function else "BackendRegistry, BaseBackend",
        functions="".join(f"    {_row(name, item)},\n" for item in functions),
        unreachable="".join(f"    {k!r}: {tuple(hosts)!r},\n" for k, hosts in unreachable.items()),
        register=_template("backend_by_function.py.in" if by_function else "backend_by_operation.py.in"),
    )


def _row(name: str, item: Dispatched) -> str:
    guards = "".join(f"({a.text!r}, {_guard(a)}), " for a in item.assumptions if a.guard is not None)
    return f"Function({item.operation!r}, {item.module!r}, {item.function!r}, ({guards.strip()}))"


def _guard(assumption: Assumption) -> str:
    """A guard over parameters as a function of them; what else the call has is left aside."""
    assert assumption.guard is not None
    names = {n.id for n in ast.walk(ast.parse(assumption.guard, mode="eval")) if isinstance(n, ast.Name)}
    return f"lambda {''.join(f'{n}, ' for n in sorted(names))}**_: {assumption.guard}"


def _template(file: str, **values: str) -> str:
    text = (TEMPLATES / file).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{{{key}}}}}", value)
    return text
