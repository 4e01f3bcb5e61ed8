"""Each fault is one that ports of real kernels had; the interpret tier has to fail the kernel for every
one."""

from __future__ import annotations

import pytest

from tests.verify.tiny_package import CONTROL, Fault, build
from tritonport.verify.model import KernelVerdict
from tritonport.verify.tier import run_interpret

FAULTS = (
    CONTROL,
    Fault("last task dropped", "range(start, stop)", "range(start, stop - 1)"),
    Fault("first task dropped", "range(start, stop)", "range(start + 1, stop)"),
    Fault("remainder forgotten", "(core < more).to(tl.int32)", "0"),
    Fault("start ignores the remainder", "core * share + tl.minimum(core, more)", "core * share"),
    Fault("axes swapped", "i_t, i_h = pid_0, pid_1", "i_t, i_h = pid_1, pid_0"),
    Fault("decode by the wrong axis", "task % tasks_0", "task % tasks_1"),
    Fault("heads mapped by modulo", "i_h // (HV // H)", "i_h % H"),
    Fault("sequence start left out", "x += bos * H * D + i_h // (HV // H) * D", "x += i_h // (HV // H) * D"),
    Fault("gate read at the dense row", "(bos + o_t) * HV", "o_t * HV"),
    Fault("causal mask strict", "o_t[:, None] >= o_t[None, :]", "o_t[:, None] > o_t[None, :]"),
    Fault("causal mask gone", "tl.where(o_t[:, None] >= o_t[None, :], b_a, 0.0)", "b_a"),
    Fault("gate transposed", "b_g[:, None] - b_g[None, :]", "b_g[None, :] - b_g[:, None]"),
    Fault("scale dropped", "tl.dot(b_a.to(b_v.dtype), b_v) * scale", "tl.dot(b_a.to(b_v.dtype), b_v)"),
    Fault("operand kept in fp32", "tl.dot(b_a.to(b_v.dtype), b_v)",
          "tl.dot(b_a, b_v.to(tl.float32))"),
    Fault("product rounded to fp16", "tl.dot(b_x, tl.trans(b_x))",
          "tl.dot(b_x, tl.trans(b_x)).to(tl.float16)"),
    Fault("transpose dropped", "tl.dot(b_x, tl.trans(b_x))", "tl.dot(b_x, b_x.reshape(D, BT))"),
    Fault("mask one row short", "o_t < T", "o_t < T - 1"),
    Fault("chunk index of the batch used in the sequence", "i_t = tl.load(table + i_t * 2 + 1).to(tl.int32)",
          "i_t = i_t + 0"),
    Fault("sum written, not added", "tl.load(p_s) + tl.sum(b_g, axis=0)", "tl.sum(b_g, axis=0)"),
    Fault("sum stored at the chunk of the sequence", "i_c * HV", "i_t * HV"),
    Fault("output not transposed back", "return o", "return o.transpose(0, 1).contiguous().view_as(o)"),
    Fault("output in another type", "return o", "return o.float()"),
    Fault("in-place argument replaced by a copy", "HV = g.shape[1]", "HV = g.shape[1]\ns = s.clone()"),
    Fault("launched twice", "return o",
          "on_cube_cores(gram_kernel)[(1, 1)](x, g, o, s.clone(), cu, table, T, scale, H=H, HV=HV, D=D, "
          "BT=chunk, IS_VARLEN=cu is not None, tasks_0=1, tasks_1=1)\nreturn o"),
)  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelVerdict]:
    tiny = build(tmp_path_factory.mktemp("faults"), FAULTS)
    report = run_interpret(
        source=tiny.source,
        out=tiny.out,
        kernels=tuple(tiny.targets.values()),
        cases=tiny.cases,
        jobs=2,
        progress=lambda *_: None,
    )
    return {fault.name: verdict for fault, verdict in zip(FAULTS, report.kernels, strict=True)}


def test_the_faultless_copy_passes_bit_for_bit(verdicts: dict[str, KernelVerdict]) -> None:
    control = verdicts["control"]
    assert (control.result, control.reasons) == ("pass", ())
    assert control.bitwise
    assert control.launches_before == control.launches_after == 3
    assert control.host_calls == 3


@pytest.mark.parametrize("fault", [f.name for f in FAULTS if f is not CONTROL])
def test_the_fault_is_caught(fault: str, verdicts: dict[str, KernelVerdict]) -> None:
    verdict = verdicts[fault]
    assert verdict.result == "fail"
    assert verdict.reasons
    assert not verdict.bitwise


def test_there_are_enough_faults() -> None:
    assert len(FAULTS) > 15
