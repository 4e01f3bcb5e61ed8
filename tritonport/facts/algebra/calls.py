"""What Triton's own functions return, as abstract values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import libcst as cst

from tritonport.facts.algebra import symbols
from tritonport.facts.algebra.ops import binary, cast, distribute, dtype_of, expand, number, transpose
from tritonport.facts.algebra.poly import ONE, ZERO, Poly, lane
from tritonport.facts.algebra.values import (
    NONE,
    BlockPtr,
    Const,
    Data,
    Missing,
    Num,
    Ptr,
    Shape,
    Tup,
    Unknown,
    Value,
    broadcast,
    promote,
    shape_of,
)

DTYPES = frozenset(
    [
        "int1",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ]
)
_SAME_SHAPE = frozenset(
    [
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "sqrt_rn",
        "rsqrt",
        "abs",
        "sigmoid",
        "sin",
        "cos",
        "erf",
        "floor",
        "ceil",
        "tanh",
        "softmax",
        "cumsum",
        "cumprod",
        "sort",
        "flip",
        "zeros_like",
        "fma",
        "fdiv",
        "div_rn",
        "umulhi",
        "clamp",
        "associative_scan",
    ]
)
_PASS = frozenset(["multiple_of", "max_contiguous", "max_constancy", "assume", "constexpr"])
_REDUCE = frozenset(["sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce"])


@dataclass(frozen=True)
class DTypeName:
    """A dtype as a Python value of the kernel (`tl.float32`, `x.dtype`)."""

    name: str


@dataclass(frozen=True)
class Args:
    """Evaluated arguments of one call, with the nodes that they came from."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    node: cst.Call
    number: int
    """A number of its own for every call site, for symbols that stand for its result."""
    grid: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parameters that are sizes of grid axes, by axis."""

    def get(self, index: int, name: str, default: Value = NONE) -> Value:
        if name in self.keywords:
            return self.keywords[name]
        return self.positional[index] if index < len(self.positional) else default

    def unknown(self, why: str) -> Unknown:
        return Unknown(why, self.node)


_MIXING = frozenset(["softmax", "cumsum", "cumprod", "sort", "flip", "associative_scan"])
_ELEMENTWISE = (_SAME_SHAPE - _MIXING) | {"where", "minimum", "maximum", "cast", "inline_asm_elementwise"}


def is_elementwise(name: str) -> bool:
    """Whether each element of the result of `triton.language.<name>` comes from the same element of the arguments."""
    short = name.removeprefix("triton.language.").removeprefix("math.")
    return short.startswith("extra.libdevice.") or short in _ELEMENTWISE or short in _PASS


def call(name: str, args: Args) -> Value:
    """The result of `triton.language.<name>` or of a builtin; Unknown where it is not modelled."""
    short = name.removeprefix("triton.language.").removeprefix("math.")
    if short.startswith("extra.libdevice."):
        return _pointwise(args)  # all of them work element by element
    known = _CALLS.get(short)
    if known is not None:
        return known(args)
    if short in _SAME_SHAPE:
        return _pointwise(args)
    if short in _PASS:
        return args.get(0, "x")
    if short in _REDUCE:
        return _reduce(args)
    return args.unknown(f"`{name}` is not modelled")


def _program_id(args: Args) -> Value:
    axis = number(args.get(0, "axis"))
    text = str(axis.poly) if isinstance(axis, Num) else "?"
    return Num(symbols.program_id(text, args.grid.get(text)), (), "int32")


def _num_programs(args: Args) -> Value:
    axis = number(args.get(0, "axis"))
    text = str(axis.poly) if isinstance(axis, Num) else "?"
    return Num(symbols.parameter(f"num_programs({text})"), (), "int32")


def _arange(args: Args) -> Value:
    start, end = number(args.get(0, "start")), number(args.get(1, "end"))
    if not (isinstance(start, Num) and isinstance(end, Num)):
        return args.unknown("an arange whose bounds are not numbers")
    extent = end.poly - start.poly
    return Num(start.poly + Poly.of(lane(0, extent)), (extent,), "int32")


def _load(args: Args) -> Value:
    def one(pointer: Value) -> Value:
        if isinstance(pointer, Ptr) and not pointer.shape:
            symbol = symbols.loaded(f"{pointer.base}[{pointer.offset}]", args.number)
            return Num(symbol, (), f"elem:{pointer.base}")
        if isinstance(pointer, Ptr):
            return Data(pointer.shape, f"elem:{pointer.base}")
        if isinstance(pointer, BlockPtr):
            return Data(pointer.block, f"elem:{pointer.base.base}")
        return pointer if isinstance(pointer, (Unknown, Missing)) else args.unknown("a load from no pointer")

    return distribute(one, args.get(0, "pointer"))


def _block_ptr(args: Args) -> Value:
    names = ("base", "shape", "strides", "offsets", "block_shape", "order")
    values = [args.get(i, n) for i, n in enumerate(names)]
    lists = [polys(v) for v in values[1:5]]
    order = polys(values[5])
    if any(x is None for x in lists):
        return args.unknown("a block pointer whose shape, strides or offsets are not numbers")
    shape, strides, offsets, block = (x for x in lists if x is not None)
    ranks = None if order is None else tuple(p.value or 0 for p in order)

    def one(base: Value) -> Value:
        if not isinstance(base, Ptr):
            return (
                base
                if isinstance(base, (Unknown, Missing))
                else args.unknown("a block pointer on no pointer")
            )
        return BlockPtr(base, shape, strides, offsets, block, ranks)

    return distribute(one, values[0])


def polys(value: Value) -> tuple[Poly, ...] | None:
    """The numbers of a tuple, None where one of them is not a scalar number."""
    items = value.items if isinstance(value, Tup) else (value,)
    found = [number(item) for item in items]
    if not all(isinstance(item, Num) and not item.shape for item in found):
        return None
    return tuple(item.poly for item in found if isinstance(item, Num))


def _advance(args: Args) -> Value:
    steps = polys(args.get(1, "offsets"))

    def one(pointer: Value) -> Value:
        if not isinstance(pointer, BlockPtr) or steps is None or len(steps) != len(pointer.offsets):
            return args.unknown("an advance of no block pointer")
        moved = tuple(a + b for a, b in zip(pointer.offsets, steps, strict=True))
        return BlockPtr(pointer.base, pointer.shape, pointer.strides, moved, pointer.block, pointer.order)

    return distribute(one, args.get(0, "base"))


def _dot(args: Args) -> Value:
    left, right = shape_of(args.get(0, "input")), shape_of(args.get(1, "other"))
    shape: Shape | None = None
    if left is not None and right is not None and len(left) == len(right) and len(left) >= 2:
        shape = (*left[:-1], right[-1])
    return Data(shape, "float32")


def _filled(args: Args) -> Value:
    shape = polys(args.get(0, "shape"))
    dtype = args.keywords.get("dtype") or args.get(len(args.positional) - 1, "dtype")
    return Data(shape, dtype_name(dtype))


def dtype_name(value: Value) -> str:
    return value.value.name if isinstance(value, Const) and isinstance(value.value, DTypeName) else "?"


def _where(args: Args) -> Value:
    def one(mask: Value, left: Value, right: Value) -> Value:
        left, right = number(left), number(right)
        for item in (left, right):
            if isinstance(item, (Unknown, Missing)):
                return item
        shape = broadcast(shape_of(mask), broadcast(_tile_shape(left), _tile_shape(right)))
        return Data(shape, promote(dtype_of(left), dtype_of(right)))

    return distribute(one, args.get(0, "condition"), args.get(1, "x"), args.get(2, "y"))


def _tile_shape(value: Value) -> Shape | None:
    return () if isinstance(value, Const) else shape_of(value)


def _pointwise(args: Args) -> Value:
    def one(item: Value) -> Value:
        item = number(item)
        if isinstance(item, (Unknown, Missing)):
            return item
        return Data(_tile_shape(item), dtype_of(item))

    return distribute(one, args.get(0, "x" if "x" in args.keywords else "input"))


def _reduce(args: Args) -> Value:
    """One value per row or column. The shape is not known where the axis is not, or where more than that comes back."""
    axis = number(args.get(1, "axis"))
    where = axis.poly.value if isinstance(axis, Num) else None
    plain = args.keywords.keys().isdisjoint(("keep_dims", "return_indices")) and len(args.positional) < 3

    def one(item: Value) -> Value:
        if isinstance(item, (Unknown, Missing)):
            return item
        shape = shape_of(item)
        if axis == NONE and plain:
            return Data((), dtype_of(item))
        if shape is None or not plain or (where is None and len(shape) > 1):
            return Data(None, dtype_of(item))
        at = (where or 0) % max(len(shape), 1)  # -1 is the last axis
        return Data(shape[:at] + shape[at + 1 :], dtype_of(item))

    return distribute(one, args.get(0, "input"))


def _two(op: str) -> Callable[[Args], Value]:
    def run(args: Args) -> Value:
        items = list(args.positional) or [args.get(0, "x"), args.get(1, "y")]
        total = items[0]
        for item in items[1:]:
            total = _pairwise(op, total, item)
        return total

    return run


def _pairwise(op: str, left: Value, right: Value) -> Value:
    return binary(op, left, right)


def _assembly(args: Args) -> Value:
    """`tl.inline_asm_elementwise(..., args=[x, y], dtype=...)`: one result of the operands' common shape."""
    operands = args.get(2, "args")
    shapes = [shape_of(item) for item in operands.items] if isinstance(operands, Tup) else [None]
    known = [shape for shape in shapes if shape is not None]
    if not known or len(known) < len(shapes):
        return args.unknown("assembly with operands that are not known")
    total = known[0]
    for shape in known[1:]:
        total = broadcast(total, shape) or total
    return Data(total, dtype_name(args.get(3, "dtype")))


