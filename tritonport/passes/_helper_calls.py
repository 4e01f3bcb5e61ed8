"""Calls of helpers that ask for program ids go to their task variants, which are handed the ids."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.discover.functions import jit_meanings
from tritonport.engine.context import FileContext, dotted_text
from tritonport.engine.rule import RuleResult
from tritonport.facts.programs import TaskVariant
from tritonport.facts.walk import find


def variant_of_call(file: FileContext, node: cst.Call) -> TaskVariant | None:
    """The variant of the helper that a call stands for, where it needs one."""
    text = dotted_text(node.func)
    if text is None:
        return None
    expr = ast.parse(text, mode="eval").body
    keys = jit_meanings(file.analysis.index, file.analysis.functions, file.module.name, expr)
    found = [v for key in keys if (v := file.programs.variant(key)) is not None and v.leading]
    return found[0] if len(found) == 1 else None


def redirect(result: RuleResult, node: cst.Call, callee: TaskVariant, caller: TaskVariant) -> None:
    """`helper(x)` -> `helper_task(pid_0, x)`."""
    pids, sizes = dict(caller.pids), dict(caller.sizes)
    names = [pids[axis] for axis, _ in callee.pids] + [sizes[axis] for axis, _ in callee.sizes]

    def build(updated: cst.CSTNode) -> cst.Call:
        call = cst.ensure_type(updated, cst.Call)
        func = call.func
        renamed = (
            func.with_changes(attr=cst.Name(callee.name))
            if isinstance(func, cst.Attribute)
            else cst.Name(callee.name)
        )
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        leading = [cst.Arg(cst.Name(name), comma=comma) for name in names]
        if not call.args:
            leading[-1] = leading[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return call.with_changes(func=renamed, args=[*leading, *call.args])

    result.rewrite(node, build, counts=False)


def import_variants(
    file: FileContext, result: RuleResult, called: dict[str, tuple[TaskVariant, int]]
) -> None:
    """Import variants beside the helpers. called: local name -> variant and the number of redirected calls."""
    for node in find(file.tree, cst.ImportFrom) if called else ():
        if isinstance(node.names, cst.ImportStar):
            continue
        wanted = {local: called[local] for alias in node.names if (local := _local_name(alias)) in called}
        if wanted:
            gone = frozenset(
                local for local, (_, calls) in wanted.items() if not _used_elsewhere(file, local, calls)
            )
            names = {local: variant.name for local, (variant, _) in wanted.items()}
            result.rewrite(
                node, lambda updated, names=names, gone=gone: _extended(updated, names, gone), counts=False
            )


def _local_name(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _used_elsewhere(file: FileContext, local: str, calls: int) -> bool:
    """Whether an imported name is still needed once these calls are redirected."""
    if file.module.is_package:
        return True
    uses = sum(isinstance(n, ast.Name) and n.id == local for n in ast.walk(file.module.tree))
    exported = any(isinstance(n, ast.Constant) and n.value == local for n in ast.walk(file.module.tree))
    return uses > calls or exported


def _extended(updated: cst.CSTNode, names: dict[str, str], gone: frozenset[str]) -> cst.ImportFrom:
    node = cst.ensure_type(updated, cst.ImportFrom)
    assert not isinstance(node.names, cst.ImportStar)
    aliases: list[cst.ImportAlias] = []
    for alias in node.names:
        local = _local_name(alias)
        new = cst.ImportAlias(name=cst.Name(names[local])) if local in names else None
        if new is None:
            aliases.append(alias)
        elif local in gone:
            aliases.append(new.with_changes(comma=alias.comma))
        else:
            between = next((a.comma for a in node.names if isinstance(a.comma, cst.Comma)), None)
            comma = between or cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            aliases += [alias.with_changes(comma=comma), new.with_changes(comma=alias.comma)]
    return node.with_changes(names=aliases)
