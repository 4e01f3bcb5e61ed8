"""Which parameters of a kernel are pointers: those that reach an address by additions alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonport.facts.walk import walk

_BASES = {"load": 0, "store": 0, "make_block_ptr": 0, "advance": 0}
_ATOMIC = "atomic_"


def pointer_parameters(function: cst.FunctionDef) -> frozenset[str]:
    """Names of the parameters that are pointers, by use: no name and no type is looked at."""
    uses = _Uses(function.body)
    found: set[str] = set()
    waiting = [name for base in uses.bases for name in _summands(base)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [n for expr in uses.assigned.get(name, ()) for n in _summands(expr)]
    params = {p.name.value for p in (*function.params.params, *function.params.kwonly_params)}
    return frozenset((found & params) - uses.numbers)


def _summands(node: cst.BaseExpression) -> Iterator[str]:
    """Names that an expression adds up, alone or by subscripts and choices."""
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
        yield from _summands(node.left)
        yield from _summands(node.right)
    elif isinstance(node, cst.Subscript):
        yield from _summands(node.value)
    elif isinstance(node, cst.IfExp):
        yield from _summands(node.body)
        yield from _summands(node.orelse)
    elif isinstance(node, cst.Call) and node.args and called(node) in _BASES:
        yield from _summands(node.args[0].value)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        yield from _summands(node.func.value)


def called(node: cst.Call) -> str:
    """Last part of the name of what is called."""
    func = node.func
    return (
        func.attr.value
        if isinstance(func, cst.Attribute)
        else func.value
        if isinstance(func, cst.Name)
        else ""
    )


class _Uses:
    """What a body does with names. numbers: names in places where only a number can stand."""

    def __init__(self, body: cst.CSTNode) -> None:
        self.bases: list[cst.BaseExpression] = []
        self.assigned: dict[str, list[cst.BaseExpression]] = {}
        self.numbers: set[str] = set()
        for node in walk(body):
            self._see(node)

    def _see(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Call):
            self._call(node)
        elif isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, (cst.Add, cst.Subtract)):
            self._number(node.left, node.right)
        elif isinstance(node, cst.Comparison):
            if not any(isinstance(c.operator, (cst.Is, cst.IsNot)) for c in node.comparisons):
                self._number(node.left, *(c.comparator for c in node.comparisons))
        elif isinstance(node, cst.Assign):
            for target in node.targets:
                self._assign(target.target, node.value)
        elif isinstance(node, cst.AugAssign) and isinstance(
            node.operator, (cst.AddAssign, cst.SubtractAssign)
        ):
            self._assign(node.target, node.value)

    def _call(self, node: cst.Call) -> None:
        name = called(node)
        if node.args and (name in _BASES or name.startswith(_ATOMIC)):
            self.bases.append(node.args[0].value)
        elif name in ("range", "static_range", "cdiv", "min", "max", "minimum", "maximum", "arange"):
            self._number(*(a.value for a in node.args))
        elif name == "to" and isinstance(node.func, cst.Attribute):
            self._number(node.func.value)

    def _number(self, *nodes: cst.BaseExpression) -> None:
        self.numbers.update(n.value for n in nodes if isinstance(n, cst.Name))

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            self.assigned.setdefault(target.value, []).append(value)
        elif isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
            for left, right in zip(target.elements, value.elements, strict=False):
                self._assign(left.value, right.value)
