"""Counts in a small module of the form that the compiler leaves."""

from __future__ import annotations

import pytest

from tritonport.npu.ir import count
from tritonport.npu.mlir_text import memref_in

GM = "#hivm.address_space<gm>"
UB = "#hivm.address_space<ub>"


def module(body: str, *, core: str = "AIV") -> str:
    kind = f"hivm.func_core_type = #hivm.func_core_type<{core}>"
    return f"""module {{
  func.func @k_infer_workspace_shape_function() -> index {{
    %c9 = arith.constant 9 : index
    return %c9 : index
  }}
  func.func @k(%arg0: memref<?xf32, {GM}>) attributes {{{kind}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c-1_i32 = arith.constant -1 : i32
    %ub = hivm.hir.pointer_cast(%c0) : memref<64xf32, {UB}>
{body}
    return
  }}
}}
"""


def loop(lines: str, *, head: str = "scf.for %i = %c0 to %c64 step %c1 {", end: str = "}") -> str:
    return f"    {head}\n{lines}\n    {end}"


LOAD = f"      %v = memref.load %ub[%i] : memref<64xi64, {UB}>"
STORE_OUT = "    call @store_ubuf_to_gm_1d_float(%ub, %out) : (memref<64xf32>, memref<64xf32>) -> ()"
CONTIGUOUS = (
    "    %out = memref.reinterpret_cast %arg0 to offset: [0], sizes: [64], strides: [1] : "
    f"memref<?xf32, {GM}> to memref<64xf32, strided<[1], offset: ?>, {GM}>"
)
STRIDED = CONTIGUOUS.replace("strides: [1]", "strides: [8]").replace("strided<[1]", "strided<[8]")


def test_nothing_scalar_in_a_vector_kernel():
    counts = count(module(f"{CONTIGUOUS}\n{STORE_OUT}"))
    assert counts.scalar_iterations == 0
    assert counts.discrete_elements == 0
    assert counts.contiguous_bytes == 256
    assert counts.sub_block == "none"


@pytest.mark.parametrize(
    ("operation", "cause"),
    [
        ("%c = arith.cmpi slt, %v, %w : i64", "i64_compare"),
        ("%c = arith.cmpi slt, %v, %w : i32", "int_compare"),
        ("%c = arith.addi %v, %w : i64", "i64_arith"),
        ("%c = arith.remsi %v, %w : i32", "int_div_mod"),
        (
            f"%w = memref.load %ub[%j] : memref<64xf32, {UB}>\n      %c = arith.addf %v, %w : f32",
            "scan_or_reduce",
        ),
        ("%c = math.exp %v : f32", "other"),
    ],
)
def test_scalar_loops_and_why(operation, cause):
    counts = count(module(loop(f"{LOAD}\n      {operation}")))
    assert counts.scalar_iterations == 64
    assert counts.scalar_reasons == {cause: 64}


def test_a_gather_from_global_memory():
    body = f"      %v = memref.load %arg0[%i] : memref<?xf32, {GM}>"
    counts = count(module(loop(body, end="} {ExtractedLoadOrStore}")))
    assert counts.scalar_reasons == {"gather": 64}


def test_loops_multiply_and_an_unbounded_one_counts_once():
    inner = loop(LOAD)
    assert count(module(loop(inner))).scalar_iterations == 64 * 64
    unbounded = count(module(loop(inner, head="scf.for %t = %c0 to %n step %c1 {")))
    assert (unbounded.scalar_iterations, unbounded.unbounded_loops) == (64, 1)


NUMBER = (
    f"      %view = memref.reinterpret_cast %arg0 to offset: [%at], sizes: [1], strides: [1] : memref<?xf32, {GM}>"
    f" to memref<1xf32, strided<[1], offset: ?>, {GM}>\n"
    f"      %n = memref.load %view[%c0] : memref<1xf32, strided<[1], offset: ?>, {GM}>"
)
TASKS = "scf.for %task = %c0 to %n step %c1 {"


