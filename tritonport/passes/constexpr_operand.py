"""constexpr-operand: a constexpr stands left of what the target's front end keeps as a plain int.

`tl.cdiv` of constexprs is an int there. An operator asks its left operand, an int knows no constexpr, and the kernel is
refused; a constexpr knows ints.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts
from tritonport.facts.algebra.expressions import is_constexpr
from tritonport.facts.walk import walk
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import plus, replace
from tritonport.record import RuleClass

PLAIN = frozenset({"triton.language.cdiv", "triton.cdiv"})
"""Functions that give a plain int where all arguments are constexprs."""


class ConstexprOperand:
    """Swaps the operands of sums and products, and adds to 0 on the left of other operators."""

    slug = "constexpr-operand"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            for node in walk(kernel.facts.function.body):
                if isinstance(node, cst.BinaryOperation) and _is_refused(kernel.facts, node):
                    _rewrite(result, node, kernel.key)
        return result


def _is_refused(facts: KernelFacts, node: cst.BinaryOperation) -> bool:
    right = facts.value(node.right)
    return _is_plain(facts, node.left) and not _is_plain(facts, node.right) and is_constexpr(right)


def _is_plain(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and facts.calls.get(node) in PLAIN and is_constexpr(facts.value(node))


def _rewrite(result: RuleResult, node: cst.BinaryOperation, kernel: str) -> None:
    simple = isinstance(node.right, cst.Name | cst.Integer | cst.Call) or node.right.lpar
    if isinstance(node.operator, cst.Multiply | cst.Add) and simple:
        replace(result, node, node.with_changes(left=node.right, right=node.left), kernel)
        return
    asked = plus(cst.Integer("0"), node.left)
    replace(result, node.left, asked.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]), kernel)


RULE = ConstexprOperand()
