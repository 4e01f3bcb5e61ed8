"""Runs the `run:` steps of a workflow here, in bash as GitHub does, with files in place of its services."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def workflow(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(data: Mapping[str, Any], job: str) -> Iterator[dict[str, Any]]:
    """The steps of one job that have a script."""
    return (step for step in data["jobs"][job]["steps"] if "run" in step)


@dataclass
class Runner:
    """One machine. folder: the checkout. values: what expressions stand for; an unknown expression is an error."""

    data: Mapping[str, Any]
    folder: Path
    env: Mapping[str, str]
    values: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, job: str, name: str) -> subprocess.CompletedProcess[str]:
        """Run the step of that name. Its outputs become `steps.<id>.outputs.<key>` and `needs.<job>.outputs.<key>`."""
        (step,) = [s for s in steps_of(self.data, job) if s["name"] == name]
        assert "${{" not in step["run"], "expressions belong into env, where they cannot become code"
        output, summary = self.folder / ".output", self.folder / ".summary"
        output.write_text("")
        own = {key: EXPRESSION.sub(self._value, str(text)) for key, text in step.get("env", {}).items()}
        env = {**os.environ, **self.data.get("env", {}), **self.env, **own}
        env |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
            self.values[f"needs.{job}.outputs.{key}"] = value
        return done

    def _value(self, found: re.Match[str]) -> str:
        return self.values[found.group(1)]
