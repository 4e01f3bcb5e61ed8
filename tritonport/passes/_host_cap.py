"""Tiles that host code computes from the size of an axis up to a limit: `BD = min(next_power_of_2(D), 65536)`.

A longer axis is cut into several tiles there, so what the host makes of them is right for every number of tiles, and
for any limit as well, where the limit is the only place that says how many there are: no other number of that
size stands in the function, nothing is refused that takes more than one tile, and neither the tile nor the number of
tiles leaves the function. A limit with a name of its own (`LONGEST = 65536`) is changed where it gets its value, since
other decisions may read it (`split = D > LONGEST`).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.index import Value
from tritonport.facts.tiles import TileParameter
from tritonport.facts.walk import code_of, find, walk
from tritonport.passes._host_tile import Flow, Host, HostTile, TileStopped, last_name, pairs, read_names

LARGEST_PLAIN = 1024
"""The largest tile of one axis that needs no limit: more lanes are whole rows, which a GPU spreads over its warps."""
_MATH: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


@dataclass(frozen=True)
class _Cap:
    """One limit. expr: as the choice of the tile names it; number: its value."""

    expr: cst.BaseExpression
    number: int


def capped(host: Host, tile: TileParameter, passed: dict[str, cst.BaseExpression]) -> HostTile | None:
    """The choice of a tile with a limit over 1024, or of one that the kernel compares positions with.

    None where the host chooses in another way. Raises TileStopped where the limit may not be another.
    """
    name, size = passed[tile.name], passed.get(tile.size)
    known = host.function is not None and all(grid.form != "unknown" for grid in host.site.grids)
    if not known or not isinstance(name, cst.Name) or size is None:
        return None
    return _Reader(host, tile, name.value, size).read(passed)


class _Reader:
    def __init__(self, host: Host, tile: TileParameter, name: str, size: cst.BaseExpression) -> None:
        self.host, self.tile, self.name, self.size = host, tile, name, size

    def read(self, passed: dict[str, cst.BaseExpression]) -> HostTile | None:
        values = self.host.assigned(self.name)
        caps = [cap for value in values if (cap := self._cap(value)) is not None]
        plain = [value for value in values if self._cap(value) is None]
        largest = max((cap.number for cap in caps), default=0)
        if len({code_of(cap.expr) for cap in caps}) != 1 or any(self._number(v) is None for v in plain):
            return None
        if largest <= LARGEST_PLAIN and not self.tile.bounds:
            return None
        named = self._definition(caps[0])
        changed = [*plain, *([named] if named is not None else [v for v in values if v not in plain])]
        self._only_limit(caps, named, values)
        self._leaves(caps, passed)
        for expr in changed:
            self.host.check_known(self.size, expr)
        return HostTile(self.host.site, changed, {cap.number for cap in caps}, largest)

    def _cap(self, expr: cst.BaseExpression) -> _Cap | None:
        """`min(next_power_of_2(size), limit)`, in either order."""
        if not (isinstance(expr, cst.Call) and last_name(expr.func) == "min" and len(expr.args) == 2):
            return None
        first, second = (arg.value for arg in expr.args)
        for size, limit in ((first, second), (second, first)):
            if self._covers(size) and (number := self._number(limit)) is not None:
                return _Cap(limit, number)
        return None

    def _covers(self, expr: cst.BaseExpression) -> bool:
        if not (isinstance(expr, cst.Call) and last_name(expr.func) == "next_power_of_2" and expr.args):
            return False
        return code_of(expr.args[0].value) == code_of(self.size)

    def _number(self, expr: cst.BaseExpression) -> int | None:
        """The value of a number, of arithmetic on numbers, or of a name for such."""
        if isinstance(expr, cst.Name):
            local = self.host.assigned(expr.value)
            if local:
                return written_number(local[0]) if len(local) == 1 else None
            values = self.host.file.analysis.index.resolve(self.host.file.module.name, expr.value)
            numbers = [_value(v.expr) if isinstance(v, Value) else None for v in values]
            return numbers[0] if len(numbers) == 1 and not self.host.is_parameter(expr.value) else None
        return written_number(expr)

    def _definition(self, cap: _Cap) -> cst.BaseExpression | None:
        """What a limit with a local name is given."""
        local = self.host.assigned(cap.expr.value) if isinstance(cap.expr, cst.Name) else []
        return local[0] if local else None

    def _only_limit(
        self, caps: list[_Cap], named: cst.BaseExpression | None, values: list[cst.BaseExpression]
    ) -> None:
        """Nothing else in the function says how large the limit is."""
        own = {node for expr in (*values, *([named] if named is not None else [])) for node in walk(expr)}
        outside = [node for node in self.host.order if node not in own]
        for node in outside:
            if isinstance(node, cst.BaseExpression) and written_number(node) == caps[0].number:
                raise TileStopped(f"`{code_of(node)}` stands there as the limit of `{self.name}` does")
        if isinstance(caps[0].expr, cst.Name):
            self._only_compared(caps[0].expr.value, outside, named is not None)

    def _only_compared(self, name: str, outside: list[cst.CSTNode], local: bool) -> None:
        """Beside choosing the tile, a limit with a local name is compared; one of the module is not read at all."""
        given = {target for node in outside for target, _ in pairs(node)}
        compared = {node for test in find(self.host.body, cst.Comparison) for node in walk(test)}
        for node in outside:
            reads = isinstance(node, cst.Name) and node.value == name and node not in given
            if reads and not (local and node in compared):
                raise TileStopped(f"the limit `{name}` is read for something else, too")

    def _leaves(self, caps: list[_Cap], passed: dict[str, cst.BaseExpression]) -> None:
        flow = Flow(self.name)
        if isinstance(caps[0].expr, cst.Name):
            flow.tainted.add(caps[0].expr.value)
        flow.see(self.host.body)
        if flow.number is not None:
            raise TileStopped(f"`{flow.number}` depends on the tile and leaves the function")
        self.host.check_made(flow, self.tile, passed)
        for test in _refusals(self.host.body):
            if flow.tainted & {name.value for name in read_names(test)}:
                raise TileStopped(f"the host refuses by `{code_of(test)}`, which depends on the tile")


def _refusals(body: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Tests of assertions, and of branches that raise."""
    yield from (node.test for node in find(body, cst.Assert))
    yield from (node.test for node in find(body, cst.If) if find(node.body, cst.Raise))


def written_number(expr: cst.BaseExpression) -> int | None:
    """The value of a whole number, or of arithmetic on such."""
    if not isinstance(expr, cst.Integer | cst.BinaryOperation):
        return None
    return _value(ast.parse(f"({code_of(expr)})", mode="eval").body)


def _value(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    compute = _MATH.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if not isinstance(node, ast.BinOp) or compute is None:
        return None
    left, right = _value(node.left), _value(node.right)
    if left is None or right is None or not 0 < right < 2**20:
        return None
    return compute(left, right) if not isinstance(node.op, ast.Pow | ast.LShift) or right < 32 else None
