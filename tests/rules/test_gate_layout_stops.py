"""Why gate-layout leaves a launch alone, and what its reader can do then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.sources import resolve

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def gated(x, g, y, T, H: tl.constexpr, N: tl.constexpr):
    t, h = tl.program_id(0), tl.program_id(1)
    rows, cols = t * N + tl.arange(0, N), tl.arange(0, N)
    gate = tl.load(g + rows * H + h, mask=rows < T, other=0.0)
    tile = tl.load(x + (rows[:, None] * H + h) * N + cols[None, :], mask=rows[:, None] < T, other=0.0)
    tile = tl.dot(tile, tile) * gate[:, None]
    tl.store(y + (rows[:, None] * H + h) * N + cols[None, :], tile, mask=rows[:, None] < T)
"""
HOST = """
import torch
import triton


def run(x, g, T, H):
    y = torch.empty_like(x)
    LAUNCH
    return y
"""


def _why(tmp_path: Path, launch: str, imported: str | None = None) -> str | None:
    grid = "(triton.cdiv(T, 16), H)"
    host = HOST.replace("LAUNCH", launch.replace("GRID", grid))
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.py").write_text(KERNEL + host if imported is None else f"from k import gated\n{host}")
    if imported is not None:
        (folder / imported).write_text(KERNEL)
    options = MigrateOptions(rules=("grid-collapse", "gate-layout"))
    result = migrate_tree(resolve(str(folder / "a.py")), tmp_path / "out", options, lambda *_: None)
    (kernel,) = result.record.kernels
    return next((item.why for item in kernel.unresolved if item.slug == "gate-layout"), None)


def test_a_launch_beside_the_kernel_is_edited(tmp_path: Path):
    assert _why(tmp_path, "gated[GRID](x=x, g=g, y=y, T=T, H=H, N=16)") is None


def test_a_launch_in_another_file_is_named(tmp_path: Path):
    why = _why(tmp_path, "gated[GRID](x=x, g=g, y=y, T=T, H=H, N=16)", imported="k.py")
    assert why is not None
    assert "another file, a.py:9: launch it beside the kernel" in why


@pytest.mark.parametrize(
    ("launch", "advice"),
    [
        ("gated[GRID](x=x, g=g, y=y, T=T, H=H, **{'N': 16})", "write them out"),
        ("compiled = gated[GRID](x=x, g=g, y=y, T=T, H=H, N=16)", "give it a line"),
    ],
)
def test_every_reason_says_what_to_do(tmp_path: Path, launch: str, advice: str):
    why = _why(tmp_path, launch)
    assert why is not None
    assert advice in why
    assert "suppress the finding" in why
