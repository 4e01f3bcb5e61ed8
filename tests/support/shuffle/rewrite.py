"""Applies renames to source text at their positions, so that everything else stays byte for byte."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tests.support.shuffle.renames import Rename
from tests.support.shuffle.scopes import Module


@dataclass(frozen=True, order=True)
class Span:
    """Bytes from start to end of the source are replaced by text."""

    start: int
    end: int
    text: str


class Source:
    """Source bytes with the offset of every line."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line.encode()))

    def start(self, node: ast.AST) -> int:
        return self.lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def after(self, word: str, start: int, skip: bytes = b"") -> int:
        """Offset of what follows the next `word`, white space and the bytes of skip left out."""
        at = self.data.index(word.encode(), start) + len(word)
        while self.data[at : at + 1].isspace() or self.data[at] in skip:
            at += 1
        return at


def rewrite(text: str, module: Module, renames: list[Rename]) -> str:
    """The source with all renames applied."""
    source = Source(text)
    spans: set[Span] = set()
    formatted: dict[ast.JoinedStr, list[Rename]] = {}
    for rename in renames:
        outer = [a for a in (rename.node, *module.ancestors(rename.node)) if isinstance(a, ast.JoinedStr)]
        if outer:
            formatted.setdefault(outer[-1], []).append(rename)
        else:
            spans.add(_span(source, rename))
    for node, inside in formatted.items():
        start, end = source.start(node), source.end(node)
        for rename in inside:
            _mutate(rename)
        spans.add(Span(start, end, ast.unparse(node)))
    return _splice(source.data, sorted(spans)).decode()


def _mutate(rename: Rename) -> None:
    assert rename.index is None
    setattr(rename.node, rename.field, rename.new)


def _splice(data: bytes, spans: list[Span]) -> bytes:
    parts, at = [], 0
    for span in spans:
        assert span.start >= at, f"overlapping renames near {data[span.start : span.end]!r}"
        parts += [data[at : span.start], span.text.encode()]
        at = span.end
    return b"".join([*parts, data[at:]])


def _span(source: Source, rename: Rename) -> Span:
    node = rename.node
    old = getattr(node, rename.field)
    if rename.index is not None:
        old = old[rename.index]
    if isinstance(node, ast.Constant):
        return Span(source.start(node), source.end(node), repr(rename.new))
    if isinstance(node, ast.ImportFrom):
        return _module_path(source, node, rename)
    start = _name_start(source, node, rename, old)
    found = source.data[start : start + len(old.encode())].decode()
    assert found == old, f"expected {old!r}, found {found!r}"
    return Span(start, start + len(old.encode()), rename.new)


def _name_start(source: Source, node: ast.AST, rename: Rename, old: str) -> int:
    if isinstance(node, ast.Attribute):
        return source.end(node) - len(old.encode())
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return source.after("def", source.start(node))
    if isinstance(node, ast.ExceptHandler):
        assert node.type is not None
        return source.after("as", source.end(node.type))
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        at = source.after("global" if isinstance(node, ast.Global) else "nonlocal", source.start(node))
        for name in node.names[: rename.index]:
            at = source.after(name, at, skip=b",")
        return at
    if isinstance(node, ast.alias) and rename.field == "asname":
        return source.end(node) - len(old.encode())
    return source.start(node)


def _module_path(source: Source, node: ast.ImportFrom, rename: Rename) -> Span:
    """The dotted name between `from` and `import`, without leading dots."""
    assert node.module is not None
    start = source.after("from", source.start(node), skip=b".")
    end = start + len(node.module.encode())
    assert source.data[start:end].decode() == node.module
    return Span(start, end, rename.new)
