"""One head-first copy for kernels of several modules, what the run-time helpers do, and one head, which needs none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.support.cases import run_cases
from tests.support.migrated import by_name, migrate, overlay
from tritonport.emit.templates import tritonport_runtime as runtime
from tritonport.sources import resolve

KERNELS = """
import torch
import triton
import triton.language as tl


@triton.jit
def weigh(x, g, y, T, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    i_t, i_b, i_h = tl.program_id(0), tl.program_id(1) // H, tl.program_id(1) % H
    o_n, o_d = tl.arange(0, N), tl.arange(0, D)
    o_t = i_t * N + o_n
    b_g = tl.load(g + (i_b * T + o_t) * H + i_h, mask=o_t < T, other=0.0)
    p = ((i_b * T + o_t[:, None]) * H + i_h) * D + o_d[None, :]
    b_x = tl.load(x + p, mask=o_t[:, None] < T, other=0.0)
    b_y = tl.dot(tl.dot(b_x, tl.trans(b_x)), b_x) * b_g[:, None]
    tl.store(y + p, b_y, mask=o_t[:, None] < T)


def weighed(
    x: torch.Tensor,
    g: torch.Tensor,  # [B, T, H]
    rows: int = 16,
):
    B, T, H, D = x.shape
    y = torch.empty_like(x)
    weigh[(triton.cdiv(T, rows), B * H)](x=x, g=g, y=y, T=T, H=H, D=D, N=rows)
    return y
"""
CALLERS = """
import torch

from heads.kernels import weighed

META = {"rtol": 1e-5}


def twice(x, g):
    # the gates of both
    once = weighed(x, g)
    return weighed(once, g=g, rows=32)


def make_inputs(device):
    return {"x": 0.1 * torch.randn(2, 37, 3, 16, device=device), "g": torch.randn(2, 37, 3, device=device)}


def launch(x, g):
    return twice(x, g)


def reference(x, g):
    def weighed(x, rows):
        parts = [p.transpose(1, 2) for p in x.split(rows, 1)]
        return torch.cat([(p @ p.transpose(2, 3) @ p).transpose(1, 2) for p in parts], 1) * g[..., None]

    return weighed(weighed(x, 16), 32)
"""


def package(folder: Path) -> Path:
    root = folder / "heads"
    root.mkdir()
    for name, text in (("__init__", ""), ("kernels", KERNELS), ("callers", CALLERS)):
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return root


def test_a_caller_of_another_module_makes_the_copy(tmp_path: Path) -> None:
    source = resolve(str(package(tmp_path)))
    result = migrate(source, tmp_path / "out", profile="tuned")
    texts = {name: (tmp_path / "out" / "heads" / f"{name}.py").read_text() for name in ("kernels", "callers")}
    assert "    rows: int = 16,\n    g_hf=None,\n):" in texts["kernels"]
    assert "g=head_first(g, H, g_hf)" in texts["kernels"]
    assert "    g_hf = shared_head_first(g)\n    # the gates of both\n" in texts["callers"]
    assert "weighed(x, g, g_hf=g_hf)" in texts["callers"]
    assert "weighed(once, g=g, rows=32, g_hf=g_hf)" in texts["callers"]
    record = by_name(result)["heads.kernels:weigh"]
    assert {"gate-layout", "shared-layout"} <= {use.slug for use in record.rules}
    assert any("a caller that feeds several kernels has it already" in note for note in record.notes)
    for path, origins in result.origins.items():
        assert len(origins) == len((tmp_path / "out" / path).read_text().splitlines())
    root = overlay(source, tmp_path / "out", tmp_path / "root")
    found = run_cases([root / "heads" / "callers.py"], root)["callers"]
    assert (found["error"], found["right"]) == (None, True)


def test_without_gate_layout_there_is_nothing_to_share(tmp_path: Path) -> None:
    source = resolve(str(package(tmp_path)))
    migrate(source, tmp_path / "out", rules=("grid-collapse", "shared-layout"))
    assert not (tmp_path / "out" / "heads" / "callers.py").exists()


def test_the_copy_of_a_caller_is_taken_only_where_it_fits() -> None:
    g = torch.arange(24).view(1, 6, 4)
    made = runtime.shared_head_first(g)
    assert torch.equal(made, g[0].t())
    assert runtime.head_first(g, 4, made) is made
    assert torch.equal(runtime.head_first(g, 2, made), g.view(-1, 2).t())
    assert torch.equal(runtime.head_first(g[:, :3].contiguous(), 4, made), g[0, :3].t())
    assert runtime.shared_head_first(g, made) is made


def test_what_has_no_copy() -> None:
    for nothing in (None, 3, torch.tensor(1.0), torch.empty(0, 4), torch.zeros(4, 6).t()):
        assert runtime.shared_head_first(nothing) is None
    assert runtime.head_first(None, 4) is None
    assert runtime.head_first_empty(None, 4) is None
    runtime.copy_back(None, None)


def test_one_head_is_never_copied() -> None:
    g = torch.arange(6.0).view(1, 6, 1)
    assert runtime.head_first(g, 1) is g
    assert runtime.shared_head_first(g) is g
    held = runtime.head_first_empty(g, 1)
    assert held is g
    runtime.copy_back(g, held)
    assert torch.equal(g.flatten(), torch.arange(6.0))


def test_outputs_come_back() -> None:
    g = torch.zeros(1, 6, 4)
    held = runtime.head_first_empty(g, 4)
    assert held.shape == (4, 6)
    held.copy_(torch.arange(24.0).view(4, 6))
    runtime.copy_back(g, held)
    assert torch.equal(g[0], torch.arange(24.0).view(4, 6).t())


def test_a_view_with_gaps_is_copied_as_it_lies_in_memory() -> None:
    """Rows of a longer cache: a kernel counts elements from the view's first one on, gaps included."""
    cache = torch.arange(2 * 6 * 4).view(2, 6, 4)
    view = cache[:, 1:4]
    assert runtime.head_rows(view, 4) == 11  # of twelve rows, those behind the first
    assert torch.equal(runtime.head_first(view, 4), cache.view(12, 4)[1:].t())


def test_gaps_of_an_output_keep_what_they_hold() -> None:
    cache = torch.arange(2 * 6 * 4).view(2, 6, 4)
    before, view = cache.clone(), cache[:, 1:4]
    held = runtime.head_first_empty(view, 4)
    held[:, :3] = -1
    runtime.copy_back(view, held)
    assert torch.equal(cache[0, 1:4], torch.full((3, 4), -1))
    assert torch.equal(cache[0, 4:], before[0, 4:])
    assert torch.equal(cache[1], before[1])


def test_rows_that_are_no_multiple_of_the_heads() -> None:
    """A workspace that is longer than what the kernel walks."""
    flat = torch.arange(1, 12)
    made = runtime.head_first(flat, 4)
    assert made.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 0]]
    made += 20
    runtime.copy_back(flat, made)
    assert torch.equal(flat, torch.arange(21, 32))


def test_arguments_that_share_memory_are_refused_at_the_launch() -> None:
    whole = torch.zeros(8, 4)
    runtime.check_apart(whole[:4], whole[4:], None, torch.zeros(8, 4))
    with pytest.raises(ValueError, match="share memory"):
        runtime.check_apart(whole[:5], torch.zeros(3), whole[4:])
    with pytest.raises(ValueError, match="share memory"):
        runtime.check_apart(whole, whole.t())