def _cast(args: Args) -> Value:
    return cast(args.get(0, "input"), dtype_name(args.get(1, "dtype")))


def _trans(args: Args) -> Value:
    source, dims = args.get(0, "input"), args.positional[1:] or (args.get(1, "dims"),)
    order = polys(dims[0] if len(dims) == 1 else Tup(dims))
    swaps = order is not None and [p.value for p in order] in ([1, 0], [-1, -2])
    known = dims == (NONE,) or swaps or isinstance(source, (Unknown, Missing))
    return transpose(source) if known else Data(None, dtype_of(source))


def _shaped(args: Args) -> Value:
    items = args.positional[1:]
    shape = polys(items[0] if len(items) == 1 else Tup(items)) if items else polys(args.get(1, "shape"))
    source = args.get(0, "input")
    return Data(shape, dtype_of(source)) if not isinstance(source, (Unknown, Missing)) else source


def _expand_dims(args: Args) -> Value:
    axis = number(args.get(1, "axis"))
    shape = shape_of(args.get(0, "input"))
    if not isinstance(axis, Num) or axis.poly.value is None or shape is None:
        return Data(None, dtype_of(args.get(0, "input")))
    picks = [":"] * len(shape)
    picks.insert(axis.poly.value % (len(shape) + 1), "None")  # -1 is the last axis of the result
    return expand(args.get(0, "input"), picks)


