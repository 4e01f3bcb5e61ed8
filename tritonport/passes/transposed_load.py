"""transposed-load: a tile whose contiguous axis comes first is loaded the other way round, and transposed in place."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, Address, KernelFacts, accesses
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.poly import ONE
from tritonport.passes.flip import Asked, Flips
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import bare, call, replace
from tritonport.record import RuleClass


class TransposedLoad:
    """Swaps the axes of strided pointer tiles; the values are the same, bit for bit."""

    slug = "transposed-load"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            transpose_tiles(kernel.facts, result, kernel.key)
        return result


def transpose_tiles(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    """All edits of one kernel."""
    flips = Flips(facts)
    wanted: list[tuple[Access, Asked]] = []
    for access in accesses(facts):
        transposed = [a for a in access.addresses if is_transposed(a)]
        if not transposed or access.why is not None:
            continue
        test = _deciding_test(access, transposed)
        if len(transposed) < len(access.addresses) and (test is None or not _can_choose(facts, access)):
            result.unresolved(access.node, "transposed only for some of its addresses", kernel=kernel)
            continue
        nodes = [n for n in (access.pointer, access.mask, access.other) if n is not None]
        asked = flips.ask(nodes, test if len(transposed) < len(access.addresses) else None)
        if asked is None:
            result.unresolved(access.node, flips.why, kernel=kernel)
        else:
            wanted.append((access, asked))
    dropped = flips.settle()
    for node, new in flips.definitions():
        replace(result, node, new, kernel, counts=False)
    for access, asked in wanted:
        if asked in dropped:
            result.unresolved(
                access.node, "its address or mask is assigned again before this use", kernel=kernel
            )
            continue
        if access.kind == "load":
            replace(result, access.node, _loaded(flips, access, asked.test), kernel)
        elif asked.test is None:
            replace(result, access.node, _stored(flips, access, None), kernel)
        else:
            _choose(flips, access, asked.test, result, kernel)


def is_transposed(address: Address) -> bool:
    """Whether a tile of two dimensions has its contiguous axis first."""
    if address.block is not None or not address.affine or len(address.shape) != 2:
        return False
    first, second = address.strides
    return first == ONE and second != ONE and not second.is_zero and ONE not in address.shape


def _deciding_test(access: Access, transposed: list[Address]) -> tuple[str, bool] | None:
    """The one test outcome under which the addresses are the transposed ones."""
    rest = [a for a in access.addresses if a not in transposed]
    for test, outcome in transposed[0].tests:
        same = all((test, outcome) in a.tests for a in transposed)
        if same and all((test, not outcome) in a.tests for a in rest):
            return (test, outcome)
    return None


def _loaded(flips: Flips, access: Access, test: tuple[str, bool] | None) -> cst.BaseExpression:
    flipped = call("tl.trans", _with_flipped(flips, access, test))
    if test is None:
        return flipped
    text, outcome = test
    yes, no = (flipped, access.node) if outcome else (access.node, flipped)
    choice = cst.IfExp(test=cst.parse_expression(text), body=yes, orelse=no)
    whole = isinstance(flips.facts.parents.get(access.node), cst.Assign)
    return choice if whole else choice.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _with_flipped(flips: Flips, access: Access, test: tuple[str, bool] | None) -> cst.Call:
    changed = {
        n: bare(flips.flipped(n, test)) for n in (access.pointer, access.mask, access.other) if n is not None
    }
    args = [a.with_changes(value=changed.get(a.value, a.value)) for a in access.node.args]
    return access.node.with_changes(args=args)


def _can_choose(facts: KernelFacts, access: Access) -> bool:
    """Whether an access may differ by a test: a load anywhere, a store where it is a line of its own."""
    line = facts.parents.get(facts.parents[access.node])
    return access.kind == "load" or (isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1)


def _choose(flips: Flips, access: Access, test: tuple[str, bool], result: RuleResult, kernel: str) -> None:
    """`if TEST: <the store turned around> else: <the store>`, or the branches the other way round."""
    line = cst.ensure_type(flips.facts.parents[flips.facts.parents[access.node]], cst.SimpleStatementLine)
    text, outcome = test
    flipped = cst.SimpleStatementLine([cst.Expr(_stored(flips, access, test))])
    same = line.with_changes(leading_lines=[])
    yes, no = (flipped, same) if outcome else (same, flipped)
    choice = cst.If(
        test=cst.parse_expression(text),
        body=cst.IndentedBlock([yes]),
        orelse=cst.Else(body=cst.IndentedBlock([no])),
        leading_lines=line.leading_lines,
    )
    replace(result, line, choice, kernel)


def _stored(flips: Flips, access: Access, test: tuple[str, bool] | None) -> cst.Call:
    node = _with_flipped(flips, access, test)
    value = argument(access.node, 1, "value")
    args = [
        new.with_changes(value=call("tl.trans", old.value)) if old.value is value else new
        for old, new in zip(access.node.args, node.args, strict=True)
    ]
    return node.with_changes(args=args)


RULE = TransposedLoad()
