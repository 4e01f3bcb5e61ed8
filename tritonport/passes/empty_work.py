"""A launch with no task at all is left out: the target aborts on an empty grid."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.passes._build import call, import_from_runtime, runtime_name
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
            name = runtime_name(file, WRAPPER)
            result.rewrite(target, lambda node, name=name: _wrap(node, name), kernel=planned[0])
            wrapped = True
        if wrapped:
            import_from_runtime(file, result, [WRAPPER])
        return result


def _wrap(updated: cst.CSTNode, name: str) -> cst.Call:
    assert isinstance(updated, cst.BaseExpression)
    return call(name, [cst.Arg(updated)])


RULE = EmptyWork()
