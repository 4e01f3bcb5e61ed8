"""Reads the Python files of a source tree, and says which could not be read."""

from __future__ import annotations

import ast
import io
import tokenize
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

from tritonport.discover.model import Problem
from tritonport.sources.tree import SourceTree

DEPTH = 300
"""Nesting up to which LibCST, which takes three calls a level, stays within Python's limit of 1000."""
TOO_DEEP = "an expression is nested too deeply: break it into several statements"


@dataclass(frozen=True, slots=True)
class ParsedModule:
    """One module: its import name, its file relative to the root, its text and its syntax tree."""

    name: str
    file: PurePosixPath
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.file.name == "__init__.py"


def decode(data: bytes) -> str:
    """Text of a Python file.

    Raises UnicodeDecodeError for anything but UTF-8, which output is written in, and SyntaxError for an unknown
    coding.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        data.decode("utf-8")  # says which byte is wrong, where no coding line is to blame
        raise
    return data.decode(encoding if encoding.startswith("utf-8") else "ascii")


def parse_file(tree: SourceTree, file: PurePosixPath) -> ParsedModule | Problem:
    """Parse one file, or say in one line why that failed."""
    try:
        parsed = parse_text(tree, file, decode((tree.root / file).read_bytes()))
        deep = _too_deep(parsed.tree)
        return parsed if deep is None else Problem(file, deep, TOO_DEEP)
    except RecursionError:
        return Problem(file, None, TOO_DEEP)
    except UnicodeDecodeError as error:
        return Problem(file, None, f"not UTF-8 text: byte {error.start} does not decode")
    except SyntaxError as error:
        return Problem(file, error.lineno, f"syntax error: {error.msg}")
    except ValueError as error:  # a NUL byte in the source
        return Problem(file, None, f"cannot be parsed: {error}")
    except OSError as error:
        return Problem(file, None, f"cannot be read: {error.strerror}")


def _too_deep(tree: ast.Module) -> int | None:
    """Line of an expression that is nested beyond DEPTH."""
    level: list[tuple[ast.AST, int]] = [(tree, 0)]
    for _ in range(DEPTH):
        below = [(child, line) for node, line in level for child in ast.iter_child_nodes(node)]
        level = [(node, getattr(node, "lineno", line)) for node, line in below]
        if not level:
            return None
    return level[0][1]


def parse_text(tree: SourceTree, file: PurePosixPath, text: str) -> ParsedModule:
    """The module that a text is, standing at a path of the tree. Raises SyntaxError."""
    parsed = ast.parse(text)
    if not unicodedata.is_normalized("NFKC", text):
        text = _with_names_as_python_reads_them(text)
        parsed = ast.parse(text)
    return ParsedModule(tree.module_name(file), file, text, parsed)


def _with_names_as_python_reads_them(text: str) -> str:
    """The text with its identifiers in NFKC, which makes two spellings one name (PEP 3131); strings stay."""
    lines = io.StringIO(text).readlines()
    found = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.NAME]
    for token in reversed(found):
        name = unicodedata.normalize("NFKC", token.string)
        (row, start), (_, end) = token.start, token.end
        lines[row - 1] = lines[row - 1][:start] + name + lines[row - 1][end:]
    return "".join(lines)
