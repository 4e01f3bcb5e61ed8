"""The migrated side on a device: every launching call and every whole operator several times, the first launch
included, and each run held against what was recorded."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from tritonport.verify.child import encode as host_encode
from tritonport.verify.child.checks import original_checks, reference_checks
from tritonport.verify.child.device import encode, tuner
from tritonport.verify.child.device.backends import Backend
from tritonport.verify.child.device.runs import Runner, applied
from tritonport.verify.child.functions import FunctionKey
from tritonport.verify.child.launches import Counter
from tritonport.verify.child.migrated import attempt, bound_for, forced_cores
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.replay import Functions, ShowsContexts, located, missing, not_judged
from tritonport.verify.child.units import Unit
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.model import Check
from tritonport.verify.tolerance import Tolerance, ToleranceSpec

AGAIN = "a later launch gives the first one's bits"


class DeviceMigrated:
    """roots: where a function of the migrated package may lie, the output folder first.

    exact: for each migrated kernel whether its rules promise equal bits; None where the values were recorded on
    another device, whose arithmetic rounds differently.
    """

    def __init__(
        self,
        roots: tuple[Path, ...],
        exact: Mapping[str, bool] | None,
        tolerances: ToleranceSpec,
        backend: Backend,
        settings: DeviceSetup,
    ) -> None:
        self._functions = Functions(roots)
        self._exact, self._tolerances = exact, tolerances
        self._backend, self._settings = backend, settings

    def run(self, unit: Unit, folder: Path, original: dict[str, Any], _cores: int) -> dict[str, Any]:
        """original: what the original's side returned for the same folder."""
        started = time.perf_counter()
        tuner.pin(original["configs"])
        waived = applied(self._settings.waivers, self._backend) | set(original.get("waived", ()))
        hosts = [self._host(folder, call, waived) for call in original["hosts"] if "file" in call]
        runner = Runner(unit, folder, self._backend)
        forced = _with_cores(self._backend.forced_cores)
        with forced, Counter() as counter:
            checks = attempt("operator", lambda: self._whole(unit, folder, runner, original, waived))
        times = runner.times(self._settings.timed) if all(check.ok for check in checks) else {}
        return {
            "launches": _per_run(counter, self._settings.repeats),
            "checks": [check.to_json() for check in checks],
            "hosts": hosts,
            "cores": self._backend.processors(),
            "times": times,
            "configs": tuner.pinned(),
            "seconds": time.perf_counter() - started,
        }

    def _whole(
        self, unit: Unit, folder: Path, runner: Runner, original: Mapping[str, Any], waived: frozenset[str]
    ) -> list[Check]:
        first = runner.once()
        want = encode.load_value(folder, "outputs", self._backend.device)
        kernels = set(original["launches"])
        bound = self._bound(
            kernels, want, comparable=original.get("repeatable", True) and not waived & kernels
        )
        checks = original_checks(first, want, bound)
        if waived & kernels:
            checks = [not_judged(check) for check in checks]
            want = {}
        reference = encode.load_value(folder, "reference", self._backend.device)
        checks += reference_checks(unit, first, reference, want)
        return checks + self._repeated(runner.once, first)

    def _repeated(self, again: Any, first: Any) -> list[Check]:
        """The later runs against the first, as one check."""
        for number in range(2, self._settings.repeats + 1):
            wrong = [check for check in original_checks(again(), first, None) if not check.ok]
            if wrong:
                why = f"{wrong[0].what}: {wrong[0].why}"
                return [Check(f"launch {number}", "first launch", False, False, source=AGAIN, why=why)]
        return [Check(f"launches 2 to {self._settings.repeats}", "first launch", True, True, source=AGAIN)]

    def _host(self, folder: Path, call: dict[str, Any], waived: frozenset[str]) -> dict[str, Any]:
        key = FunctionKey.parse(call["function"])
        about = {"function": call["function"], "kernels": call["kernels"]}
        function = self._functions.get(key)
        if function is None:
            return about | {"cores": [], "checks": [missing(key).to_json()]}
        tree, tensors = host_encode.load(folder, call["file"])
        checks: list[Check] = []
        counts = [count or self._backend.processors() for count in self._settings.cores]
        judged = not waived & set(call["kernels"])
        for forced, count in zip(self._settings.cores, counts, strict=True):
            replay = partial(self._replay, function, tree, tensors, forced, call["kernels"])
            found = [located(check, f"{count} cores") for check in attempt("call", replay)]
            checks += found if judged else [not_judged(check) for check in found]
        return about | {"cores": counts, "checks": [check.to_json() for check in checks]}

    def _replay(
        self,
        function: FunctionType,
        tree: Any,
        tensors: Mapping[str, torch.Tensor],
        forced: int,
        kernels: list[str],
    ) -> list[Check]:
        decoder = _Shown(tensors, self._backend.device)
        want = [decoder.decode(tree["after"]), decoder.decode(tree["result"])]

        def once() -> Any:
            decoder = encode.DeviceDecoder(tensors, self._backend.device, gradients=True)
            arguments = decoder.decode(tree["before"])
            with _with_cores(forced), poisoned_allocations(), torch.no_grad():
                result = function(*arguments[0], **arguments[1])
            self._backend.synchronize()
            return _plain([arguments, result], self._backend.device)

        first = once()
        return original_checks(first, want, self._bound(kernels, want, comparable=True)) + self._repeated(
            once, first
        )

    def _bound(self, kernels: Iterable[str], expected: Any, *, comparable: bool) -> Tolerance | None:
        """None where equal bits are promised and the original's own runs agree in them."""
        named = list(kernels)
        promised = self._exact if comparable and self._exact is not None else dict.fromkeys(named, False)
        return bound_for(named, expected, promised, self._tolerances)


def _per_run(counter: Counter, repeats: int) -> dict[str, Any]:
    """Launches of one run; a number that is no multiple of the repetitions stays as it was counted, and shows."""
    counts = counter.to_json()
    for count in counts.values():
        if not count["launches"] % repeats:
            count["launches"] //= repeats
            count["programs"] //= repeats
    return counts


def _with_cores(count: int) -> contextlib.AbstractContextManager[None]:
    """Forces the number of programs; 0 leaves the device's own."""
    return forced_cores(count) if count else contextlib.nullcontext()


def _plain(value: Any, device: torch.device) -> Any:
    """Encoded and decoded once more, so that contexts and sizes look the same on both sides."""
    encoder = encode.DeviceEncoder()
    tree = encoder.encode(value)
    return _Shown(encoder.tensors, device).decode(tree)


class _Shown(ShowsContexts, encode.DeviceDecoder):
    """A device's values, contexts shown as their parts."""
