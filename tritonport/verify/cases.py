"""What to run: a declarative case set for a known package, or scripts that bring their own inputs.

This module is read by the parent process and by workers; it imports neither torch nor triton.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

from tritonport.declared import Declared, concerns, declared_for
from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.toml import read_toml
from tritonport.verify.scripts import Script, layers_for, own_script, scripts_of
from tritonport.verify.tolerance import ToleranceSpec

DType = Literal["bf16", "fp16", "fp32"]


@dataclass(frozen=True, slots=True)
class Operator:
    """A whole operator. kind: which inputs and float64 reference it takes
    (tritonport.verify.child.operators).

    callables: `module:function`, where releases differ the newest first. parameters: for each role the names
    that releases gave it, newest first.
    """

    name: str
    kind: str
    callables: tuple[str, ...]
    parameters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """One run of an operator. Lengths are in tokens, dims in elements.

    flags: boolean roles to set. gate: how the log decay is drawn. cu_seqlens: sequence bounds, with batch 1.
    nothing: roles that are passed as None. layout: how q, k, v and beta lie in memory (`strided` is a slice of
    wider rows, `heads_first` a transposed view). since: first version that can run it. full: belongs to the
    long matrix only.
    """

    id: str
    operator: str
    dtype: DType = "bf16"
    batch: int = 1
    length: int = 128
    heads: int = 1
    value_heads: int | None = None
    key_dim: int = 64
    value_dim: int = 64
    cu_seqlens: tuple[int, ...] | None = None
    initial_state: bool = False
    final_state: bool = True
    backward: bool = True
    flags: tuple[str, ...] = ()
    chunk_size: int | None = None
    gate: Literal["log_sigmoid", "strong", "zero", "none"] = "log_sigmoid"
    nothing: tuple[str, ...] = ()
    layout: Literal["contiguous", "strided", "heads_first"] = "contiguous"
    seed: int = 42
    since: str | None = None
    full: bool = False
    conditioning: Mapping[str, float] = field(default_factory=dict[str, float])


Unit = Case | Declared | Script
"""What one run of both sides is about."""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Everything that one run verifies with, and the tolerances, fixed beforehand."""

    operators: Mapping[str, Operator] = field(default_factory=dict[str, Operator])
    cases: tuple[Case, ...] = ()
    declared: tuple[Declared, ...] = ()
    scripts: tuple[Script, ...] = ()
    tolerances: ToleranceSpec = field(default_factory=ToleranceSpec)

    def __len__(self) -> int:
        return len(self.units)

    @property
    def units(self) -> tuple[Unit, ...]:
        return (*self.cases, *self.declared, *self.scripts)

    def renamed(
        self, callables: Mapping[str, str], parameters: Mapping[str, Mapping[str, str]] | None = None
    ) -> CaseSet:
        """The same cases for a package whose names differ.

        callables: operator name -> `module:function` there. parameters: operator name -> role -> parameter
        name.
        """
        changed = {
            name: replace(
                operator,
                callables=(callables[name],) if name in callables else operator.callables,
                parameters={
                    **operator.parameters,
                    **{role: (new,) for role, new in (parameters or {}).get(name, {}).items()},
                },
            )
            for name, operator in self.operators.items()
        }
        return replace(self, operators=changed)

    def small(self) -> CaseSet:
        """Without the cases of the long matrix."""
        declared = tuple(case for case in self.declared if not case.full)
        return replace(self, cases=tuple(case for case in self.cases if not case.full), declared=declared)


def load_case_set(path: Path, cases_in: Path | None = None) -> CaseSet:
    """Read a cases.toml; its cases from another file when one is given, with the same operators and tolerances.

    UserError names the file and the entry when something is unknown or missing.
    """
    data = read_toml(path)
    if cases_in is not None:
        data = {**data, "cases": read_toml(cases_in)["cases"]}
    operators = {name: _operator(name, table) for name, table in data["operators"].items()}
    try:
        tables = [*data["cases"], *(row for table in data.get("matrix", ()) for row in _rows(table))]
        cases = tuple(_case(table) for table in tables)
    except TypeError as error:
        raise UserError(f"unknown field in a case: {error}", file=str(path)) from error
    twice = [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    if twice:
        raise UserError(f"two cases are called {twice[0]}", file=str(path))
    for case in cases:
        if case.operator not in operators:
            raise UserError(f"case {case.id} names no operator of this file: {case.operator}", file=str(path))
    return CaseSet(operators, cases, tolerances=ToleranceSpec.from_toml(data["tolerance"]))


def _operator(name: str, table: Mapping[str, Any]) -> Operator:
    parameters = {role: tuple(names) for role, names in table["parameters"].items()}
    return Operator(name, table["kind"], tuple(table["callables"]), parameters)


def _rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One matrix entry as the cases that it stands for: every combination of the fields that list values.

    The first such field varies slowest. Ids end in the position of each value (`chunk-lengths-0-2`).
    """
    axes = [name for name, value in table.items() if _lists_values(name, value)]
    for choice in product(*(range(len(table[name])) for name in axes)):
        chosen = {name: table[name][index] for name, index in zip(axes, choice, strict=True)}
        yield {**table, **chosen, "id": "-".join([table["id"], *map(str, choice)])}


def _lists_values(name: str, value: Any) -> bool:
    """Fields that are lists themselves list their values as lists of lists."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(items) and (name not in _LIST_FIELDS or isinstance(items[0], list))


_LIST_FIELDS = ("cu_seqlens", "flags", "nothing")


def _case(table: Mapping[str, Any]) -> Case:
    fields: dict[str, Any] = {key: _hashable(value) for key, value in table.items()}
    return Case(**fields)


def _hashable(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def case_set_for(source: SourceTree, files: Sequence[Path] = (), *, full: bool = False) -> CaseSet | None:
    """The cases for a source tree: the user's files if given, else the corpus of this package, else the
    tree's own modules that have `make_inputs` and `launch`; None where there are none.

    Of a corpus the operators count that the entry is about (`entries` of its cases.toml, and the modules of declared
    operators); where it is about none of them, those of cases.toml.
    """
    if files:
        return CaseSet(scripts=tuple(own_script(file, source) for file in files))
    for path in sorted(corpus_root().glob("*/cases.toml")):
        found = load_case_set(path)
        found = present(found, source.root)
        declared = declared_for(source)
        main = not declared or any(concerns(source, module) for module in read_toml(path).get("entries", ()))
        found = replace(
            found, cases=found.cases if main else (), declared=declared, scripts=layers_for(source, full=full)
        )
        if len(found):
            return found if full else found.small()
    scripts = scripts_of(source)
    return CaseSet(scripts=scripts) if scripts else None


def present(cases: CaseSet, root: Path) -> CaseSet:
    """Only the operators whose module is in this tree, and their cases."""
    operators = {n: o for n, o in cases.operators.items() if any(_module_file(root, c) for c in o.callables)}
    kept = tuple(case for case in cases.cases if case.operator in operators)
    return replace(cases, operators=operators, cases=kept)


def _module_file(root: Path, callable_name: str) -> Path | None:
    base = root.joinpath(*callable_name.partition(":")[0].split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)
