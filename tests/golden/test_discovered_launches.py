"""What discovery reads from the sources against what running the originals launched, for every release."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.launched import RELEASES, launched, launched_kernels
from tritonport.discover import discover
from tritonport.sources import SourceTree


@pytest.mark.parametrize("version", RELEASES)
def test_every_launched_kernel_is_found_and_reachable(
    fla_tree: Callable[[str], SourceTree], version: str
) -> None:
    found = discover(fla_tree(version))
    reachable = {kernel.name for kernel in found.kernels if kernel.reachable and kernel.apart is None}
    assert launched_kernels(version) <= reachable
    assert not found.problems


@pytest.mark.parametrize("version", RELEASES)
def test_every_launch_site_is_found_with_its_host_and_grid(
    fla_tree: Callable[[str], SourceTree], version: str
) -> None:
    sites = {(str(x.file), x.line): x for x in discover(fla_tree(version)).launches}
    for launch in launched(version)["launches"]:
        site = sites.get((launch["file"], launch["line"]))
        assert site is not None, f"no launch found at {launch['file']}:{launch['line']}"
        assert launch["kernel"] in site.kernels
        assert site.host == launch["host"]
        assert site.grid.form != "unknown", site.grid
        assert site.reachable or launch["kernel"] not in launched_kernels(version)


def test_the_recordings_cover_forward_backward_and_decode() -> None:
    """Guards the recordings themselves: a scenario that launched nothing would prove nothing."""
    for version in RELEASES:
        for name, lists in launched(version)["scenarios"].items():
            assert lists["forward"], (version, name)
            assert bool(lists["backward"]) != name.startswith("decode"), (version, name)
