"""Operators that are declared as data: how their arguments are made, what they are held against, which cases there
are. Files: corpus/NAME/operators/*.toml, one per family of operators.

One declaration serves two tiers: at its `sizes` the interpreter runs it, at its `real` sizes the compile tier
captures its launches. This module imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any, cast

from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.toml import read_toml

DTYPES = {"data": "bfloat16", "gate": "float32", "state": "float32"}
"""Kinds of number, where a case does not say otherwise."""

_MERGED = ("sizes", "real", "dtypes", "tensors", "draws", "values", "conditioning")
"""Members that an operator and a case change name by name; every other member they replace."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One run of a declared operator, complete: what its file, its operator and the case itself say.

    call: `module:function`, where releases differ the newest first; the same for reference, which upstream wrote the
    plain way. reference_names: parameters that it calls otherwise; reference_values: further arguments of it.
    tensors: parameter -> kind of number, then one size (or product of sizes) per axis. draws: parameter ->
    how its values are drawn (`normal` where nothing is said). values: plain arguments. nothing: parameters passed as
    None. constant: parameters without a gradient. requires: parameters without which a release cannot run the case;
    others that its function does not take are left out. cu_seqlens: sequence bounds. reduction: sizes whose sum is
    the length of the longest sum. heads_first: the reference has heads before tokens. real, real_cu_seqlens: what the
    compile tier changes, empty where it leaves the case out.
    """

    id: str
    operator: str
    call: tuple[str, ...]
    tensors: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]
    dtypes: Mapping[str, str] = field(default_factory=lambda: dict(DTYPES))
    draws: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    nothing: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("o", "ht")
    cu_seqlens: tuple[int, ...] | None = None
    backward: bool = True
    reference: tuple[str, ...] = ()
    reference_names: Mapping[str, str] = field(default_factory=dict[str, str])
    reference_values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    heads_first: bool = False
    reduction: tuple[str, ...] = ("T", "K")
    conditioning: Mapping[str, float] = field(default_factory=dict[str, float])
    seed: int = 42
    full: bool = False
    real: Mapping[str, int] = field(default_factory=dict[str, int])
    real_cu_seqlens: tuple[int, ...] | None = None

    @property
    def cost(self) -> int:
        """Roughly, how many rows there are to work through."""
        return max(self.sizes.get("B", 1) * self.sizes.get("T", 1) * self.sizes.get("H", 1), 1)

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(place.partition(":")[0] for place in self.call)


def size_of(axis: str, sizes: Mapping[str, int]) -> int:
    """One axis: a number, a name of the sizes, or a product of them (`B*T`)."""
    total = 1
    for part in axis.split("*"):
        total *= int(part) if part.isdigit() else sizes[part]
    return total


def declared_for(source: SourceTree) -> tuple[Declared, ...]:
    """The declared cases of the operators that this entry is about, in the corpora of its package."""
    if source.package is None:
        return ()
    files = sorted(corpus_root().glob(f"{source.package}_*/operators/*.toml"))
    return tuple(case for file in files for case in _of_entry(file, source))


def _of_entry(file: Path, source: SourceTree) -> Iterator[Declared]:
    also = read_toml(file).get("also", ())
    for case in read_declared(file):
        if any(concerns(source, module) for module in (*case.modules, *also)):
            yield case


def concerns(source: SourceTree, module: str) -> bool:
    """Whether the entry holds this module, or is a part of it. False for a module that the release does not have."""
    path = PurePosixPath(*module.split("."))
    if not (source.root / path).is_dir():
        path = path.with_suffix(".py")
        if not (source.root / path).is_file():
            return False
    return path.is_relative_to(source.entry) or source.entry.is_relative_to(path)


def read_declared(file: Path) -> tuple[Declared, ...]:
    """The cases of one file. UserError names the file and the case when something is unknown or missing."""
    data = read_toml(file)
    default, operators = data.get("default", {}), data["operators"]
    known = {f.name for f in fields(Declared)} - {"id"} | {"name"}
    cases: list[Declared] = []
    for table in data["case"]:
        name = table.get("name", "without a name")
        if table.get("operator") not in operators:
            raise UserError(f"case {name} names no operator of this file", file=str(file))
        merged = _merge(default, operators[table["operator"]], table)
        if unknown := sorted(merged.keys() - known):
            raise UserError(f"case {name}: unknown member {unknown[0]!r}", file=str(file))
        cases.append(_declared(merged, file))
    twice = {case.id for case in cases if sum(other.id == case.id for other in cases) > 1}
    if twice:
        raise UserError(f"two cases are called {min(twice)}", file=str(file))
    return tuple(cases)


def _merge(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Later tables win, name by name in the members that have names."""
    merged: dict[str, Any] = {"dtypes": DTYPES}
    for table in tables:
        for member, value in table.items():
            merged[member] = {**merged.get(member, {}), **value} if member in _MERGED else value
    return merged


def _declared(table: Mapping[str, Any], file: Path) -> Declared:
    members = {name: _tuple(value) for name, value in table.items() if name != "name"}
    members["tensors"] = {name: tuple(value) for name, value in table.get("tensors", {}).items()}
    try:
        case = Declared(id=table["name"], **members)
        for axes in case.tensors.values():
            for axis in axes[1:]:
                size_of(axis, case.sizes)
    except (TypeError, KeyError) as error:
        raise UserError(f"case {table.get('name')}: {error}", file=str(file)) from error
    return case


def _tuple(value: Any) -> Any:
    return tuple(cast("Sequence[Any]", value)) if isinstance(value, list) else value


def compiled(case: Declared) -> dict[str, Any] | None:
    """The case as the compile tier runs it (tritonport.npu.cases), at real sizes; None where it leaves it out."""
    if not case.real:
        return None
    return {
        "kind": "operator",
        "name": case.id,
        "operator": list(case.call),
        "backward": case.backward,
        "sizes": {**case.sizes, **case.real},
        "dtypes": dict(case.dtypes),
        "tensors": {name: list(value) for name, value in case.tensors.items()},
        "values": dict(case.values),
        "nothing": list(case.nothing),
        "constant": list(case.constant),
        "extra": list(case.requires),
        "requires": list(case.requires),
        "cu_seqlens": list(case.real_cu_seqlens) if case.real_cu_seqlens else None,
    }
