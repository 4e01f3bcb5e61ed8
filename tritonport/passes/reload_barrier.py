"""reload-barrier: a task that reads back tiles that it stored itself waits for the stores first."""

from __future__ import annotations

import itertools

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.passes._reload import BARRIER, barrier_between, reloads, statement_behind
from tritonport.passes.kernels import TileKernel, kernels
from tritonport.record import RuleClass


class ReloadBarrier:
    """Puts `tl.debug_barrier()` between the stores and the loads. Single elements are left to `refuse`."""

    slug = "reload-barrier"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            self._kernel(file, kernel, result)
        return result

    def _kernel(self, file: FileContext, kernel: TileKernel, result: RuleResult) -> None:
        places: dict[cst.CSTNode, None] = {}
        for reload in reloads(kernel.facts):
            if not reload.is_tile:
                continue
            if barrier_between(kernel.facts, reload):
                result.not_applicable(reload.load.node, "a barrier stands between", kernel=kernel.key)
            else:
                places[statement_behind(kernel.facts, reload)] = None
        for place in places:
            result.rewrite(place, lambda old: _behind_barrier(file, old), kernel=kernel.key)


def _behind_barrier(file: FileContext, old: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
    """The statement with a barrier before it and before its comments; empty lines stay above both."""
    language = file.analysis.index.local_name(file.module.name, "triton.language") or "tl"
    line = cst.ensure_type(cst.parse_statement(f"{language}.{BARRIER}()"), cst.SimpleStatementLine)
    leading: list[cst.EmptyLine] = list(getattr(old, "leading_lines", ()))
    empty = list(itertools.takewhile(lambda e: e.comment is None, leading))
    rest = old.with_changes(leading_lines=leading[len(empty) :]) if leading else old
    return cst.FlattenSentinel([line.with_changes(leading_lines=empty), rest])


RULE = ReloadBarrier()
