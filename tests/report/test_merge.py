"""Results of `verify` laid over the record of the migration."""

from __future__ import annotations

import copy

import pytest

from tests.report.conftest import Run
from tritonport.errors import UserError
from tritonport.report.merge import with_tiers


def test_tiers_that_ran_later_are_taken_over(record: Run, full: Run) -> None:
    later = copy.deepcopy(full)
    for name in ("changes", "settings", "command"):
        del later[name]
    merged = with_tiers(record, later, "verify.json")
    assert merged["changes"] == record["changes"] and merged["interpret"] == full["interpret"]
    assert [k["tiers"] for k in merged["kernels"]] == [k["tiers"] for k in full["kernels"]]
    assert [k["npu"] for k in merged["kernels"]] == [k["npu"] for k in full["kernels"]]


def test_a_tier_that_did_not_run_later_leaves_what_is_known(record: Run, full: Run) -> None:
    later = copy.deepcopy(record)
    later["interpret"] = {
        "tier": "interpret",
        "result": "not-run",
        "why": "no torch",
        "kernels": [],
        "cases": [],
    }
    assert with_tiers(full, later, "verify.json") == full


@pytest.mark.parametrize("what", ["source", "target", "profile"])
def test_a_record_of_something_else_is_refused(record: Run, what: str) -> None:
    later = copy.deepcopy(record)
    later[what] = {"distribution": "other"} if what == "source" else "other"
    with pytest.raises(UserError, match=f"verify.json: .*another {what}"):
        with_tiers(record, later, "verify.json")
