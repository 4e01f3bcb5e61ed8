"""branched-product on kernels of its own: which branches it takes apart, which it leaves, and equal results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.facts.test_tile_rules import migrated
from tests.support.cases import environment

HEAD = """\
import triton
import triton.language as tl


@triton.jit
def scaled(b):
    return b * 0.5


@triton.jit
def noted(b, z):
    tl.store(z, 1.0)
    return b


@triton.jit
def kernel(x, s, y, z, T, N: tl.constexpr, EVEN: tl.constexpr):
    o = tl.arange(0, N)
    i = tl.program_id(0) * N
    m = i + o < T
    b = tl.load(x + o[:, None] * N + o[None, :])
    p = tl.dot(b, b)
"""
TAIL = """\
    tl.store(y + (i + o)[:, None] * N + o[None, :], p)


def run(x, s, y, z, T, N):
    kernel[(3,)](x, s, y, z, T, N=N, EVEN=True)
"""
INPUTS = {"x": [16, 16], "s": [40], "y": {"empty": [48, 16]}, "z": [48], "T": 30, "N": 16}
"""Three programs: the test `i < T` holds in two of them, and the second has lanes beyond T."""

TAKEN = {
    "changed": ("if i < T:", "p *= 0.5"),
    "one line": ("if i < T: p = p - 1.0",),
    "twice": ("if i < T:", "p = p * 0.5", "p += 1.0"),
    "infinite where not taken": ("if i < T:", "p += tl.log(tl.maximum(T - i, 0).to(tl.float32))"),
    "a masked load": ("if i < T:", "a = tl.load(s + i + o, mask=m, other=0.0)", "p *= a[:, None]"),
    "a masked load, compared otherwise": (
        "if T > i:",
        "a = tl.load(s + i + o, mask=m & (o < N - 1), other=0.0)",
        "p *= a[:, None]",
    ),
    "a masked store": ("if i < T:", "tl.store(z + i + o, tl.sum(p, 0), mask=m)", "p *= 0.5"),
    "known in part": ("if EVEN and i < T:", "p *= 0.5"),
    "a helper": ("if i < T:", "p = scaled(p)"),
    "something else too": ("n = i", "if i < T:", "n += 1", "p *= 0.5", "@p *= n"),
}
LEFT = {
    "a load without a mask": ("if i < T:", "p *= tl.load(s + i)"),
    "a mask that says something else": ("if i < T:", "a = tl.load(s + i + o, mask=o < T)", "p *= a[:, None]"),
    "a mask of the wrong side": ("if i > T:", "a = tl.load(s + o, mask=m)", "p *= a[:, None]"),
    "a mask that holds one lane longer": (
        "if i < T:",
        "a = tl.load(s + i + o, mask=i + o < T + 1)",
        "p *= a[:, None]",
    ),
    "a store without a mask": ("if i < T:", "tl.store(z + i + o, tl.sum(p, 0))", "p *= 0.5"),
    "an atomic": ("if i < T:", "tl.atomic_add(z + i + o, tl.sum(p, 0), mask=m)", "p *= 0.5"),
    "a barrier": ("if i < T:", "tl.debug_barrier()", "p *= 0.5"),
    "a helper that stores": ("if i < T:", "p = noted(p, z)"),
    "a division": ("if i < T:", "p *= N // (T - i)"),
    "an address": ("if i < T:", "y += 1", "p *= 0.5"),
    "its own test": ("if i < T:", "i += 1", "p *= 0.5"),
    "an else": ("if i < T:", "p *= 0.5", "@else:", "p *= 0.25"),
    "two tests": ("if i < T and i > 0:", "p *= 0.5"),
    "a loop": ("if i < T:", "for _ in range(2): p *= 0.5"),
    "no product": ("if i < T:", "b *= 0.5"),
    "a product of its own": ("if i < T:", "p = tl.dot(b, b, p)"),
    "what the loop carries": ("for t in range(3):", "    if i < T: p *= 0.5", "    p = tl.dot(b, b, p)"),
    "known": ("if EVEN:", "p *= 0.5"),
}


def source(lines: tuple[str, ...]) -> str:
    """The kernel with these lines: what stands behind an `if` or `for` is its block, up to a line with `@`."""
    text, depth = "", 1
    for line in lines:
        depth = 1 if line.startswith("@") else depth
        text += "    " * depth + line.removeprefix("@") + "\n"
        depth += line.endswith(":") and not line.startswith("for")
    return HEAD + text + TAIL


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bool]]:
    """Both sides of every kernel that is rewritten, run in one process."""
    folder = tmp_path_factory.mktemp("branches")
    wanted = []
    for number, (name, lines) in enumerate(TAKEN.items()):
        before, after = folder / f"before{number}.py", folder / f"after{number}.py"
        before.write_text(source(lines))
        result = migrated("branched-product", before)
        assert result.changed, name
        after.write_text(result.text)
        wanted.append([str(before), str(after), INPUTS])
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.run_pairs"],
        input=json.dumps(wanted),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(TAKEN, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", TAKEN)
def test_a_branch_becomes_a_selection_with_the_same_results(name: str, pairs: dict[str, dict[str, bool]]):
    assert pairs[name]["touched"]
    assert pairs[name]["same"]


@pytest.mark.parametrize("name", LEFT)
def test_a_branch_that_must_not_run_always_or_need_not_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(source(LEFT[name]))
    assert not migrated("branched-product", tmp_path / "kernel.py").changed


def test_a_name_that_a_later_loop_has_for_something_else_stays_in_the_branch(tmp_path: Path) -> None:
    lines = ("if i < T:", "a = tl.sum(p, 0)", "p *= a[None, :]", "@for t in range(2):")
    behind = "        a = t * 0.5\n        p = p + a\n"
    text = source(lines).replace(TAIL, behind + TAIL)
    (tmp_path / "kernel.py").write_text(text)
    assert not migrated("branched-product", tmp_path / "kernel.py").changed
    (tmp_path / "other.py").write_text(text.replace(" a = t *", " c = t *").replace("+ a\n", "+ c\n"))
    assert migrated("branched-product", tmp_path / "other.py").changed
