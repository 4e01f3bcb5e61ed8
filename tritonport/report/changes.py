"""What a run changed, as hunks that carry their rules: the part of run.json that a review reads.

A hunk belongs to one upstream function. It holds its lines, so that run.json is enough to show the change anywhere and
at any later time; its fingerprint does not depend on where in the file it stands.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeGuard

from tritonport.discover.model import Discovery
from tritonport.engine.linemap import Origin
from tritonport.sources.tree import digest_bytes

Tag = Literal["=", "-", "+"]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
CONTEXT = 3
"""Unchanged lines kept on each side of a change."""
MODULE = "<module>"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk: unchanged, upstream's alone, or the output's alone. rules: who made the difference."""

    tag: Tag
    text: str
    rules: tuple[str, ...] = ()

    def to_json(self) -> list[Any]:
        return [self.tag, self.text, list(self.rules)] if self.rules else [self.tag, self.text]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring changes of one function. before, after: 1-based number of the first line on each side.

    function: upstream's top-level function or `Class.method`, `<module>` outside. upstream: digest of its text.
    kernels: the kernel that the function is, or those that it launches.
    """

    function: str
    kernels: tuple[str, ...]
    before: int
    after: int
    lines: tuple[Line, ...]
    fingerprint: str
    upstream: str

    def to_json(self) -> dict[str, Any]:
        return {
            "fingerprint": self.fingerprint,
            "function": self.function,
            "kernels": list(self.kernels),
            "upstream": self.upstream,
            "before": self.before,
            "after": self.after,
            "lines": [line.to_json() for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class FileText:
    """One output file and what it was made from.

    dropped: upstream lines that a rule took away. kernels: function -> the kernels that it is or launches.
    """

    path: str
    before: str
    after: str
    origins: Sequence[Origin]
    dropped: Mapping[int, str]
    kernels: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines first to last (1-based, inclusive) of one upstream function, decorators included."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Block:
    """Upstream's lines [a1, a2) became the output's lines [b1, b2), 0-based; it lies in one function."""

    a1: int
    a2: int
    b1: int
    b2: int
    function: str


def run_changes(
    found: Discovery,
    texts: Mapping[str, str],
    origins: Mapping[str, Sequence[Origin]],
    dropped: Mapping[str, Mapping[int, str]],
) -> dict[str, Any]:
    """What a run changed, by file of the output, and the digest of every source file that was read."""
    root = found.tree.root
    files = [
        FileText(
            path,
            (root / path).read_bytes().decode(),
            text,
            origins[path],
            dropped.get(path, {}),
            _kernels(found, path),
        )
        for path, text in sorted(texts.items())
    ]
    return {
        "sources": {str(file): digest_bytes((root / file).read_bytes()) for file in sorted(found.files)},
        "files": [file_changes(file) for file in files],
    }


def _kernels(found: Discovery, path: str) -> dict[str, tuple[str, ...]]:
    """By function of a file: the kernel that it is, or the kernels that it launches."""
    own = {kernel.function: (kernel.name,) for kernel in found.kernels if str(kernel.file) == path}
    hosts: dict[str, tuple[str, ...]] = {}
    for launch in found.launches:
        if str(launch.file) == path:
            hosts[launch.host] = tuple(dict.fromkeys((*hosts.get(launch.host, ()), *launch.kernels)))
    return {**hosts, **own}


def file_changes(file: FileText) -> dict[str, Any]:
    """The entry of one file in run.json: digests of both sides, and its hunks."""
    return {
        "path": file.path,
        "source": digest_bytes(file.before.encode()),
        "output": digest_bytes(file.after.encode()),
        "hunks": [hunk.to_json() for hunk in hunks_of(file)],
    }


def hunks_of(file: FileText) -> tuple[Hunk, ...]:
    """The hunks in the order of the file."""
    old, new = file.before.splitlines(), file.after.splitlines()
    spans = _spans(file.before)
    digests = {span.name: _short("\n".join(old[span.first - 1 : span.last])) for span in spans}
    seen: Counter[str] = Counter()
    hunks: list[Hunk] = []
    shown = 0
    for group in _grouped(_blocks(file, old, new, spans)):
        function = group[0].function
        start, lines = _lines(file, old, new, group, shown)
        shown = start[0] - 1 + sum(line.tag != "+" for line in lines)
        # Lines without a rule are the notice of the file's head, which names the release and changes with it.
        text = "\n".join(f"{line.tag}{line.text}" for line in lines if line.rules)
        name = _short(f"{file.path}\0{function}\0{text}")
        seen[name] += 1
        mark = name if seen[name] == 1 else _short(f"{name}\0{seen[name]}")
        own = digests.get(function) or _short("\n".join(x.text for x in lines if x.tag != "+"))
        before, after = start
        hunks.append(Hunk(function, file.kernels.get(function, ()), before, after, lines, mark, own))
    return tuple(hunks)


def _short(text: str) -> str:
    """Half a sha256: 128 bits are enough to tell hunks apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _spans(text: str) -> tuple[_Span, ...]:
    found: list[_Span] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            found += [_span(f"{node.name}.{item.name}", item) for item in node.body if _is_function(item)]
        elif _is_function(node):
            found.append(_span(node.name, node))
    return tuple(found)


