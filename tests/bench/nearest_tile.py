"""For migrated kernels that do not fit: which smaller tile would, asked of the compiler.

    python -m tests.bench.nearest_tile OUT RUN.json > NEAREST.json

OUT is the migrated folder that RUN.json is about. Each tile of a kernel, and all of them together, are halved up to
four times: the tile sizes that the rules may change, and those that they must leave because something besides the
tile depends on them. The answer is what fits in every case with the fewest halvings, or else the sizes that were tried.
tests/bench/coverage_page.py takes the file beside the records.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tritonport.discover import Analysis, analyse
from tritonport.discover.functions import reached
from tritonport.facts.tiles import tiles_of
from tritonport.npu.capture import Captured, Device, Variants, capture
from tritonport.npu.cases import cases_for
from tritonport.npu.tier import choose_target, compile_cached, setting_for
from tritonport.npu.toolchain import Missing, Toolchain, locate
from tritonport.sources.tree import SourceTree
from tritonport.verify.output import read_output, source_of

SMALLEST, HALVINGS = 16, 4
Sizes = dict[str, int]
Fits = tuple[Sizes | None, list[Sizes]]
"""The first sizes that fit in every case, and all that were tried before them."""


def main(out: str, run: str) -> int:
    record = json.loads(Path(run).read_text(encoding="utf-8"))
    output = read_output(Path(out))
    source = source_of(output, None, None)
    wanted = {kernel["name"] for kernel in record["kernels"] if overflows(kernel)}
    toolchain = locate(None, None)
    if isinstance(toolchain, Missing):
        raise SystemExit(toolchain.why)
    found = nearest(source, output.folder, wanted, toolchain, record["target"])
    answer = {
        "source": record["source"],
        "nearest": {kernel: text_of(*found[kernel]) for kernel in sorted(found)},
    }
    print(json.dumps(answer, indent=1))
    return 0


def overflows(kernel: Mapping[str, Any]) -> bool:
    cases = [
        case["after"] for run in kernel["npu"] or () for case in run["cases"] if case["after"] is not None
    ]
    return any(case["fits"] is not True for case in cases)


def text_of(fits: Sizes | None, tried: list[Sizes]) -> str:
    if fits is not None:
        return f"nearest tile that fits: {_shown(fits)}"
    if not tried:
        return "no tile of this kernel is a size that can be halved"
    return "no nearer tile fits; tried " + "; ".join(_shown(sizes) for sizes in tried)


def _shown(sizes: Sizes) -> str:
    return ", ".join(f"{name}={size}" for name, size in sorted(sizes.items()))


def nearest(
    source: SourceTree, out: Path, wanted: set[str], toolchain: Toolchain, target: str
) -> dict[str, Fits]:
    chosen, chip = choose_target(target)
    analysis = analyse(source)
    tiles = {key: _shapes(analysis, key) for key in analysis.functions if key in wanted}
    declared = cases_for(source, None)
    plain = capture(toolchain, chip, source, out, declared)
    ladders = {key: list(_ladder(_sizes(plain, key, names))) for key, names in tiles.items()}
    variants: Variants = {
        key: [{name: (name, size) for name, size in sizes.items()} for sizes in steps]
        for key, steps in ladders.items()
        if steps
    }
    tried = _captured(toolchain, chip, source, out, variants)
    setting = setting_for(chosen, chip)

    def fits(key: str, number: int) -> bool:
        units = [tried.units.get(unit) for unit in _units(tried, key, number)]
        return bool(units) and all(
            u is not None and compile_cached(toolchain, setting, u).fits for u in units
        )

    found: dict[str, Fits] = {}
    for key, steps in ladders.items():
        first = next((number for number in range(len(steps)) if fits(key, number)), None)
        found[key] = (None, steps) if first is None else (steps[first], steps[:first])
    return found


def _shapes(analysis: Analysis, key: str) -> list[str]:
    """Parameters that are sizes of tiles in a kernel or, under the same name, in a helper of it."""
    known = analysis.functions[key].parameters
    found: dict[str, None] = {}
    for function in reached(analysis.functions, key):
        tiles = tiles_of(analysis.index, function)
        found |= dict.fromkeys((*(tile.name for tile in tiles.parameters), *tiles.fixed))
    return [name for name in found if name in known]


def _captured(
    toolchain: Toolchain, chip: Device, source: SourceTree, out: Path, variants: Variants
) -> Captured:
    return capture(toolchain, chip, source, out, cases_for(source, None), variants=variants)


def _sizes(captured: Captured, kernel: str, names: list[str]) -> Sizes:
    """The largest size of each tile in any launch."""
    found: Sizes = {}
    for unit in captured.units.values():
        if unit.kernel == kernel:
            for name in names:
                if isinstance(value := unit.constants.get(name), int):
                    found[name] = max(found.get(name, 0), value)
    return found


def _ladder(sizes: Sizes) -> Iterator[Sizes]:
    """Fewest halvings first; one tile before all of them."""
    for step in range(1, HALVINGS + 1):
        smaller = {name: size >> step for name, size in sizes.items() if size >> step >= SMALLEST}
        yield from ({name: size} for name, size in smaller.items())
        if len(smaller) > 1:
            yield smaller


def _units(captured: Captured, kernel: str, variant: int) -> list[str]:
    return sorted(
        {t.unit for case in captured.cases for t in case.tried if (t.kernel, t.variant) == (kernel, variant)}
    )


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
