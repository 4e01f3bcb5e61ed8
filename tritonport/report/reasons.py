"""Why a tier failed a kernel: the first of its reasons, for reports that show one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tritonport.record import KernelRecord


def first_reasons(kernel: KernelRecord, extra: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(tier, its first reason, how many more it has) of each tier that failed. extra: the record's further members."""
    for tier, result in kernel.tiers.items():
        found = _reasons(kernel, tier, extra) if result == "fail" else []
        if found:
            yield tier, found[0], len(found) - 1


def _reasons(kernel: KernelRecord, tier: str, extra: Mapping[str, Any]) -> list[str]:
    if tier != "npu-compile":
        verdicts = extra.get(tier, {}).get("kernels", ())
        return [
            reason for verdict in verdicts if verdict["name"] == kernel.name for reason in verdict["reasons"]
        ]
    return [
        f"{m['file']}:{m['line']}: {m['text']}{same_as_original(m, entry['messages'])} (case {m['case']})"
        for entry in kernel.npu or ()
        for m in entry.get("messages", ())
        if m["side"] == "after"
    ]


def same_as_original(message: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> str:
    """What to add where the compiler says the same of the original in the same case; figures may differ."""
    theirs = {_said(m) for m in messages if m["side"] == "before"}
    return " (the original does the same)" if _said(message) in theirs else ""


def _said(message: Mapping[str, Any]) -> tuple[str, str, str, str]:
    text = "".join(letter for letter in message["text"] if not letter.isdigit())
    return message["kernel"], message["case"], message["kind"], text
