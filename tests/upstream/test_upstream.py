"""Releases of a small distribution of our own, in which each kernel has another fate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import KERNEL, in_process
from tests.support.wheels import pip_settings, write_wheel
from tritonport.errors import UserError
from tritonport.sources.manifest import load_manifest, manifest_of
from tritonport.upstream.index import newer, releases
from tritonport.upstream.releases import add_to_manifest
from tritonport.upstream.report import ReleaseResult, UpstreamResult

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def kernel(name: str, value: str, host: str = "") -> str:
    """A kernel that stores a value, and its launch over 64 elements in tiles of 16."""
    return (
        f"@triton.jit\ndef {name}(dst, size, TILE: tl.constexpr):\n"
        "    at = tl.program_id(0) * TILE + tl.arange(0, TILE)\n"
        f"    tl.store(dst + at, {value}, mask=at < size)\n\n\n"
        f"def run_{name}(dst):\n    {host or name}[(4,)](dst, 64, TILE=16)\n\n\n"
    )


STAYS = kernel("stays", "at")
GOES = kernel("goes", "at + 1")
WANDERS = kernel("wanders", "at + 2")
DOUBLE = "tl.sum(at.to(tl.float64), 0) + at"
RELEASES: dict[str, dict[str, str]] = {
    "1.0": {
        "demo/__init__.py": "",
        "demo/a.py": HEAD + STAYS + GOES + WANDERS + kernel("grows", "at * 2") + kernel("breaks", "at * 3"),
    },
    "1.1": {
        "demo/__init__.py": "",
        "demo/a.py": HEAD
        + "# Another comment.\n"
        + STAYS.replace("tl.store(dst + at, at, mask", "tl.store((dst + at), at,  mask")
        + kernel("grows", "at * 4")
        + kernel("breaks", DOUBLE)
        + kernel("arrives", "at - 1")
        + kernel("arrives_broken", DOUBLE),
        "demo/b.py": HEAD + WANDERS,
    },
    "1.2": {"demo/__init__.py": "def broken(:\n"},
    "1.10": {
        "demo/__init__.py": "",
        "demo/a.py": HEAD
        + STAYS
        + kernel("grows", "at * 4")
        + kernel("breaks", "at * 3")
        + kernel("arrives", "at - 1")
        + kernel("arrives_broken", DOUBLE),
        "demo/b.py": HEAD + WANDERS,
    },
}
EXPECTED = {
    "1.1": {
        "demo.a:arrives": "new",
        "demo.a:arrives_broken": "newly-unresolved",
        "demo.a:breaks": "newly-unresolved",
        "demo.a:goes": "gone",
        "demo.a:grows": "changed",
        "demo.a:stays": "unchanged",
        "demo.b:wanders": "moved",
    },
    "1.10": {
        "demo.a:arrives": "unchanged",
        "demo.a:arrives_broken": "still-unresolved",
        "demo.a:breaks": "resolved",
        "demo.a:grows": "unchanged",
        "demo.a:stays": "unchanged",
        "demo.b:wanders": "unchanged",
    },
}


HEAD_OF_MANIFEST = 'distribution = "demo-kernels"\nprovides = ["demo"]\nentry = "demo"\n'


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the releases, which pip takes for the only index."""
    folder = tmp_path_factory.mktemp("links")
    for version, modules in RELEASES.items():
        write_wheel(folder, version, modules)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in pip_settings(folder, tmp_path_factory.mktemp("cache")).items():
            patch.setenv(name, value)
        yield folder


