"""Each fault leaves the numbers right, or right by luck; the hazard tier names the kernel, line and task."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.verify.tiny_package import CONTROL, Fault, build
from tritonport.verify.child.hazard.loops import _only_summed
from tritonport.verify.child.hazard.memory import UNWRITTEN
from tritonport.verify.child.hazard.monitor import Monitor
from tritonport.verify.child.hazard.sides import weighed
from tritonport.verify.child.hazard.sizes import WRAPS, Reach, wraps_at
from tritonport.verify.child.launches import Launch
from tritonport.verify.model import CaseResult, Finding, TierReport
from tritonport.verify.tier import run_hazard

# kind of finding -> faults that must give it
FAULTS: dict[str, tuple[Fault, ...]] = {
    "left operand of tl.dot read again": (
        Fault("lhs read by a sum", "tl.load(p_s) + tl.sum(b_g, axis=0)",
              "tl.load(p_s) + tl.sum(b_g, axis=0) + 0.0 * tl.sum(tl.sum(b_x.to(tl.float32), 1), 0)"),
        Fault("lhs of two dots", "b_o = tl.dot(b_a.to(b_v.dtype), b_v) * scale",
              "b_l = b_a.to(b_v.dtype)\nb_o = tl.dot(b_l, b_v) * scale\nb_o = tl.dot(b_l, b_v) * scale"),
    ),
    "store out of bounds": (
        Fault("rows stored unmasked", "tl.store(p_o, b_o.to(o.dtype.element_ty), mask=m_t[:, None])",
              "tl.store(p_o, b_o.to(o.dtype.element_ty))"),
    ),
    "load out of bounds": (
        Fault("rows loaded unmasked",
              "tl.load(x + o_t[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None], other=0.0)",
              "tl.where(m_t[:, None], tl.load(x + o_t[:, None] * (H * D) + o_d[None, :]), 0.0)"
              ".to(x.dtype.element_ty)"),
    ),
    "two tasks write one address": (
        Fault("last task of a core done by the next one too", "range(start, stop)",
              "range(tl.maximum(start - 1, 0), stop)"),
        Fault("first tasks done by every core", "start = core * share + tl.minimum(core, more)", "start = 0"),
    ),
    "reads what another task wrote": (
        Fault("neighbour's sum read", "tl.load(p_s) + tl.sum(b_g, axis=0)",
              "tl.load(p_s) + tl.sum(b_g, axis=0) + 0.0 * tl.load(s)"),
    ),
    "reads what nothing wrote": (
        Fault("own output read", "b_o = tl.dot(b_a.to(b_v.dtype), b_v) * scale",
              "b_o = tl.dot(b_a.to(b_v.dtype), b_v) * scale\n"
              "p_z = o + (bos + o_t)[:, None] * (HV * D) + i_h * D + o_d[None, :]\n"
              "b_z = tl.load(p_z, mask=m_t[:, None])\n"
              "b_o = tl.where(b_z == b_z, b_o, b_o)"),
    ),
    "zero-trip accumulator stored": (
        Fault("sum of a loop that may not run", "b_o = tl.dot(b_a.to(b_v.dtype), b_v) * scale",
              "b_o = tl.zeros((BT, D), tl.float32)\n"
              "for i in range(tl.minimum(T, 1) - 1):\n"
              "    b_o += tl.dot(b_a.to(b_v.dtype), b_v)\n"
              "b_o += tl.dot(b_a.to(b_v.dtype), b_v) * scale"),
    ),
    "overwrites what another task read": (
        Fault("first row written by every task", "p_s = s + i_c * HV + i_h",
              "tl.store(x + o_d, tl.sum(b_x, axis=0).to(x.dtype.element_ty))\np_s = s + i_c * HV + i_h"),
    ),
    "block-pointer offset in int64": (
        Fault("block pointer at a 64-bit row",
              "b_v = tl.load(x + o_t[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None], other=0.0)",
              "p_v = tl.make_block_ptr(x, (T, D), (H * D, 1), ((i_t * BT).to(tl.int64), 0), (BT, D), (1, 0))\n"
              "b_v = tl.load(p_v, boundary_check=(0, 1))"),
    ),
    "row numbers in fp32": (
        Fault("rows compared in fp32", "m_t = o_t < T", "m_t = o_t.to(tl.float32) < T"),
    ),
    "int32 arithmetic wraps": (
        Fault("index through a product of lengths", "i_c = i_t",
              "i_c = i_t + (T * 65536 * 65536) // 4294967296 * 0"),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> TierReport:
    faults = (CONTROL, *(fault for group in FAULTS.values() for fault in group))
    tiny = build(tmp_path_factory.mktemp("hazards"), faults)
    return run_hazard(
        source=tiny.source,
        out=tiny.out,
        kernels=tuple(tiny.targets.values()),
        cases=tiny.cases,
        jobs=2,
        progress=lambda *_: None,
    )


def errors(case: CaseResult, side: str) -> list[Finding]:
    return [f for f in case.findings if f.side == side and f.severity == "error"]


def test_the_faultless_copy_has_no_hazard(report: TierReport) -> None:
    control = report.cases[0]
    assert report.kernels[0].result == "pass", report.kernels[0].reasons
    assert not errors(control, "migrated")
    assert not errors(control, "original")


def test_masked_tails_are_warnings(report: TierReport) -> None:
    kinds = {f.kind for f in report.cases[0].findings if f.severity == "warning"}
    assert "masked load addresses out of bounds" in kinds


@pytest.mark.parametrize(
    ("kind", "fault"), [(kind, fault.name) for kind, group in FAULTS.items() for fault in group]
)
def test_the_hazard_is_named(kind: str, fault: str, report: TierReport) -> None:
    at = next(n for n, case in enumerate(report.cases) if case.id == fault)
    found = [f for f in errors(report.cases[at], "migrated") if f.kind == kind]
    assert found, sorted({f.kind for f in report.cases[at].findings})
    assert report.kernels[at].result == "fail"
    assert found[0].kernel == report.kernels[at].name
    assert found[0].file.endswith(".py")
    assert found[0].line > 1
    assert found[0].tasks
    assert not errors(report.cases[at], "original")


def test_a_grid_that_the_launcher_refuses_is_named() -> None:
    monitor = Monitor("migrated", (Path("/kernels"),))
    for programs in (65535, 65536):
        launch = Launch("pkg.mod:kernel", Path("/kernels/mod.py"), 12, (programs, 1, 1), {})
        monitor.before(launch)
        monitor.after(launch)
    (found,) = monitor.findings
    assert (found.kind, found.kernel, found.line) == ("grid over 65535", "pkg.mod:kernel", 12)
    assert "65536 programs" in found.detail


@pytest.mark.parametrize(
    ("low", "high", "elements", "at"),
    [
        (0, 3 << 12, 4 << 12, 2**31 * 4 // 3),  # the last tile starts at three quarters of the argument
        (0, 1 << 10, 4 << 12, None),  # within a head or a tile
        (3 << 12, 3 << 12, 4 << 12, None),  # the same in every task
        (0, 900, 1000, None),  # a table
    ],
)
def test_the_size_at_which_an_offset_wraps_is_exact(
    low: int, high: int, elements: int, at: int | None
) -> None:
    assert wraps_at(Reach(low, high, elements, "0")) == at


def test_what_larger_sizes_make_wrong_fails_where_the_original_is_right() -> None:
    here = Finding("migrated", WRAPS, "warning", "pkg.mod:kernel", "mod.py", 3, ("0",), "argument q: at 1")
    there = {"kind": WRAPS, "kernel": "pkg.mod:kernel", "detail": "argument q: at 2"}
    assert next(weighed([here], [there])).severity == "warning"
    assert next(weighed([here], [{**there, "detail": "argument k: at 2"}])).severity == "error"


def test_unwritten_lanes_are_upstreams_own_as_long_as_they_are_no_more() -> None:
    def loads(lanes: int) -> Finding:
        return Finding(
            "migrated", UNWRITTEN, "error", "pkg.mod:kernel", "mod.py", 3, ("0",), "loads NaN", lanes
        )

    there = {"kind": UNWRITTEN, "kernel": "pkg.mod:kernel", "detail": "loads NaN", "count": 64}
    assert next(weighed([loads(64)], [there])).severity == "warning"
    assert [f.severity for f in weighed([loads(64), loads(1)], [there])] == ["error", "error"]
    assert next(weighed([loads(1)], [{**there, "kernel": "pkg.mod:other"}])).severity == "error"


def test_a_sum_that_the_loop_reads_is_set_without_trips() -> None:
    def loop(body: str) -> ast.For:
        (node,) = ast.parse(f"for i in range(n):\n    {body}").body
        assert isinstance(node, ast.For)
        return node

    assert _only_summed(loop("acc += tl.dot(x, y)"), "acc")
    assert _only_summed(loop("acc = tl.dot(x, y, acc)"), "acc")
    assert _only_summed(loop("acc = acc + tl.dot(x, y)"), "acc")
    assert not _only_summed(loop("acc *= g; acc = tl.dot(x, y, acc)"), "acc")
    assert not _only_summed(loop("tl.store(p, acc); acc += tl.dot(x, y)"), "acc")


def test_two_writers_are_named_by_their_program_ids(report: TierReport) -> None:
    case = next(c for c in report.cases if c.id == "first tasks done by every core")
    found = next(f for f in errors(case, "migrated") if f.kind == "two tasks write one address")
    assert len(found.tasks) == 2
    assert all(len(task.split(", ")) == 2 for task in found.tasks)
