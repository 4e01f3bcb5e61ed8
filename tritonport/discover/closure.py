"""The import closure of an entry within its own package, function-level imports included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tritonport.discover.model import Problem
from tritonport.discover.parse import ParsedModule, parse_file, parse_text
from tritonport.sources.tree import SourceTree, is_hand_port


@dataclass
class Closure:
    """Modules by import name, and the files that could not be read."""

    modules: dict[str, ParsedModule] = field(default_factory=dict[str, ParsedModule])
    problems: list[Problem] = field(default_factory=list[Problem])


def module_file(tree: SourceTree, module: str, *, hand_ports: bool = False) -> PurePosixPath | None:
    """The file of a module of this tree, None when it lies outside the package, in a hand port or nowhere."""
    if tree.package is not None and module.split(".", maxsplit=1)[0] != tree.package:
        return None
    base = PurePosixPath(*module.split("."))
    for file in (base / "__init__.py", base.with_suffix(".py")):
        if (tree.root / file).is_file():
            return file if hand_ports or not is_hand_port(file) else None
    return None


def absolute_module(module: ParsedModule, node: ast.ImportFrom) -> str:
    """The absolute name that `from ..x import y` names, seen from this module."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".") if module.name else []
    parts = parts[: len(parts) - node.level + (1 if module.is_package else 0)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def imported_modules(module: ParsedModule) -> Iterator[str]:
    """Every name that this module may import as a module: `from a import b` yields `a` and `a.b`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute_module(module, node)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _overlaid(overlay: Mapping[str, str], module: str) -> PurePosixPath | None:
    path = PurePosixPath(*module.split(".")).with_suffix(".py")
    return path if str(path) in overlay else None


def import_closure(
    tree: SourceTree,
    overlay: Mapping[str, str] | None = None,
    known: Mapping[str, ParsedModule] | None = None,
) -> Closure:
    """Every module of the package that the entry's files import, directly or through others.

    overlay: text by path that stands for a file, present on disk or not (what a run is about to write). known:
    modules by name that were parsed already and stand for their files, where the overlay has none.
    """
    given = overlay or {}
    parsed_before = {module.file: module for module in (known or {}).values()}
    closure = Closure()
    todo = list(tree.entry_files())
    seen = set(todo)
    while todo:
        file = todo.pop()
        if str(file) in given:
            parsed = parse_text(tree, file, given[str(file)])
        else:
            parsed = parsed_before.get(file) or parse_file(tree, file)
        if isinstance(parsed, Problem):
            closure.problems.append(parsed)
            continue
        closure.modules[parsed.name] = parsed
        for name in imported_modules(parsed):
            file = (module_file(tree, name) or _overlaid(given, name)) if name else None
            if file is not None and file not in seen:
                seen.add(file)
                todo.append(file)
    closure.modules = dict(sorted(closure.modules.items()))
    closure.problems.sort(key=lambda problem: str(problem.file))
    return closure