def _nothing(_: Args) -> Value:
    return NONE


def _range_value(args: Args) -> Value:
    return Const("range")


_CALLS: dict[str, Callable[[Args], Value]] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "load": _load,
    "store": _nothing,
    "make_block_ptr": _block_ptr,
    "advance": _advance,
    "dot": _dot,
    "zeros": _filled,
    "full": _filled,
    "where": _where,
    "minimum": _two("min"),
    "maximum": _two("max"),
    "min": lambda args: _two("min")(args) if len(args.positional) > 1 and not _tiled(args) else _reduce(args),
    "max": lambda args: _two("max")(args) if len(args.positional) > 1 and not _tiled(args) else _reduce(args),
    "cdiv": _two("cdiv"),
    "triton.cdiv": _two("cdiv"),
    "cast": _cast,
    "trans": _trans,
    "permute": lambda args: Data(None, dtype_of(args.get(0, "input"))),
    "reshape": _shaped,
    "view": _shaped,
    "broadcast_to": _shaped,
    "expand_dims": _expand_dims,
    "inline_asm_elementwise": _assembly,
    "debug_barrier": _nothing,
    "static_assert": _nothing,
    "static_print": _nothing,
    "device_assert": _nothing,
    "device_print": _nothing,
    "range": _range_value,
    "static_range": _range_value,
}


def _tiled(args: Args) -> bool:
    return bool(shape_of(args.get(0, "input")))


def span(args: Args) -> tuple[Poly, Poly | None, Poly]:
    """(start, stop, step) of a range call; stop is None where it is not a number."""
    found = [number(v) for v in args.positional]
    numbers = [v.poly if isinstance(v, Num) else None for v in found]
    if len(numbers) == 1:
        return ZERO, numbers[0], ONE
    step = numbers[2] if len(numbers) > 2 else ONE
    if len(numbers) < 2 or numbers[0] is None or step is None:
        return ZERO, None, ZERO
    return numbers[0], numbers[1], step
