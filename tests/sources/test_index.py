"""Wheels by name and version: fetched once, checked, kept whole, and refused with one clear line."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path, PurePosixPath

import pytest

from tritonport.errors import UserError
from tritonport.sources import resolve
from tritonport.sources.manifest import Manifest, Release, manifest_of, manifests
from tritonport.sources.resolve import module_of


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the wheel demo-kernels 1.0, which pip takes for the only index, and an empty cache."""
    folder = tmp_path / "links"
    folder.mkdir()
    with zipfile.ZipFile(folder / "demo_kernels-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("demo/__init__.py", "")
        wheel.writestr("demo/add.py", "x = 1\n")
        wheel.writestr(
            "demo_kernels-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo-kernels\nVersion: 1.0\n"
        )
        wheel.writestr("demo_kernels-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("demo_kernels-1.0.dist-info/licenses/LICENSE", "free\n")
        wheel.writestr("demo_kernels-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("TRITONPORT_CACHE_DIR", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def listed(index: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """A manifest that lists the wheel of `index`."""
    wheel = next(index.iterdir())
    release = Release("1.0", wheel.name, sha256(wheel.read_bytes()).hexdigest())
    manifest = Manifest("demo-kernels", ("demo",), "demo", (release,))
    monkeypatch.setattr("tritonport.sources.manifest.manifests", lambda: (manifest,))
    return manifest


def test_a_wheel_is_fetched_once_and_then_taken_from_the_cache(index: Path, listed: Manifest) -> None:
    said: list[str] = []

    def say(step: str, _done: int, _total: int) -> None:
        said.append(step)

    tree = resolve("demo/add.py", from_spec="demo-kernels==1.0", progress=say)
    assert said == ["fetching demo-kernels 1.0"]
    assert (tree.distribution, tree.version, tree.entry) == (
        "demo-kernels",
        "1.0",
        PurePosixPath("demo/add.py"),
    )
    assert [path.name for path in tree.licenses] == ["LICENSE"]
    assert tree.notes == ()
    next(index.iterdir()).unlink()
    assert resolve("demo.add", from_spec="demo-kernels", offline=True, progress=say) == tree
    assert len(said) == 1


def test_a_module_that_only_the_manifest_knows_comes_from_its_newest_release(listed: Manifest) -> None:
    tree = resolve("demo/add")
    assert tree.version == "1.0"
    assert tree.notes == (
        "demo/add is neither on disk nor installed: taken from demo-kernels 1.0, the newest release listed",
    )


def test_an_unlisted_release_is_used_with_a_note(index: Path) -> None:
    tree = resolve("demo", from_spec="demo-kernels==1.0")
    assert tree.notes == ("demo-kernels 1.0 is not listed in the manifest: its digest was not checked",)


def test_another_file_under_a_listed_name_is_refused_and_not_kept(
    index: Path, listed: Manifest, tmp_path: Path
) -> None:
    with zipfile.ZipFile(next(index.iterdir()), "a") as wheel:
        wheel.writestr("demo/evil.py", "")
    with pytest.raises(UserError, match="the manifest says"):
        resolve("demo", from_spec="demo-kernels==1.0")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_cache_that_somebody_touched_is_fetched_again(listed: Manifest) -> None:
    tree = resolve("demo", from_spec="demo-kernels==1.0")
    (tree.root / "demo" / "add.py").write_text("x = 2\n")
    again = resolve("demo", from_spec="demo-kernels==1.0")
    assert (again.root / "demo" / "add.py").read_text() == "x = 1\n"


def test_two_processes_may_fetch_at_once(index: Path) -> None:
    code = (
        "from tritonport.sources import resolve; print(resolve('demo', from_spec='demo-kernels==1.0').root)"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    roots = {run.communicate(timeout=60)[0] for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert len(roots) == 1


@pytest.mark.parametrize(
    ("src", "spec", "offline", "message"),
    [
        ("demo", "demo-kernels==9.9", False, "cannot fetch demo-kernels==9.9"),
        ("demo", "no-such-thing==1.0", False, "no network, or the package index does not have it"),
        ("demo", "demo-kernels==1.0", True, "not in the cache"),
        ("demo.nope", "demo-kernels==1.0", False, "has no module demo.nope"),
        ("demo", "demo-kernels>=1.0", False, "does not name one version"),
        ("demo", "demo-kernels==1.*", False, "does not name one version"),
        ("demo", "demo kernels", False, "cannot read --from"),
        ("../demo", "demo-kernels==1.0", False, "not a module name"),
        ("nowhere.at.all", None, False, "no such file, folder or installed module"),
        ("no/such-dir", None, False, "no such file or folder"),
    ],
)
def test_refusals_are_one_line(index: Path, src: str, spec: str | None, offline: bool, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        resolve(src, from_spec=spec, offline=offline)
    assert "\n" not in str(caught.value)


def test_names_that_may_be_modules() -> None:
    assert module_of("fla/ops/x.py") == module_of("fla.ops.x") == module_of("fla/ops/x/") == "fla.ops.x"
    assert module_of("./a") == "a"
    assert module_of("../a") is None
    assert module_of("a-b/c") is None
    assert module_of("/abs/a") is None


def test_the_corpus_lists_every_release_with_a_digest() -> None:
    manifest = manifest_of("FLA_core")
    assert manifest is not None and manifest in manifests()
    assert manifest.newest.version == "0.6.0"
    assert [r.version for r in manifest.releases] == [
        "0.3.2",
        "0.4.0",
        "0.4.1",
        "0.4.2",
        "0.5.0",
        "0.5.1",
        "0.5.2",
        "0.6.0",
    ]
    assert all(len(bytes.fromhex(release.sha256)) == 32 for release in manifest.releases)
    assert manifest.has(manifest.entry)


@pytest.mark.network
@pytest.mark.parametrize("version", [release.version for m in manifests() for release in m.releases])
def test_every_listed_release_is_on_the_index_with_its_digest(version: str) -> None:
    tree = resolve("fla.ops.gated_delta_rule", from_spec=f"fla-core=={version}")
    assert tree.version == version and tree.entry_files() and tree.licenses
