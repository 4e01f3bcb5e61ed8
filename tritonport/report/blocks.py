"""Where output and upstream differ, by upstream's functions: the line map read as a diff."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard

from tritonport.engine.linemap import Origin
from tritonport.lines import split_lines

MODULE = "<module>"
"""The function of a line outside any."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Span:
    """Lines first to last (1-based, inclusive) of one function or `Class.method`, decorators included."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Block:
    """Upstream's lines [a1, a2) became the output's lines [b1, b2), 0-based; all of it belongs to one function."""

    a1: int
    a2: int
    b1: int
    b2: int
    function: str


def spans(text: str) -> tuple[Span, ...]:
    """The top-level functions and methods of a Python text, in order."""
    found: list[Span] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            found += [_span(f"{node.name}.{item.name}", item) for item in node.body if _is_function(item)]
        elif _is_function(node):
            found.append(_span(node.name, node))
    return tuple(found)


def _is_function(node: ast.stmt) -> TypeGuard[_Function]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _span(name: str, node: _Function) -> Span:
    first = min((node.lineno, *(d.lineno for d in node.decorator_list)))
    return Span(name, first, node.end_lineno or node.lineno)


def _at(found: Iterable[Span], line: int) -> str:
    return next((span.name for span in found if span.first <= line <= span.last), MODULE)


def blocks(origins: Sequence[Origin], before: str, after: str) -> Iterator[Block]:
    """The changes between lines that the line map calls untouched, cut where upstream's function changes."""
    length = len(split_lines(before))
    upstream = spans(before)
    names = {span.name for span in upstream}
    made = spans(after)
    owners = [name if (name := _at(made, at)) in names else None for at in range(1, len(origins) + 1)]
    same = [(o.line - 1, at) for at, o in enumerate(origins) if o.line is not None and not o.rules]
    for (a, b), (a2, b2) in pairwise([(-1, -1), *same, (length, len(origins))]):
        if a + 1 == a2:
            yield from _inserted(a2, (b + 1, b2), origins, upstream, owners)
        else:
            yield from _replaced((a + 1, a2), (b + 1, b2), origins, upstream)


def _inserted(
    at: int,
    new: tuple[int, int],
    origins: Sequence[Origin],
    upstream: Sequence[Span],
    owners: Sequence[str | None],
) -> Iterator[Block]:
    """New lines belong to the function of upstream's name that they stand in, or next to.

    The line map has them at the line before, which for a function that is put in front of another is outside both.
    """
    start, end = new
    if start == end:
        return
    named = [owner for owner in owners[start:end] if owner is not None]
    if not named:
        line = origins[start].line
        yield Block(at, at, start, end, MODULE if line is None else _at(upstream, line))
        return
    current, first = named[0], start
    for row in range(start, end):
        owner = owners[row] or current
        if owner != current:
            yield Block(at, at, first, row, current)
            current, first = owner, row
    yield Block(at, at, first, end, current)


def _replaced(
    old: tuple[int, int], new: tuple[int, int], origins: Sequence[Origin], upstream: Sequence[Span]
) -> Iterator[Block]:
    """Old lines by their function; the new ones go with the old lines that they come from."""
    (a, a_end), (b, b_end) = old, new
    while a < a_end:
        name = _at(upstream, a + 1)
        to_a, to_b = a, b
        while to_a < a_end and _at(upstream, to_a + 1) == name:
            to_a += 1
        while to_b < b_end and (to_a == a_end or _comes_before(origins[to_b], to_a)):
            to_b += 1
        yield Block(a, to_a, b, to_b, name)
        a, b = to_a, to_b


def _comes_before(origin: Origin, line: int) -> bool:
    """Whether an output line comes from upstream lines before this one (0-based)."""
    return origin.line is None or origin.line <= line
