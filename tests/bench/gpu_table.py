"""Migrates releases of a package and runs the GPU tier on each; writes a JSON report each and prints a table.

    python tests/bench/gpu_table.py --sources FOLDER --entry fla/ops/gated_delta_rule --out REPORTS 0.5.1 0.6.0

FOLDER/VERSION holds an unpacked release. `--short` cuts every case to few tokens, which compiles the same kernels: run
it first, for several releases at a time, so that the long run compiles nothing. No device: `--device interpreter`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.support.migrated import migrate
from tritonport.catalog import resizing_rules
from tritonport.passes import all_rules
from tritonport.sources import SourceTree, resolve
from tritonport.verify.cases import Case, CaseSet
from tritonport.verify.device.corpus import device_corpus
from tritonport.verify.device.summary import Row, operators, rows
from tritonport.verify.device.tier import GPU, run_gpu
from tritonport.verify.model import TierReport
from tritonport.verify.output import kernels_of, read_output, targets_of

SHORT = 256
"""Tokens of a short case, at the most."""


def shortened(case: Case) -> Case:
    bounds = case.cu_seqlens
    if bounds is not None:
        bounds = (*(b for b in bounds if b < SHORT), min(SHORT, bounds[-1]))
    return replace(case, length=min(case.length, SHORT), batch=min(case.batch, 2), cu_seqlens=bounds)


def chosen(tree: SourceTree, only: list[str], *, short: bool) -> CaseSet:
    found = device_corpus(tree, full=False).cases
    assert found is not None, f"no cases for {tree.package}"
    cases = [case for case in found.cases if not only or case.id in only]
    return replace(found, cases=tuple(shortened(case) if short else case for case in cases))


def run(version: str, arguments: argparse.Namespace, out: Path) -> TierReport:
    tree = replace(resolve(str(arguments.sources / version / arguments.entry)), version=version)
    started = time.monotonic()
    migrate(tree, out, profile=arguments.profile)
    print(
        f"{time.monotonic() - started:6.1f} s  {version}  migrated; the first case compiles most kernels",
        file=sys.stderr,
        flush=True,
    )
    records = kernels_of(
        read_output(out), tree, lambda slug: getattr(all_rules().get(slug), "rule_class", None)
    )
    settings = replace(
        GPU, kind=arguments.device, timed=0 if arguments.short or arguments.untimed else GPU.timed
    )
    if arguments.short:
        settings = replace(settings, cores=(0,), repeats=1)
    started = time.monotonic()

    def progress(case: str, done: int, total: int) -> None:
        print(
            f"{time.monotonic() - started:6.1f} s  {version}  {done}/{total}  {case}",
            file=sys.stderr,
            flush=True,
        )

    return run_gpu(
        source=tree,
        out=out,
        kernels=targets_of(records, resizing_rules()),
        cases=chosen(tree, arguments.cases, short=arguments.short),
        progress=progress,
        settings=settings,
    )


def table(reports: dict[str, TierReport]) -> str:
    lines = ["| release | kernel | result | bits or error | ms before | ms after | ratio |", "|---" * 7 + "|"]
    for version, report in reports.items():
        lines += [f"| {version} | {_cells(row)} |" for row in rows(report)]
    lines += ["", "| release | case | ms before | ms after | ratio |", "|---" * 5 + "|"]
    for version, report in reports.items():
        for case, before, after in operators(report):
            lines.append(f"| {version} | {case} | {before:.3f} | {after:.3f} | {after / before:.2f} |")
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> str:
    numbers = "bit for bit" if row.bitwise else "-" if row.error is None else f"{row.error:.1e}"
    times = [f"{ms:.3f}" if ms else "-" for ms in (row.before, row.after)]
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    return " | ".join((f"`{row.kernel}`", row.result, numbers, *times, ratio))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("releases", nargs="+")
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--entry", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--profile", default="baseline")
    parser.add_argument("--cases", nargs="*", default=[], help="ids; all by default")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--untimed", action="store_true")
    arguments = parser.parse_args()
    reports: dict[str, TierReport] = {}
    for version in arguments.releases:
        with tempfile.TemporaryDirectory(prefix="tritonport-table-") as folder:
            report = reports[version] = run(version, arguments, Path(folder) / "out")
        print(version, report.result, report.why or "", f"{report.seconds} s", file=sys.stderr, flush=True)
        for kernel in report.kernels:
            for reason in kernel.reasons if kernel.result == "fail" else ():
                print(f"  {kernel.name}: {reason}", file=sys.stderr)
        for case in report.cases:
            if case.outcome != "pass":
                print(f"  {case.id}: {case.outcome}: {case.why}", file=sys.stderr)
        name = "-".join([arguments.profile, version, *(["untimed"] if arguments.untimed else [])])
        (arguments.out / f"{name}.json").write_text(json.dumps(report.to_json()), encoding="utf-8")
    print(table(reports))


if __name__ == "__main__":
    main()
