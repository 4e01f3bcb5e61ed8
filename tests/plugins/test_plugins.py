"""Rules from a package outside the repository, and data folders of the user's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import environment
from tests.support.cli import KERNEL, SCRIPT, in_process
from tritonport.resources import DATA_VARIABLE

HERE = Path(__file__).parent
USE = """
import json, sys
from tests.support import interp
interp.install()
import torch
import routed.rows, routed.twice
import routed_tritonport
def launched(function, size):
    src = torch.arange(48.0) / 8
    with interp.launches() as seen:
        out = function(src, size)
    return [launch.module for launch in seen], out[:size].tolist()
print(json.dumps({
    "whole": launched(routed.rows.decay, 32),
    "ragged": launched(routed.rows.decay, 20),
    "twice": launched(routed.twice.decay_twice, 32),
    "twice ragged": launched(routed.twice.decay_twice, 20),
}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example package, installed into a folder of its own."""
    source = shutil.copytree(HERE / "example", tmp_path_factory.mktemp("example") / "source")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    done = subprocess.run([*command, "--target", folder, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def tool(
    *args: str | Path, cwd: Path, site: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """The command line in a process that sees the site's packages."""
    clean = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TRITONPORT_DATA_DIR")
    }
    path = {"PYTHONPATH": str(site)} if site is not None else {}
    command = [str(SCRIPT), *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, env={**clean, **path, **env}, capture_output=True, text=True, check=False
    )


def kernels(folder: Path) -> dict[str, Any]:
    return {k["name"]: k for k in json.loads((folder / "run.json").read_text())["kernels"]}


def test_the_rules_of_a_package_are_listed_explained_and_tested(site: Path, tmp_path: Path) -> None:
    listed = tool("rules", "list", cwd=tmp_path, site=site).stdout
    assert "HR001  exp-to-exp2" in listed and "TP001" in listed
    assert "base-2 exponential" in tool("rules", "explain", "HR001", cwd=tmp_path, site=site).stdout
    done = tool("rules", "test", "exp-to-exp2", "whole-tiles", cwd=tmp_path, site=site)
    assert (done.returncode, done.stdout) == (0, "4 checks passed, 0 failed\n"), done.stdout + done.stderr


def test_a_rule_of_a_package_runs_when_the_configuration_adds_it(site: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(
        KERNEL.replace("2 * tl.load(", "tl.exp(").replace("mask=at < size), mask", ") , mask")
    )
    text = (tmp_path / "rows.py").read_text()
    (tmp_path / "rows.py").write_text(
        text.replace("tl.exp(src + at, )", "tl.exp(tl.load(src + at, mask=at < size))")
    )
    (tmp_path / "tritonport.toml").write_text('extend-rules = ["exp-to-exp2"]\n')
    done = tool("migrate", "rows.py", "-o", "out", "--report", "json=run.json", cwd=tmp_path, site=site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "tl.exp2(tl.load(src + at, mask=at < size) * 1.4426950408889634)"
        in (tmp_path / "out" / "rows.py").read_text()
    )
    (kernel,) = kernels(tmp_path).values()
    assert {"slug": "exp-to-exp2", "class": "reordered", "count": 1} in kernel["rules"]
    assert tool("check", "rows.py", "out", cwd=tmp_path, site=site).returncode == 0
    without = tool("check", "rows.py", "out", cwd=tmp_path)
    assert without.returncode == 2 and "unknown value 'exp-to-exp2'" in without.stderr


def test_an_assumption_is_asked_by_the_verifier(site: Path, tmp_path: Path) -> None:
    shutil.copytree(HERE / "routed", tmp_path / "src")
    (tmp_path / "tritonport.toml").write_text('extend-rules = ["whole-tiles"]\n')
    command = ["migrate", "src/routed", "-o", "out", "--emit", "fla-backend", "--report", "json=run.json"]
    done = tool(*command, cwd=tmp_path, site=site)
    assert done.returncode == 0, done.stdout + done.stderr
    (kernel,) = kernels(tmp_path).values()
    assumed = {"slug": "whole-tiles", "text": "`size` is a multiple of 16", "guard": "size % 16 == 0"}
    assert kernel["assumptions"] == [assumed]
    path = os.pathsep.join(map(str, [tmp_path / "src", tmp_path / "out", HERE.parents[1]]))
    env = {**environment(), "PYTHONPATH": path}
    ran = subprocess.run([sys.executable, "-c", USE], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    ours, upstream = "routed_tritonport.routed.rows", "routed.rows"
    assert seen["whole"][0] == [ours] and seen["ragged"][0] == [upstream]
    assert seen["twice"][0] == [ours] * 2 and seen["twice ragged"][0] == [upstream] * 2
    from math import exp

    for name, count in (("whole", 32), ("ragged", 20)):
        assert seen[name][1] == pytest.approx([exp(i / 8) for i in range(count)], rel=1e-6)


def test_in_a_tree_nothing_asks_it_and_the_kernel_needs_a_review(site: Path, tmp_path: Path) -> None:
    shutil.copytree(HERE / "routed", tmp_path / "src")
    (tmp_path / "tritonport.toml").write_text('extend-rules = ["whole-tiles"]\n')
    done = tool("migrate", "src/routed", "-o", "out", "--report", "json=run.json", cwd=tmp_path, site=site)
    assert done.returncode == 1
    (kernel,) = kernels(tmp_path).values()
    assert kernel["outcome"] == "needs-review"
    assert "nothing asks that at run time" in kernel["unresolved"][0]["why"]


def broken(folder: Path, text: str) -> Path:
    """A site with a rule package that says this."""
    info = folder / "bad_rules-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-rules\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[tritonport.rules]\nbad = bad_rules\n")
    (folder / "bad_rules.py").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_that_name\n", "cannot be imported: No module named"),
        ("x = 1\n", "has no rule"),
        ("RULE = 1\n", "has no slug, rule_class or run"),
        (
            "class R:\n    slug, rule_class = 'grid-collapse', 'exact'\n    def run(self, file): ...\nRULE = R()\n",
            "has a rule 'grid-collapse', which exists already",
        ),
    ],
)
def test_a_broken_package_is_named_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rows.py").write_text(KERNEL)
    done = tool("migrate", "rows.py", "-o", "out", cwd=tmp_path, site=broken(tmp_path / "site", text))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "bad-rules 1" in done.stderr and said in done.stderr


