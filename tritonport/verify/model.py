"""What verification is asked and what it answers. JSON-able, and free of torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from tritonport.record import TierResult

CaseOutcome = Literal["pass", "fail", "skipped", "not-run"]


@dataclass(frozen=True, slots=True)
class KernelTarget:
    """A migrated kernel that the tier has to prove.

    name: `module:kernel`. classes: exactness classes of all rules used on it and on its host code; with
    `exact` alone the results must be equal bit for bit. persistent: it may run at most as many programs as
    there are cores.
    """

    name: str
    classes: tuple[str, ...] = ("exact",)
    persistent: bool = True

    @property
    def exact(self) -> bool:
        return set(self.classes) <= {"exact"}


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of one output.

    against: `original` or `reference`. relative: ||out - ref|| / ||ref||. ulps: largest single error in units
    in the last place. bound: the relative tolerance, with its source. why: what is wrong, None when it
    passed.
    """

    what: str
    against: str
    ok: bool
    bitwise: bool
    relative: float = 0.0
    ulps: float = 0.0
    bound: float = 0.0
    source: str = ""
    why: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class HostResult:
    """One replayed call of a launching function. cores: core counts that it ran with. why: why it was not
    replayed."""

    function: str
    kernels: tuple[str, ...]
    cores: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    why: str | None = None

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def replayed(self) -> bool:
        return bool(self.cores)


@dataclass(frozen=True, slots=True)
class Finding:
    """One hazard. side: `original` or `migrated`. kind: see docs/verification.md. severity: a `warning` fails
    nothing.

    file, line: the statement. tasks: up to two logical programs, by their program ids. count: lanes or
    events.
    """

    side: str
    kind: str
    severity: Literal["error", "warning"]
    kernel: str
    file: str
    line: int
    tasks: tuple[str, ...] = ()
    detail: str = ""
    count: int = 1

    def __str__(self) -> str:
        tasks = f", task {' and '.join(self.tasks)}" if self.tasks else ""
        return f"{self.kind} at {Path(self.file).name}:{self.line}{tasks}: {self.detail}"


@dataclass(frozen=True, slots=True)
class LaunchCount:
    """launches and programs of one kernel in one run; widest: programs of the largest launch; file: its
    source."""

    file: str
    launches: int
    programs: int
    widest: int


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Milliseconds that all launches of a kernel took in one run of an operator, median of the repeats.

    before: the original's, None where it did not run. kernel: `module:kernel`, or `whole operator` with all that
    the host code does in between.
    """

    kernel: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case. before/after: launches per kernel of the original's and of the migrated whole run. configs: on a
    device, the configuration that each tuned kernel ran with on both sides."""

    id: str
    operator: str
    outcome: CaseOutcome
    why: str | None = None
    cores: int = 0
    checks: tuple[Check, ...] = ()
    hosts: tuple[HostResult, ...] = ()
    before: dict[str, LaunchCount] = field(default_factory=dict[str, LaunchCount])
    after: dict[str, LaunchCount] = field(default_factory=dict[str, LaunchCount])
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    times: tuple[KernelTime, ...] = ()
    configs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


@dataclass(frozen=True, slots=True)
class KernelVerdict:
    """Result of one kernel, why, and how often the whole-operator runs launched it before and after."""

    name: str
    result: TierResult
    reasons: tuple[str, ...] = ()
    launches_before: int = 0
    launches_after: int = 0
    host_calls: int = 0
    bitwise: bool = False
    """Every comparison with the original was equal bit for bit."""


@dataclass(frozen=True, slots=True)
class TierReport:
    """Result of one tier over all kernels. why: the reason when it did not run."""

    tier: str
    result: TierResult
    why: str | None = None
    kernels: tuple[KernelVerdict, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    versions: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0

    def kernel(self, name: str) -> KernelVerdict | None:
        return next((verdict for verdict in self.kernels if verdict.name == name), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


InterpretReport = TierReport


def not_run(tier: str, why: str, kernels: tuple[KernelTarget, ...]) -> TierReport:
    """A tier that could not run proves nothing about any kernel."""
    verdicts = tuple(KernelVerdict(kernel.name, "not-run", (why,)) for kernel in kernels)
    return TierReport(tier, "not-run", why, verdicts)
