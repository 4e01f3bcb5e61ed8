"""Tiers that ran later, or on another machine, laid over the record of the migration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tritonport.errors import UserError
from tritonport.record import TIERS

Run = Mapping[str, Any]


def with_tiers(run: Run, later: Run, name: str) -> dict[str, Any]:
    """The run with every tier result of a record that `verify` made of the same output. A tier that did not run
    there leaves what is known; one that ran in both counts as the later one has it.

    name: of the later record, for the message. Raises UserError when it is about something else.
    """
    for what in ("source", "target", "profile"):
        if run[what] != later[what]:
            raise UserError(
                f"the records are of another {what}", "verify the output of this very run", file=name
            )
    found = {kernel["name"]: kernel for kernel in later["kernels"]}
    members = {
        tier: later[tier] for tier in TIERS if (later.get(tier) or {}).get("result", "not-run") != "not-run"
    }
    return {**run, **members, "kernels": [_kernel(k, found.get(k["name"])) for k in run["kernels"]]}


def _kernel(kernel: Mapping[str, Any], later: Mapping[str, Any] | None) -> dict[str, Any]:
    if later is None:
        return dict(kernel)
    ran = {tier: result for tier, result in later["tiers"].items() if result != "not-run"}
    npu = later["npu"] if later.get("npu") else kernel.get("npu")
    return {**kernel, "tiers": {**kernel["tiers"], **ran}, "npu": npu}
