"""Python that is no kernel and launches none passes through byte for byte, whatever it looks like."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import broken
from tests.support.migrated import migrate

# Modules of the standard library stand for arbitrary Python.
MODULES = ("textwrap", "heapq", "shlex", "fractions", "string", "calendar", "queue", "netrc", "cmd")


def _migrated_with(tmp_path: Path, extra: str) -> str:
    """The migrated text of a file that has a good kernel and, below it, the extra text."""
    source = tmp_path / "src" / "mixed.py"
    source.parent.mkdir(parents=True)
    source.write_bytes((broken.GOOD + "\n\n" + extra).encode())
    result = migrate(source, tmp_path / "out")
    assert [k.outcome for k in result.record.kernels] == ["converted"]
    return (result.out / "mixed.py").read_bytes().decode()


@pytest.mark.parametrize("name", MODULES)
def test_a_library_module_below_a_kernel_stays_as_it_is(tmp_path: Path, name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    assert text in _migrated_with(tmp_path, text)


_literals = st.one_of(
    st.integers(), st.text(max_size=12), st.booleans(), st.none(), st.floats(), st.binary(max_size=6)
)
_values = st.recursive(
    _literals, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=6
)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(values=st.lists(_values, min_size=1, max_size=8), spaces=st.integers(0, 5))
def test_odd_literals_and_spacing_stay_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], spaces: int
) -> None:
    pad = " " * spaces
    lines = [f"value_{n}{pad}={pad}{value!r}{pad}  # {n}" for n, value in enumerate(values)]
    text = "inf = nan = 0.0\n" + "\n".join(lines) + "\n"
    assert text in _migrated_with(tmp_path_factory.mktemp("odd"), text)


def test_line_endings_and_a_missing_last_newline_stay(tmp_path: Path) -> None:
    source = tmp_path / "src" / "windows.py"
    source.parent.mkdir()
    source.write_bytes(broken.GOOD.replace("\n", "\r\n").encode().rstrip())
    result = migrate(source, tmp_path / "out")
    data = (result.out / "windows.py").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert not data.endswith(b"\n")


def test_modules_without_kernels_are_not_emitted(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from .plain import helper\nfrom .good import run_double\n")
    (package / "plain.py").write_text("def helper( x ):\n    return x\n")
    (package / "good.py").write_text(broken.GOOD)
    out = migrate(package, tmp_path / "out").out
    assert not (out / "pack" / "plain.py").exists()
    assert (out / "pack" / "good.py").is_file()
