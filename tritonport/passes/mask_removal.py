"""mask-removal: a mask goes where the launch's sizes are whole tiles; the masked kernel stays for all other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.functions import called_by_jit
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, accesses
from tritonport.facts.algebra.values import Bound, Mask, alternatives
from tritonport.facts.naming import fresh
from tritonport.facts.walk import names_in
from tritonport.passes._assume import Assumptions
from tritonport.passes._build import quote
from tritonport.passes._tuner_tiles import chosen_above, jit_decorator
from tritonport.passes._whole_tiles import WholeTile, whole_tile
from tritonport.passes.kernels import TileKernel, kernels
from tritonport.record import RuleClass


class MaskRemoval:
    """Adds a flag per size and tile that a heuristic computes, and masks only where it is false."""

    slug = "mask-removal"
    rule_class: RuleClass = "assumed"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        plans, called = file.programs.plans, called_by_jit(file.analysis.functions)
        for kernel in kernels(file):
            if kernel.key in plans and file.jit(kernel.key) is not None and kernel.key not in called:
                _Flags(file, kernel, result).rewrite()
        Assumptions(file, result).guard()
        return result


@dataclass(frozen=True)
class _Place:
    """A masked access and what has to hold for its mask to be true in every lane."""

    access: Access
    tiles: tuple[WholeTile, ...]


class _Flags:
    """The flags of one kernel. names: by (size, tile), for sizes that only the launch knows."""

    def __init__(self, file: FileContext, kernel: TileKernel, result: RuleResult) -> None:
        self.file, self.kernel, self.result = file, kernel, result
        self.facts = kernel.facts
        self.taken = {name.value for name in names_in(self.facts.function)}
        self.names: dict[tuple[str, str], str] = {}
        params = (*self.facts.function.params.params, *self.facts.function.params.kwonly_params)
        self._defaults = {p.name.value for p in params if p.default is not None}
        """Parameters that a heuristic does not see where a launch leaves them out."""

    def rewrite(self) -> None:
        if self.facts.calls_of("dot"):
            why = "kernels with tl.dot gain nothing without masks, and some lose the two-core split (see the page)"
            self.result.not_applicable(self.facts.function, why, kernel=self.kernel.key)
            return
        places = [place for access in accesses(self.facts) if (place := self._place(access)) is not None]
        for place in places:
            test = self._test(place)
            self.result.rewrite(
                place.access.node, lambda node, test=test: _without_mask(node, test), kernel=self.kernel.key
            )
        if self.names:
            self._declare()

    def _place(self, access: Access) -> _Place | None:
        found: list[WholeTile] = []
        bounds = self._bounds(access) if access.why is None else None
        for bound in bounds or ():
            tile = whole_tile(self.file, self.kernel.key, bound)
            if tile is None or (not tile.constexpr and self._defaults & {tile.size, tile.extent}):
                why = f"not known to be true for whole tiles: {bound.left} {bound.op} {bound.right}"
                self.result.not_applicable(access.node, why, kernel=self.kernel.key)
                return None
            if tile.size != tile.extent:  # else one tile is all there is
                found.append(tile)
        return _Place(access, tuple(dict.fromkeys(found))) if found else None

    def _bounds(self, access: Access) -> list[Bound] | None:
        """The compares of a mask or a boundary check; None where one is not understood, or was dealt with."""
        argument = access.mask if access.mask is not None else _checks(access.node)
        if argument is None or isinstance(argument, cst.IfExp):
            return None
        if access.mask is None:
            leaves = [address.bounds for address in access.addresses if address.block is not None]
        else:
            values = alternatives(self.facts.value(access.mask))
            leaves = [leaf.bounds if isinstance(leaf, Mask) else None for _, leaf in values]
        return None if any(not leaf for leaf in leaves) else [b for leaf in leaves for b in leaf or ()]

    def _test(self, place: _Place) -> str:
        parts: list[str] = []
        for tile in place.tiles:
            parts += [f"not {tile.unless}"] if tile.unless else []
            parts.append(f"{tile.size} % {tile.extent} == 0" if tile.constexpr else self._flag(tile))
        test, *rest = dict.fromkeys(parts)
        for part in rest:  # the front end takes two operands at a time
            test = f"({test}) and {part}" if " and " in test else f"{test} and {part}"
        return test

    def _flag(self, tile: WholeTile) -> str:
        key = (tile.size, tile.extent)
        if key not in self.names:
            self.names[key] = fresh(f"EVEN_{tile.size.upper()}", self.taken)
            self.taken.add(self.names[key])
        return self.names[key]

    def _declare(self) -> None:
        """The flags as constexpr parameters, and the heuristic that computes them, right above the kernel."""
        values = {
            flag: f"{self._arg(size)} % {extent if extent.isdecimal() else self._arg(extent)} == 0"
            for (size, extent), flag in self.names.items()
        }
        node = self.facts.function
        self.result.rewrite(
            jit_decorator(self.file, node),
            lambda old: chosen_above(self.file, old, values),
            kernel=self.kernel.key,
            counts=False,
        )
        tl = self.file.analysis.index.local_name(self.file.module.name, "triton.language") or "tl"
        self.result.rewrite(
            node.params,
            lambda old: _with_flags(old, list(values), f"{tl}.constexpr"),
            kernel=self.kernel.key,
            counts=False,
        )

    def _arg(self, name: str) -> str:
        mark = quote(self.file)
        return f"args[{mark}{name}{mark}]"


def _with_flags(updated: cst.CSTNode, flags: list[str], annotation: str) -> cst.Parameters:
    """The parameters with flags behind them, laid out as the last one is."""
    old = cst.ensure_type(updated, cst.Parameters)
    *params, last = old.params
    default = cst.parse_expression("False") if last.default is not None else None
    between, end = _commas(params, last)
    added = [
        cst.Param(
            cst.Name(flag), cst.Annotation(cst.parse_expression(annotation)), default=default, comma=between
        )
        for flag in flags
    ]
    added[-1] = added[-1].with_changes(comma=end)
    return old.with_changes(params=[*params, last.with_changes(comma=between), *added])


def _commas(params: Sequence[cst.Param], last: cst.Param) -> tuple[cst.Comma, cst.Comma | cst.MaybeSentinel]:
    """(the comma behind the last parameter once it is not the last, the one at the end); a comment stays behind it."""
    plain = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    inner = params[-1].comma if params else plain
    between = inner if isinstance(inner, cst.Comma) else plain
    end = last.comma
    if isinstance(end, cst.Comma) and isinstance(end.whitespace_after, cst.ParenthesizedWhitespace):
        space = between.whitespace_after
        if isinstance(space, cst.ParenthesizedWhitespace):
            commented = end.whitespace_after.with_changes(indent=space.indent, last_line=space.last_line)
            between = between.with_changes(whitespace_after=commented)
        bare = end.whitespace_after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        end = end.with_changes(whitespace_after=bare)
    return between, end


def _checks(node: cst.Call) -> cst.BaseExpression | None:
    found = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "boundary_check"]
    return found[0] if found else None


def _without_mask(updated: cst.CSTNode, test: str) -> cst.Call:
    """The access with `None if test else mask`, and `other` likewise: it may not stand without a mask."""
    node = cst.ensure_type(updated, cst.Call)
    first = 2 if isinstance(node.func, cst.Attribute) and node.func.attr.value == "store" else 1
    absent = {"mask": "None", "other": "None", "boundary_check": "()"}
    args: list[cst.Arg] = []
    for index, arg in enumerate(node.args):
        name = (
            arg.keyword.value if arg.keyword is not None else {first: "mask", 2 * first: "other"}.get(index)
        )
        if name in absent and (name != "other" or first == 1):
            chosen = cst.IfExp(cst.parse_expression(test), cst.parse_expression(absent[name]), arg.value)
            arg = arg.with_changes(value=chosen)  # noqa: PLW2901
        args.append(arg)
    return node.with_changes(args=args)


RULE = MaskRemoval()
