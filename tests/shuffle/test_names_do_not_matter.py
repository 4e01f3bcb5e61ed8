"""Discovery reads structure: a copy without a single familiar name gives the same facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.shuffle import Shuffled
from tritonport.discover import Discovery, discover
from tritonport.sources import SourceTree, resolve

VERSIONS = ("0.4.1", "0.5.1", "0.6.0")
ENTRY = "fla.ops.gated_delta_rule"


def renamed_tree(copy: Shuffled) -> SourceTree:
    return resolve(str(copy.root.joinpath(*copy.modules[ENTRY].split("."))))


def facts(found: Discovery, name: Callable[[str], str]) -> dict[str, Any]:
    """Per kernel everything that carries no name; name translates a kernel's `module:function`.

    What is listed apart is left out: that comes from a list of paths in the corpus.
    """
    return {
        name(kernel.name): (
            kernel.line,
            kernel.cube,
            kernel.reachable,
            sorted(
                (x.line, x.grid.form, len(x.grid.axes), len(x.grid.meta), x.reachable)
                for x in found.launches_of(kernel)
            ),
        )
        for kernel in found.kernels
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_discovery_gives_the_same_facts(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], version: str
) -> None:
    copy = shuffled(version)
    original = facts(discover(fla_tree(version)), lambda name: copy.functions.get(name, name))
    assert facts(discover(renamed_tree(copy)), str) == original
