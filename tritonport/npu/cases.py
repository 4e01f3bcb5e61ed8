"""Which host code the capture runs: the declared cases of a corpus, or a module's own `launch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tritonport.declared import compiled, concerns, declared_for
from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.toml import read_toml

_MERGED = ("sizes", "dtypes", "tensors", "values")
"""Members that a case changes name by name; every other member it replaces."""

Case = dict[str, Any]


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases of one file, complete: defaults filled in, operators and functions resolved to names."""
    data = read_toml(path)
    return tuple(_complete(case, data) for case in data["case"])


def _complete(case: Mapping[str, Any], data: Mapping[str, Any]) -> Case:
    default = data["default"]
    full: Case = {**default, **case}
    for member in _MERGED:
        full[member] = {**default.get(member, {}), **case.get(member, {})}
    operator = full["operator"]
    if operator in data.get("functions", {}):
        return {**full, "kind": "functions", "functions": data["functions"][operator]}
    if operator not in data["operators"]:
        raise UserError(f"case {case['name']}: no operator or function list named {operator!r}")
    return {**full, "kind": "operator", "operator": data["operators"][operator]}


def cases_for(source: SourceTree, only: Sequence[str] | None) -> tuple[Case, ...]:
    """The cases of a source tree. `only` picks by name.

    A corpus belongs to a package by its `[package]`-named folder (`corpus/fla_gdn` to `fla`). A source tree
    without one is asked for its own: each module of the entry with a `launch` function. UserError on a name
    that no case has.
    """
    cases = _corpus_cases(source)
    if cases is None:
        return _own_cases(source)
    if only is None:
        return cases
    unknown = sorted(set(only) - {case["name"] for case in cases})
    if unknown:
        raise UserError(
            f"no npu-compile case named {unknown[0]}",
            hint=f"there are: {', '.join(case['name'] for case in cases)}",
        )
    return tuple(case for case in cases if case["name"] in only)


def _corpus_cases(source: SourceTree) -> tuple[Case, ...] | None:
    """Those that the entry is about, as for the interpreted tiers (tritonport.verify.cases.case_set_for)."""
    corpus = _corpus_file(source)
    if corpus is None:
        return None
    declared = tuple(case for case in map(compiled, declared_for(source)) if case is not None)
    entries = read_toml(corpus).get("entries", ())
    main = not declared or any(concerns(source, module) for module in entries)
    return (*(read_cases(corpus) if main else ()), *declared)


def _corpus_file(source: SourceTree) -> Path | None:
    if source.package is None:
        return None
    found = sorted(corpus_root().glob(f"{source.package}_*/npu_cases.toml"))
    return found[0] if found else None


def _own_cases(source: SourceTree) -> tuple[Case, ...]:
    """One case per file of the entry; the worker finds its `make_*inputs` functions."""
    return tuple(
        {
            "kind": "module",
            "name": source.module_name(file),
            "path": str(source.root / file),
            "module": source.module_name(file) if _importable(file.as_posix()) else None,
        }
        for file in source.entry_files()
    )


def _importable(path: str) -> bool:
    return all(part.isidentifier() for part in path.removesuffix(".py").split("/"))
