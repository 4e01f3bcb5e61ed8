"""Faults of addresses: bases, strides, widths, and which head's rows are read."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tests.mutation.faults.model import (
    Fault,
    Place,
    any_case,
    expression,
    has_batch,
    has_groups,
    tests_of,
)
from tests.mutation.tree import TaskKernel, code
from tritonport.facts.algebra import Access, Poly
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import BlockPtr, Ptr, alternatives
from tritonport.facts.walk import find, walk
from tritonport.verify.cases import Case


def gate_base(kernel: TaskKernel) -> Iterator[Place]:
    """A per-head vector's base without its batch entry: the formula of packed sequences, used for all."""
    for access in kernel.accesses:
        if _is_row_of_heads(access):
            yield from _bases(kernel, access)


def _is_row_of_heads(access: Access) -> bool:
    """One lane axis: a vector with one element per token, of one head."""
    return any(len(a.shape) == 1 for a in access.addresses)


def _bases(kernel: TaskKernel, access: Access) -> Iterator[Place]:
    for expr in _chain(kernel, access.pointer):
        for name in find(expr, cst.Name):
            test = _branches(kernel, name)
            if test is not None:
                new = expression(f"({name.value} if {test} else 0)")
                yield Place(((name, new),), tests_of(kernel, access.node, name))
                return


