"""Calls of helpers that ask for program ids go to their task variants, which are handed the ids."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from tritonport.discover.closure import absolute_module
from tritonport.discover.functions import jit_meanings
from tritonport.discover.index import ModuleRef
from tritonport.engine.context import FileContext, dotted_text
from tritonport.engine.rule import RuleResult
from tritonport.facts.naming import fresh
from tritonport.facts.programs import TaskVariant
from tritonport.facts.walk import code_of, find
from tritonport.passes._build import own_names, with_import_line


def variant_of_call(file: FileContext, node: cst.Call) -> TaskVariant | None:
    """The variant of the helper that a call stands for, where it needs one, under the name that it has in this file."""
    text = dotted_text(node.func)
    if text is None:
        return None
    expr = ast.parse(text, mode="eval").body
    keys = jit_meanings(file.analysis.index, file.analysis.functions, file.module.name, expr)
    found = [v for key in keys if (v := file.programs.variant(key)) is not None and v.leading]
    return replace(found[0], name=_name_here(file, text, found[0])) if len(found) == 1 else None


def _home(variant: TaskVariant) -> str:
    return variant.key.partition(":")[0]


def _name_here(file: FileContext, text: str, variant: TaskVariant) -> str:
    """How a file calls a variant. text: how it calls the helper.

    `module.helper` stays dotted where the module is the one that defines the helper; else the variant is imported.
    """
    owner, _, _ = text.rpartition(".")
    if owner:
        meanings = file.analysis.index.meanings(file.module.name, ast.parse(owner, mode="eval").body)
        if "." in variant.key.partition(":")[2] or set(meanings) == {ModuleRef(_home(variant))}:
            return f"{owner}.{variant.name}"
    return variant.name if _home(variant) == file.module.name else _imported_name(file, variant)


def _imported_name(file: FileContext, variant: TaskVariant) -> str:
    """A name that nothing else in the file has, variants of other modules that are called the same included."""
    alike = sorted((v for v in _variants(file) if v.name == variant.name), key=lambda v: v.key)
    taken = {*own_names(file), *(v.name for v in alike if _home(v) == file.module.name)}
    name = variant.name
    for other in alike:
        if _home(other) != file.module.name:
            name = fresh(other.name, taken)
            taken.add(name)
        if other.key == variant.key:
            break
    return name


def _variants(file: FileContext) -> Iterator[TaskVariant]:
    yield from (plan.variant for plan in file.programs.plans.values())
    yield from file.programs.helpers.values()


def redirect(result: RuleResult, node: cst.Call, callee: TaskVariant, caller: TaskVariant) -> None:
    """`helper(x)` -> `helper_task(pid_0, x)`."""
    pids, sizes = dict(caller.pids), dict(caller.sizes)
    names = [pids[axis] for axis, _ in callee.pids] + [sizes[axis] for axis, _ in callee.sizes]

    def build(updated: cst.CSTNode) -> cst.Call:
        call = cst.ensure_type(updated, cst.Call)
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        leading = [cst.Arg(cst.Name(name), comma=comma) for name in names]
        if not call.args:
            leading[-1] = leading[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return call.with_changes(func=cst.parse_expression(callee.name), args=[*leading, *call.args])

    result.rewrite(node, build, counts=False)


def import_variants(
    file: FileContext, result: RuleResult, called: dict[str, tuple[TaskVariant, int]]
) -> None:
    """Import variants of other modules. called: how a helper is called -> variant and number of redirected calls."""
    wanted = {
        local: item
        for local, item in called.items()
        if _home(item[0]) != file.module.name and "." not in item[0].name
    }
    beside: set[str] = set()
    for node in find(file.tree, cst.ImportFrom) if wanted else ():
        if not isinstance(node.names, cst.ImportStar):
            beside |= _beside_helpers(file, result, node, wanted)
    lines: dict[str, dict[str, str]] = {}
    for local, (variant, _) in wanted.items():
        if local not in beside:
            lines.setdefault(_home(variant), {})[_true_name(file, variant)] = variant.name
    for module, names in sorted(lines.items()):
        result.rewrite(
            file.tree,
            lambda tree, module=module, names=names: with_import_line(
                cst.ensure_type(tree, cst.Module), module, names
            ),
            counts=False,
        )


def _true_name(file: FileContext, variant: TaskVariant) -> str:
    """The name of a variant in the module that defines it."""
    found = file.programs.variant(variant.key)
    assert found is not None, "it was planned"
    return found.name


def _beside_helpers(
    file: FileContext, result: RuleResult, node: cst.ImportFrom, called: dict[str, tuple[TaskVariant, int]]
) -> set[str]:
    """Has an import of helpers from the module that defines them give their variants too; the helpers' local names."""
    parsed = ast.parse(code_of(node)).body[0]
    assert isinstance(parsed, ast.ImportFrom)
    home = absolute_module(file.module, parsed)
    found = {
        local: called[local]
        for alias in parsed.names
        if (local := alias.asname or alias.name) in called and called[local][0].key == f"{home}:{alias.name}"
    }
    if found:
        gone = frozenset(
            local for local, (_, calls) in found.items() if not _used_elsewhere(file, local, calls)
        )
        names = {local: (_true_name(file, variant), variant.name) for local, (variant, _) in found.items()}
        result.rewrite(node, lambda updated: _extended(updated, names, gone), counts=False)
    return set(found)


def _local_name(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name


def _used_elsewhere(file: FileContext, local: str, calls: int) -> bool:
    """Whether an imported name is still needed once these calls are redirected."""
    if file.module.is_package:
        return True
    uses = sum(isinstance(n, ast.Name) and n.id == local for n in ast.walk(file.module.tree))
    exported = any(isinstance(n, ast.Constant) and n.value == local for n in ast.walk(file.module.tree))
    return uses > calls or exported


def _extended(
    updated: cst.CSTNode, names: dict[str, tuple[str, str]], gone: frozenset[str]
) -> cst.ImportFrom:
    """names: local name of a helper -> its variant's name there and here. gone: helpers needed no more."""
    node = cst.ensure_type(updated, cst.ImportFrom)
    assert not isinstance(node.names, cst.ImportStar)
    aliases: list[cst.ImportAlias] = []
    for alias in node.names:
        local = _local_name(alias)
        new = _alias(*names[local]) if local in names else None
        if new is None:
            aliases.append(alias)
        elif local in gone:
            aliases.append(new.with_changes(comma=alias.comma))
        else:
            between = next((a.comma for a in node.names if isinstance(a.comma, cst.Comma)), None)
            comma = between or cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            aliases += [alias.with_changes(comma=comma), new.with_changes(comma=alias.comma)]
    return node.with_changes(names=aliases)


def _alias(name: str, local: str) -> cst.ImportAlias:
    asname = cst.AsName(cst.Name(local)) if local != name else None
    return cst.ImportAlias(cst.Name(name), asname)
