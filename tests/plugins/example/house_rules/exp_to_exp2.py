"""`tl.exp(x)` as `tl.exp2(x * log2(e))`."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import find
from tritonport.record import RuleClass

LOG2_E = "1.4426950408889634"


class ExpToExp2:
    """Looks at the kernels that become persistent."""

    slug = "exp-to-exp2"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for plan, jit in file.planned():
            for call in find(jit.node.body, cst.Call):
                if not file.is_call_of(call, "triton.language.exp"):
                    continue
                if isinstance(call.func, cst.Attribute) and len(call.args) == 1:
                    result.rewrite(call, _exp2, kernel=plan.key)
                else:
                    result.unresolved(call, "`exp` under another name", kernel=plan.key)
        return result


def _exp2(updated: cst.CSTNode) -> cst.Call:
    call = cst.ensure_type(updated, cst.Call)
    func = cst.ensure_type(call.func, cst.Attribute).with_changes(attr=cst.Name("exp2"))
    value = call.args[0].value
    if not isinstance(value, cst.Name | cst.Call | cst.Attribute | cst.Subscript) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    product = cst.BinaryOperation(value, cst.Multiply(), cst.Float(LOG2_E))
    return call.with_changes(func=func, args=[cst.Arg(product)])


RULE = ExpToExp2()