def _chain(kernel: TaskKernel, pointer: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions that a pointer is the sum of, from the access back to the parameter."""
    pending = [pointer]
    seen: set[cst.CSTNode] = set()
    while pending:
        expr = pending.pop(0)
        if expr in seen:
            continue
        seen.add(expr)
        yield expr
        for name in find(expr, cst.Name):
            for d in kernel.facts.reads.get(name, ()):
                if d.expr is not None and _is_pointer(kernel, name):
                    pending.append(d.expr)


def _is_pointer(kernel: TaskKernel, name: cst.Name) -> bool:
    return any(isinstance(leaf, (Ptr, BlockPtr)) for _, leaf in alternatives(kernel.facts.value(name)))


def _branches(kernel: TaskKernel, name: cst.Name) -> str | None:
    """The constexpr test that decides how a scalar was set: looked up where it holds, computed where not."""
    found = kernel.facts.reads.get(name, frozenset())
    if len(found) != 2:
        return None
    outcomes = [(kernel.facts.tests.get(d.target, {}), _looks_up(kernel, d.expr)) for d in found]
    for test in set(outcomes[0][0]) & set(outcomes[1][0]):
        if {(bool(o[test]), up) for o, up in outcomes} == {(True, True), (False, False)}:
            return test
    return None


def _looks_up(kernel: TaskKernel, expr: cst.BaseExpression | None) -> bool:
    calls = find(expr, cst.Call) if expr is not None else []
    return any(kernel.facts.calls.get(c) == "triton.language.load" for c in calls)


def head_map(kernel: TaskKernel) -> Iterator[Place]:
    """`head // (value heads // heads)` forgotten: rows of the value head's own number."""
    for node in find(kernel.task.body, cst.BinaryOperation):
        inner = node.right
        divides = isinstance(node.operator, cst.FloorDivide)
        if divides and isinstance(inner, cst.BinaryOperation) and isinstance(inner.operator, cst.FloorDivide):
            yield Place(((node, node.left),), tests_of(kernel, node))


def swapped_strides(kernel: TaskKernel) -> Iterator[Place]:
    """Rows and columns of a tile walk by each other's stride."""
    for access in kernel.accesses:
        if not all(len(a.shape) == 2 and a.affine and a.strides[0] != a.strides[1] for a in access.addresses):
            continue
        for expr in _chain(kernel, access.pointer):
            if blocks := _block_strides(kernel, expr):
                edits = tuple(zip(blocks, reversed(blocks), strict=True))
                yield Place(edits, tests_of(kernel, access.node, expr))
                break
            rows, columns = _axis_term(expr, 0), _axis_term(expr, 1)
            if rows is not None and columns is not None:
                yield Place(_exchanged(rows, columns), tests_of(kernel, access.node, expr))
                break


def _block_strides(kernel: TaskKernel, expr: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The two strides of a block pointer."""
    if not isinstance(expr, cst.Call) or kernel.facts.calls.get(expr) != "triton.language.make_block_ptr":
        return []
    strides = argument(expr, 2, "strides")
    return [e.value for e in strides.elements] if isinstance(strides, cst.Tuple) else []


def _axis_term(expr: cst.BaseExpression, axis: int) -> cst.BaseExpression | None:
    """The summand of a sum that runs along one axis of the tile: `x[:, None]`, perhaps times a stride."""
    for term in _summands(expr):
        seen = [s for s in find(term, cst.Subscript) if _spread_axis(s) is not None]
        if len(seen) == 1 and _spread_axis(seen[0]) == axis:
            return term
    return None


def _summands(expr: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(expr, cst.BinaryOperation) and isinstance(expr.operator, cst.Add):
        yield from _summands(expr.left)
        yield from _summands(expr.right)
    else:
        yield expr


def _spread_axis(node: cst.Subscript) -> int | None:
    """0 for `x[:, None]`, 1 for `x[None, :]`."""
    kinds = [type(element.slice) for element in node.slice]
    return (
        {(cst.Slice, cst.Index): 0, (cst.Index, cst.Slice): 1}.get(tuple(kinds)) if len(kinds) == 2 else None
    )  # type: ignore[call-overload]


def _exchanged(
    rows: cst.BaseExpression, columns: cst.BaseExpression
) -> tuple[tuple[cst.CSTNode, cst.CSTNode], ...]:
    row, row_stride = _parts(rows)
    column, column_stride = _parts(columns)
    new_rows = row if column_stride is None else expression(f"{code(row)} * {code(column_stride)}")
    new_columns = column if row_stride is None else expression(f"{code(column)} * {code(row_stride)}")
    return ((rows, new_rows), (columns, new_columns))


def _parts(term: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
    if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
        return term.left, term.right
    return term, None


def padded_stride(kernel: TaskKernel) -> Iterator[Place]:
    """The stride of a row computed from the padded tile width instead of the true one."""
    for access in kernel.accesses:
        for address in access.addresses:
            for bound in address.bounds or ():
                widths = [s for s in bound.right.symbols if s.kind == "constexpr"]
                lanes = [s for s in bound.left.symbols if s.kind == "lane"]
                if len(widths) == 1 and lanes and str(bound.right) == widths[0].label:
                    yield from _widened(kernel, access, widths[0].label, address.shape[lanes[0].dim])
                    break


def _widened(kernel: TaskKernel, access: Access, width: str, extent: Poly) -> Iterator[Place]:
    for expr in _chain(kernel, access.pointer):
        strides = [s for t in _summands(expr) for s in _stride_names(t) if s.value == width]
        if strides and _axis_term(expr, 0) is not None:
            differs = _differ(width, str(extent))
            yield Place(
                ((strides[0], expression(str(extent))),), tests_of(kernel, access.node, expr), differs
            )
            return


def _stride_names(term: cst.BaseExpression) -> list[cst.Name]:
    seen = [s for s in find(term, cst.Subscript) if _spread_axis(s) is not None]
    inside = {n for s in seen for n in walk(s)}
    return [n for n in find(term, cst.Name) if n not in inside] if seen else []


def _differ(width: str, extent: str):
    """Key or value dims that are no power of two are narrower than their tile."""

    def needs(case: Case) -> bool:
        dims = (case.key_dim, case.value_dim)
        return all(d & (d - 1) for d in dims) and width != extent

    return needs


def narrow_offsets(kernel: TaskKernel) -> Iterator[Place]:
    """Every 64-bit index of the body becomes 32-bit: addresses wrap once a tensor has 2^31 elements."""
    found = [
        c.args[0].value
        for c in find(kernel.task.body, cst.Call)
        if isinstance(c.func, cst.Attribute)
        and c.func.attr.value == "to"
        and c.args
        and "triton.language.int64" in kernel.context.externals(c.args[0].value)
    ]
    if found:
        yield Place(tuple((node, expression("tl.int32")) for node in found))


def left_operand_reused(kernel: TaskKernel) -> Iterator[Place]:
    """The tile that a product may overwrite is the one that is read later: its copy or reload undone."""
    for dot in kernel.facts.calls_of("dot"):
        left = argument(dot, 0, "input")
        if isinstance(left, cst.BinaryOperation) and isinstance(left.right, cst.Float):
            yield Place(((left, left.left),), tests_of(kernel, dot))
        elif isinstance(left, cst.Call):
            names = [
                d.name for d in kernel.facts.defs.values() if d.expr is not None and d.expr.deep_equals(left)
            ]
            if names:
                yield Place(((left, cst.Name(names[0])),), tests_of(kernel, dot))


FAULTS = (
    Fault(
        "gate base wrong for several batch entries",
        "sgl and vllm chunk_o: the varlen formula used for dense input",
        has_batch,
        gate_base,
    ),
    Fault("wrong head map for grouped values", "GVA left out of ports", has_groups, head_map),
    Fault("strides swapped", "layout changes of q, k, h", any_case, swapped_strides),
    Fault(
        "padded width used as stride",
        "vllm-ascend PR#15688, FLA#1251: K = 60 in a tile of 64",
        any_case,
        padded_stride,
    ),
    Fault(
        "offsets of 32 bits", "FLA PR#1216, #1023: illegal address for long inputs", any_case, narrow_offsets
    ),
    Fault("left operand of a product read again", "FLA PR#1113", any_case, left_operand_reused),
)
