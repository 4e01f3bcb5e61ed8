"""What a command that proves something leaves behind: reports, the result on stdout, notes on stderr."""

from __future__ import annotations

from collections.abc import Sequence

from tritonport.cli.console import note, stdout
from tritonport.record import RunRecord
from tritonport.report.reasons import first_reasons
from tritonport.report.run_json import run_json
from tritonport.report.text import print_run
from tritonport.report.write import ReportFile, write_report


def show_result(
    record: RunRecord, lines: Sequence[str], reports: Sequence[ReportFile], output_format: str, *, quiet: bool
) -> None:
    """lines: what explains the results of the tiers."""
    for item in reports:
        write_report(item, record)
    if output_format == "json":
        stdout().out(run_json(record), end="", highlight=False)
    else:
        print_run(record, stdout())
        lines = _not_printed(record, lines)
    for line in lines:
        note(line, quiet=quiet)


def _not_printed(record: RunRecord, lines: Sequence[str]) -> list[str]:
    """Without the reasons that the report shows at their kernels."""
    printed = {
        f"{tier}: {kernel.name}: {reason}"
        for kernel in record.kernels
        if kernel.reachable and kernel.apart is None
        for tier, reason, _ in first_reasons(kernel, record.extra)
    }
    return [line for line in lines if line not in printed]
