"""Where host code chooses a tile size, and whether another choice stays within that function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from tritonport.discover.index import Value
from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.facts.tiles import TileParameter
from tritonport.facts.walk import children, code_of, find, names_in, walk

_CHOOSING = frozenset({"min", "max", "next_power_of_2", "cdiv"})


class TileStopped(Exception):
    """A choice that may not be changed; the text says why."""


@dataclass
class HostTile:
    """One tile at one launch.

    values: the expressions that choose it; numbers: what upstream may choose. most: the limit of a tile that the size
    of its axis decides (_host_cap), else None.
    """

    site: LaunchSite
    values: list[cst.BaseExpression] = field(default_factory=list[cst.BaseExpression])
    numbers: set[int] = field(default_factory=set[int])
    most: int | None = None


class Host:
    """The function around one launch, as it stands in the tree."""

    def __init__(self, file: FileContext, site: LaunchSite) -> None:
        self.file, self.site = file, site
        self.call = file.launch_call(site)
        self.function = _function_around(file.tree, self.call)
        self.order = {} if self.function is None else {n: i for i, n in enumerate(walk(self.function.body))}

    def passed(self, parameters: tuple[str, ...]) -> dict[str, cst.BaseExpression]:
        """Arguments of the launch by parameter. Raises TileStopped for unpacked ones."""
        found: dict[str, cst.BaseExpression] = {}
        for place, arg in enumerate(self.call.args):
            if arg.star:
                raise TileStopped("the launch unpacks its arguments")
            name = arg.keyword.value if arg.keyword is not None else parameters[place]
            found[name] = arg.value
        return found

    def choice(self, tile: TileParameter, parameters: tuple[str, ...]) -> HostTile | None:
        """The expressions that choose a tile; None where the launch does not pass it. Raises TileStopped."""
        passed = self.passed(parameters)
        value = passed.get(tile.name)
        if value is None:
            return None
        if any(grid.form == "unknown" for grid in self.site.grids):
            raise TileStopped("the grid is known at run time only, and may be made for this tile")
        if not isinstance(value, cst.Name) or self.function is None:
            raise TileStopped(f"the launch passes `{code_of(value)}`, which is no local name")
        size = passed.get(tile.size)
        if size is None:
            raise TileStopped(f"the launch does not pass `{tile.size}`")
        found = HostTile(self.site)
        for expr in self.assigned(value.value):
            self._check(expr, code_of(size), found, frozenset({value.value}))
            self.check_known(size, expr)
            found.values.append(expr)
        if not found.values:
            raise TileStopped(f"`{value.value}` comes from the caller")
        self._stays(value.value, tile, passed)
        return found

    def assigned(self, name: str) -> list[cst.BaseExpression]:
        """What a local name may be. Raises TileStopped where that is not plainly assigned."""
        assert self.function is not None
        found: list[cst.BaseExpression] = []
        for node in self.order:
            if isinstance(node, cst.AugAssign | cst.For | cst.NamedExpr) and _is(node.target, name):
                raise TileStopped(f"`{name}` is changed step by step")
            for target, value in pairs(node):
                if _is(target, name):
                    if value is None:
                        raise TileStopped(f"`{name}` is unpacked from something")
                    found.append(value)
        return found

    def _check(self, expr: cst.BaseExpression, size: str, found: HostTile, seen: frozenset[str]) -> None:
        """A choice: numbers, and the size of the axis within min, max, cdiv and next_power_of_2."""
        if isinstance(expr, cst.Integer):
            found.numbers.add(expr.evaluated_value)
        elif code_of(expr) == size:
            return
        elif isinstance(expr, cst.Name):
            self._check_name(expr.value, size, found, seen)
        elif isinstance(expr, cst.IfExp):
            self._check(expr.body, size, found, seen)
            self._check(expr.orelse, size, found, seen)
        elif isinstance(expr, cst.Call) and last_name(expr.func) in _CHOOSING:
            lower_bound = last_name(expr.func) == "max"
            for arg in expr.args:
                if not (lower_bound and isinstance(arg.value, cst.Integer)):
                    self._check(arg.value, size, found, seen)
        else:
            raise TileStopped(f"`{code_of(expr)}` is more than a choice of a tile")

    def _check_name(self, name: str, size: str, found: HostTile, seen: frozenset[str]) -> None:
        local = self.assigned(name) if name not in seen else []
        for expr in local:
            self._check(expr, size, found, seen | {name})
        if local or name in seen:
            return
        values = self.file.analysis.index.resolve(self.file.module.name, name)
        if self.is_parameter(name) or not values:
            raise TileStopped(f"`{name}` comes from the caller")
        found.numbers |= {n for value in values if isinstance(value, Value) for n in numbers_in(value.expr)}

    @property
    def body(self) -> cst.BaseSuite:
        assert self.function is not None
        return self.function.body

    def is_parameter(self, name: str) -> bool:
        """Whether the caller gives this name its value."""
        assert self.function is not None
        params = self.function.params
        known = (*params.posonly_params, *params.params, *params.kwonly_params)
        return any(param.name.value == name for param in known)

    def check_known(self, expr: cst.BaseExpression, place: cst.BaseExpression) -> None:
        """Every name of expr has its value at that place. Raises TileStopped.

        What the statement around the place assigns is no value yet: `BK, BV = 128, min(V, BK)`.
        """
        own = self._statement(place)
        for name in read_names(expr):
            bound = [
                i for n, i in self.order.items() for t, _ in pairs(n) if _is(t, name.value) and n is not own
            ]
            early = any(at < self.order[place] for at in bound) or self.is_parameter(name.value)
            if not early and (
                bound or not self.file.analysis.index.resolve(self.file.module.name, name.value)
            ):
                raise TileStopped(f"`{code_of(expr)}` is not known where the tile is chosen")

    def spelled(self, expr: cst.BaseExpression, place: cst.BaseExpression) -> cst.BaseExpression:
        """The expression at that place: for a name that the statement around it assigns, what it is given."""
        own = self._statement(place)
        given = [] if own is None else [v for t, v in pairs(own) if v is not None and _is(t, code_of(expr))]
        return given[0] if len(given) == 1 else expr

    def _statement(self, place: cst.BaseExpression) -> cst.CSTNode | None:
        """The assignment around an expression of the function."""
        return next((n for n in self.order if any(v is place for _, v in pairs(n))), None)

    def _stays(self, name: str, tile: TileParameter, passed: dict[str, cst.BaseExpression]) -> None:
        """Nothing that depends on the tile leaves the function, but for what was summed over the tiles."""
        assert self.function is not None
        flow = Flow(name)
        flow.see(self.function.body)
        if flow.escaped is not None:
            raise TileStopped(f"`{flow.escaped}` depends on the tile and leaves the function")
        self.check_made(flow, tile, passed)

    def check_made(self, flow: Flow, tile: TileParameter, passed: dict[str, cst.BaseExpression]) -> None:
        """Buffers that are addressed by the number of the tile are made for the number of tiles."""
        for parameter in tile.per_tile:
            value = passed.get(parameter)
            if value is None or (not _is(value, "None") and not names_of(value) & flow.made):
                raise TileStopped(f"`{parameter}` is addressed by the number of the tile and made elsewhere")

    def others(self, name: str) -> Iterator[tuple[str, str]]:
        """(kernel, parameter) of other launches in this function that take the same name."""
        for site in self.file.sites:
            if site is self.site or site.kernels == self.site.kernels:
                continue
            call = self.file.launch_call(site)
            if call in self.order:
                for key in site.kernels:
                    parameters = self.file.analysis.functions[key].parameters
                    for place, arg in enumerate(call.args):
                        if _is(arg.value, name):
                            yield key, arg.keyword.value if arg.keyword is not None else parameters[place]


@dataclass
class Flow:
    """Follows a tile through a function in the order of its text.

    shaped: tensors with one entry per tile, at this point; made: at any point. escaped: what leaves the function and
    depends on the tile; number: the same where it is a number and no tensor.
    """

    name: str
    tainted: set[str] = field(default_factory=set[str])
    shaped: set[str] = field(default_factory=set[str])
    made: set[str] = field(default_factory=set[str])
    escaped: str | None = None
    number: str | None = None

    def __post_init__(self) -> None:
        self.tainted.add(self.name)

    def see(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.FunctionDef | cst.Lambda):
            return
        if isinstance(node, cst.Return):
            self._leaves(node.value)
        for target, value in pairs(node):
            if value is not None:
                self._assign(target, value)
        for child in children(node):
            self.see(child)

    def _leaves(self, value: cst.BaseExpression | None) -> None:
        left = set() if value is None else _unreduced(value) & (self.tainted | self.shaped)
        if left:
            self.escaped = sorted(left)[0]
        if left & self.tainted:
            self.number = sorted(left & self.tainted)[0]

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        clean = not _unreduced(value) & (self.tainted | self.shaped)
        if not isinstance(target, cst.Name):
            self._leaves(None if clean or isinstance(target, cst.Tuple) else value)
        elif target.value == self.name:
            return
        elif clean:
            self.shaped.discard(target.value)
            self.tainted.discard(target.value)
        elif _is_count(value) and not names_of(value) & self.shaped:
            self.tainted.add(target.value)
        else:
            self.shaped.add(target.value)
            self.made.add(target.value)


def _is_count(value: cst.BaseExpression) -> bool:
    """Arithmetic on numbers, or a tuple of it (a grid)."""
    calls = find(value, cst.Call)
    return all(last_name(call.func) in _CHOOSING for call in calls)


def _reduces(value: cst.BaseExpression) -> bool:
    """`x.sum(0)`: one value left of all tiles."""
    return (
        isinstance(value, cst.Call)
        and last_name(value.func) in ("sum", "mean", "amax", "amin")
        and bool(value.args)
    )


def _unreduced(value: cst.CSTNode) -> set[str]:
    """Names that an expression reads outside of `x.sum(0)` and the like."""
    if isinstance(value, cst.Call) and _reduces(value):
        return set()
    own = {value.value} if isinstance(value, cst.Name) else set[str]()
    return own.union(*(_unreduced(child) for child in children(value)))


def read_names(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Names that an expression reads: none behind a dot, no keyword of a call."""
    if isinstance(node, cst.Name):
        yield node
    elif isinstance(node, cst.Attribute):
        yield from read_names(node.value)
    else:
        keyword = node.keyword if isinstance(node, cst.Arg) else None
        for child in children(node):
            if child is not keyword:
                yield from read_names(child)


