"""The ablation as a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence

from tritonport.npu.measure import Measurement
from tritonport.tune.ablate import Ablation


def page(ablations: Sequence[Ablation], head: str) -> str:
    """One table per kernel. head: what was measured, with which versions."""
    parts = [
        "# What each rule does\n",
        f"{head}\n",
        "`none`: the rules of the program alone, tiles as upstream chooses them on the NPU. `x alone`: one rule on"
        " tiles besides. `all`: the profile. `without x`: the profile but for one rule. `-` is not known; over 100 %"
        " does not fit.\n",
        *(_table(ablation) for ablation in sorted(ablations, key=lambda a: a.kernel)),
    ]
    return "\n".join(parts)


def _table(ablation: Ablation) -> str:
    tiles = ", ".join(f"{name}={size}" for name, size in ablation.tiles.items())
    chosen = f"; chosen tiles {tiles}" if tiles else ""
    rows = [f"| {label} | {' | '.join(cells(measured))} |" for label, measured in ablation.rows.items()]
    return "\n".join(
        [
            f"## {ablation.kernel.partition(':')[2]}\n",
            f"`{ablation.kernel}`, case {ablation.case}{chosen}.\n",
            "| rules | fits | UB | scalar | discrete | split |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def cells(measured: Sequence[Measurement]) -> tuple[str, str, str, str, str]:
    """fits, UB, scalar iterations, discrete elements, split: the worst over the specialisations of one case."""
    if not measured:
        return ("-", "-", "-", "-", "-")
    fits = (
        "yes"
        if all(m.fits is True for m in measured)
        else "**no**"
        if any(m.fits is False for m in measured)
        else "-"
    )
    used = [value for m in measured if (value := m.percent("UB")) is not None]
    split = next(
        (kind for kind in ("guarded", "tiled", "none") if kind in [m.sub_block for m in measured]), "-"
    )
    return (
        fits,
        f"{max(used):.1f} %" if used else "-",
        _worst([m.scalar_iterations for m in measured]),
        _worst([m.discrete_elements for m in measured]),
        split,
    )


def _worst(values: Sequence[int | None]) -> str:
    known = [value for value in values if value is not None]
    return str(max(known)) if known and len(known) == len(values) else "-"
