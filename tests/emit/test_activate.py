"""activate.py puts migrated modules in front, refuses when it comes too late, and changes nothing on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import KERNEL, contents, package, tritonport

PLAIN = "def name():\n    return 'upstream'\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package demo as if it were installed, and its output in out/."""
    root = tmp_path_factory.mktemp("activate")
    package(root / "site" / "demo", rows=KERNEL, plain=PLAIN)
    (root / "site" / "LICENSE").write_text("Do as you like.\n")
    done = tritonport("migrate", "site/demo", "-o", "out", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def python(site: Path, *args: str | Path, out_on_path: bool = True) -> subprocess.CompletedProcess[str]:
    """A Python that has the package installed; with out_on_path `import activate` works too."""
    path = [site / "site", *([site / "out"] if out_on_path else [])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *map(str, args)],
        env=env,
        cwd=site,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


WHERE = "import demo.rows, demo.plain; print(demo.rows.__file__); print(demo.plain.__file__)"


def test_migrated_modules_are_imported_and_the_others_stay_upstreams(site: Path) -> None:
    done = python(site, "-c", f"import activate; {WHERE}")
    assert done.stdout.splitlines() == [
        str(site / "out" / "demo" / "rows.py"),
        str(site / "site" / "demo" / "plain.py"),
    ], done.stderr


def test_a_process_that_does_not_activate_uses_upstream(site: Path) -> None:
    python(site, "-c", f"import activate; {WHERE}")
    done = python(site, "-c", WHERE)
    assert done.stdout.splitlines()[0] == str(site / "site" / "demo" / "rows.py"), done.stderr


def test_a_script_is_run_with_its_arguments(site: Path) -> None:
    script = site / "script.py"
    script.write_text("import sys, demo.rows\nprint(__name__, sys.argv[1:], demo.rows.__file__)\n")
    done = python(site, site / "out" / "activate.py", script, "--flag", "3", out_on_path=False)
    assert done.stdout == f"__main__ ['--flag', '3'] {site / 'out' / 'demo' / 'rows.py'}\n", done.stderr


def test_it_refuses_when_originals_are_loaded_and_names_them(site: Path) -> None:
    done = python(site, "-c", "import demo.rows, activate")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and last.endswith(": demo.rows")


def test_a_module_that_is_not_migrated_may_be_loaded_before(site: Path) -> None:
    done = python(site, "-c", f"import demo.plain, activate; {WHERE}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(site / "out" / "demo" / "rows.py")


def test_activating_twice_is_activating_once(site: Path) -> None:
    done = python(
        site,
        "-c",
        "import sys, activate; n = len(sys.meta_path); activate.install(); print(len(sys.meta_path) - n)",
    )
    assert done.stdout == "0\n", done.stderr


def test_the_folder_holds_what_changed_the_licence_and_nothing_of_the_tool(site: Path) -> None:
    found = contents(site / "out")
    assert set(found) == {
        "LICENSE",
        "activate.py",
        "demo",
        "demo/rows.py",
        "demo/tritonport_runtime.py",
        "tritonport.lines.json",
        "tritonport.lock.json",
    }
    assert found["LICENSE"] == b"Do as you like.\n"
    code = (
        "import sys, activate, demo.rows; print([m for m in sys.modules if m.split('.')[0] == 'tritonport'])"
    )
    assert python(site, "-c", code).stdout == "[]\n"


def test_output_is_replaced_as_a_whole(site: Path) -> None:
    before = contents(site / "out")
    (site / "out" / "demo" / "stale.py").write_text("")
    assert tritonport("migrate", "site/demo", "-o", "out", cwd=site).returncode == 0
    assert contents(site / "out") == before
