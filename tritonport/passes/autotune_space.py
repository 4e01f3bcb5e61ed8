"""autotune-space: on the target a tuner tries each configuration once, though upstream lists it per GPU option."""

from __future__ import annotations

import libcst as cst

from tritonport.discover.launches import RUNTIME_MODULE
from tritonport.engine.context import FileContext, JitNode
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts, accesses
from tritonport.facts.walk import code_of
from tritonport.passes._build import call, import_from_runtime, runtime_name
from tritonport.passes._reload import written_whole
from tritonport.passes.kernels import kernels
from tritonport.record import RuleClass

WRAPPER = "distinct"
_KEPT = ("restore_value", "reset_to_zero")


class AutotuneSpace:
    """Wraps the configurations of the tuners of migrated kernels."""

    slug = "autotune-space"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        facts = {kernel.key: kernel.facts for kernel in kernels(file)}
        wrapped = False
        for plan, jit in file.planned():
            for tuner in _tuners(file, jit):
                arg = _configs(file, tuner)
                assert arg is not None
                if isinstance(arg.value, cst.List) and len(arg.value.elements) < 2:
                    result.not_applicable(arg, "there is nothing to choose from", kernel=plan.key)
                elif not _check_outputs(result, tuner, facts.get(plan.key), plan.key):
                    wrapped |= _narrow(file, result, arg, plan.key)
        if wrapped:
            import_from_runtime(file, result, [WRAPPER])
        return result


def _tuners(file: FileContext, jit: JitNode) -> list[cst.Call]:
    """Decorators with configurations: `triton.autotune` and what a project puts in its place."""
    calls = [d.decorator for d in jit.node.decorators if isinstance(d.decorator, cst.Call)]
    return [node for node in calls if _configs(file, node) is not None]


def _configs(file: FileContext, node: cst.Call) -> cst.Arg | None:
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "configs":
            return arg
    is_tuner = file.is_call_of(node, "triton.autotune", "triton.runtime.autotune")
    return node.args[0] if is_tuner and node.args and node.args[0].keyword is None else None


def _narrow(file: FileContext, result: RuleResult, arg: cst.Arg, kernel: str) -> bool:
    if isinstance(arg.value, cst.Call) and _is_ours(file, arg.value):
        return False
    name = runtime_name(file, WRAPPER)
    result.rewrite(
        arg,
        lambda updated: cst.ensure_type(updated, cst.Arg).with_changes(
            value=call(name, [cst.Arg(cst.ensure_type(updated, cst.Arg).value)])
        ),
        kernel=kernel,
    )
    return True


def _is_ours(file: FileContext, node: cst.Call) -> bool:
    """Whether a helper of the run-time module has been at work here: it leaves each configuration once."""
    local = {runtime_name(file, name) for name in (WRAPPER, "without_tiles")}
    imported = any(RUNTIME_MODULE in name.split(".") for name in file.externals(node.func))
    return imported or code_of(node.func) in local


def _check_outputs(result: RuleResult, tuner: cst.Call, facts: KernelFacts | None, kernel: str) -> bool:
    """Reports a tensor that is read and written, and that the tuner does not put back after a trial."""
    given = {a.keyword.value for a in tuner.args if a.keyword is not None}
    if facts is None or given & set(_KEPT) or any(a.star == "**" for a in tuner.args):
        return False
    found = accesses(facts)
    loaded = {base for a in found if a.kind == "load" and not written_whole(facts, a) for base in a.bases}
    changed = sorted(loaded & {base for a in found if a.kind == "store" for base in a.bases})
    if changed:
        names = ", ".join(f"'{name}'" for name in changed)
        why = f"each trial of the tuner starts from the last one's output: give the tuner restore_value=[{names}]"
        result.unresolved(tuner, why, kernel=kernel)
    return bool(changed)


RULE = AutotuneSpace()
