"""Applies the edits of one rule to one tree, bottom-up, so that nested edits compose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from tritonport.engine.rule import Edit, Replacement
from tritonport.facts.walk import is_node, parts


class DroppedEdit(RuntimeError):
    """An edit whose node is not in the tree: a bug of the rule, nothing may be written."""


class _Apply:
    """Rebuilds the path from each edited node up to the root, and nothing else."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.pending: dict[cst.CSTNode, list[Edit]] = {}
        for edit in edits:
            self.pending.setdefault(edit.node, []).append(edit)

    def rebuilt(self, node: cst.CSTNode) -> Replacement:
        changes: dict[str, Any] = {}
        for name in parts(type(node)):
            old = getattr(node, name)
            new = self._field(old)
            if new is not old:
                changes[name] = new
        result: Replacement = node.with_changes(**changes) if changes else node
        for edit in self.pending.pop(node, ()):
            if not isinstance(result, cst.CSTNode):
                raise DroppedEdit(f"two edits on one {type(node).__name__}, the first removed or split it")
            result = edit.build(result)
        return result

    def _field(self, value: Any) -> Any:
        if is_node(type(value)):
            new = self.rebuilt(value)
            if not isinstance(new, cst.CSTNode):
                raise DroppedEdit(f"a {type(value).__name__} outside a list cannot be removed or split")
            return new
        if not isinstance(value, list | tuple):
            return value
        items: list[Any] = []
        changed = False
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            new = self.rebuilt(item) if is_node(type(item)) else item
            changed |= new is not item
            if isinstance(new, cst.FlattenSentinel):
                items += new
            elif new is not cst.RemovalSentinel.REMOVE:
                items.append(new)
        return (tuple(items) if isinstance(value, tuple) else items) if changed else value


def apply_edits(tree: cst.Module, edits: Sequence[Edit]) -> cst.Module:
    """The tree with all edits made. Raises DroppedEdit when one of them was not met."""
    if not edits:
        return tree
    applied = _Apply(edits)
    result = applied.rebuilt(tree)
    if applied.pending:
        kinds = sorted({type(node).__name__ for node in applied.pending})
        raise DroppedEdit(f"{len(applied.pending)} edits were not applied, on {', '.join(kinds)}")
    return cst.ensure_type(result, cst.Module)
