"""What the README promises is what CI runs, and the constraints keep CUDA builds away."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]


def test_ci_runs_the_readmes_test_command() -> None:
    readme = (REPOSITORY / "README.md").read_text().splitlines()
    script = (REPOSITORY / ".ci" / "run").read_text()
    start = readme.index("pip install -c constraints.txt -e '.[verify,test]'")
    assert readme[start + 1] == "pytest -n 2"
    assert "-c constraints.txt -e '.[verify,test]'" in script
    assert script.splitlines()[-1].endswith(readme[start + 1])


def test_the_constraints_pin_what_the_interpreter_needs() -> None:
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    pins = {r.name: r.specifier for line in lines if line and line[0] != "#" for r in [Requirement(line)]}
    assert "2.13.0" in pins["torch"] and "2.12.0" not in pins["torch"]
    assert "3.6.0" in pins["triton"] and "3.7.0" not in pins["triton"]
    assert "2.3.5" in pins["numpy"] and "2.4.0" not in pins["numpy"]
