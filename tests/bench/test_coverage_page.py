"""The page of coverage counts each kernel once, and calls nothing passed that did not run."""

from __future__ import annotations

from typing import Any

from tests.bench.coverage_page import Line, lines, release


def kernel(name: str, outcome: str = "converted", **more: Any) -> dict[str, Any]:
    tiers = {"interpret": "not-run", "hazard": "not-run", **more.pop("tiers", {})}
    return {
        "name": name,
        "outcome": outcome,
        "apart": None,
        "tiers": tiers,
        "unresolved": [],
        "npu": None,
        **more,
    }


def side(fits: bool | None, use: float | None, error: str | None = None) -> dict[str, Any]:
    return {"fits": fits, "ub_percent": use, "error": error}


def compiled(*cases: tuple[str, dict[str, Any] | None, dict[str, Any] | None]) -> list[dict[str, Any]]:
    return [{"cases": [{"case": name, "before": before, "after": after} for name, before, after in cases]}]


def record(*kernels: dict[str, Any], launches: dict[str, int] | None = None) -> dict[str, Any]:
    before = {name: {"launches": count} for name, count in (launches or {}).items()}
    return {"kernels": list(kernels), "interpret": {"cases": [{"before": before}]}}


def test_records_of_one_entry_add_up() -> None:
    proved = record(kernel("p.a:k", tiers={"interpret": "pass", "hazard": "fail"}), launches={"p.a:k": 3})
    overflow, fine = side(False, 120.0, "UB overflow"), side(True, 40.0)
    measured = record(
        kernel("p.a:k", npu=compiled(("x", overflow, fine), ("y", fine, side(None, None, "crash"))))
    )
    (line,) = lines([proved, measured])
    assert (line.launches, line.tiers) == (3, {"interpret": "pass", "hazard": "fail"})
    assert line.fits == {"before": False, "after": False}
    assert line.use == {"before": 120.0, "after": 40.0}
    assert line.reasons == ["crash (y)"]


def test_a_failure_says_why_until_a_later_record_passes() -> None:
    def hazard(result: str, *reasons: str) -> dict[str, Any]:
        found = {"name": "p.a:k", "result": result, "reasons": list(reasons)}
        return {**record(kernel("p.a:k", tiers={"hazard": result})), "hazard": {"kernels": [found]}}

    failed, passed = hazard("fail", "x: two tasks", "y: two tasks"), hazard("pass")
    (line,) = lines([failed])
    assert line.failed == {"hazard": "x: two tasks"}
    (line,) = lines([failed, passed])
    assert (line.failed, line.tiers["hazard"]) == ({}, "pass")


def test_a_kernel_of_two_families_is_counted_once_and_fits_where_both_do() -> None:
    def family(fits: bool) -> Line:
        tiers, sides = {"interpret": "pass"}, {"before": False, "after": fits}
        return Line("p.a:k", "converted", tiers, 1, True, sides, dict.fromkeys(sides, 90.0))

    never = Line("p.a:unused", "not-converted")
    text = "\n".join(release("9.9", {"p/x": [family(True), never], "p/y": [family(False)]}))
    assert "1 kernels launched, 1 converted (100 %)." in text
    assert "migrated that fit: 0 of 1 (0 %)." in text
    assert "hazard: 0 of 0 passed." in text
    assert "unused" not in text


def test_what_is_open_is_listed_with_its_reason() -> None:
    item = {"slug": "refuse", "file": "p/a.py", "line": 7, "why": "an atomic"}
    text = "\n".join(release("9.9", {"p": lines([record(kernel("p.a:k", "needs-review", unresolved=[item]),
                                                           launches={"p.a:k": 1})])}))  # fmt: skip
    assert "| a.k | 1 | needs-review | - | - | - | - |" in text
    assert "- `a.k`: refuse, p/a.py:7: an atomic" in text
