"""Masks `at < size` go where `size` is taken to be a multiple of the tile: an assumption, with its guard."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.engine.context import FileContext, JitNode
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import find
from tritonport.record import RuleClass

MOVES = ("triton.language.load", "triton.language.store")


class WholeTiles:
    """Takes kernels with one launch, whose only tile size is written out there."""

    slug = "whole-tiles"
    rule_class: RuleClass = "assumed"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for plan, jit in file.planned():
            sites = [site for site in file.sites if plan.key in site.kernels]
            if len(sites) == 1 and (passed := _passed(sites[0].node, jit)):
                _masks(file, result, plan.key, jit, *passed)
        return result


def _passed(launch: ast.Call, jit: JitNode) -> tuple[dict[str, str], int] | None:
    """Per kernel parameter the host's name for it, and the tile, where one number is passed by name."""
    names = dict(zip(jit.function.parameters, launch.args, strict=False))
    tiles = [k.value.value for k in launch.keywords if isinstance(k.value, ast.Constant)]
    hosts = {name: node.id for name, node in names.items() if isinstance(node, ast.Name)}
    return (hosts, tiles[0]) if len(tiles) == 1 and isinstance(tiles[0], int) else None


def _masks(
    file: FileContext, result: RuleResult, kernel: str, jit: JitNode, hosts: dict[str, str], tile: int
) -> None:
    for call in find(jit.node.body, cst.Call):
        size = _limit(call) if file.is_call_of(call, *MOVES) else None
        if size in hosts:
            result.rewrite(call, _without_mask, kernel=kernel)
            host = hosts[size]
            result.assume(kernel, f"`{host}` is a multiple of {tile}", f"{host} % {tile} == 0")


def _limit(call: cst.Call) -> str | None:
    """The name on the right of the only comparison in a mask."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == "mask" and isinstance(arg.value, cst.Comparison):
            (target,) = arg.value.comparisons[:1]
            if isinstance(target.operator, cst.LessThan) and isinstance(target.comparator, cst.Name):
                return target.comparator.value
    return None


def _without_mask(updated: cst.CSTNode) -> cst.Call:
    call = cst.ensure_type(updated, cst.Call)
    kept = [a for a in call.args if a.keyword is None or a.keyword.value not in ("mask", "other")]
    return call.with_changes(args=[*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


RULE = WholeTiles()
