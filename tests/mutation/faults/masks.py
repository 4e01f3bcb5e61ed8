"""Faults of masks and of loop bounds: what is read or written at the edges."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tests.mutation.faults.model import (
    Fault,
    Place,
    any_case,
    bracketed,
    expression,
    has_tail,
    tests_of,
)
from tests.mutation.tree import TaskKernel, replaced
from tritonport.facts.algebra import Access
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Bound, Mask, Num, alternatives
from tritonport.facts.walk import find
from tritonport.verify.cases import Case

_GUARDS = {"mask", "other", "boundary_check", "padding_option"}


def unmasked_load(kernel: TaskKernel) -> Iterator[Place]:
    yield from _unmasked(kernel, "load")


def unmasked_store(kernel: TaskKernel) -> Iterator[Place]:
    yield from _unmasked(kernel, "store")


def _unmasked(kernel: TaskKernel, kind: str) -> Iterator[Place]:
    for access in kernel.accesses:
        if access.kind == kind and _row_bounds(access):
            kept = [a for a in access.node.args if a.keyword is None or a.keyword.value not in _GUARDS]
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            if len(kept) < len(access.node.args):
                yield Place(
                    ((access.node, access.node.with_changes(args=kept)),), tests_of(kernel, access.node)
                )


def _row_bounds(access: Access) -> list[Bound]:
    """Compares of rows that move from task to task with a number known at run time only: the sequence's length."""
    return [b for a in access.addresses for b in a.bounds or () if _moves(b) and _at_run_time(b)]


def _moves(bound: Bound) -> bool:
    """Whether the rows, or their distance to the end, are others in another task: not `lane < parameter` alone."""
    left = {s.kind for s in bound.left.symbols}
    both = left | {s.kind for s in bound.right.symbols}
    return "lane" in left and bool(both - {"lane", "constexpr", "param"})


def unwritten_tail(kernel: TaskKernel) -> Iterator[Place]:
    """A store's mask ends one row before the sequence does."""
    for access in kernel.accesses:
        if access.kind != "store" or not _row_bounds(access):
            continue
        if access.mask is not None:
            shorter = _shorter(kernel, access.mask)
            if shorter is not None:
                yield Place(((access.mask, shorter),), tests_of(kernel, access.node))
        elif isinstance(access.pointer, cst.Name):
            yield from _shorter_block(kernel, access)


def _shorter(kernel: TaskKernel, mask: cst.BaseExpression) -> cst.BaseExpression | None:
    """The mask with names replaced by what they stand for until the compare with the length is found."""
    for node in find(mask, cst.Comparison):
        if _bounds_rows(kernel, node):
            right = node.comparisons[0].comparator
            return replaced(mask, {right: expression(f"({bracketed(right)} - 1)")})
    for name in find(mask, cst.Name):
        found = kernel.definition(name)
        if found is None or found.expr is None or not isinstance(kernel.facts.value(name), Mask):
            continue
        inner = _compare_shorter(kernel, found.expr)
        if inner is not None:
            return replaced(mask, {name: expression(bracketed(inner))})
    return None


