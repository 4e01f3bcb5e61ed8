"""`tritonport tune SRC -o tuning.toml` and `tritonport ablate SRC -o ablation.md`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tritonport import __version__
from tritonport.cli import options as opt
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.errors import UserError
from tritonport.migrate import MigrateOptions, active_rules
from tritonport.report.write import write_bytes
from tritonport.sources import resolve
from tritonport.tune.ablate import Ablate
from tritonport.tune.markdown import page
from tritonport.tune.outcome import entries, figures_text, table
from tritonport.tune.search import Budget, Search, originals_figures
from tritonport.tune.variants import Compiler, Workshop
from tritonport.tuning import choices_for, comment_of, covered, load_tuning, tuning_text

TargetName = Annotated[str, typer.Option("--target", help="a2 or a3.")]
Ir = Annotated[str | None, typer.Option(help="An installed ascendnpu-ir version, such as 1.2.0.")]
Jobs = Annotated[int, typer.Option(min=1, help="Compilers at one time.")]
Kernels = Annotated[
    str, typer.Option(metavar="PATTERN", help="Only kernels whose name matches, such as 'chunk_*'.")
]
Profile = Annotated[str, typer.Option(help="The rules to start from.")]


def tune(
    src: opt.Source,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The tuning file; entries of other kernels in it stay.")
    ],
    from_spec: opt.FromSpec = None,
    target: TargetName = "a2",
    ir: Ir = None,
    also_ir: Annotated[
        list[str] | None, typer.Option(metavar="VERSION", help="An ascendnpu-ir version that has to fit too.")
    ] = None,
    jobs: Jobs = 1,
    kernels: Kernels = "*",
    rounds: Annotated[int, typer.Option(min=1, help="Sets of rules to try per kernel, at most.")] = 4,
    profile: Profile = "tuned",
    again: Annotated[
        bool, typer.Option(help="Search kernels that the file has an entry for, of whatever release, again.")
    ] = False,
    unproved_tiles: Annotated[
        bool,
        typer.Option(
            "--unproved-tiles",
            help="Search tiles, too, whose size may be part of the result: verify what comes out.",
        ),
    ] = False,
    toolchain: opt.Toolchain = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Search tiles and rules of every kernel against the compiler; write what to use, and the figures for it."""
    kept = load_tuning(out) if out.exists() else ()
    compiler = Compiler.find(target, ir, toolchain, also_ir or ())
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        rules = active_rules(MigrateOptions(target=compiler.target, profile=profile))
        workshop = replace(Workshop.of(tree, compiler.target), any_tile=unproved_tiles)
        search = Search(workshop, rules, compiler, Budget(rounds, jobs=jobs), show)
        known = frozenset[str]() if again else covered(kept, compiler.target, compiler.version)
        winners = search.run(kernels, known)
        before = {key: figures_text(m) for key, m in originals_figures(search, list(winners)).items()}
    if not winners and not known:
        raise UserError(
            f"no launched kernel matches {kernels!r}", "a case must launch a kernel for it to be measured"
        )
    made = entries(workshop, winners, before, compiler)
    comment = f"Made by tritonport {__version__} tune."
    _write(out, tuning_text([*kept, *made], comment_of(out) or comment))
    shown = Table("kernel", "tiles", "without; options", "original", "chosen", box=None, pad_edge=False)
    for row in table(winners, before):
        shown.add_row(*row)
    stdout().print(shown)
    note(f"{len(made)} entries written to {out}", quiet=quiet)


def ablate(
    src: opt.Source,
    out: Annotated[Path, typer.Option("-o", "--out", help="The Markdown page to write.")],
    from_spec: opt.FromSpec = None,
    target: TargetName = "a2",
    ir: Ir = None,
    jobs: Jobs = 1,
    kernels: Kernels = "*",
    profile: Profile = "tuned",
    tuning: opt.Tuning = None,
    toolchain: opt.Toolchain = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Measure what each rule on tiles does: alone, and left out; write a Markdown page with a table per kernel."""
    own = load_tuning(tuning) if tuning is not None else ()
    compiler = Compiler.find(target, ir, toolchain)
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        rules = active_rules(MigrateOptions(target=compiler.target, profile=profile))
        # An entry may name any tile: it was proved when it was written.
        workshop = replace(Workshop.of(tree, compiler.target), any_tile=True)
        choices = choices_for(workshop.analysis, compiler.target, own, compiler.version)
        found = Ablate(workshop, rules, compiler, choices, jobs, show).run(kernels)
    if not found:
        raise UserError(
            f"no launched kernel matches {kernels!r}", "a case must launch a kernel for it to be measured"
        )
    release = f"{tree.distribution} {tree.version}" if tree.distribution else str(tree.entry)
    head = (
        f"{release}, target {compiler.target} ({compiler.device.arch}), triton-ascend"
        f" {compiler.toolchain.triton_ascend}, ascendnpu-ir {compiler.version}, profile {profile}; made by"
        f" `tritonport ablate`."
    )
    text = page(found, head)
    _write(out, text)
    stdout().out(text, end="", highlight=False)
    note(f"{len(found)} kernels written to {out}", quiet=quiet)


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode())
