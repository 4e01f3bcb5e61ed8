"""The index algebra on kernels of both dialects: addresses, masks, and what reaches what."""

from __future__ import annotations

import libcst as cst
import pytest

from tritonport.facts.algebra import Address, KernelFacts, accesses, analyse
from tritonport.facts.algebra.values import shape_of

OFFSETS = """
def kernel(x, y, seq, T, scale, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr, M: tl.constexpr, VL: tl.constexpr):
    a, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    c, h = b // H, b % H
    if VL:
        s, a = tl.load(seq + a * 2), tl.load(seq + a * 2 + 1)
        start = tl.load(seq + s).to(tl.int64)
        T = tl.load(seq + s + 1) - start
    else:
        start = c * T
    x += (start * H + h) * D
    rows = a * N + tl.arange(0, N)
    for j in range(tl.cdiv(D, M)):
        cols = j * M + tl.arange(0, M)
        p = x + rows[:, None] * (H * D) + cols[None, :]
        t = tl.load(p, mask=(rows < T)[:, None] & (cols < D)[None, :], other=0.0)
        tl.store(y + cols[:, None] + rows[None, :] * D, tl.trans(t) * scale)
"""
BLOCKS = """
def kernel(x, y, T, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr, M: tl.constexpr):
    a, h = tl.program_id(0), tl.program_id(1)
    p = tl.make_block_ptr(x + h * D, (T, D), (H * D, 1), (a * N, 0), (N, M), (1, 0))
    for _ in range(0, D, M):
        t = tl.load(p, boundary_check=(0, 1))
        p = tl.advance(p, (0, M))
    q = tl.make_block_ptr(y + h, (T,), (H,), (a * N,), (N,), (0,))
    tl.store(q, tl.sum(t, 1), boundary_check=(0,))
"""


def facts_of(source: str, *helpers: str) -> KernelFacts:
    tree = cst.parse_module(source)
    functions = {node.name.value: node for node in tree.body if isinstance(node, cst.FunctionDef)}
    helpers = {k: v for k, v in functions.items() if k != "kernel"}
    return analyse(functions["kernel"], lambda name, inside: [helpers[name]] if name in helpers else [])


def only(facts: KernelFacts, index: int) -> Address:
    access = accesses(facts)[index]
    assert access.why is None, access.why
    assert len(access.addresses) == 1
    return access.addresses[0]


def shown(address: Address) -> tuple[str, str, tuple[str, ...]]:
    return address.base, str(address.scalar), tuple(str(s) for s in address.strides)


def test_an_offset_tile_is_split_into_a_scalar_and_a_stride_per_dimension():
    facts = facts_of(OFFSETS)
    load, store = only(facts, 4), only(facts, 5)
    assert load.base == "x"
    assert [str(s) for s in load.strides] == ["H*D", "1"] or [str(s) for s in load.strides] == ["D*H", "1"]
    assert load.affine
    assert [str(s) for s in store.strides] == ["1", "D"]
    assert [f"{b.left} {b.op} {b.right}" for b in load.bounds or ()] == [
        "N*a + lane0<N> < T",
        "M*j + lane1<M> < D",
    ]


def test_parts_of_one_tuple_assignment_read_the_old_values():
    facts = facts_of(OFFSETS)
    assert str(only(facts, 0).scalar) == "2*program_id(0)"
    assert str(only(facts, 1).scalar) == "1 + 2*program_id(0)"


def test_a_reassigned_parameter_is_reported_and_its_bound_is_the_new_value():
    facts = facts_of(OFFSETS)
    assert facts.reassigned() == ("x", "T")
    (bound, _) = only(facts, 4).bounds or ()
    (symbol,) = bound.right.symbols
    assert symbol.kind == "join"
    assert [str(part) for part in symbol.parts][1] == "T"


def test_a_block_pointer_advanced_in_a_loop_has_an_offset_per_trip():
    facts = facts_of(BLOCKS)
    load, store = only(facts, 0), only(facts, 1)
    assert load.block is not None
    assert [str(o) for o in load.block.offsets] == ["N*a", "M*_.trip"] or [
        str(o) for o in load.block.offsets
    ] == [
        "N*program_id(0)",
        "M*_.trip",
    ]
    assert [str(s) for s in load.strides] == ["D*H", "1"]
    assert shown(store)[2] == ("H",)
    assert facts.dialect == "block-pointer"
    assert facts_of(OFFSETS).dialect == "offset-vector"


def test_a_pointer_advanced_by_the_same_step_every_trip_is_followed():
    source = """
def kernel(x, y, T, S: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    p = x + lanes
    for i in range(0, T):
        tl.store(y + i * N + lanes, tl.load(p))
        p += S
"""
    load = only(facts_of(source), 0)
    assert shown(load) == ("x", "S*i", ("1",))


def test_a_step_that_changes_from_trip_to_trip_is_not_guessed():
    source = """
def kernel(x, steps, T, N: tl.constexpr):
    p = x + tl.arange(0, N)
    for i in range(0, T):
        tl.load(p)
        p += tl.load(steps + i).to(tl.int32)
"""
    load = only(facts_of(source), 0)
    (symbol,) = load.scalar.symbols
    assert (load.base, symbol.kind) == ("x", "opaque")


