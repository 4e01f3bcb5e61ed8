"""Makes variants of a source tree (each kernel with its own left-out rules) and asks the compiler about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from tritonport.discover import Analysis, analyse
from tritonport.emit.tree import runtime_module, runtime_path, runtime_text, staged, write_files
from tritonport.engine.choices import KernelChoice
from tritonport.engine.context import Settings
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.engine.rule import Rule
from tritonport.errors import UserError
from tritonport.facts.programs import Programs, plan_programs
from tritonport.header import with_header
from tritonport.migrate import TILE_RULE
from tritonport.npu.capture import Captured, Device, Variants, capture
from tritonport.npu.cases import cases_for
from tritonport.npu.compile import Setting
from tritonport.npu.measure import Measurement
from tritonport.npu.tier import COMPILED, choose_target, compile_cached, setting_for
from tritonport.npu.toolchain import Missing, Toolchain, locate
from tritonport.parallel import concerned
from tritonport.sources.tree import SourceTree
from tritonport.tune.objective import Options

Off = Mapping[str, frozenset[str]]
"""By kernel, the rules that it goes without."""


@dataclass
class Workshop:
    """One source tree, ready to be migrated in variants. Files that a variant does not concern are made once."""

    tree: SourceTree
    analysis: Analysis
    programs: Programs
    settings: Settings
    any_tile: bool = False
    """Whether tiles are searched, too, whose size is not proved to be no part of the result."""
    _made: dict[tuple[str, tuple[str, ...], frozenset[tuple[str, frozenset[str]]]], FileResult] = field(
        default_factory=dict[tuple[str, tuple[str, ...], frozenset[tuple[str, frozenset[str]]]], FileResult]
    )

    @staticmethod
    def of(tree: SourceTree, target: str) -> Workshop:
        """Reads a source tree. Raises UserError where it has no kernel."""
        analysis = analyse(tree)
        programs = plan_programs(analysis)
        if not programs.plans:
            raise UserError("no kernel is reachable from the entry", "", str(tree.entry))
        return Workshop(tree, analysis, programs, Settings(target, runtime_module=runtime_module(tree)))

    def results(self, rules: Sequence[Rule], off: Off) -> dict[str, FileResult]:
        """Every file that changes, by module. Tiles stay upstream's: they are tried where the launches are captured."""
        rules = [rule for rule in rules if rule.slug != TILE_RULE]
        modules = concerned(self.analysis, self.programs)
        return {module.name: self._result(module.name, rules, off) for module in modules}

    def _result(self, name: str, rules: Sequence[Rule], off: Off) -> FileResult:
        launched = {key for site in self.analysis.sites if site.module == name for key in site.kernels}
        own = {key for key in off if key.partition(":")[0] == name or key in launched}
        key = (name, tuple(rule.slug for rule in rules), frozenset((k, off[k]) for k in own if off[k]))
        if key not in self._made:
            choices = {kernel: KernelChoice(off=off[kernel]) for kernel in own}
            settings = replace(self.settings, choices=choices)
            module = self.analysis.index.modules[name]
            self._made[key] = run_file(module, self.analysis, self.programs, settings, rules)
        return self._made[key]

    def write(self, out: Path, rules: Sequence[Rule], off: Off) -> dict[str, FileResult]:
        """The migrated tree in OUT; returns what became of each file."""
        results = self.results(rules, off)
        texts: dict[str, str] = {}
        for name, result in results.items():
            if result.changed:
                module = self.analysis.index.modules[name]
                texts[str(module.file)] = with_header(result.text, self.tree, module)[0]
        texts[runtime_path(self.tree)] = runtime_text()
        modules = {self.tree.module_name(PurePosixPath(path)): path for path in texts}
        with staged(out) as stage:
            write_files(stage, self.tree, texts, modules)
        return results


@dataclass(frozen=True)
class Compiler:
    """The compiler for one target, and how launches are captured for it. also: others that have to fit too."""

    toolchain: Toolchain
    device: Device
    setting: Setting
    target: str
    also: tuple[Toolchain, ...] = ()

    @staticmethod
    def find(target: str, ir: str | None, toolchain: Path | None, also: Sequence[str] = ()) -> Compiler:
        """Raises UserError where there is none for this target. also: further ascendnpu-ir versions."""
        chosen, chip = choose_target(target)
        if chosen.name not in COMPILED:
            raise UserError(f"target {chosen.name} is not compiled here", f"known: {', '.join(COMPILED)}")
        found = locate(toolchain, ir)
        if isinstance(found, Missing):
            raise UserError(found.why, "tritonport toolchain install")
        others = tuple(_installed(version) for version in also)
        return Compiler(found, chip, setting_for(chosen, chip), chosen.name, others)

    @property
    def version(self) -> str:
        return self.toolchain.facts(self.device.arch)["ascendnpu_ir"] or "unknown"

    def capture(
        self,
        tree: SourceTree,
        out: Path | None,
        cases: Sequence[str] | None = None,
        variants: Variants | None = None,
    ) -> Captured:
        """Launches of the originals, or of a migrated tree. Raises UserError where nothing can be captured."""
        declared = cases_for(tree, cases)
        found = capture(self.toolchain, self.device, tree, out, declared, only=cases, variants=variants)
        if found.problem is not None:
            raise UserError(f"the launches cannot be captured: {found.problem}")
        return found

    def measure(self, captured: Captured, unit: str, options: Options = ()) -> Measurement:
        """One specialisation through the compiler, from the cache where it was there before.

        Where it does not fit with one of the others, the other's result.
        """
        if unit in captured.broken:
            return captured.broken[unit]
        known = captured.units[unit]
        asked = replace(known, options={**known.options, **dict(options)}) if options else known
        first = compile_cached(self.toolchain, self.setting, asked)
        for other in self.also if first.fits else ():
            found = compile_cached(other, self.setting, asked)
            if not found.fits:
                return found
        return first


def _installed(version: str) -> Toolchain:
    found = locate(None, version)
    if isinstance(found, Missing):
        raise UserError(found.why, f"tritonport toolchain install --ir {version}")
    return found