def _compare_shorter(kernel: TaskKernel, expr: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(expr, cst.Comparison) and _bounds_rows(kernel, expr):
        right = expr.comparisons[0].comparator
        return replaced(expr, {right: expression(f"({bracketed(right)} - 1)")})
    return _shorter(kernel, expr)


def _bounds_rows(kernel: TaskKernel, node: cst.Comparison) -> bool:
    values = [leaf for _, leaf in alternatives(kernel.facts.value(node))]
    bounds = [b for v in values if isinstance(v, Mask) for b in v.bounds or ()]
    return any(_at_run_time(b) and _moves(b) for b in bounds)


def _at_run_time(bound: Bound) -> bool:
    return any(s.kind not in ("constexpr", "lane") for s in bound.right.symbols)


def _shorter_block(kernel: TaskKernel, access: Access) -> Iterator[Place]:
    """For block pointers the length is the first element of their shape."""
    assert isinstance(access.pointer, cst.Name)
    found = kernel.definition(access.pointer)
    made = found.expr if found is not None else None
    if isinstance(made, cst.Call) and kernel.facts.calls.get(made) == "triton.language.make_block_ptr":
        shape = argument(made, 1, "shape")
        if isinstance(shape, cst.Tuple):
            rows = shape.elements[0].value
            yield Place(((rows, expression(f"({bracketed(rows)} - 1)")),), tests_of(kernel, access.node))


def float_compare(kernel: TaskKernel) -> Iterator[Place]:
    """Row numbers compared as fp32, which holds no odd number above 2^24."""
    for node in find(kernel.task.body, cst.Comparison):
        if _bounds_rows(kernel, node) and _is_row_number(kernel, node.left):
            new = expression(f"{bracketed(node.left)}.to(tl.float32)")
            yield Place(((node.left, new),), tests_of(kernel, node))


def _is_row_number(kernel: TaskKernel, node: cst.BaseExpression) -> bool:
    """Not a lane of the tile alone, which fp32 holds exactly."""
    numbers = [leaf for _, leaf in alternatives(kernel.facts.value(node)) if isinstance(leaf, Num)]
    return any({s.kind for s in n.poly.symbols} - {"lane", "constexpr"} for n in numbers)


def causal_off_by_one(kernel: TaskKernel) -> Iterator[Place]:
    """The diagonal of a causal mask on the wrong side."""
    other = {cst.GreaterThanEqual: cst.GreaterThan, cst.GreaterThan: cst.GreaterThanEqual,
             cst.LessThanEqual: cst.LessThan, cst.LessThan: cst.LessThanEqual}  # fmt: skip
    for node in find(kernel.task.body, cst.Comparison):
        operator = node.comparisons[0].operator
        if type(operator) in other and _compares_lanes(kernel, node):
            yield Place(((operator, other[type(operator)]()),), tests_of(kernel, node))


def _compares_lanes(kernel: TaskKernel, node: cst.Comparison) -> bool:
    values = [leaf for _, leaf in alternatives(kernel.facts.value(node))]
    bounds = [b for v in values if isinstance(v, Mask) for b in v.bounds or ()]
    sides = [(b.left, b.right) for b in bounds]
    return any(all(any(s.kind == "lane" for s in side.symbols) for side in pair) for pair in sides)


def tail_dropped(kernel: TaskKernel) -> Iterator[Place]:
    """A loop over whole tiles only: `n // size` trips where `cdiv(n, size)` are needed."""
    for loop in find(kernel.task.body, cst.For):
        for node, needs in _divisions(kernel, loop):
            top, size = (arg.value for arg in node.args[:2])
            new = expression(f"({bracketed(top)} // {bracketed(size)})")
            yield Place(((node, new),), tests_of(kernel, node), needs)


def _divisions(kernel: TaskKernel, loop: cst.For):
    """Rounded-up divisions that a loop's bound is, and what shows them: a chunk, or a dim, that is not full."""
    for node in [n for a in getattr(loop.iter, "args", ()) for n in (a.value,)]:
        if _is_cdiv(kernel, node):
            yield node, _short_dims
        elif isinstance(node, cst.Name):
            for d in kernel.facts.reads.get(node, ()):
                if d.expr is not None and _is_cdiv(kernel, d.expr):
                    yield d.expr, has_tail


def _short_dims(case: Case) -> bool:
    return case.key_dim < 64 or (case.value_dim % 64 != 0)


def _is_cdiv(kernel: TaskKernel, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and kernel.facts.calls.get(node) == "triton.language.cdiv"


FAULTS = (
    Fault("mask of a load removed", "MindSpeed and sgl dropped m_t without a proof", has_tail, unmasked_load),
    Fault(
        "mask of a store removed",
        "vendor rule 'remove redundant masks' without a proof",
        has_tail,
        unmasked_store,
    ),
    Fault("tail not written", "FLA PR#1141: NaN where the tail was not stored", has_tail, unwritten_tail),
    Fault(
        "row numbers compared in fp32",
        "vendor guide: cols.to(float32), wrong above 2^24",
        any_case,
        float_compare,
    ),
    Fault("causal mask off by one", "rewritten masks of several ports", any_case, causal_off_by_one),
    Fault("tail chunk dropped", "mojo chunk_o; T // BT in l2norm of an early port", any_case, tail_dropped),
)
