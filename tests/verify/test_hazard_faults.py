"""Each fault leaves the numbers right, or right by luck; the hazard tier names the kernel, line and task."""

from __future__ import annotations

import pytest

from tests.verify.tiny_package import CONTROL, Fault, build
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


def test_two_writers_are_named_by_their_program_ids(report: TierReport) -> None:
    case = next(c for c in report.cases if c.id == "first tasks done by every core")
    found = next(f for f in errors(case, "migrated") if f.kind == "two tasks write one address")
    assert len(found.tasks) == 2
    assert all(len(task.split(", ")) == 2 for task in found.tasks)
