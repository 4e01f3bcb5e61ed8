"""The report in words: what `plan --npu-compile` prints about the originals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tritonport.npu.tier import NpuReport, Side


def lines(report: NpuReport, side: Side = "before") -> tuple[str, ...]:
    """One line a kernel and case, then what the compiler said; one line with the reason if it did not run."""
    if report.status == "not-run":
        return (f"npu-compile: not run: {report.why}",)
    versions = (
        f"triton-ascend {report.toolchain['triton_ascend']}, ascendnpu-ir {report.toolchain['ascendnpu_ir']}"
    )
    found = [*_figures(report, side), *_said(report, side)]
    return (f"npu-compile: {versions}, {report.toolchain['arch']}", *found, *report.notes)


def _figures(report: NpuReport, side: Side) -> Iterator[str]:
    for kernel, entry in report.kernels.items():
        for case in entry["cases"]:
            figures = case[side]
            if figures is not None:
                yield f"{_state(figures):<14} {kernel} [{case['case']}]  {_numbers(figures)}"


def _state(figures: dict[str, Any]) -> str:
    if figures["fits"] is False:
        return "does not fit"
    return "does not pass" if figures["error"] or figures["fits"] is None else "fits"


def _numbers(figures: dict[str, Any]) -> str:
    named = {
        "UB": _percent(figures["ub_percent"]),
        "L1": _percent(figures["l1_percent"]),
        "L0C": _percent(figures["l0c_percent"]),
        "scalar": _known(figures["scalar_iterations"]),
        "discrete": _known(figures["discrete_elements"]),
        "split": _known(figures["sub_block"]),
        "programs": _known(figures["programs"]),
    }
    return ", ".join(f"{name} {value}" for name, value in named.items())


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:g} %"


def _known(value: Any) -> str:
    return "?" if value is None else str(value)


def _said(report: NpuReport, side: Side) -> Iterator[str]:
    """Each message, and below an overflow the largest buffers with their source lines."""
    for message in report.messages:
        if message.side != side:
            continue
        yield str(message)
        detail = report.details.get((message.kernel, message.case, side))
        if message.kind == "overflow" and detail is not None:
            buffers = next((m.largest_buffers for m in detail.measurements if m.fits is False), ())
            for buffer in buffers:
                place = f"{buffer.file}:{buffer.line}" if buffer.file else "?"
                yield f"    {buffer.bits} bits  {buffer.type}  {place}"
