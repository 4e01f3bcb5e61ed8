"""A launch with no task at all is left out: the target aborts on an empty grid."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.passes._build import call, import_from_runtime
from tritonport.record import RuleClass

WRAPPER = "unless_empty"


class EmptyWork:
    """Wraps each launch of a migrated kernel so that an empty grid starts nothing."""

    slug = "empty-work"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        wrapped = False
        for site in file.sites:
            planned = [k for k in site.kernels if k in file.programs.plans]
            if not planned or site.wrapped:
                continue
            target = cst.ensure_type(file.launch_call(site).func, cst.Subscript).value
            result.rewrite(target, _wrap, kernel=planned[0])
            wrapped = True
        if wrapped:
            import_from_runtime(file, result, [WRAPPER])
        return result


def _wrap(updated: cst.CSTNode) -> cst.Call:
    assert isinstance(updated, cst.BaseExpression)
    return call(WRAPPER, [cst.Arg(updated)])


RULE = EmptyWork()
