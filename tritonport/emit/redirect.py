"""Leads the imports among copied modules to the copies."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.closure import absolute_module
from tritonport.discover.index import Definition, Index, Meaning, ModuleRef, Value
from tritonport.discover.parse import ParsedModule
from tritonport.engine.gates import GateError
from tritonport.facts.walk import code_of

LINE = 100


def carried_modules(index: Index, changed: Collection[str]) -> tuple[str, ...]:
    """The changed modules, and those through which one of them gets at another.

    A function of a migrated module may call one that did not change, and that one a migrated one again.
    """
    edges = {name: frozenset(_imports(index, module)) for name, module in index.modules.items()}
    below = _closure(changed, edges)
    above = _closure(changed, _turned(edges))
    return tuple(sorted({*changed, *(below & above)} & set(index.modules)))


def _closure(start: Collection[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    todo, seen = list(start), set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += edges.get(name, ())
    return seen


def _turned(edges: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    turned: dict[str, set[str]] = {}
    for name, targets in edges.items():
        for target in targets:
            turned.setdefault(target, set()).add(name)
    return turned


def _imports(index: Index, module: ParsedModule) -> Iterator[str]:
    """Modules of the closure whose functions, classes or values a module imports by name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            base = absolute_module(module, node)
            for alias in node.names:
                yield from (place for place, _ in _places(index, base, alias.name))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in index.modules)


def _places(index: Index, base: str, name: str) -> Iterator[tuple[str, str | None]]:
    """Where `from base import name` gets it: module and name there, None for a module itself."""
    found = index.resolve(base, name) if base in index.modules else ()
    if not found and f"{base}.{name}" in index.modules:
        found = (ModuleRef(f"{base}.{name}"),)
    yield from (place for meaning in found if (place := _place(meaning)) is not None)


def _place(meaning: Meaning) -> tuple[str, str | None] | None:
    if isinstance(meaning, Definition):
        return meaning.module, meaning.node.name
    if isinstance(meaning, Value):
        return meaning.module, meaning.name
    return (meaning.module, None) if isinstance(meaning, ModuleRef) else None


@dataclass(frozen=True)
class Redirection:
    """carried: modules with a copy below `package`. renamed: other modules by new name.

    through: (module, function) that keep being imported from upstream, whose dispatch asks the verifier first.
    """

    index: Index
    carried: frozenset[str]
    package: str
    renamed: Mapping[str, str]
    through: frozenset[tuple[str, str]] = frozenset()


def redirected(text: str, module: ParsedModule, how: Redirection) -> str:
    """A module's text with its imports of carried modules led to the copies."""
    return cst.parse_module(text).visit(_Redirect(module, how)).code


class _Redirect(cst.CSTTransformer):
    def __init__(self, module: ParsedModule, how: Redirection) -> None:
        super().__init__()
        self.module, self.how = module, how
        self.index, self.carried = how.index, how.carried

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if len(updated_node.body) != 1:
            return updated_node
        statement = updated_node.body[0]
        if isinstance(statement, cst.Import):
            return updated_node.with_changes(body=[self._plain(statement)])
        if not isinstance(statement, cst.ImportFrom) or isinstance(statement.names, cst.ImportStar):
            return updated_node
        groups = self._groups(statement, statement.names)
        if list(groups) == [_written(statement)]:
            return updated_node
        lines = [_line(source, aliases) for source, aliases in groups.items()]
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def _plain(self, statement: cst.Import) -> cst.Import:
        """`import a.b as c`; without `as` the name of the top-level package is bound, which stays upstream's."""
        names = [
            alias.with_changes(name=_dotted(self._below(alias.evaluated_name)))
            if alias.asname is not None and alias.evaluated_name in self.carried
            else alias
            for alias in statement.names
        ]
        return statement.with_changes(names=names)

    def _below(self, module: str) -> str:
        return f"{self.how.package}.{module}"

    def _groups(self, statement: cst.ImportFrom, aliases: Sequence[cst.ImportAlias]) -> dict[str, list[str]]:
        """Names by the module that they are to come from, in the order in which they are written."""
        node = ast.parse(code_of(statement).strip()).body[0]
        assert isinstance(node, ast.ImportFrom)
        base = absolute_module(self.module, node)
        written = _written(statement)
        groups: dict[str, list[str]] = {}
        for alias in aliases:
            name, local = alias.evaluated_name, alias.evaluated_alias or alias.evaluated_name
            source, name = self._source(base, name)
            key = written if source == base == written else source
            groups.setdefault(key, []).append(name if name == local else f"{name} as {local}")
        return groups

    def _source(self, base: str, name: str) -> tuple[str, str]:
        if base in self.how.renamed:
            return self.how.renamed[base], name
        places = set(_places(self.index, base, name))
        if not self.how.through.isdisjoint((m, n) for m, n in places if n is not None):
            return base, name
        for module, there in places:
            if module in self.carried and len({place for place, _ in places}) == 1:
                if there is None:
                    parent, _, last = module.rpartition(".")
                    return self._below(parent), last
                return self._below(module), there
        # A name that a rule added to a carried module (a helper's variant for tasks): upstream does not have it.
        return (self._below(base) if base in self.carried and not places else base), name


def check_imports(files: Mapping[str, str]) -> None:
    """Every name that one of these files imports from another must be there. Raises GateError."""
    trees = {module_of(path): ast.parse(text) for path, text in files.items()}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module in trees:
                there = _bound(trees[node.module])
                for alias in node.names:
                    if alias.name not in there and f"{node.module}.{alias.name}" not in trees:
                        raise GateError(f"{module} imports {alias.name}, which {node.module} does not have")


def module_of(path: str) -> str:
    """`a/b/__init__.py` as `a.b`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _bound(tree: ast.Module) -> set[str]:
    """Names that a module binds outside its functions and classes."""
    found: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        todo += ast.iter_child_nodes(node)
    return found


def _written(statement: cst.ImportFrom) -> str:
    """The module as it is written, with the dots of a relative import."""
    dots = "." * len(statement.relative)
    return dots + (code_of(statement.module) if statement.module else "")


def _dotted(name: str) -> cst.Attribute | cst.Name:
    node = cst.parse_expression(name)
    assert isinstance(node, cst.Attribute | cst.Name)
    return node


def _line(source: str, names: Iterable[str]) -> cst.SimpleStatementLine:
    items = list(names)
    text = f"from {source} import {', '.join(items)}"
    if len(text) > LINE:
        text = f"from {source} import (\n" + "".join(f"    {item},\n" for item in items) + ")"
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)
