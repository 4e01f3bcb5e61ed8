"""The emitted package beside a real fla-core: its dispatch takes ours, before upstream's hand port."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import cases
from tests.support.cli import KERNEL, in_process, package
from tests.support.migrated import migrate
from tritonport.emit.lock import LOCK
from tritonport.profiles import active_rules
from tritonport.sources import SourceTree

# The copy that dot-operand-reuse makes of an operand may change the order in which the tests' interpreter sums.
RULES = active_rules("baseline", ignore=("dot-operand-reuse",))
DECODE = "fla.ops.gated_delta_rule.fused_recurrent:fused_recurrent_gated_delta_rule_fwd_kernel"
versions = pytest.mark.parametrize(
    "version", ["0.6.0", *(pytest.param(v, marks=pytest.mark.slow) for v in ("0.5.1", "0.5.2"))]
)

Made = Callable[[str], tuple[Path, dict[str, Any]]]


@pytest.fixture(scope="module")
def made(fla_tree: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The backend package of a release, and what the child saw with it."""

    @cache
    def of(version: str) -> tuple[Path, dict[str, Any]]:
        tree = fla_tree(version)
        out = tmp_path_factory.mktemp("backend") / "out"
        result = migrate(tree, out, emit="fla-backend", rules=RULES)
        command = [sys.executable, "-m", "tests.backend.child", str(tree.root), str(out)]
        env = cases.environment(TRITONPORT_CORES="3")
        done = subprocess.run(
            command, cwd=cases.REPOSITORY, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return out, {**json.loads(done.stdout.splitlines()[-1]), "record": result.record.extra["backend"]}

    return of


@versions
def test_dispatch_takes_ours_and_the_bits_are_upstreams(made: Made, version: str) -> None:
    _, seen = made(version)
    assert seen["ours"]["error"] == "" and seen["ours"]["digests"] == seen["plain"]["digests"]
    ours = [m for m in seen["ours"]["modules"] if m.startswith("fla_tritonport.")]
    assert "fla_tritonport.fla.ops.common.chunk_delta_h" in ours
    if version != "0.5.1":  # the whole operator is dispatched from 0.5.2 on
        assert ours == seen["ours"]["modules"]
        assert len(ours) == len(seen["plain"]["modules"])


@versions
def test_the_hand_port_would_have_won_without_us(made: Made, version: str) -> None:
    _, seen = made(version)
    asked = seen["order"]
    assert asked and all(types[0] == "tritonport" for types in asked.values())
    assert {f"{f['module']}:{f['function']}" for f in seen["record"]["functions"]} == set(asked)
    if version == "0.5.1":  # its operators have no hand port yet
        return
    port = "fla.ops.common.chunk_delta_h:chunk_gated_delta_rule_fwd_h"
    assert asked[port] == ["tritonport", "triton_ascend"]
    assert seen["off"][port] == ["triton_ascend"]
    # Upstream's own choice with the NPU check faked: it ends in the hand port, which wants a real NPU.
    assert "triton_ascend" in seen["port"]["error"] or any(
        "triton_ascend" in m for m in seen["port"]["modules"]
    )


@versions
def test_a_verifier_refuses_what_lies_elsewhere(made: Made, version: str) -> None:
    here, elsewhere = made(version)[1]["refusals"]
    assert here == [True, None]
    assert elsewhere[0] is False and elsewhere[1].endswith("is on meta, not on cpu")


@versions
def test_kernels_without_dispatch_are_listed(made: Made, version: str) -> None:
    out, seen = made(version)
    hosts = {"fla.ops.gated_delta_rule.fused_recurrent:fused_recurrent_gated_delta_rule_fwd"}
    assert set(seen["record"]["unreachable"][DECODE]) == hosts
    if version == "0.6.0":
        assert list(seen["record"]["unreachable"]) == [DECODE]
    assert repr(DECODE) in (out / "fla_tritonport" / "backend.py").read_text()


def test_every_import_among_the_copies_leads_to_a_copy(made: Made) -> None:
    out, _ = made("0.6.0")
    copies = {
        p.relative_to(out / "fla_tritonport").with_suffix("").as_posix().replace("/", ".")
        for p in out.rglob("*.py")
    }
    for path in (out / "fla_tritonport" / "fla").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                assert node.module not in copies, (
                    f"{path}: {node.module} is upstream's, though there is a copy"
                )


@pytest.mark.slow
def test_check_makes_the_same_package_again(made: Made, fla_tree: Callable[[str], SourceTree]) -> None:
    out, _ = made("0.6.0")
    settings = json.loads((out / LOCK).read_text())["settings"]
    assert settings["emit"] == "fla-backend"
    (out.parent / "tritonport.toml").write_text('ignore = ["dot-operand-reuse"]\n')
    done = in_process("check", "out", "-q", cwd=out.parent)
    assert done.returncode == 0, done.stdout


def test_sources_without_a_dispatcher_are_refused(tmp_path: Path) -> None:
    package(tmp_path / "demo", rows=KERNEL)
    done = in_process("migrate", "demo", "-o", "out", "--emit", "fla-backend", cwd=tmp_path)
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert "no function of these sources has a dispatcher" in done.stderr and done.stderr.count("\n") == 1
    for args in (["--emit", "wheel"], ["--emit", "fla-backend", "--verify", "interpret"]):
        assert in_process("migrate", "demo", "-o", "out", *args, cwd=tmp_path).returncode == 2
