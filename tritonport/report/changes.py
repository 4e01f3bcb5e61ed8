"""What a run changed, as hunks that carry their rules: the part of run.json that a review reads.

A hunk belongs to one upstream function. It holds its lines, so that run.json is enough to show the change anywhere and
at any later time; its fingerprint does not depend on where in the file it stands.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from tritonport.discover.model import Discovery
from tritonport.discover.parse import decode
from tritonport.engine.linemap import Origin
from tritonport.lines import bare, newline_of, split_lines
from tritonport.report.blocks import Block, blocks, spans
from tritonport.sources.tree import digest_bytes

Tag = Literal["=", "-", "+"]
CONTEXT = 3
"""Unchanged lines kept on each side of a change."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk: unchanged, upstream's alone, or the output's alone. rules: who made the difference.

    end: how the line ends, where that is not the file's `newline`; empty at the end of a file without one.
    """

    tag: Tag
    text: str
    rules: tuple[str, ...] = ()
    end: str | None = None

    def to_json(self) -> list[Any]:
        line = [self.tag, self.text, list(self.rules), self.end]
        return line if self.end is not None else line[:3] if self.rules else line[:2]


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
            decode((root / path).read_bytes()),
            text,
            origins[path],
            dropped.get(path, {}),
            _kernels(found, path),
        )
        for path, text in sorted(texts.items())
    ]
    sources = {str(file): digest_bytes((root / file).read_bytes()) for file in sorted(found.files)}
    return {
        "sources": sources,
        "files": [
            {
                "path": file.path,
                "source": sources[file.path],
                "output": digest_bytes(file.after.encode()),
                "newline": newline_of(file.before),
                "hunks": [hunk.to_json() for hunk in hunks_of(file)],
            }
            for file in files
        ],
    }


def _kernels(found: Discovery, path: str) -> dict[str, tuple[str, ...]]:
    """By function of a file: the kernel that it is, or the kernels that it launches."""
    own = {kernel.function: (kernel.name,) for kernel in found.kernels if str(kernel.file) == path}
    hosts: dict[str, tuple[str, ...]] = {}
    for launch in found.launches:
        if str(launch.file) == path:
            hosts[launch.host] = tuple(dict.fromkeys((*hosts.get(launch.host, ()), *launch.kernels)))
    return {**hosts, **own}


def hunks_of(file: FileText) -> tuple[Hunk, ...]:
    """The hunks in the order of the file."""
    old, new = split_lines(file.before), split_lines(file.after)
    file = replace(file, origins=_with_ends(file.origins, old, new))
    digests = {
        span.name: _short("\n".join(map(bare, old[span.first - 1 : span.last])))
        for span in spans(file.before)
    }
    seen: Counter[str] = Counter()
    hunks: list[Hunk] = []
    shown = 0
    for group in _grouped(blocks(file.origins, file.before, file.after)):
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


def _with_ends(origins: Sequence[Origin], old: Sequence[str], new: Sequence[str]) -> list[Origin]:
    """A line of which only the end changed is changed too, by the rule that wrote what follows, or what precedes.

    That is the last line of a file without a newline, when something is put behind it.
    """
    result = list(origins)
    for at, origin in enumerate(origins):
        if origin.line is None or origin.rules or _end(old[origin.line - 1]) == _end(new[at]):
            continue
        nearest = (*origins[at + 1 :], *reversed(origins[:at]))
        rules = next((other.rules for other in nearest if other.rules), ())
        result[at] = Origin(origin.line, rules)
    return result


def _end(line: str) -> str:
    return line[len(bare(line)) :]


def _short(text: str) -> str:
    """Half a sha256: 128 bits are enough to tell hunks apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _grouped(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks of one function whose contexts touch."""
    group: list[Block] = []
    for block in blocks:
        if group and (block.function != group[-1].function or block.a1 - group[-1].a2 > 2 * CONTEXT):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _lines(
    file: FileText, old: list[str], new: list[str], group: list[Block], shown: int
) -> tuple[tuple[int, int], tuple[Line, ...]]:
    """The lines of a hunk with its context, and where it starts on both sides.

    shown: upstream lines up to the end of the hunk before, which are not shown again.
    """
    first, last = group[0], group[-1]
    lead = min(first.a1 - shown, _untouched(file, first.b1, -1))
    newline = newline_of(file.before)

    def line(tag: Tag, text: str, rules: tuple[str, ...] = ()) -> Line:
        end = _end(text)
        return Line(tag, bare(text), rules, None if end == newline else end)

    lines = [line("=", text) for text in old[first.a1 - lead : first.a1]]
    for block, following in pairwise([*group, None]):
        assert block is not None
        lines += [line("-", old[at], _removed_by(file, block, at)) for at in range(block.a1, block.a2)]
        lines += [line("+", new[at], file.origins[at].rules) for at in range(block.b1, block.b2)]
        end = following.a1 if following else block.a2 + _untouched(file, last.b2, 1)
        lines += [line("=", text) for text in old[block.a2 : end]]
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


def _removed_by(file: FileText, block: Block, at: int) -> tuple[str, ...]:
    """Who took upstream's line away: the rule that dropped it, else those of the lines that came from it."""
    if at + 1 in file.dropped:
        return (file.dropped[at + 1],)
    made = file.origins[block.b1 : block.b2]
    own = {slug for origin in made if origin.line == at + 1 for slug in origin.rules}
    return tuple(sorted(own or {slug for origin in made for slug in origin.rules}))
