"""The migrated side: the same inputs through the migrated code, every output compared with the original's."""

from __future__ import annotations

import os
import time
import traceback
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from tritonport.verify.child import encode
from tritonport.verify.child.checks import original_checks, reference_checks
from tritonport.verify.child.compare import DTYPE_NAMES, leaves
from tritonport.verify.child.functions import FunctionKey
from tritonport.verify.child.launches import Counter
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.replay import Functions, ShowsContexts, located, missing, not_judged
from tritonport.verify.child.shims.host import pin_configs
from tritonport.verify.child.units import Unit
from tritonport.verify.model import Check
from tritonport.verify.tolerance import Tolerance, ToleranceSpec

CORES_VARIABLE = "TRITONPORT_CORES"
MANY_CORES = 4096
"""More cores than any case has tasks."""

CORE_COUNTS = (1, 2, 3, MANY_CORES)


@dataclass(frozen=True, slots=True)
class Judge:
    """How far outputs may lie from the original's.

    exact: for each migrated kernel whether its rules promise equal bits; kernels not listed were not changed.
    """

    exact: Mapping[str, bool]
    tolerances: ToleranceSpec

    def bound(self, kernels: Iterable[str], expected: Any) -> Tolerance | None:
        return bound_for(kernels, expected, self.exact, self.tolerances)

    def whole(self, unit: Unit, folder: Path, values: dict[str, Any], kernels: Iterable[str]) -> list[Check]:
        """The whole operator against what the original left in the folder, and against the reference."""
        outputs = unit.run(values)
        want = encode.load_value(folder, "outputs")
        checks = original_checks(outputs, want, self.bound(kernels, want))
        return checks + reference_checks(unit, outputs, encode.load_value(folder, "reference"), want)


class Migrated:
    """roots: where a function of the migrated package may lie, the output folder first. exact: see Judge."""

    def __init__(self, roots: tuple[Path, ...], exact: Mapping[str, bool], tolerances: ToleranceSpec) -> None:
        self._functions = Functions(roots)
        self._judge = Judge(exact, tolerances)
        self._calls: Tally[FunctionKey] = Tally()

    def run(self, unit: Unit, folder: Path, original: dict[str, Any], cores: int) -> dict[str, Any]:
        """original: what Original.run, here or on a device, returned for the same folder."""
        started = time.perf_counter()
        pin_configs(original["configs"])
        waived = frozenset(original.get("waived", ()))
        hosts = [self._host(folder, call, waived) for call in original["hosts"] if "file" in call]
        values = encode.load_value(folder, "inputs")
        with forced_cores(cores), poisoned_allocations(), Counter() as counter:
            checks = attempt(
                "operator", lambda: self._judge.whole(unit, folder, values, original["launches"])
            )
        if not waived.isdisjoint(original["launches"]):
            checks = [not_judged(check) for check in checks]
        return {
            "launches": counter.to_json(),
            "checks": [check.to_json() for check in checks],
            "hosts": hosts,
            "cores": cores,
            "seconds": time.perf_counter() - started,
        }

    def _host(self, folder: Path, call: dict[str, Any], waived: frozenset[str]) -> dict[str, Any]:
        key = FunctionKey.parse(call["function"])
        about = {"function": call["function"], "kernels": call["kernels"]}
        function = self._functions.get(key)
        if function is None:
            return about | {"cores": [], "checks": [missing(key).to_json()]}
        tree, tensors = encode.load(folder, call["file"])
        counts = list(self._core_counts(key))
        checks: list[Check] = []
        for count in counts:
            replay = partial(self._replay, function, tree, tensors, count, call["kernels"])
            checks += attempt(f"call at {count} cores", replay)
        if not waived.isdisjoint(call["kernels"]):
            checks = [not_judged(check) for check in checks]
        return about | {"cores": counts, "checks": [check.to_json() for check in checks]}

    def _core_counts(self, key: FunctionKey) -> Iterator[int]:
        """All of them the first time a function is met, one of them in turn later."""
        self._calls[key] += 1
        seen = self._calls[key]
        yield from CORE_COUNTS if seen == 1 else (CORE_COUNTS[seen % len(CORE_COUNTS)],)

    def _replay(
        self,
        function: FunctionType,
        tree: Any,
        tensors: Mapping[str, torch.Tensor],
        cores: int,
        kernels: list[str],
    ) -> list[Check]:
        arguments = encode.Decoder(tensors, gradients=True).decode(tree["before"])
        decoder = encode.Decoder(tensors)
        expected = [decoder.decode(tree["after"]), decoder.decode(tree["result"])]
        with forced_cores(cores), poisoned_allocations(), torch.no_grad():
            result = function(*arguments[0], **arguments[1])
        bound = self._judge.bound(kernels, expected)
        got = _plain([arguments, result])
        return [located(check, _cores_text(cores)) for check in original_checks(got, _plain(expected), bound)]


def bound_for(
    kernels: Iterable[str], expected: Any, exact: Mapping[str, bool], tolerances: ToleranceSpec
) -> Tolerance | None:
    """None where equal bits are promised, else how far a reordered sum may drift from the original."""
    if all(exact.get(kernel, True) for kernel in kernels):
        return None
    tensors = [
        leaf for _, leaf in leaves(expected) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    ]
    names = {DTYPE_NAMES.get(t.dtype, "fp32") for t in tensors}
    dtype = next((name for name in ("bf16", "fp16") if name in names), "fp32")
    longest = max((max(t.shape, default=1) for t in tensors), default=1)
    # What a function returns has no name here, so the largest stated conditioning of an output holds for all.
    conditioning = max(tolerances.conditioning.values(), default=1.0)
    return tolerances.against_reference(dtype, dtype, 2 * longest).scaled(conditioning)


def _plain(value: Any) -> Any:
    """Encoded and decoded once more, so that contexts and sizes look the same on both sides."""
    encoder = encode.Encoder()
    tree = encoder.encode(value)
    return ShowsContexts(encoder.tensors).decode(tree)


def attempt(what: str, action: Callable[[], list[Check]]) -> list[Check]:
    """The checks, or one failed check when the migrated code raises where the original did not."""
    try:
        return action()
    except Exception as error:
        traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        why = f"raises {type(error).__name__}: {lines[-1]}"[:400]
        return [Check(what, "original", False, False, why=why)]


def _cores_text(cores: int) -> str:
    return "more cores than tasks" if cores == MANY_CORES else f"{cores} core{'s' if cores > 1 else ''}"


class forced_cores:  # noqa: N801 - reads as a verb in a with statement
    """Forces the core count that the emitted run-time module sees."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> None:
        os.environ[CORES_VARIABLE] = str(self._count)

    def __exit__(self, *_exc: object) -> None:
        os.environ.pop(CORES_VARIABLE, None)