@pytest.mark.parametrize(
    "body", [NUMBER, f"      memref.store %n, %one[%c0] : memref<1xf32, {UB}>"], ids=["read", "stored"]
)
def test_a_number_of_each_task_is_no_walk(body):
    assert count(module(loop(body, head=TASKS))).scalar_iterations == 0


@pytest.mark.parametrize(
    ("body", "iterations"),
    [
        (loop(NUMBER), 64),  # a tile's length: 64 elements one by one
        (loop(NUMBER, head=TASKS, end="} {ExtractedLoadOrStore}"), 1),
        (loop(NUMBER.replace("memref<1xf32, strided", "memref<64xf32, strided"), head=TASKS), 1),
        (loop(f"{NUMBER}\n      memref.store %n, %ub[%t] : memref<64xf32, {UB}>", head=TASKS), 1),
    ],
)
def test_other_single_elements_in_a_loop_count(body, iterations):
    assert count(module(body)).scalar_iterations == iterations


def test_names_with_a_sign_are_read():
    head = "%r:2 = scf.for %i = %c-1_i32 to %n step %c1 iter_args(%a = %b) -> (f32) : i32 {"
    assert count(module(loop(LOAD, head=head))).scalar_iterations == 1


def test_constants_of_a_sibling_region_do_not_leak():
    first = loop("      %n = arith.constant 7 : index", head="scf.if %c {")
    assert (
        count(module(first + "\n" + loop(LOAD, head="scf.for %i = %c0 to %n step %c1 {"))).unbounded_loops
        == 1
    )


@pytest.mark.parametrize(
    "head", ["scf.forall (%i) in (64) {", "affine.for %i = 0 to 64 {", "scf.for %i in %x {"]
)
def test_a_loop_of_another_form_makes_counts_unknown(head):
    counts = count(module(f"{CONTIGUOUS}\n{STORE_OUT}\n" + loop(LOAD, head=head)))
    assert counts.scalar_iterations is None
    assert counts.scalar_reasons is None
    assert counts.discrete_elements is None
    assert counts.vector_calls is None


def test_strided_transfers_are_discrete():
    counts = count(module(f"{STRIDED}\n{STORE_OUT}"))
    assert (counts.discrete_elements, counts.contiguous_bytes) == (64, 4)
    assert count(module(f"{STRIDED}\n" + loop(STORE_OUT))).discrete_elements == 64 * 64


def test_no_transfer_at_all_is_unknown():
    assert count(module("")).discrete_elements is None


def test_a_transfer_that_cannot_be_followed_is_unknown():
    assert count(module(STORE_OUT)).discrete_elements is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("    %s = hivm.hir.get_sub_block_idx -> i64", "tiled"),
        (
            "    %s = hivm.hir.get_sub_block_idx -> i64\n    scf.if %c {\n    } {limit_sub_block_id0}",
            "guarded",
        ),
        ("", "none"),
    ],
)
def test_split_of_a_mixed_kernel(line, kind):
    cube = module("    call @mma_tile(%ub) : (memref<64xf32>) -> ()", core="AIC").replace("@k", "@k_mix_aic")
    assert count(cube + module(line)).sub_block == kind
    assert count(cube + module(line)).cube_calls == 1


def test_a_module_without_kernels_is_unknown():
    counts = count("module {}")
    assert {getattr(counts, name) for name in counts.__slots__} == {None}


def test_memref_types():
    memory = memref_in(f"memref<4x?x16xbf16, strided<[?, 16, 1], offset: ?>, {GM}>")
    assert memory is not None
    assert (memory.shape, memory.element, memory.space) == ((4, None, 16), "bf16", "gm")
    assert memory.strides == (None, 16, 1)
    assert memory.elements is None
    plain = memref_in("memref<2x3xf32>")
    assert plain is not None
    assert (plain.strides, plain.elements) == ((3, 1), 6)
    assert memref_in("tensor<2xf32>") is None