def names_of(node: cst.CSTNode) -> set[str]:
    return {name.value for name in names_in(node)}


def numbers_in(expr: ast.AST) -> set[int]:
    """The whole numbers written in an expression, but for those in tests."""
    found: set[int] = set()
    todo: list[ast.AST] = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Constant) and type(node.value) is int:
            found.add(node.value)
        parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else ast.iter_child_nodes(node)
        todo.extend(parts)
    return found


def pairs(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    """(target, value) of one statement; value None for what is unpacked."""
    if isinstance(node, cst.Assign):
        for target in node.targets:
            yield from _unpacked(target.target, node.value)
    elif (isinstance(node, cst.AnnAssign) and node.value is not None) or isinstance(node, cst.AugAssign):
        yield node.target, node.value
    elif isinstance(node, cst.For):
        yield from _unpacked(node.target, None)


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression | None
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    if not isinstance(target, cst.Tuple | cst.List):
        yield target, value
        return
    values: list[cst.BaseExpression | None] = [None] * len(target.elements)
    if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(values):
        values = [element.value for element in value.elements]
    for element, part in zip(target.elements, values, strict=True):
        starred = isinstance(element, cst.StarredElement)
        yield from _unpacked(element.value, None if starred else part)


def _function_around(tree: cst.Module, call: cst.Call) -> cst.FunctionDef | None:
    """The innermost function with this launch in its own body."""
    found: cst.FunctionDef | None = None
    for function in find(tree, cst.FunctionDef):
        if any(node is call for node in walk(function.body)):
            found = function
    return found


def _is(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def last_name(func: cst.BaseExpression) -> str:
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""
