"""Writes which kernels the originals of one fla-core release launch, by running them.

    python -m tests.golden.record_launches SITE VERSION > tests/golden/launched_VERSION.json

SITE is a folder from which `import fla` finds the unpacked wheel of that release. Nothing of tritonport takes
part: the list is what Triton's interpreter was asked to launch by whole operator calls, forward, backward and
decode. Each launch carries whether it multiplied tiles (`tl.dot`) and the place of its `kernel[grid](...)`,
read from the call stack.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tests.support import interp


@dataclass(frozen=True)
class Scenario:
    """One operator call. since: the first release that has what it uses."""

    name: str
    since: tuple[int, int, int] = (0, 3, 2)
    length: int = 70
    heads: int = 1
    value_heads: int = 1
    cuts: tuple[int, ...] | None = None
    state: bool = False
    decode: bool = False
    options: dict[str, Any] = field(default_factory=dict)


SCENARIOS = (
    Scenario("chunk"),
    Scenario("chunk, initial state", state=True),
    Scenario("chunk, packed", cuts=(0, 7, 70), state=True),
    Scenario("chunk, l2norm in kernel", options={"use_qk_l2norm_in_kernel": True}),
    Scenario("chunk, grouped value heads", since=(0, 5, 0), value_heads=2),
    Scenario("chunk, gate in kernel", since=(0, 5, 0), options={"use_gate_in_kernel": True}),
    Scenario("chunk, beta in kernel", since=(0, 5, 1), options={"use_beta_sigmoid_in_kernel": True}),
    Scenario("chunk of 32", since=(0, 5, 2), options={"chunk_size": 32}),
    Scenario("chunk of 16", since=(0, 5, 2), options={"chunk_size": 16}),
    Scenario("decode", length=5, decode=True),
    Scenario("decode, packed, l2norm", length=9, decode=True, cuts=(0, 4, 9), state=True,
             options={"use_qk_l2norm_in_kernel": True}),
)  # fmt: skip


class Sites:
    """Notes the call `kernel[grid](...)` behind every launch."""

    def __init__(self, site: Path) -> None:
        self.site = site
        self.seen: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.running: dict[str, Any] | None = None

    def install(self) -> None:
        import triton.runtime.interpreter as it

        plain = it.GridExecutor.__call__

        def call(executor: Any, *args: Any, **kwargs: Any) -> Any:
            name = f"{executor.fn.__module__}:{executor.fn.__name__}"
            self.running = self._note(name, sys._getframe(1))
            return plain(executor, *args, **kwargs)

        it.GridExecutor.__call__ = call
        self._note_dots(it.InterpreterBuilder)

    def _note_dots(self, builder: Any) -> None:
        plain = builder.create_dot

        def create_dot(*args: Any, **kwargs: Any) -> Any:
            if self.running is not None:
                self.running["dot"] = True
            return plain(*args, **kwargs)

        builder.create_dot = create_dot

    def _note(self, kernel: str, frame: FrameType | None) -> dict[str, Any]:
        # KernelInterface.__getitem__ gives a lambda; the innermost one on the stack is this launch's own.
        while frame is not None and not _is_launcher(frame):
            frame = frame.f_back
        assert frame is not None and frame.f_back is not None
        caller = frame.f_back
        file = Path(caller.f_code.co_filename).relative_to(self.site).as_posix()
        host = caller.f_code.co_qualname
        entry = {"kernel": kernel, "file": file, "line": caller.f_lineno, "host": host, "dot": False}
        return self.seen.setdefault((kernel, file, caller.f_lineno), entry)


def _is_launcher(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == "<lambda>" and code.co_filename.replace("\\", "/").endswith(
        "triton/runtime/jit.py"
    )


def inputs(case: Scenario) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    width, total, heads = 16, case.length, case.value_heads
    cuts = None if case.cuts is None else torch.tensor(case.cuts)
    items = 1 if cuts is None else len(cuts) - 1
    made = {
        "q": torch.randn(1, total, case.heads, width),
        "k": torch.nn.functional.normalize(torch.randn(1, total, case.heads, width), dim=-1),
        "v": torch.randn(1, total, heads, width),
        "g": torch.nn.functional.logsigmoid(torch.randn(1, total, heads)),
        "beta": torch.rand(1, total, heads),
    }
    state = torch.randn(items, heads, width, width) if case.state else None
    if not case.decode:
        for value in made.values():
            value.requires_grad_(True)
    extra = dict(case.options)
    if extra.get("use_gate_in_kernel"):
        extra |= {"A_log": torch.rand(heads), "dt_bias": torch.rand(heads)}
    if state is not None:
        extra["initial_state"] = state
    return {**made, "scale": width**-0.5, "output_final_state": True, "cu_seqlens": cuts, **extra}


def _apply_without_check(given: dict[str, Any]) -> tuple[Any, Any]:
    """0.3.2 refuses float32 in chunk_gated_delta_rule, before it does anything: call what comes after."""
    from fla.ops.gated_delta_rule.chunk import ChunkGatedDeltaRuleFunction

    names = ("q", "k", "v", "g", "beta", "scale", "initial_state", "output_final_state", "cu_seqlens")
    last = given.get("use_qk_l2norm_in_kernel", False)
    return ChunkGatedDeltaRuleFunction.apply(*(given.get(name) for name in names), last)


def run(case: Scenario, version: tuple[int, ...]) -> dict[str, list[str]]:
    """Kernels launched forward and backward, in order."""
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule, fused_recurrent_gated_delta_rule

    given = inputs(case)
    with interp.launches() as forward:
        if case.decode:
            known = inspect.signature(fused_recurrent_gated_delta_rule).parameters
            fused_recurrent_gated_delta_rule(**{k: v for k, v in given.items() if k in known})
        elif version < (0, 4, 0):
            out, state = _apply_without_check(given)
        else:
            out, state = chunk_gated_delta_rule(**given)
    with interp.launches() as backward:
        if not case.decode:
            (out.float().sum() + state.float().sum()).backward()
    return {
        "forward": [f"{item.module}:{item.kernel}" for item in forward],
        "backward": [f"{item.module}:{item.kernel}" for item in backward],
    }


def run_functions(version: tuple[int, ...]) -> dict[str, list[str]]:
    """What the operators above do not reach: wide rows of l2norm, the solve of 64, the gate by itself."""
    import torch
    from fla.modules.l2norm import l2norm
    from fla.ops.utils.solve_tril import solve_tril

    with interp.launches() as forward:
        solve_tril(torch.randn(1, 70, 1, 64))
        wide = l2norm(torch.randn(3, 520).requires_grad_(True))
        gate = None
        if version >= (0, 5, 0):
            from fla.ops.gated_delta_rule.gate import fused_gdn_gate

            gate = fused_gdn_gate(torch.randn(1, 9, 2).requires_grad_(True), torch.rand(2), torch.rand(2))
    with interp.launches() as backward:
        wide.sum().backward()
        if gate is not None:
            gate.sum().backward()
    return {
        "forward": [f"{item.module}:{item.kernel}" for item in forward],
        "backward": [f"{item.module}:{item.kernel}" for item in backward],
    }


def main(site: Path, version: str) -> None:
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(site))
    interp.install()
    sites = Sites(site)
    sites.install()
    number = tuple(int(part) for part in version.split("."))
    lists = {case.name: run(case, number) for case in SCENARIOS if number >= case.since}
    lists["functions apart"] = run_functions(number)
    found = sorted(sites.seen.values(), key=lambda item: (item["file"], item["line"], item["kernel"]))
    record = {"distribution": "fla-core", "version": version, "scenarios": lists, "launches": found}
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
