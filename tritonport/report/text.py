"""The report on the terminal: one line per kernel, those that need a person first, then tiers and totals."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from tritonport.record import TIERS, KernelRecord, Outcome, RunRecord
from tritonport.report.reasons import first_reasons

_STYLES: dict[Outcome, str] = {
    "not-converted": "bold red",
    "needs-review": "bold yellow",
    "converted": "green",
}
_ORDER: tuple[Outcome, ...] = ("not-converted", "needs-review", "converted")


def print_run(record: RunRecord, console: Console) -> None:
    """Print the whole report of a run. Lines are never wrapped, so that they can be searched and cut."""
    for line in run_lines(record):
        console.print(line, soft_wrap=True, highlight=False)


def run_lines(record: RunRecord) -> Iterator[Text]:
    """The lines of the report, in order."""
    counted = [kernel for kernel in record.kernels if kernel.reachable and kernel.apart is None]
    width = max((len(kernel.name) for kernel in counted), default=0)
    for kernel in sorted(counted, key=_urgency):
        yield _kernel_line(kernel, width)
        for tier, reason, more in first_reasons(kernel, record.extra):
            yield Text.assemble(
                "    ", (tier, "bold red"), f": {reason}", f" (and {more} more)" if more else ""
            )
        yield from _details(kernel)
    yield from _set_apart(record)
    yield from _overrides(record)
    yield from _backend(record)
    yield from _tier_lines(counted)
    yield _total(record)


def _urgency(kernel: KernelRecord) -> tuple[int, bool, str, int]:
    failed = "fail" in kernel.tiers.values()
    return _ORDER.index(kernel.outcome), not failed, kernel.file, kernel.line


def _kernel_line(kernel: KernelRecord, width: int) -> Text:
    line = Text.assemble((f"{kernel.outcome:<14}", _STYLES[kernel.outcome]), kernel.name.ljust(width))
    for tier, result in kernel.tiers.items():
        if result == "fail":
            line.append(f"  {tier} failed", "bold red")
    if kernel.grid_before is not None:
        line.append(f"  {kernel.grid_before} -> {kernel.grid_after or 'unchanged'}", "cyan")
    uses = ", ".join(use.slug if use.count == 1 else f"{use.slug} x{use.count}" for use in kernel.rules)
    line.append(f"  {uses}" if uses else "", "dim")
    return line


def _details(kernel: KernelRecord) -> Iterator[Text]:
    for item in kernel.unresolved:
        yield Text.assemble("    ", (item.slug, "bold"), f" {item.file}:{item.line}: {item.why}")
    for item in kernel.suppressed:
        yield Text(f"    accepted: {item.slug} {item.file}:{item.line}: {item.reason} ({item.by})", "dim")
    for note in kernel.notes:
        yield Text(f"    note: {note}", "dim")


def _set_apart(record: RunRecord) -> Iterator[Text]:
    for kernel in record.kernels:
        if kernel.apart is not None:
            yield Text(f"apart: {kernel.name} ({kernel.apart}): {kernel.outcome}", "dim")
    idle = sum(not kernel.reachable and kernel.apart is None for kernel in record.kernels)
    if idle:
        yield Text(f"not reachable from the entry: {_count(idle, 'kernel')}", "dim")


def _overrides(record: RunRecord) -> Iterator[Text]:
    """Entries of override files: those that need a look stand out, the others are told."""
    for item in record.extra.get("overrides", ()):
        wanted = ", ".join([*item["rules"], *(f"{name} <= {size}" for name, size in item["tiles"].items())])
        line = Text(
            f"{item['kind']} {item['state']}: ", "dim" if item["state"] == "applied" else "bold yellow"
        )
        line.append(f"{item['kernel']}: {wanted} ({item['file']})")
        line.append(f": {item['why'] or item['reason']}")
        yield line


def _backend(record: RunRecord) -> Iterator[Text]:
    """What a backend package offers, and what cannot be reached through it."""
    package = record.extra.get("backend")
    if package is not None:
        yield Text(
            f"backend {package['package']}: {_count(len(package['functions']), 'dispatched function')}"
        )
        for kernel, hosts in package["unreachable"].items():
            places = f", launched by {', '.join(hosts)}" if hosts else ""
            yield Text(f"not reachable through dispatch: {kernel}{places}", "yellow")


def _tier_lines(counted: list[KernelRecord]) -> Iterator[Text]:
    idle: list[str] = []
    for tier in TIERS:
        results = [kernel.tiers[tier] for kernel in counted]
        ran = len(results) - results.count("not-run")
        if ran == 0:
            idle.append(tier)
            continue
        text = f"tier {tier}: {results.count('pass')} of {len(results)} passed"
        failed, missing = results.count("fail"), results.count("not-run")
        text += f", {failed} failed" if failed else ""
        text += f", {missing} not run" if missing else ""
        yield Text(text, "red" if failed else "")
    if idle:
        yield Text(f"tiers not run: {', '.join(idle)}")


def _total(record: RunRecord) -> Text:
    counts = record.counts()
    parts = f"{counts['converted']} converted, {counts['needs_review']} to review"
    parts += f", {counts['not_converted']} not converted"
    style = "bold green" if counts["converted"] == counts["kernels"] else "bold yellow"
    return Text(f"{_count(counts['kernels'], 'kernel')}: {parts} ({record.seconds:.1f} s)", style)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