def test_a_code_that_is_taken_is_named(site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site")
    about = copy / "house_rules" / "catalog" / "exp-to-exp2" / "rule.toml"
    about.write_text(about.read_text().replace("HR001", "TP001"))
    done = tool("rules", "list", cwd=tmp_path, site=copy)
    assert done.returncode == 2 and "TP001 is the code of" in done.stderr


def test_a_data_folder_adds_profiles_and_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "")
    (tmp_path / "rows.py").write_text(KERNEL)
    data = tmp_path / "npu" / "profiles"
    data.mkdir(parents=True)
    (data / "small.toml").write_text('name = "small"\ntitle = "Ours"\nrules = ["grid-collapse"]\n')
    (tmp_path / "tritonport.toml").write_text('profile = "small"\ndata = ["npu"]\n')
    done = in_process("migrate", "rows.py", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "tritonport.lock.json").read_text())["settings"]["rules"] == [
        "grid-collapse"
    ]
    assert in_process("check", "rows.py", "out", cwd=tmp_path).returncode == 0
    (data / "small.toml").write_text(
        'name = "small"\ntitle = "Ours"\nrules = ["grid-collapse", "empty-work"]\n'
    )
    changed = in_process("check", "rows.py", "out", "--format", "json", cwd=tmp_path)
    assert [cause.partition(":")[0] for cause in json.loads(changed.stdout)["causes"]] == [
        "rules",
        "configuration",
    ]
    (tmp_path / "tritonport.toml").unlink()
    monkeypatch.setenv(DATA_VARIABLE, "")
    unknown = in_process("migrate", "rows.py", "-o", "o", "--profile", "small", cwd=tmp_path)
    assert unknown.returncode == 2 and "unknown profile 'small'" in unknown.stderr
    monkeypatch.setenv(DATA_VARIABLE, "npu")
    elsewhere = in_process("migrate", "rows.py", "-o", "o", "--profile", "small", cwd=tmp_path)
    assert elsewhere.returncode == 0


def test_data_of_a_name_that_is_taken_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.py").write_text(KERNEL)
    (tmp_path / "npu" / "profiles").mkdir(parents=True)
    (tmp_path / "npu" / "profiles" / "tuned.toml").write_text('name = "tuned"\ntitle = "Mine"\nrules = []\n')
    for text in ('data = ["npu"]\n', 'data = ["missing"]\n'):
        monkeypatch.setenv(DATA_VARIABLE, "")
        (tmp_path / "tritonport.toml").write_text(text)
        done = in_process("migrate", "rows.py", "-o", "out", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
