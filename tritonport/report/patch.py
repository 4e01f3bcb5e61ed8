"""A patch that `git apply` takes against the upstream tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import PurePosixPath

CONTEXT = 3
NO_NEWLINE = b"\\ No newline at end of file\n"


def patch(files: Mapping[str, tuple[bytes | None, bytes]]) -> bytes:
    """One patch over all files: path -> (upstream's bytes, None for a new file; the output's bytes).

    Line ends are kept as they are, so that the patch applies to files with any of them.
    """
    return b"".join(
        part
        for path, (before, after) in sorted(files.items())
        if before != after
        for part in _file(path, before, after)
    )


def _file(path: str, before: bytes | None, after: bytes) -> Iterator[bytes]:
    names = [_quoted(f"{side}/{PurePosixPath(path)}") for side in "ab"]
    yield b"diff --git " + b" ".join(names) + b"\n"
    if before is None:
        yield b"new file mode 100644\n"
    if not after and not before:
        return
    yield b"--- " + (names[0] if before is not None else b"/dev/null") + b"\n"
    yield b"+++ " + names[1] + b"\n"
    old, new = (_lines(text) for text in (before or b"", after))
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        yield from _hunk(old, new, group)


def _quoted(path: str) -> bytes:
    """A path as git reads it: in quotes with octal escapes where it has bytes that are not plain."""
    data = path.encode()
    if all(32 < byte < 127 and byte not in b'"\\' for byte in data):
        return data
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in data
    )
    return f'"{escaped}"'.encode()


def _lines(text: bytes) -> list[bytes]:
    """Split at line feeds alone, which is what git does."""
    parts = text.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return lines + ([parts[-1]] if parts[-1] else [])


def _hunk(
    old: Sequence[bytes], new: Sequence[bytes], group: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[bytes]:
    first, last = group[0], group[-1]
    sides = _range(first[1], last[2]), _range(first[3], last[4])
    yield f"@@ -{sides[0]} +{sides[1]} @@\n".encode()
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from (_line(b" ", line) for line in old[i1:i2])
            continue
        yield from (_line(b"-", line) for line in old[i1:i2])
        yield from (_line(b"+", line) for line in new[j1:j2])


def _range(start: int, stop: int) -> str:
    """Of an empty range the line before it."""
    return f"{start + 1 if stop > start else start},{stop - start}"


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n" + NO_NEWLINE
