"""`tl.load(p, other=0)` without a mask is an error in the front end: nothing is masked, so `other` goes."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import find
from tritonport.record import RuleClass

LOAD = "triton.language.load"
MASKING = frozenset({"mask", "boundary_check"})


class OtherWithoutMask:
    """Deletes `other` from loads that mask nothing."""

    slug = "other-without-mask"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for plan, jit in file.planned():
            for node in find(jit.node.body, cst.Call):
                if file.is_call_of(node, LOAD) and _is_bare(node):
                    result.rewrite(node, _without_other, kernel=plan.key)
        return result


def _is_bare(node: cst.Call) -> bool:
    names = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    positional = sum(arg.keyword is None for arg in node.args)
    starred = any(arg.star for arg in node.args)
    return "other" in names and not names & MASKING and positional == 1 and not starred


def _without_other(updated: cst.CSTNode) -> cst.Call:
    node = cst.ensure_type(updated, cst.Call)
    kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value != "other"]
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(args=kept)


RULE = OtherWithoutMask()
