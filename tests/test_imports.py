"""Modules import downwards only: the layers of the design, from the command line to the records."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "tritonport"
LAYERS = (
    ("errors", "lines", "record", "resources", "toml", "__init__"),
    ("sources",),
    ("discover",),
    ("facts",),
    ("engine",),
    ("plugins",),
    ("passes",),
    ("catalog", "declared", "header", "profiles", "targets", "tuning"),
    ("config", "emit", "examples", "overrides", "report"),
    ("after", "outcome", "parallel", "rulepages"),
    ("migrate", "npu", "verify"),
    ("check", "tune", "upstream"),
    ("cli",),
    ("__main__",),
)
"""From the bottom up. A module imports from its own part and from lower layers, never from a sibling above."""
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
SIDEWAYS = {("record", "errors"), ("toml", "errors"), ("resources", "errors"), ("config", "profiles")}
"""Imports within one layer that are meant."""
SELF_CONTAINED = ("emit/templates",)
"""Emitted files import nothing of tritonport."""


def part_of(module: str) -> str:
    """`tritonport.emit.lock` -> `emit`; the package itself is `__init__`."""
    return [*module.split("."), "__init__"][1]


def imported(file: Path) -> Iterator[tuple[str, int]]:
    """Every module of tritonport that a file imports anywhere in it, with the line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                (alias.name, node.lineno) for alias in node.names if alias.name.startswith("tritonport")
            )
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or "worker" in file.parts, f"{file}:{node.lineno}: relative import"
            module = node.module or ""
            if module == "tritonport":
                yield from (
                    (f"tritonport.{a.name}" if a.name in LEVEL else module, node.lineno) for a in node.names
                )
            elif module.startswith("tritonport."):
                yield module, node.lineno


def files() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if not {"_rules", "_corpus"} & set(p.parts))


def own_part(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def test_every_part_has_a_layer() -> None:
    assert {own_part(file) for file in files()} == set(LEVEL)


@pytest.mark.parametrize("file", files(), ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_module_imports_downwards_only(file: Path) -> None:
    own = own_part(file)
    for module, line in imported(file):
        other = part_of(module)
        below = LEVEL[other] < LEVEL[own] or other == own or (own, other) in SIDEWAYS
        assert below, f"{file}:{line}: {own} may not import {module}"
        assert not any(part in file.as_posix() for part in SELF_CONTAINED), f"{file}:{line}: {module}"


def test_the_check_sees_an_import_inside_a_function(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from tritonport.cli.app import main\n    from tritonport import cli\n")
    assert list(imported(file)) == [("tritonport.cli.app", 2), ("tritonport.cli", 3)]