@dataclass(frozen=True)
class Seen:
    """One run over all releases: what it printed, and the files that it wrote."""

    code: int
    text: str
    folder: Path

    @property
    def data(self) -> dict[str, Any]:
        return json.loads((self.folder / "up.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def seen(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("seen")
    listed = '[[release]]\nversion = "1.0"\nfile = "x.whl"\nsha256 = "0"\n'
    (folder / "manifest.toml").write_text(f"{HEAD_OF_MANIFEST}\n{listed}")
    command = ["upstream", "demo", "--dist", "demo-kernels", "--since", "1.0", "--add-to", "manifest.toml"]
    done = in_process(*command, "--report", "json=up.json", "--report", "markdown=up.md", cwd=folder)
    return Seen(done.returncode, done.stdout, folder)


def test_releases_are_asked_from_the_index_in_order_of_version(index: Path) -> None:
    assert releases("demo-kernels") == ("1.0", "1.1", "1.2", "1.10")
    assert newer(("1.0", "1.10", "1.2"), "1.1") == ("1.2", "1.10")
    with pytest.raises(UserError, match="not a version"):
        newer(("1.0",), "latest")
    with pytest.raises(UserError, match="no-such-thing"):
        releases("no-such-thing")


def test_each_kernel_has_its_fate(seen: Seen) -> None:
    assert seen.code == 1
    found = seen.data
    by_version = {release["version"]: release for release in found["releases"]}
    assert list(by_version) == ["1.1", "1.2", "1.10"]
    for version, expected in EXPECTED.items():
        kernels = {k["name"]: k["status"] for k in by_version[version]["kernels"]}
        assert kernels == expected
    assert by_version["1.2"]["failed"] and "demo/__init__.py" in by_version["1.2"]["failed"]
    assert by_version["1.10"]["before"] == "1.1"
    moved = next(k for k in by_version["1.1"]["kernels"] if k["status"] == "moved")
    assert (moved["name"], moved["was"]) == ("demo.b:wanders", "demo.a:wanders")
    why = next(k for k in by_version["1.1"]["kernels"] if k["name"] == "demo.a:breaks")["why"]
    assert any(text.startswith("refuse demo/a.py:") and "fp64" in text for text in why)
    assert next(k for k in by_version["1.1"]["kernels"] if k["name"] == "demo.a:grows")["why"] == [
        "its source"
    ]


def test_text_and_markdown_name_what_needs_a_look_first(seen: Seen) -> None:
    lines = seen.text.splitlines()
    assert lines[0].startswith("demo-kernels 1.0 -> 1.1: 2 newly unresolved, 1 new and converted")
    assert lines[1].split() == ["newly-unresolved", "demo.a:arrives_broken"]
    assert "stays" not in seen.text
    page = (seen.folder / "up.md").read_text(encoding="utf-8")
    assert "## 1.0 → 1.1" in page and "| `demo.a:breaks` | newly unresolved | refuse" in page
    assert "cannot be converted: " in page


def test_the_lock_says_what_is_known_and_nothing_newer_is_no_finding(index: Path, tmp_path: Path) -> None:
    made = in_process("migrate", "demo", "--from", "demo-kernels==1.10", "-o", "npu", "-q", cwd=tmp_path)
    assert made.returncode == 1
    done = in_process("upstream", "--lock", "npu", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert (found["distribution"], found["entry"], found["since"]) == ("demo-kernels", "demo", "1.10")
    assert found["releases"] == []


def test_converted_releases_are_added_to_a_manifest_once(index: Path, seen: Seen) -> None:
    listed = load_manifest(seen.folder / "manifest.toml")
    assert [release.version for release in listed.releases] == ["1.0", "1.1", "1.10"]
    wheel = index / listed.releases[1].file
    assert listed.releases[1].sha256 == sha256(wheel.read_bytes()).hexdigest()
    release = ReleaseResult("1.1", "1.0", wheel=wheel.name, sha256=listed.releases[1].sha256)
    assert (
        add_to_manifest(
            UpstreamResult("demo-kernels", "demo", "1.0", (release,)), seen.folder / "manifest.toml"
        )
        == ()
    )


def test_mistakes_are_one_line(index: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(KERNEL)
    assert in_process("migrate", "rows.py", "-o", "own", "-q", cwd=tmp_path).returncode == 0
    for args in (
        ["demo", "--dist", "demo-kernels"],
        ["demo", "--dist", "demo-kernels", "--since", "0.9"],
        ["demo", "--dist", "demo-kernels", "--since", "newest"],
        ["--lock", "nowhere"],
        ["--lock", "own"],
        ["demo"],
        ["--format", "html"],
        ["--report", "json=missing/x.json"],
        ["--add-to", "missing.toml"],
    ):
        done = in_process("upstream", *args, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), (args, done.stderr)


@pytest.mark.network
def test_the_real_index_has_every_release_of_the_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    manifest = manifest_of("fla-core")
    assert manifest is not None
    assert {release.version for release in manifest.releases} <= set(releases("fla-core"))
