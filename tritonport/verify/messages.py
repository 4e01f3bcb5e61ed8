"""What the parent tells a worker: one setup, then units. Plain JSON both ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from tritonport.verify.cases import Case, CaseSet, Operator, Script
from tritonport.verify.tolerance import ToleranceSpec


@dataclass(frozen=True, slots=True)
class Setup:
    """paths: to put in front of sys.path. watched: folders or files of the package under test. out: the
    migrated folder, None on the original's side. hazard: switch the traps on. exact: migrated kernel ->
    whether its rules promise equal bits."""

    paths: tuple[str, ...]
    watched: tuple[str, ...]
    out: str | None
    version: str | None
    exact: dict[str, bool]
    cases: CaseSet
    hazard: bool = False


def pack_setup(setup: Setup) -> dict[str, Any]:
    data = asdict(setup)
    data["cases"]["scripts"], data["cases"]["cases"] = [], []  # units come one by one
    return data


def unpack_setup(data: dict[str, Any]) -> Setup:
    cases = data["cases"]
    operators = {
        name: Operator(
            o["name"], o["kind"], tuple(o["callables"]), {r: tuple(n) for r, n in o["parameters"].items()}
        )
        for name, o in cases["operators"].items()
    }
    tolerances = ToleranceSpec(**cases["tolerances"])
    return Setup(
        tuple(data["paths"]),
        tuple(data["watched"]),
        data["out"],
        data["version"],
        data["exact"],
        CaseSet(operators, tolerances=tolerances),
        data["hazard"],
    )


def pack_unit(unit: Case | Script) -> dict[str, Any]:
    data = asdict(unit)
    if isinstance(unit, Script):
        data["file"] = str(unit.file)
    return {"kind": type(unit).__name__, **data}


def unpack_unit(data: dict[str, Any]) -> Case | Script:
    fields: dict[str, Any] = {k: _hashable(v) for k, v in data.items() if k != "kind"}
    if data["kind"] == "Script":
        fields["file"] = Path(data["file"])
        return Script(**fields)
    return Case(**fields)


def _hashable(value: Any) -> Any:
    """JSON has no tuples; the dataclasses have no lists."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
