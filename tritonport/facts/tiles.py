"""Which constexpr parameters of a kernel are tile sizes that it takes at any value.

A parameter is such a tile when every use of it is one of these, and at least one is a step:

    tl.arange(0, X)                     the lanes of one tile
    [X, ..] in a call of tl.*           the shape of a tile, the block of a block pointer
    i * X + tl.arange(0, X)             a step: the i-th tile of an axis (i * X may have a name)
    offsets=(.., i * X, ..)             the same for a block pointer whose block has X in that place
    tl.cdiv(D, X), range(0, D, X)       how many tiles an axis of D has; the second is a step too
    p >= i * X, p < min(D, (i + 1) * X) whether a position lies in the i-th tile (`bounds`)

Any other use (a stride, a compare of X alone, arithmetic) ties the kernel or its data to the value, and the parameter
stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonport.discover.functions import JitFunction, parameters
from tritonport.discover.index import FunctionNode, Index

CONSTEXPR = "triton.language.constexpr"
_ARANGE = "triton.language.arange"
_BLOCK_PTR = "triton.language.make_block_ptr"
_COUNTS = frozenset({"triton.cdiv", "triton.language.cdiv"})
_RANGES = frozenset({"triton.language.range", "triton.language.static_range", "range"})
_SCANS = frozenset(f"triton.language.{n}" for n in ("cumsum", "cumprod", "associative_scan", "sort", "flip"))
_LIMITS = frozenset({"min", "max", "triton.language.minimum", "triton.language.maximum"})
_BLOCK_ARGUMENTS = ("base", "shape", "strides", "offsets", "block_shape", "order")


@dataclass(frozen=True, slots=True)
class TileParameter:
    """One tile size. index: place in the signature. size: the parameter with the length of the axis that it tiles.

    beside: parameters whose value the tiles of this kernel grow with too: sizes of axes that are not cut
    (`tl.arange(0, BD)` alone), and sizes that the kernel's text is unrolled over (`if K > 64:`).
    per_tile: parameters that are addressed by the number of the tile (`dg + i_k * ..`): the host must have made
    them for the number of tiles.
    bounds: whether the kernel asks if a position lies in its tile. What it does then belongs to the whole axis, so that
    the host must put the tiles together.
    """

    name: str
    index: int
    size: str
    beside: tuple[str, ...] = ()
    per_tile: tuple[str, ...] = ()
    bounds: bool = False


@dataclass(frozen=True, slots=True)
class Tiles:
    """parameters: the tile sizes, in order of the signature. fixed: why other shape parameters are none.

    scans: whether the kernel scans or reverses a tile, so that a tile may be a unit of the result.
    """

    parameters: tuple[TileParameter, ...] = ()
    fixed: dict[str, str] = field(default_factory=dict[str, str])
    scans: bool = False

    def get(self, name: str) -> TileParameter | None:
        return next((tile for tile in self.parameters if tile.name == name), None)


def tiles_of(index: Index, function: JitFunction) -> Tiles:
    """The tile sizes of one kernel, read from upstream's text."""
    node = function.definition.node
    if isinstance(node, ast.ClassDef):
        return Tiles()
    return _Reader(index, function.definition.module, node).tiles()


@dataclass
class _Uses:
    """What a body does with one parameter."""

    shape: bool = False
    step: bool = False
    bounds: bool = False
    sizes: list[str] = field(default_factory=list[str])
    starts: list[ast.BinOp] = field(default_factory=list[ast.BinOp])
    stopped: str | None = None


