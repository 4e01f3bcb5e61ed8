"""What the user asserts about sizes (`--assume "T % 64 == 0"`): read once, checked by sympy, emitted as a guard."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.parsing.sympy_parser import parse_expr

from tritonport.errors import UserError

_SIGNS: dict[type[ast.cmpop], Any] = {
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}
_ALLOWED = (
    ast.Compare,
    ast.BinOp,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Mod,
    ast.FloorDiv,
    *_SIGNS,
)


@dataclass(frozen=True, slots=True)
class Assumption:
    """text: as it was written. names: parameters of kernels that it speaks of, sorted."""

    text: str
    names: tuple[str, ...]


def parse_assumption(text: str) -> Assumption:
    """One compare of whole numbers over kernel parameters. Raises UserError for anything else."""
    way_out = 'write one compare over parameters of a kernel, like --assume "T % 64 == 0"'
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise UserError(f"--assume {text!r} is no expression: {error.msg}", way_out) from error
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or not all(map(_allowed, ast.walk(tree))):
        raise UserError(f"--assume {text!r} is not one compare of whole numbers", way_out)
    relation = _relation(tree)
    if relation in (sympy.true, sympy.false):
        raise UserError(f"--assume {text!r} is always {bool(relation)}", way_out)
    names = sorted(str(symbol) for symbol in relation.free_symbols)
    return Assumption(ast.unparse(tree), tuple(names))


def _allowed(node: ast.AST) -> bool:
    whole = not isinstance(node, ast.Constant) or (
        isinstance(node.value, int) and not isinstance(node.value, bool)
    )
    return isinstance(node, _ALLOWED) and whole


def _relation(tree: ast.Compare) -> Any:
    """The compare as sympy sees it, over integers that are not negative."""
    names = {
        n.id: sympy.Symbol(n.id, integer=True, nonnegative=True)
        for n in ast.walk(tree)
        if isinstance(n, ast.Name)
    }
    left, right = (parse_expr(ast.unparse(side), names) for side in (tree.left, tree.comparators[0]))
    return _SIGNS[type(tree.ops[0])](left, right)
