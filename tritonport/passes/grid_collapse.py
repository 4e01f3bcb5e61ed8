"""[x, y, z] programs -> at most as many programs as physical cores, each looping over its share of the tasks."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.discover.functions import NUM_PROGRAMS, PROGRAM_ID
from tritonport.discover.launches import LaunchSite
from tritonport.engine.apply import apply_edits
from tritonport.engine.context import FileContext, JitNode, dotted_text
from tritonport.engine.rule import RuleResult
from tritonport.facts.id_axes import axis_in
from tritonport.facts.programs import TaskVariant
from tritonport.facts.walk import code_of, find
from tritonport.passes._build import call, import_from_runtime, keyword, runtime_name
from tritonport.passes._helper_calls import import_variants, redirect, variant_of_call
from tritonport.passes._persistent import HELPER_COMMENT, TASK_COMMENT, persistent_kernel, task_function
from tritonport.record import RuleClass

Called = dict[str, tuple[TaskVariant, int]]


class GridCollapse:
    """Splits kernels into a persistent loop and a task function, and wraps their launches."""

    slug = "grid-collapse"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        called: Called = {}
        self._kernels(file, result, called)
        self._helpers(file, result, called)
        import_variants(file, result, called)
        self._launches(file, result)
        return result

    def _kernels(self, file: FileContext, result: RuleResult, called: Called) -> None:
        moved: dict[str, list[cst.FunctionDef]] = {}
        for plan, jit in file.planned():
            _hand_in_ids(file, result, plan.variant, jit, called)
            owner = jit.function.definition.owner
            tasks = moved.setdefault(owner, []) if owner else None

            def build(updated: cst.CSTNode, plan=plan, jit=jit, tasks=tasks):  # type: ignore[no-untyped-def]
                node = cst.ensure_type(updated, cst.FunctionDef)
                task = task_function(file, plan.variant, jit, node, TASK_COMMENT)
                kernel = persistent_kernel(file, plan, node)
                if tasks is None:
                    return cst.FlattenSentinel([kernel, task])
                tasks.append(task)
                return kernel

            result.rewrite(jit.node, build, kernel=plan.key)
        for owner, tasks in moved.items():
            # Kernels of a class: a jit function sees globals only, so their tasks stand before the class.
            node = _class_node(file, owner)
            result.rewrite(node, lambda updated, tasks=tasks: _before(updated, tasks), counts=False)

    def _helpers(self, file: FileContext, result: RuleResult, called: Called) -> None:
        for key, variant in file.programs.helpers.items():
            jit = file.jit(key)
            if jit is None:
                continue
            ids = RuleResult()
            _hand_in_ids(file, ids, variant, jit, called)
            # The helper itself stays for kernels that are not migrated; the variant is a changed copy of it.
            changed = apply_edits(cst.Module(body=[jit.node]), ids.edits).body[0]
            task = task_function(
                file, variant, jit, cst.ensure_type(changed, cst.FunctionDef), HELPER_COMMENT
            )
            result.rewrite(jit.node, lambda node, task=task: cst.FlattenSentinel([node, task]), counts=False)

    def _launches(self, file: FileContext, result: RuleResult) -> None:
        wrappers: set[str] = set()
        for site in file.sites:
            planned = [k for k in site.kernels if k in file.programs.plans]
            if not planned or site.wrapped:
                continue
            name, chosen = _wrapper(file, site, planned)
            wrappers.add(name)
            target = cst.ensure_type(file.launch_call(site).func, cst.Subscript).value
            changed = _changed_axes(file, site, planned[0])
            extra = [keyword(k, changed.get(k, v)) for k, v in file.programs.site_extra(site)]
            args = [*chosen, *extra]
            result.rewrite(
                target,
                lambda updated, name=name, args=args: call(
                    runtime_name(file, name), [cst.Arg(_expression(updated)), *args]
                ),
                kernel=planned[0],
            )
        import_from_runtime(file, result, wrappers)


def _changed_axes(file: FileContext, site: LaunchSite, key: str) -> dict[str, str]:
    """Sizes that a rule before gave to axes of this launch's grid, by the parameter that carries them."""
    names = file.programs.plans[key].axis_names
    return {names[axis]: text for (at, axis), text in file.memo.axes.items() if at == site.ordinal}


def _expression(node: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    return node


def _class_node(file: FileContext, name: str) -> cst.ClassDef:
    return next(n for n in file.tree.body if isinstance(n, cst.ClassDef) and n.name.value == name)


def _before(updated: cst.CSTNode, tasks: list[cst.FunctionDef]) -> cst.FlattenSentinel[cst.CSTNode]:
    node = cst.ensure_type(updated, cst.ClassDef)
    spaced = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    return cst.FlattenSentinel(
        [*tasks, node.with_changes(leading_lines=[*spaced, *_no_blank(node.leading_lines)])]
    )


def _no_blank(lines: object) -> list[cst.EmptyLine]:
    assert isinstance(lines, list | tuple)
    return [line for line in lines if isinstance(line, cst.EmptyLine) and line.comment is not None]


def _wrapper(file: FileContext, site: LaunchSite, planned: list[str]) -> tuple[str, list[cst.Arg]]:
    """The wrapper's name; where an alias may stand for kernels of both kinds, it is told the vector kernels."""
    plans = [file.programs.plans[k] for k in planned]
    if all(p.cube for p in plans):
        return "on_cube_cores", []
    if not any(p.cube for p in plans):
        return "on_vector_cores", []
    vector = [
        p.key.partition(":")[2] for p in plans if not p.cube and p.key.startswith(f"{file.module.name}:")
    ]
    return "on_cores", [keyword("vector", f"({', '.join(vector)},)" if vector else "()")]


def _hand_in_ids(
    file: FileContext, result: RuleResult, variant: TaskVariant, jit: JitNode, called: Called
) -> None:
    """Program ids become the parameters; helpers that ask for ids are called as their variants."""
    names = {PROGRAM_ID: dict(variant.pids), NUM_PROGRAMS: dict(variant.sizes)}
    for node in find(jit.node.body, cst.Call):
        for dotted in {PROGRAM_ID, NUM_PROGRAMS} & set(file.externals(node.func)):
            asked = ast.parse(code_of(node), mode="eval").body
            axis = axis_in(file.analysis, jit.function, asked)
            assert axis is not None, "refused when it was planned"
            result.rewrite(node, lambda _, name=names[dotted][axis]: cst.Name(name), counts=False)
        callee = variant_of_call(file, node)
        if callee is not None:
            redirect(result, node, callee, variant)
            local = dotted_text(node.func) or ""
            called[local] = (callee, called.get(local, (callee, 0))[1] + 1)


RULE = GridCollapse()