class _Reader:
    def __init__(self, index: Index, module: str, node: FunctionNode) -> None:
        self.index, self.module, self.node = index, module, node
        self.names = parameters(node)
        self.parents = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}

    def tiles(self) -> Tiles:
        found = {name: self._uses(name) for name in self._constexprs()}
        cut = [n for n, uses in found.items() if uses.step and uses.shape and not uses.stopped and uses.sizes]
        whole = [n for n, uses in found.items() if uses.shape and not uses.step and not uses.stopped]
        unrolled = [name for name in self._unrolled() if name not in whole]
        fixed = {n: uses.stopped for n, uses in found.items() if uses.stopped and uses.shape}
        made: list[TileParameter] = []
        for name in cut:
            size = found[name].sizes[0]
            beside = tuple(n for n in (*whole, *unrolled) if n != size)
            per_tile = tuple(sorted(self._per_tile(found[name].starts)))
            bounds = found[name].bounds
            made.append(TileParameter(name, self.names.index(name), size, beside, per_tile, bounds))
        return Tiles(tuple(made), fixed, self._scans())

    def _scans(self) -> bool:
        return any(isinstance(n, ast.Call) and self._named(n.func) & _SCANS for n in ast.walk(self.node))

    def _per_tile(self, starts: list[ast.BinOp]) -> set[str]:
        """Parameters in statements that use the number of the tile for anything but `i * X`."""
        inside = {id(n) for start in starts for n in ast.walk(start)}
        numbers = {n.id for start in starts for n in ast.walk(start) if isinstance(n, ast.Name)}
        stored = {
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        numbers &= stored - set(self.names)
        found: set[str] = set()
        known = -1
        while known != len(numbers):
            known = len(numbers)
            for statement in self._simple_statements():
                names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and id(n) not in inside]
                if any(isinstance(n.ctx, ast.Load) and n.id in numbers for n in names):
                    found |= {n.id for n in names if n.id in self.names}
                    numbers |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
        return found - set(self._constexprs()) - self._numbers()

    def _numbers(self) -> set[str]:
        """Parameters that are no pointers: they are multiplied, divided or compared."""
        found: set[str] = set()
        for node in ast.walk(self.node):
            operands: list[ast.expr] = []
            if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub):
                operands = [node.left, node.right]
            elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
                operands = [node.left, *node.comparators]
            found |= {operand.id for operand in operands if isinstance(operand, ast.Name)}
        return found

    def _simple_statements(self) -> Iterator[ast.stmt]:
        for node in ast.walk(self.node):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
                yield node

    def _constexprs(self) -> Iterator[str]:
        args = self.node.args
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            if arg.annotation is not None and CONSTEXPR in self.index.externals(self.module, arg.annotation):
                yield arg.arg

    def _named(self, expr: ast.expr) -> frozenset[str]:
        found = frozenset(self.index.externals(self.module, expr))
        return found or (frozenset({expr.id}) if isinstance(expr, ast.Name) else found)

    def _unrolled(self) -> Iterator[str]:
        """Constexpr parameters that an `if` compares with a size: a whole number above 0."""
        known = set(self._constexprs())
        for node in ast.walk(self.node):
            test = node.test if isinstance(node, ast.If) else None
            if (
                isinstance(test, ast.Compare)
                and isinstance(test.left, ast.Name)
                and test.left.id in known
                and isinstance(test.comparators[0], ast.Constant)
                and isinstance(test.comparators[0].value, int)
                and test.comparators[0].value > 0
                and isinstance(test.ops[0], ast.Gt | ast.GtE)
            ):
                known.discard(test.left.id)
                yield test.left.id

    def _uses(self, name: str) -> _Uses:
        uses = _Uses()
        for statement in self.node.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id == name:
                    self._use(node, uses)
        if uses.step and not uses.sizes:
            uses.sizes += self._masked(name)
        return uses

    def _use(self, node: ast.Name, uses: _Uses) -> None:
        parent = self.parents[node]
        if not isinstance(node.ctx, ast.Load):
            uses.stopped = "the kernel assigns it"
        elif (isinstance(parent, ast.Call) and self._in_call(node, parent, uses)) or (
            isinstance(parent, ast.Tuple | ast.List) and self._in_shape(node, parent, uses)
        ):
            return
        elif isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
            self._in_product(node, parent, uses)
        else:
            shown = ast.unparse(parent if isinstance(parent, ast.expr) else node)
            uses.stopped = uses.stopped or f"`{shown}` depends on its value"

    def _in_call(self, node: ast.Name, call: ast.Call, uses: _Uses) -> bool:
        names = self._named(call.func)
        place = call.args.index(node) if node in call.args else None
        if _ARANGE in names and place == 1:
            uses.shape = True
        elif names & _COUNTS and place == 1:
            uses.sizes += self._parameter(call.args[0])
        elif names & _RANGES and place == 2:
            uses.step = True
            uses.sizes += self._parameter(call.args[1])
        else:
            return False
        return True

    def _in_shape(self, node: ast.Name, sequence: ast.Tuple | ast.List, uses: _Uses) -> bool:
        holder = self.parents[sequence]
        call = self.parents[holder] if isinstance(holder, ast.keyword) else holder
        if not isinstance(call, ast.Call):
            return False
        names = self._named(call.func)
        if _BLOCK_PTR in names:
            if self._block_part(call, "block_shape") is not sequence:
                return False
            sizes = self._block_part(call, "shape")
            if isinstance(sizes, ast.Tuple | ast.List):
                uses.sizes += self._parameter(sizes.elts[sequence.elts.index(node)])
        elif not any(name.startswith("triton.language.") for name in names):
            return False
        uses.shape = True
        return True

    def _in_product(self, node: ast.Name, product: ast.BinOp, uses: _Uses) -> None:
        """`i * X` as the start of a tile; anywhere else it is a stride or a position."""
        at: ast.AST = product
        while self._is_cast(self.parents[at]):
            at = (
                self.parents[self.parents[at]]
                if isinstance(self.parents[at], ast.Attribute)
                else self.parents[at]
            )
        if (
            self._starts_lanes(at, node.id)
            or self._starts_block(at, node.id)
            or self._named_start(at, node.id)
        ):
            uses.step = True
            uses.starts.append(product)
        elif self._is_bound(at, node.id):
            uses.bounds = True
            uses.starts.append(product)
        else:
            uses.stopped = uses.stopped or f"`{ast.unparse(product)}` is not the start of a tile"

    def _is_cast(self, node: ast.AST) -> bool:
        """`x.to(..)`: the attribute, whose parent is the call."""
        return isinstance(node, ast.Attribute) and node.attr == "to"

    def _starts_lanes(self, start: ast.AST, name: str) -> bool:
        """`start + tl.arange(0, X)`, in either order."""
        parent = self.parents[start]
        if not (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add)):
            return False
        other = parent.right if parent.left is start else parent.left
        return self._is_lanes(other, name)

    def _is_bound(self, start: ast.AST, name: str) -> bool:
        """`position >= i * X` and `position < min(D, (i + 1) * X)`, where no other tile is in the compare."""
        at = self.parents[start]
        while isinstance(at, ast.Call) and not _LIMITS.isdisjoint(self._named(at.func)):
            at = self.parents[at]
        if not (isinstance(at, ast.Compare) and isinstance(at.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)):
            return False
        others = {n.id for n in ast.walk(at) if isinstance(n, ast.Name)} - {name}
        return len(at.ops) == 1 and not others & self._lane_counts()

    def _lane_counts(self) -> set[str]:
        """Names that are the number of lanes of some tile."""
        calls = [n for n in ast.walk(self.node) if isinstance(n, ast.Call) and len(n.args) == 2]
        ends = [call.args[1] for call in calls if _ARANGE in self._named(call.func)]
        return {end.id for end in ends if isinstance(end, ast.Name)}

    def _named_start(self, start: ast.AST, name: str) -> bool:
        """`first = i * X`, where `first` only starts lanes."""
        parent = self.parents[start]
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return False
        target = parent.targets[0]
        if not isinstance(target, ast.Name):
            return False
        uses = [
            n
            for n in ast.walk(self.node)
            if isinstance(n, ast.Name) and n.id == target.id and n is not target
        ]
        return bool(uses) and all(self._starts_lanes(use, name) for use in uses)

    def _is_lanes(self, node: ast.expr, name: str) -> bool:
        return (
            isinstance(node, ast.Call)
            and _ARANGE in self._named(node.func)
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Name)
            and node.args[1].id == name
        )

    def _starts_block(self, start: ast.AST, name: str) -> bool:
        """In the offsets of a block pointer, where the block has X in the same place."""
        sequence = self.parents[start]
        if not isinstance(sequence, ast.Tuple | ast.List) or not isinstance(start, ast.expr):
            return False
        holder = self.parents[sequence]
        call = self.parents[holder] if isinstance(holder, ast.keyword) else holder
        if not isinstance(call, ast.Call) or _BLOCK_PTR not in self._named(call.func):
            return False
        block = self._block_part(call, "block_shape")
        if self._block_part(call, "offsets") is not sequence or not isinstance(block, ast.Tuple | ast.List):
            return False
        place = sequence.elts.index(start)
        here = block.elts[place] if place < len(block.elts) else None
        return isinstance(here, ast.Name) and here.id == name

    def _block_part(self, call: ast.Call, part: str) -> ast.expr | None:
        for keyword in call.keywords:
            if keyword.arg == part:
                return keyword.value
        place = _BLOCK_ARGUMENTS.index(part)
        return call.args[place] if place < len(call.args) else None

    def _parameter(self, expr: ast.expr) -> list[str]:
        return [expr.id] if isinstance(expr, ast.Name) and expr.id in self.names else []

    def _masked(self, name: str) -> list[str]:
        """Parameters that the lanes of this tile are compared with: `i * X + tl.arange(0, X) < D`."""
        lanes = {
            target.id
            for node in ast.walk(self.node)
            if isinstance(node, ast.Assign)
            and any(isinstance(n, ast.Call) and self._is_lanes(n, name) for n in ast.walk(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        found: list[str] = []
        for node in ast.walk(self.node):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt):
                mine = any(isinstance(n, ast.Name) and n.id in lanes for n in ast.walk(node.left))
                found += self._parameter(node.comparators[0]) if mine else []
        return found