def _is_function(node: ast.stmt) -> TypeGuard[_Function]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _span(name: str, node: _Function) -> _Span:
    first = min((node.lineno, *(d.lineno for d in node.decorator_list)))
    return _Span(name, first, node.end_lineno or node.lineno)


def _function_at(spans: Iterable[_Span], line: int) -> str:
    return next((span.name for span in spans if span.first <= line <= span.last), MODULE)


def _blocks(file: FileText, old: list[str], new: list[str], spans: Sequence[_Span]) -> Iterator[_Block]:
    """The changes between lines that the line map calls untouched, each cut where upstream's function changes."""
    same = [(o.line - 1, at) for at, o in enumerate(file.origins) if o.line is not None and not o.rules]
    for (a, b), (a2, b2) in pairwise([(-1, -1), *same, (len(old), len(new))]):
        yield from _cut(file, spans, (a + 1, a2, b + 1, b2))


def _cut(file: FileText, spans: Sequence[_Span], gap: tuple[int, int, int, int]) -> Iterator[_Block]:
    a, a_end, b, b_end = gap
    while a < a_end or b < b_end:
        name = _function_at(spans, a + 1) if a < a_end else _of_output(file, spans, b)
        to_a, to_b = a, b
        while to_a < a_end and _function_at(spans, to_a + 1) == name:
            to_a += 1
        while to_b < b_end and (to_a == a_end or _before(file, to_b, to_a)):
            if to_a == a_end and to_a == a and _of_output(file, spans, to_b) != name:
                break
            to_b += 1
        yield _Block(a, to_a, b, to_b, name)
        a, b = to_a, to_b


def _before(file: FileText, at: int, line: int) -> bool:
    """Whether an output line comes from upstream lines before this one (0-based)."""
    origin = file.origins[at].line
    return origin is None or origin <= line


def _of_output(file: FileText, spans: Sequence[_Span], at: int) -> str:
    line = file.origins[at].line
    return MODULE if line is None else _function_at(spans, line)


def _grouped(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """Blocks of one function whose contexts touch."""
    group: list[_Block] = []
    for block in blocks:
        if group and (block.function != group[-1].function or block.a1 - group[-1].a2 > 2 * CONTEXT):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _lines(
    file: FileText, old: list[str], new: list[str], group: list[_Block], shown: int
) -> tuple[tuple[int, int], tuple[Line, ...]]:
    """The lines of a hunk with its context, and where it starts on both sides.

    shown: upstream lines up to the end of the hunk before, which are not shown again.
    """
    first, last = group[0], group[-1]
    lead = min(first.a1 - shown, _untouched(file, first.b1, -1))
    lines = [Line("=", text) for text in old[first.a1 - lead : first.a1]]
    for block, following in pairwise([*group, None]):
        assert block is not None
        lines += [Line("-", old[at], _removed_by(file, block, at)) for at in range(block.a1, block.a2)]
        lines += [Line("+", new[at], file.origins[at].rules) for at in range(block.b1, block.b2)]
        end = following.a1 if following else block.a2 + _untouched(file, last.b2, 1)
        lines += [Line("=", text) for text in old[block.a2 : end]]
    return (first.a1 - lead + 1, first.b1 - lead + 1), tuple(lines)


def _untouched(file: FileText, at: int, step: int) -> int:
    """How many untouched lines stand before (step -1) or from (step 1) this output line on, CONTEXT at most."""
    count, at = 0, at - 1 if step < 0 else at
    while count < CONTEXT and 0 <= at < len(file.origins) and _is_same(file, at, count, step):
        count, at = count + 1, at + step
    return count


def _is_same(file: FileText, at: int, count: int, step: int) -> bool:
    """Untouched, and upstream's next line follows it directly (a line was not dropped in between)."""
    origin = file.origins[at]
    if origin.line is None or origin.rules:
        return False
    nearer = file.origins[at - step].line if count else None
    return nearer is None or abs(nearer - origin.line) == 1


def _removed_by(file: FileText, block: _Block, at: int) -> tuple[str, ...]:
    """Who took upstream's line away: the rule that dropped it, else those of the lines that came from it."""
    if at + 1 in file.dropped:
        return (file.dropped[at + 1],)
    made = file.origins[block.b1 : block.b2]
    own = {slug for origin in made if origin.line == at + 1 for slug in origin.rules}
    return tuple(sorted(own or {slug for origin in made for slug in origin.rules}))
