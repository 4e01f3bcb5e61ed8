"""Whether a number of host code is surely not negative: Python and device code round differently below zero."""

from __future__ import annotations

import ast

from tritonport.discover.scopes import Scope, bindings, set_elsewhere

_COUNTS = frozenset({"len", "abs", "numel", "size", "dim", "element_size", "next_power_of_2", "range"})
_FROM_ARGUMENTS = frozenset({"min", "max", "sum", "int", "cdiv"})
_SHAPES = frozenset({"shape", "size", "stride"})


class Signs:
    """Asks about expressions in one scope. What a caller passes is taken for a size.

    meta: the name of the tuned parameters in a grid function, which are sizes of tiles.
    """

    def __init__(self, scope: Scope, meta: str | None = None) -> None:
        self.scope, self.meta = scope, meta

    def never_negative(self, expr: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """seen: names that are being asked about, so that `n = n // 2` in a loop ends."""
        if isinstance(expr, ast.Constant):
            return isinstance(expr.value, int) and expr.value >= 0
        if isinstance(expr, ast.Name):
            return expr.id in seen or self._name(expr.id, seen | {expr.id})
        if isinstance(expr, ast.BinOp):
            fine = isinstance(
                expr.op, ast.Add | ast.Mult | ast.FloorDiv | ast.Mod | ast.Pow | ast.RShift | ast.LShift
            )
            return fine and self.never_negative(expr.left, seen) and self.never_negative(expr.right, seen)
        if isinstance(expr, ast.IfExp):
            return self.never_negative(expr.body, seen) and self.never_negative(expr.orelse, seen)
        if isinstance(expr, ast.BoolOp):
            return all(self.never_negative(value, seen) for value in expr.values)
        if isinstance(expr, ast.Subscript):
            return self._is_meta(expr) or _last(expr.value) in _SHAPES
        if isinstance(expr, ast.Call):
            return self._call(expr, seen)
        return isinstance(expr, ast.Compare)

    def positive(self, expr: ast.expr) -> bool:
        """A tile size, a number above zero, or a product of such."""
        if isinstance(expr, ast.Constant):
            return isinstance(expr.value, int) and expr.value > 0
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Mult):
            return self.positive(expr.left) and self.positive(expr.right)
        return self._is_meta(expr)

    def _is_meta(self, expr: ast.expr) -> bool:
        return (
            isinstance(expr, ast.Subscript)
            and isinstance(expr.value, ast.Name)
            and expr.value.id == self.meta
        )

    def _call(self, expr: ast.Call, seen: frozenset[str]) -> bool:
        name = _last(expr.func)
        if name in _FROM_ARGUMENTS:
            return bool(expr.args) and all(self.never_negative(arg, seen) for arg in expr.args)
        return name in _COUNTS

    def _name(self, name: str, seen: frozenset[str]) -> bool:
        if name in set_elsewhere(self.scope):
            return False
        nodes = bindings(self.scope).get(name, ())
        return bool(nodes) and all(self._bound(node, name, seen) for node in nodes)

    def _bound(self, node: ast.AST, name: str, seen: frozenset[str]) -> bool:
        if node is self.scope:
            return True
        if isinstance(node, ast.AugAssign):
            fine = isinstance(node.op, ast.Add | ast.Mult | ast.FloorDiv | ast.Mod)
            return fine and self.never_negative(node.value, seen)
        if isinstance(node, ast.AnnAssign | ast.NamedExpr):
            return node.value is not None and self.never_negative(node.value, seen)
        if isinstance(node, ast.Assign):
            return all(self._part(target, node.value, name, seen) for target in node.targets)
        return False

    def _part(self, target: ast.expr, value: ast.expr, name: str, seen: frozenset[str]) -> bool:
        """What a target takes of a value; True where the name is not in the target."""
        if isinstance(target, ast.Name):
            return target.id != name or self.never_negative(value, seen)
        if not isinstance(target, ast.Tuple | ast.List):
            return all(not isinstance(n, ast.Name) or n.id != name for n in ast.walk(target))
        if isinstance(value, ast.Tuple | ast.List) and not any(
            isinstance(e, ast.Starred) for e in value.elts
        ):
            pairs = zip(target.elts, value.elts, strict=False)
            return len(target.elts) == len(value.elts) and all(self._part(t, v, name, seen) for t, v in pairs)
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else [ast.Starred(value)]
        return all(
            _is_shape(v.value) if isinstance(v, ast.Starred) else self.never_negative(v, seen) for v in values
        )


def _is_shape(expr: ast.expr) -> bool:
    """`x.shape`, a slice of it, or `x.size()`."""
    if isinstance(expr, ast.Subscript):
        return _is_shape(expr.value)
    return _last(expr.func if isinstance(expr, ast.Call) else expr) in _SHAPES


def _last(expr: ast.expr) -> str:
    """The last part of a dotted name; empty for anything else."""
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else ""
