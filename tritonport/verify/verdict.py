"""From case results to one verdict per kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tritonport.record import TierResult
from tritonport.verify.model import CaseResult, Finding, HostResult, KernelTarget, KernelVerdict, LaunchCount

MOST_REASONS = 6
"""Reasons shown per kernel; the cases hold all of them."""


def judge(target: KernelTarget, cases: Sequence[CaseResult], out: Path) -> KernelVerdict:
    """A kernel passes when cases launched it, as often as the original and from the migrated folder, and
    every comparison that it had a part in held. A kernel that no case launches is not-run."""
    ran = [case for case in cases if case.outcome in ("pass", "fail")]
    before = sum(_launches(case.before, target.name) for case in ran)
    after = sum(_launches(case.after, target.name) for case in ran)
    hosts = [host for case in ran for host in case.hosts if target.name in host.kernels]
    reasons = list(dict.fromkeys(r for case in ran for r in _reasons(target, case, out)))
    result: TierResult = "fail" if reasons else "pass" if before and after else "not-run"
    if result == "not-run":
        reasons = [_why_not_run(cases)]
    shown = reasons[:MOST_REASONS]
    if len(reasons) > MOST_REASONS:
        shown.append(f"and {len(reasons) - MOST_REASONS} more")
    return KernelVerdict(
        target.name,
        result,
        tuple(shown),
        launches_before=before,
        launches_after=after,
        host_calls=sum(host.replayed for host in hosts),
        bitwise=result == "pass" and _bitwise(target.name, ran, hosts),
    )


def _launches(counts: dict[str, LaunchCount], name: str) -> int:
    return counts[name].launches if name in counts else 0


def _why_not_run(cases: Sequence[CaseResult]) -> str:
    broken = [case for case in cases if case.outcome == "not-run"]
    if broken and len(broken) == len([c for c in cases if c.outcome != "skipped"]):
        return f"no case ran: {broken[0].why}"
    return "no case launches it"


def _reasons(target: KernelTarget, case: CaseResult, out: Path) -> Iterator[str]:
    yield from (f"{case.id}: {why}" for why in _launch_reasons(target, case, out))
    found = [f for f in case.findings if f.side == "migrated" and f.severity == "error"]
    yield from (f"{case.id}: {f}{_so_the_original(case, f)}" for f in found if f.kernel == target.name)
    guilty = [host for host in case.hosts if not host.ok]
    for host in guilty:
        if target.name in host.kernels:
            yield from (f"{case.id}: {host.function}: {c.what}: {c.why}" for c in host.checks if not c.ok)
    if guilty or target.name not in case.before:
        return  # what one launching function got wrong is not held against the others of the same operator
    yield from (f"{case.id}: {c.what} against {c.against}: {c.why}" for c in case.checks if not c.ok)


def _so_the_original(case: CaseResult, finding: Finding) -> str:
    about = (finding.kind, finding.kernel, finding.detail)
    theirs = {(f.kind, f.kernel, f.detail) for f in case.findings if f.side == "original"}
    return " (the original does the same)" if about in theirs else ""


def _launch_reasons(target: KernelTarget, case: CaseResult, out: Path) -> Iterator[str]:
    was, now = case.before.get(target.name), case.after.get(target.name)
    if was is not None and now is None:
        others = sorted(set(case.after) - set(case.before))
        instead = f"; in its place ran {', '.join(others)}" if others else ""
        yield f"the original launches it {was.launches} times, the migrated code never{instead}"
    if now is None:
        return
    if not Path(now.file).is_relative_to(out):
        yield f"the original kernel ran in its place ({now.file})"
    if was is not None and now.launches != was.launches:
        yield f"launched {now.launches} times where the original launches {was.launches}"
    if target.persistent and now.widest > case.cores:
        yield f"{now.widest} programs on {case.cores} cores"


def _bitwise(name: str, cases: Sequence[CaseResult], hosts: Sequence[HostResult]) -> bool:
    whole = [c for case in cases if name in case.before for c in case.checks if c.against == "original"]
    parts = [check for host in hosts for check in host.checks]
    return all(check.bitwise for check in (*whole, *parts))
