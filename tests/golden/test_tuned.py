"""The tuned profile on real releases: which rules have to fire where, and the same numbers as before.

What is expected is what hand experiments with the compiler found necessary (the pages of the rules have the figures),
by kernel and by the dialect of the release, not what the tool did once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.launched import launched_kernels
from tests.support.releases import migrated
from tritonport.record import KernelRecord
from tritonport.sources import SourceTree

FlaTree = Callable[[str], SourceTree]
versions = pytest.mark.parametrize(
    "version",
    (
        "0.6.0",
        pytest.param("0.4.1", marks=pytest.mark.slow),
        pytest.param("0.3.2", marks=pytest.mark.slow),
    ),
)
GATED = (
    "chunk_gated_delta_rule_fwd_kernel_h_blockdim64",
    "chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64",
    "chunk_fwd_kernel_o",
    "chunk_bwd_kernel_dqkwg",
    "chunk_bwd_kernel_dv_local",
    "chunk_scaled_dot_kkt_fwd_kernel",
    "recompute_w_u_fwd_kernel",
    "prepare_wy_repr_bwd_kernel",
)
"""Matrix kernels that read or write one number per row and head."""
TURNED = (
    "chunk_gated_delta_rule_fwd_kernel_h_blockdim64",
    "chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64",
    "chunk_fwd_kernel_o",
    "chunk_bwd_kernel_dqkwg",
    "chunk_bwd_kernel_dv_local",
    "prepare_wy_repr_bwd_kernel",
)
"""Kernels that load a tile against its memory order, where the release uses offsets. Block pointers say the order."""
OFFSETS = ("0.5.2", "0.6.0")


def tuned(tree: SourceTree) -> dict[str, KernelRecord]:
    """Kernel records by the kernel's own name."""
    records = migrated(tree, "tuned").record.kernels
    return {record.name.rpartition(":")[2]: record for record in records}


def fired(record: KernelRecord) -> set[str]:
    return {use.slug for use in record.rules}


@versions
def test_every_launched_kernel_is_converted_or_says_why_not(fla_tree: FlaTree, version: str) -> None:
    records = {r.name: r for r in migrated(fla_tree(version), "tuned").record.kernels}
    for name in launched_kernels(version):
        assert records[name].outcome == "converted" or records[name].unresolved, name
        assert "grid-collapse" in fired(records[name]), name


@versions
def test_per_head_numbers_of_matrix_kernels_become_contiguous(fla_tree: FlaTree, version: str) -> None:
    records = tuned(fla_tree(version))
    for name in GATED:
        assert "gate-layout" in fired(records[name]), name


@versions
def test_callers_that_feed_several_kernels_copy_once(fla_tree: FlaTree, version: str) -> None:
    """Forward and backward of the operator hand one copy of the gates, and one of beta, to every matrix kernel."""
    result = migrated(fla_tree(version), "tuned")
    text = (result.out / "fla" / "ops" / "gated_delta_rule" / "chunk.py").read_text(encoding="utf-8")
    made = [line.strip() for line in text.splitlines() if "= shared_head_first(" in line]
    forward = (
        ["g"] if version == "0.6.0" else ["beta", "g"]
    )  # 0.6.0 hands beta to one function, which shares it
    assert sorted(line.partition("(")[2].rstrip(")") for line in made) == sorted([*forward, "beta", "g"])
    records = tuned(fla_tree(version))
    shared = {name for name, record in records.items() if "shared-layout" in fired(record)}
    assert set(GATED) - {"chunk_scaled_dot_kkt_fwd_kernel"} <= shared


@versions
def test_tiles_against_their_memory_order_are_turned_in_one_dialect_only(
    fla_tree: FlaTree, version: str
) -> None:
    records = tuned(fla_tree(version))
    for name in TURNED:
        assert ("transposed-load" in fired(records[name])) == (version in OFFSETS), name


@versions
def test_cumulative_sums_take_all_heads_in_one_tile(fla_tree: FlaTree, version: str) -> None:
    records = tuned(fla_tree(version))
    assert "heads-in-tile" in fired(records["chunk_local_cumsum_scalar_kernel"])
    classes = {u.slug: u.rule_class for u in records["chunk_local_cumsum_scalar_kernel"].rules}
    assert classes["heads-in-tile"] == "reordered"


@pytest.mark.parametrize("version", ("0.6.0", pytest.param("0.5.1", marks=pytest.mark.slow)))
def test_gates_take_heads_into_their_tiles(fla_tree: FlaTree, version: str) -> None:
    """One value per row and head: with an axis of heads in the grid, and in both dialects."""
    records = tuned(fla_tree(version))
    classes = {
        name: {use.slug: use.rule_class for use in records[name].rules}
        for name in ("gdn_gate_fwd_kernel", "gdn_gate_bwd_kernel", "gdn_gate_chunk_cumsum_scalar_kernel")
    }
    assert [found.get("heads-in-tile") for found in classes.values()] == ["exact", "reordered", "reordered"]


@versions
def test_half_precision_vectors_are_widened_only_where_no_bit_changes(
    fla_tree: FlaTree, version: str
) -> None:
    records = tuned(fla_tree(version))
    assert "gate-precision" in fired(records["chunk_scaled_dot_kkt_fwd_kernel"])
    # It rounds between its two products.
    assert "gate-precision" not in fired(records["recompute_w_u_fwd_kernel"])


@pytest.mark.slow
def test_the_interpreter_gives_the_numbers_of_the_originals(fla_tree: FlaTree, tmp_path: Path) -> None:
    tree = fla_tree("0.6.0")
    command = [
        sys.executable,
        "-m",
        "tritonport",
        "migrate",
        str(tree.entry_path),
        "-o",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        [*command, "--profile", "tuned", "--verify", "interpret", "--jobs", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "24 of 24 passed" in done.stdout
