"""Which functions a kernel of the output reaches, under whatever name and in whatever file.

Part of the residual scan: written apart from discovery and the rules, over `ast`, so as to contradict them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Read = ast.Name | ast.Attribute


class File:
    """One file: its functions, and what its names may stand for by every assignment and import outside of these."""

    def __init__(self, tree: ast.Module, module: str = "", *, package: bool = False) -> None:
        self.tree = tree
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.imported: dict[str, str] = {}
        self.stars: list[str] = []
        self._meant: dict[str, set[str]] = {}
        self._folder = module.split(".") if package else module.split(".")[:-1]
        for node in _outside_functions(tree):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign | ast.NamedExpr) else targets
        for target in targets:
            if isinstance(target, ast.Name):
                self._meant.setdefault(target.id, set()).update(last_parts(node))
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                self.imported[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            above = self._folder[: len(self._folder) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                if alias.name == "*":
                    self.stars.append(home)
                else:
                    self.imported[alias.asname or alias.name] = f"{home}.{alias.name}"

    def of(self, name: str) -> set[str]:
        """The name, and every name of the file that it may stand for."""
        found, todo = {name}, [name]
        while todo:
            more = self._meant.get(todo.pop(), set()) - found
            found |= more
            todo += more
        return found

    def meant(self, read: Read) -> set[str]:
        """Last parts of what a name or member may be; a member of an imported module is what it is called there."""
        if isinstance(read, ast.Name):
            return self.of(read.id) | {self.imported.get(n, n).rpartition(".")[2] for n in self.of(read.id)}
        root = root_of(read)
        foreign = root is not None and root.id in self.imported
        return {read.attr} if foreign else self.of(read.attr)

    def own(self, read: Read) -> Iterator[ast.FunctionDef]:
        """Device functions of this file that a name or member may be."""
        root = root_of(read)
        if isinstance(read, ast.Attribute) and root is not None and root.id in self.imported:
            return
        for name in sorted(self.of(read.id if isinstance(read, ast.Name) else read.attr)):
            node = self.functions.get(name)
            if node is not None and self._is_device(node):
                yield node

    def _is_device(self, node: ast.FunctionDef) -> bool:
        """Whether it is decorated by `jit`; what only made a constant that a task reads is no device code."""
        last = {part for d in node.decorator_list for part in last_parts(d)}
        return any("jit" in self.of(p) or self.imported.get(p, "").endswith(".jit") for p in last)

    def elsewhere(self, read: Read) -> Iterator[tuple[str, str]]:
        """Modules, and names in them, that a name or member may be."""
        root = root_of(read)
        if root is None:
            return
        below = ast.unparse(read)[len(root.id) :]
        for name in sorted(self.of(root.id)):
            if name in self.imported:
                module, _, last = f"{self.imported[name]}{below}".rpartition(".")
                yield module, last
            elif not below:
                yield from ((star, name) for star in self.stars)


@dataclass
class Files:
    """The files of an output with what they import. trees: by module, and whether each is a package."""

    trees: Mapping[str, tuple[ast.Module, bool]] = field(default_factory=dict[str, tuple[ast.Module, bool]])
    _read: dict[str, File] = field(default_factory=dict[str, File])

    def get(self, module: str) -> File | None:
        if module not in self._read:
            if module not in self.trees:
                return None
            tree, package = self.trees[module]
            self._read[module] = File(tree, module, package=package)
        return self._read[module]

    def reached(self, file: File, kernel: ast.FunctionDef) -> Iterator[tuple[File, ast.FunctionDef]]:
        """The kernel, and every device function that its body reaches: called or handed on."""
        todo, seen = [(file, kernel)], {id(kernel)}
        while todo:
            home, node = todo.pop()
            yield home, node
            for read in reads(node):
                for found in (*((home, own) for own in home.own(read)), *self._elsewhere(home, read, set())):
                    if id(found[1]) not in seen:
                        seen.add(id(found[1]))
                        todo.append(found)

    def _elsewhere(
        self, file: File, read: Read, seen: set[tuple[str, str]]
    ) -> Iterator[tuple[File, ast.FunctionDef]]:
        for place in file.elsewhere(read):
            there = self.get(place[0])
            if there is not None and place not in seen:
                seen.add(place)
                name = ast.Name(place[1], ast.Load())
                yield from ((there, node) for node in there.own(name))
                yield from self._elsewhere(there, name, seen)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _outside_functions(child)


def last_parts(node: ast.AST) -> set[str]:
    """Names, and last parts of dotted names, that are read below a node."""
    return {
        item.id if isinstance(item, ast.Name) else item.attr
        for item in ast.walk(node)
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load)
    }


def root_of(read: ast.expr) -> ast.Name | None:
    """The first name of a dotted name; None where it is none."""
    while isinstance(read, ast.Attribute):
        read = read.value
    return read if isinstance(read, ast.Name) else None


def reads(node: ast.FunctionDef) -> Iterator[Read]:
    """Names of the module, and members of them, that a body reads."""
    bound = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for item in (found for statement in node.body for found in ast.walk(statement)):
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load):
            root = root_of(item)
            if root is not None and root.id not in bound:
                yield item
