"""Tuning entries are found by structure: a renamed copy of a release gets the same choices."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.shuffle import Shuffled
from tritonport.discover import Analysis, analyse
from tritonport.facts.structure import Structures
from tritonport.facts.tiles import tiles_of
from tritonport.sources import SourceTree, resolve


def kernels(analysis: Analysis) -> dict[str, tuple[str, list[int]]]:
    """By kernel: its structure, and the places of its tiles in the signature."""
    structures = Structures(analysis)
    names = [k.name for k in analysis.discovery.kernels if k.reachable and k.name in analysis.functions]
    return {
        name: (
            structures.of(name),
            [t.index for t in tiles_of(analysis.index, analysis.functions[name]).parameters],
        )
        for name in names
    }


def test_a_renamed_release_has_the_same_structures_and_tiles(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled]
) -> None:
    copy = shuffled("0.6.0")
    entry = copy.root.joinpath(*copy.modules["fla.ops.gated_delta_rule"].split("."))
    theirs = kernels(analyse(resolve(str(entry))))
    ours = kernels(analyse(fla_tree("0.6.0")))
    assert sorted(ours.values()) == sorted(theirs.values())
    assert len({digest for digest, _ in ours.values()}) == len(ours)