def test_alternatives_behind_a_constexpr_test_keep_address_and_mask_together():
    source = """
def kernel(x, K, V, N: tl.constexpr, M: tl.constexpr, FLIP: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, M)
    if FLIP:
        p = x + j[:, None] * K + i[None, :]
        m = (j < V)[:, None] & (i < K)[None, :]
    else:
        p = x + i[:, None] * V + j[None, :]
        m = (i < K)[:, None] & (j < V)[None, :]
    tl.load(p, mask=m)
"""
    (access,) = accesses(facts_of(source))
    assert access.why is None
    found = {
        a.tests: ([str(s) for s in a.strides], [str(b.right) for b in a.bounds or ()])
        for a in access.addresses
    }
    assert found == {
        (("FLIP", True),): (["K", "1"], ["V", "K"]),
        (("FLIP", False),): (["V", "1"], ["K", "V"]),
    }


def test_a_name_of_one_constexpr_branch_is_known_in_a_later_branch_of_the_same_test():
    source = """
def kernel(x, g, N: tl.constexpr, H: tl.constexpr, HAS: tl.constexpr):
    if HAS:
        g += tl.program_id(0) * H
    tl.load(x + tl.arange(0, N))
    if not HAS:
        return
    tl.load(g + tl.arange(0, N) * H)
"""
    assert shown(only(facts_of(source), 1)) == ("g", "H*program_id(0)", ("H",))


def test_a_helper_that_returns_a_tuple_is_followed_by_its_own_body():
    source = """
def ids(X: tl.constexpr, Y: tl.constexpr = None):
    p = tl.program_id(0).to(tl.int64)
    if Y is None:
        return p % X, p // X
    else:
        return p % X, p // X % Y, p // (X * Y)

def kernel(x, A: tl.constexpr, N: tl.constexpr):
    u, v = ids(A)
    tl.load(x + v * N + u)
"""
    load = only(facts_of(source), 0)
    assert str(load.scalar) == "N*div(program_id(0), A) + mod(program_id(0), A)"
    mod = next(s for s in load.scalar.symbols if s.label.startswith("mod"))
    assert (str(mod.lo), str(mod.hi)) == ("0", "-1 + A")


def test_what_stops_the_analysis_is_named():
    source = """
def kernel(x, N: tl.constexpr):
    tl.load(x + mystery(tl.arange(0, N)))
"""
    (access,) = accesses(facts_of(source))
    assert access.why == "a function that is not resolved: mystery(tl.arange(0, N))"


def test_reads_name_every_assignment_that_may_reach_them_loops_included():
    source = """
def kernel(x, T, N: tl.constexpr):
    acc = tl.zeros([N], dtype=tl.float32)
    for i in range(T):
        acc += tl.load(x + i * N + tl.arange(0, N))
    tl.store(x + tl.arange(0, N), acc)
"""
    facts = facts_of(source)
    first, second = facts.defs_of("acc")
    assert (first.kind, second.kind) == ("assign", "aug")
    assert len(facts.uses(first)) == 2
    assert len(facts.uses(second)) == 2


def test_names_mean_nothing():
    renamed = (
        OFFSETS.replace("rows", "zz").replace("cols", "q_").replace("start", "eos").replace(" h ", " i_t ")
    )
    renamed = renamed.replace("H + h)", "H + i_t)").replace("c, h =", "c, i_t =")
    first, second = accesses(facts_of(OFFSETS)), accesses(facts_of(renamed))
    assert [[shown(a)[2] for a in x.addresses] for x in first] == [
        [shown(a)[2] for a in x.addresses] for x in second
    ]
    assert [x.why for x in first] == [x.why for x in second]


SHAPES = """
def kernel(x, y, AXIS: tl.constexpr, N: tl.constexpr, M: tl.constexpr):
    t = tl.load(x + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])
    v = tl.load(y + tl.arange(0, N))
    result = EXPRESSION
"""


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("tl.sum(t, 0)", ("M",)),
        ("tl.sum(t, -1)", ("N",)),
        ("tl.sum(t, axis=-2)", ("M",)),
        ("tl.sum(t)", ()),
        ("tl.sum(v, -1)", ()),
        ("tl.sum(v, AXIS)", ()),
        ("tl.sum(t, AXIS)", None),
        ("tl.sum(t, 0, keep_dims=True)", None),
        ("tl.expand_dims(v, 0)", ("1", "N")),
        ("tl.expand_dims(v, -1)", ("N", "1")),
        ("tl.trans(t)", ("M", "N")),
        ("tl.trans(t, 1, 0)", ("M", "N")),
        ("tl.trans(t, (1, 0))", ("M", "N")),
        ("tl.trans(t, 0, 1)", None),
    ],
)
def test_axes_are_counted_from_either_end(expression: str, shape: tuple[str, ...] | None):
    facts = facts_of(SHAPES.replace("EXPRESSION", expression))
    (result,) = facts.defs_of("result")
    assert result.expr is not None
    found = shape_of(facts.value(result.expr))
    assert (None if found is None else tuple(map(str, found))) == shape
