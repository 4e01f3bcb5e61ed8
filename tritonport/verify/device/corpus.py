"""What a corpus says about devices: cases of real size, and what to set there. File: corpus/NAME/device.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.toml import read_toml
from tritonport.verify.cases import CaseSet, load_case_set, present
from tritonport.verify.device.settings import Waiver
from tritonport.verify.scripts import layers_for


@dataclass(frozen=True, slots=True)
class DeviceCorpus:
    """cases: of real size, with the operators and tolerances of the corpus. environment: variables that keep
    upstream's dispatchers from running something else. waivers: upstream's own checks to switch off."""

    cases: CaseSet | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    waivers: tuple[Waiver, ...] = ()


def device_corpus(source: SourceTree, *, full: bool) -> DeviceCorpus:
    """The corpus of the package that a tree holds; an empty one where there is none. full: the long matrix too.

    Raises UserError for a corpus file that does not read.
    """
    for path in sorted(corpus_root().glob("*/device.toml")):
        data = read_toml(path)
        every = load_case_set(path.with_name("cases.toml"), path)
        cases = present(every if full else every.small(), source.root)
        if cases.cases:
            environment = {str(k): str(v) for k, v in data.get("environment", {}).items()}
            cases = replace(cases, scripts=layers_for(source, full=full))
            return DeviceCorpus(cases, environment, _waivers(data, path))
    return DeviceCorpus()


def _waivers(data: Mapping[str, Any], path: Path) -> tuple[Waiver, ...]:
    try:
        return tuple(Waiver.from_json(table) for table in data.get("waivers", ()))
    except (TypeError, KeyError) as error:
        raise UserError(f"a waiver does not read: {error}", file=str(path)) from error


def with_cases(corpus: DeviceCorpus, cases: CaseSet | None) -> DeviceCorpus:
    """The same settings with other cases, where there are any."""
    return corpus if cases is None else replace(corpus, cases=cases)
