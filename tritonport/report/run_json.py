"""run.json: the machine-readable record of a run, and its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tritonport.record import RunRecord


def run_json(record: RunRecord) -> str:
    """The record as JSON text that `run.schema.json` describes, with a final newline."""
    return json.dumps(record.to_json(), indent=2, ensure_ascii=False) + "\n"


def run_schema() -> dict[str, Any]:
    """The JSON schema of run.json (draft 2020-12)."""
    return json.loads((Path(__file__).parent / "run.schema.json").read_text(encoding="utf-8"))
