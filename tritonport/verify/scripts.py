"""Units that are Python files: modules of the sources, files of the user's own, and the layers of a corpus.

A layer is what users call: projections, convolution, norm and the operator between them, as a model's code writes it.
Files: corpus/NAME/layers.toml and the scripts that it names. This module imports neither torch nor triton.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonport.declared import concerns
from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Script:
    """A Python file with `make_inputs(device)` and `launch(**inputs)`, optionally `reference(**inputs)`.

    module: import name when the file belongs to the source tree (then the migrated side imports the migrated
    file); None for a file of the user's own that imports the package.
    """

    id: str
    file: Path
    module: str | None
    inputs: str = "make_inputs"

    @property
    def shipped(self) -> bool:
        """Whether it is a layer of a corpus: every installation of the tool has it."""
        return self.file.is_relative_to(corpus_root())


def layers_for(source: SourceTree, *, full: bool) -> tuple[Script, ...]:
    """The layers that run in this environment: the entry is about their modules, or the long matrix is asked for.

    Raises UserError for a file that does not read.
    """
    files = sorted(corpus_root().glob(f"{source.package}_*/layers.toml")) if source.package else []
    tables = [(file, table) for file in files for table in read_toml(file)["layers"]]
    return tuple(_layer(file, table) for file, table in tables if _runs(source, file, table, full=full))


def _runs(source: SourceTree, file: Path, table: Mapping[str, Any], *, full: bool) -> bool:
    """modules: what the layer calls, all of it to be in the sources. about: entries that it is about. needs: packages
    to be installed."""
    if unknown := sorted(table.keys() - {"id", "script", "inputs", "modules", "about", "needs"}):
        raise UserError(f"unknown member {unknown[0]!r} of a layer", file=str(file))
    there = all(
        source.root.joinpath(*name.split(".")).with_suffix(".py").is_file() for name in table["modules"]
    )
    wanted = full or any(concerns(source, name) for name in table.get("about", ()))
    return there and wanted and all(importlib.util.find_spec(name) for name in table.get("needs", ()))


def _layer(file: Path, table: Mapping[str, Any]) -> Script:
    script = file.parent / table["script"]
    if not script.is_file():
        raise UserError(f"layer {table['id']} names no script: {table['script']}", file=str(file))
    return Script(table["id"], script, None, table["inputs"])


def scripts_of(source: SourceTree) -> tuple[Script, ...]:
    """The entry's own modules that have `make_inputs` and `launch`."""
    found = [file for file in source.entry_files() if is_script(source.root / file)]
    return tuple(
        Script(source.module_name(file), source.root / file, source.module_name(file)) for file in found
    )


def own_script(file: Path, source: SourceTree) -> Script:
    """A file of the user's own, or a module of the sources that was named. Raises UserError where it is no script."""
    if not file.is_file():
        raise UserError("no such case file", file=str(file))
    if not is_script(file):
        raise UserError("a case file needs make_inputs(device) and launch(**inputs)", file=str(file))
    modules = {source.root.resolve() / entry: source.module_name(entry) for entry in source.entry_files()}
    return Script(file.stem, file.resolve(), modules.get(file.resolve()))


def is_script(file: Path) -> bool:
    """Whether a file defines make_inputs and launch at its top level."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return False
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {"make_inputs", "launch"} <= names
