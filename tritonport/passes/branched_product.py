"""branched-product: arithmetic on a product in a run-time `if` becomes a selection.

The target's compiler keeps a product in the cube unit's memory, and what arithmetic makes of it in the vector unit's.
It fails on a value that is the one where a run-time test holds and the other where it does not.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.values import BlockPtr, Ptr, Tup, alternatives
from tritonport.facts.walk import find
from tritonport.passes._branch import Branch, branch_of, obstacle
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import assign, call, replace, wrapped
from tritonport.record import RuleClass

_DOT = "triton.language.dot"
_SUMS = (cst.Add, cst.AddAssign)
_OPERATORS: dict[type[cst.CSTNode], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


class BranchedProduct:
    """Runs the branch always: what is read behind it is selected, and its loads and stores are masked already."""

    slug = "branched-product"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            for node in find(kernel.facts.function.body, cst.If):
                branch = branch_of(kernel.facts, node)
                if branch is not None and _changes_product(branch):
                    _rewrite(branch, result, kernel.key)
        return result


def _changes_product(branch: Branch) -> bool:
    """Whether the branch makes something else of a product, without products of its own.

    What a loop around the branch carries from trip to trip (a sum that it adds to behind the branch) is the vector
    unit's already: the compiler takes those.
    """
    facts = branch.facts
    if any(dot in branch.inside for dot in facts.calls_of("dot", "dot_scaled")):
        return False
    return any(
        not _is_carried(branch, before) and any(_is_product(facts, d) for d in before)
        for before in branch.live.values()
    )


def _is_carried(branch: Branch, before: list[Def]) -> bool:
    """Whether one of the assignments that may fill a name before the branch stands behind it, in a loop around both."""
    at = branch.facts.order
    return any(at.get(d.target, 0) > at[branch.test] for d in before)


def _is_product(facts: KernelFacts, definition: Def) -> bool:
    """Whether an assignment gives a product, or adds one to a sum of products."""
    if definition.kind == "aug" and not isinstance(getattr(definition.node, "operator", None), _SUMS):
        return False
    return _has_product(facts, definition.expr)


def _has_product(facts: KernelFacts, node: cst.BaseExpression | None) -> bool:
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _SUMS):
        return _has_product(facts, node.left) or _has_product(facts, node.right)
    return isinstance(node, cst.Call) and facts.calls.get(node) == _DOT


def _rewrite(branch: Branch, result: RuleResult, kernel: str) -> None:
    why = obstacle(branch) or _unselectable(branch)
    if why is not None:
        result.not_applicable(
            branch.node, f"a run-time `if` changes a product, and stays: {why}", kernel=kernel
        )
        return
    for name in branch.live:
        for definition in branch.defs[name]:
            _select(branch, definition, result, kernel)
    if not branch.known:
        result.rewrite(branch.node, lambda node: cst.FlattenSentinel(_statements(node)), kernel=kernel)
        return
    test = branch.known[0]
    for part in branch.known[1:]:
        test = cst.BooleanOperation(test, cst.And(), part)
    replace(result, branch.node.test, test, kernel)


def _unselectable(branch: Branch) -> str | None:
    for name in branch.live:
        for definition in branch.defs[name]:
            leaves = [leaf for _, leaf in alternatives(branch.facts.value(definition.target))]
            if any(isinstance(leaf, Ptr | BlockPtr | Tup) for leaf in leaves):
                return f"`{name}` is an address"
            operator = getattr(definition.node, "operator", None)
            if definition.kind == "aug" and type(operator) not in _OPERATORS:
                return f"`{name}` is changed by an operator of another kind"
    return None


def _select(branch: Branch, definition: Def, result: RuleResult, kernel: str) -> None:
    """`x *= y` to `x = tl.where(test, x * y, x)`."""
    name, value = cst.Name(definition.name), definition.expr
    assert value is not None, "branch statements assign one name each"
    if isinstance(definition.node, cst.AugAssign):
        operator = _OPERATORS[type(definition.node.operator)]()
        value = cst.BinaryOperation(name, operator, wrapped(value))
    chosen = assign(definition.name, call("tl.where", branch.test, value, name))
    replace(result, definition.node, chosen, kernel, counts=False)


def _statements(node: cst.CSTNode) -> list[cst.BaseStatement]:
    """The lines of a branch that need no `if` any more, with every comment around them."""
    old = cst.ensure_type(node, cst.If)
    body = old.body
    if isinstance(body, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(body.body, old.leading_lines, body.trailing_whitespace)
        return [line]
    body = cst.ensure_type(body, cst.IndentedBlock)
    lines = [cst.ensure_type(line, cst.SimpleStatementLine) for line in body.body]
    beside = body.header.comment
    above = [*old.leading_lines, *([cst.EmptyLine(comment=beside)] if beside is not None else [])]
    lines[0] = lines[0].with_changes(leading_lines=[*above, *lines[0].leading_lines])
    ends = [line for line in body.footer if line.comment is not None]
    lines[-1] = lines[-1].with_changes(leading_lines=[*lines[-1].leading_lines, *ends])
    return [*lines]


RULE = BranchedProduct()
