"""Applies the edits of one rule to one tree, bottom-up, so that nested edits compose."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tritonport.engine.rule import Edit, Replacement


class DroppedEdit(RuntimeError):
    """An edit whose node is not in the tree: a bug of the rule, nothing may be written."""


class _Apply(cst.CSTTransformer):
    def __init__(self, edits: Sequence[Edit]) -> None:
        super().__init__()
        self.pending: dict[cst.CSTNode, list[Edit]] = {}
        for edit in edits:
            self.pending.setdefault(edit.node, []).append(edit)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Replacement:  # type: ignore[override]
        result: Replacement = updated_node
        for edit in self.pending.pop(original_node, ()):
            if not isinstance(result, cst.CSTNode):
                raise DroppedEdit(f"two edits on one {type(original_node).__name__}, the first removed or split it")
            result = edit.build(result)
        return result


def apply_edits(tree: cst.Module, edits: Sequence[Edit]) -> cst.Module:
    """The tree with all edits made. Raises DroppedEdit when one of them was not met."""
    if not edits:
        return tree
    transformer = _Apply(edits)
    result = tree.visit(transformer)
    if transformer.pending:
        kinds = sorted({type(node).__name__ for node in transformer.pending})
        raise DroppedEdit(f"{len(transformer.pending)} edits were not applied, on {', '.join(kinds)}")
    return result
