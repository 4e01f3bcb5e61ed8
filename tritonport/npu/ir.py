"""Counts in the final IR, the exact input of the code generator: what costs time on an Ascend core."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tritonport.npu.measure import Counts, SubBlock
from tritonport.npu.mlir_text import ELEMENT_BITS, Function, MemRef, Region, functions, memref_in, resolve

_CALL = re.compile(r"\b(?:func\.)?call @(\w+)\(([^)]*)\)")
_TRANSFER = re.compile(r"load_gm_to|store_ubuf_to_gm|nd2nz|fixpipe|load_\w*gm|store_\w*gm|atomic\w*gm")
_CORE = re.compile(r"func_core_type = #hivm\.func_core_type<(\w+)>")
_HOST = re.compile(r"_infer_\w+_function$")
_SPACE = "address_space<"
_GATHERED = "ExtractedLoadOrStore"
"""The compiler's mark on a loop that it made of one scattered transfer."""
_ARITHMETIC = r"arith\.(?:addi|subi|muli|divsi|remsi|maxsi|minsi|shli|shrsi)"

_CAUSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("i64_compare", re.compile(r"arith\.cmpi \w+, .* : i64")),
    ("int_compare", re.compile(r"arith\.cmpi \w+, .* : i\d+")),
    ("i64_arith", re.compile(_ARITHMETIC + r"\b.* : i64")),
    ("int_div_mod", re.compile(r"arith\.(?:divsi|remsi)\b")),
)
"""Why the compiler had no vector instruction; the first that fits."""


def count(text: str) -> Counts:
    """Counts of one module. All unknown when it has no function with a core type."""
    kernels = [f for f in functions(text) if _CORE.search(f.header) and not _HOST.search(f.name)]
    if not kernels:
        return Counts()
    nodes = [(kernel, node) for kernel in kernels for node in kernel.body.walk()]
    loops_known = all(node.known for _, node in nodes)
    reasons = Counter[str]()
    for _, node in nodes:
        if _is_scalar_loop(node):
            reasons[_cause(node)] += node.repeats()
    discrete, contiguous = _transfers([node for _, node in nodes])
    calls = [(kernel, name, node.repeats()) for kernel, node in nodes for name, _ in _calls(node)]
    cube = sum(times for _, name, times in calls if name.startswith("mma"))
    vector = sum(t for k, name, t in calls if _core(k) == "AIV" and not _TRANSFER.match(name))
    whole = "\n".join(kernel.text() for kernel in kernels)
    return Counts(
        scalar_iterations=sum(reasons.values()) if loops_known else None,
        scalar_reasons=dict(sorted(reasons.items())) if loops_known else None,
        unbounded_loops=sum(node.loop and node.trips is None for _, node in nodes) if loops_known else None,
        discrete_elements=discrete if loops_known else None,
        contiguous_bytes=contiguous,
        sub_block=_sub_block(kernels),
        cube_calls=cube if calls and loops_known else None,
        vector_calls=vector if calls and loops_known else None,
        cross_core_syncs=whole.count("hivm.hir.sync_block"),
        barriers=whole.count("hivm.hir.pipe_barrier"),
    )


def _core(kernel: Function) -> str:
    match = _CORE.search(kernel.header)
    return match.group(1) if match else ""


def _calls(node: Region) -> Iterator[tuple[str, list[str]]]:
    for line in node.lines:
        match = _CALL.search(line)
        if match:
            yield match.group(1), [part.strip() for part in match.group(2).split(",")]


def _is_scalar_loop(node: Region) -> bool:
    """A loop whose own lines touch the elements of a memory one by one.

    What a loop over tasks or chunks does with single numbers (a sequence's bounds, the sum of a tile, one gate) is no
    walk over a tile: in a grid's program it stands outside of any loop. A walk has a constant length.
    """
    touches = [line for line in node.lines if "memref.load" in line or "memref.store" in line]
    if node.trips is None and _GATHERED not in node.attributes:
        touches = [line for line in touches if not _touches_a_number(line)]
    return node.loop and any(_SPACE in line for line in touches)


def _touches_a_number(line: str) -> bool:
    """Whether the memory of a load or store has one element."""
    memory = memref_in(line)
    return memory is not None and memory.elements == 1


def _cause(node: Region) -> str:
    body = "\n".join(line for inner in node.walk() for line in inner.lines)
    gathers = _GATHERED in node.attributes or "DiscreteMemAccess" in body
    if gathers and "address_space<gm>" in body:
        return "gather"
    named = next((name for name, pattern in _CAUSES if pattern.search(body)), None)
    if named:
        return named
    adds = re.search(r"arith\.(?:addf|addi|mulf|muli)\b", body)
    return "scan_or_reduce" if adds and body.count("memref.load") >= 2 else "other"


def _transfers(nodes: Sequence[Region]) -> tuple[int | None, int | None]:
    """Elements moved one by one, and bytes of the shortest contiguous run.

    Unknown when no transfer is found (1.0.0 makes them after this IR: every kernel stores something), or
    when one of them cannot be followed to global memory.
    """
    found, discrete, runs, followed = 0, 0, list[int](), True
    for node in nodes:
        for name, arguments in _calls(node):
            if not _TRANSFER.match(name):
                continue
            found += 1
            memory, elements = _global_side(arguments, node)
            if memory is None:
                followed = False
                continue
            run = _run(memory)
            if run is None:
                continue
            runs.append(run * ELEMENT_BITS.get(memory.element, 0) // 8)
            if _is_discrete(memory):
                followed = followed and elements is not None
                discrete += node.repeats() * (elements or 0)
    if not found or not followed:
        return None, None
    return discrete, min(runs, default=None)


def _global_side(arguments: Sequence[str], node: Region) -> tuple[MemRef | None, int | None]:
    for argument in arguments:
        memory, elements = resolve(argument, node)
        if memory is not None and memory.space == "gm":
            return memory, elements
    return None, None


def _innermost(memory: MemRef) -> tuple[int | None, int | None]:
    """Size and stride of the last axis that is longer than one element."""
    axes = list(zip(memory.shape, memory.strides, strict=False)) or [(1, 1)]
    while len(axes) > 1 and axes[-1][0] == 1:
        axes.pop()
    return axes[-1]


def _is_discrete(memory: MemRef) -> bool:
    return _innermost(memory)[1] != 1


def _run(memory: MemRef) -> int | None:
    """Elements of one contiguous run; None when its length is known at run time only."""
    return 1 if _is_discrete(memory) else _innermost(memory)[0]


def _sub_block(kernels: Sequence[Function]) -> SubBlock:
    """Whether the vector half of a mixed kernel is split over the two vector cores of an AI core.

    guarded: only one of the two stores, so (at least) that part is not split. none: no vector half beside a
    cube half, or no split in it.
    """
    if {_core(kernel) for kernel in kernels} != {"AIC", "AIV"}:
        return "none"
    halves = [kernel.text() for kernel in kernels if "get_sub_block_idx" in kernel.text()]
    if not halves:
        return "none"
    return "guarded" if any("limit_sub_block" in half for half in halves) else "tiled"
