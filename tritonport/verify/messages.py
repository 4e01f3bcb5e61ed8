"""What the parent tells a worker: one setup, then units. Plain JSON both ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from tritonport.declared import Declared
from tritonport.verify.cases import Case, CaseSet, Operator, Script, Unit
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.tolerance import ToleranceSpec


@dataclass(frozen=True, slots=True)
class Setup:
    """paths: to put in front of sys.path. watched: folders or files of the package under test. out: the
    migrated folder, None on the original's side. hazard: switch the traps on. exact: migrated kernel ->
    whether its rules promise equal bits. device: where to run; None for the interpreter tiers."""

    paths: tuple[str, ...]
    watched: tuple[str, ...]
    out: str | None
    version: str | None
    exact: dict[str, bool]
    cases: CaseSet
    hazard: bool = False
    device: DeviceSetup | None = None


def pack_setup(setup: Setup) -> dict[str, Any]:
    data = asdict(replace(setup, cases=CaseSet()))
    return {**data, "cases": pack_cases(setup.cases)}


def unpack_setup(data: dict[str, Any]) -> Setup:
    return Setup(
        tuple(data["paths"]),
        tuple(data["watched"]),
        data["out"],
        data["version"],
        data["exact"],
        unpack_cases(data["cases"]),
        data["hazard"],
        DeviceSetup.from_json(data["device"]),
    )


def pack_cases(cases: CaseSet) -> dict[str, Any]:
    """Operators and tolerances; units go one by one."""
    return asdict(replace(cases, cases=(), declared=(), scripts=()))


def unpack_cases(data: dict[str, Any]) -> CaseSet:
    operators = {
        name: Operator(
            o["name"], o["kind"], tuple(o["callables"]), {r: tuple(n) for r, n in o["parameters"].items()}
        )
        for name, o in data["operators"].items()
    }
    return CaseSet(operators, tolerances=ToleranceSpec(**data["tolerances"]))


def pack_unit(unit: Unit) -> dict[str, Any]:
    data = asdict(unit)
    if isinstance(unit, Script):
        data["file"] = str(unit.file)
    return {"kind": type(unit).__name__, **data}


def unpack_unit(data: dict[str, Any]) -> Unit:
    fields: dict[str, Any] = {k: _hashable(v) for k, v in data.items() if k != "kind"}
    if data["kind"] == "Script":
        fields["file"] = Path(data["file"])
        return Script(**fields)
    return Declared(**fields) if data["kind"] == "Declared" else Case(**fields)


def _hashable(value: Any) -> Any:
    """JSON has no tuples; the dataclasses have no lists."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
