"""What the target has no safe form for is shown, never rewritten: fp64, results of atomics, order between tasks."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonport.discover.functions import reached
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import code_of, find, walk
from tritonport.passes.between_tasks import coupled
from tritonport.passes.kernels import kernels
from tritonport.record import RuleClass

FP64 = "triton.language.float64"
ATOMIC = "triton.language.atomic_"


class Refuse:
    """Looks at every jit function that a migrated kernel reaches in this file."""

    slug = "refuse"
    rule_class: RuleClass = "manual"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        facts = {kernel.key: kernel.facts for kernel in kernels(file)}
        for key in file.programs.plans:
            if key in facts:
                for node, why in coupled(file, key, facts[key]):
                    result.unresolved(node, why, kernel=key)
            for function in reached(file.analysis.functions, key):
                jit = file.jit(function.key)
                if jit is not None:
                    for node, why in _refused(file, jit.node):
                        result.unresolved(node, why, kernel=key)
        return result


def _refused(file: FileContext, function: cst.FunctionDef) -> Iterator[tuple[cst.CSTNode, str]]:
    alone = {node.value for node in find(function, cst.Expr)}
    for node in walk(function.body):
        if isinstance(node, cst.Attribute) and FP64 in file.externals(node):
            yield node, "fp64 crashes the target's compiler: compute in fp32, or keep this kernel on the host"
        elif isinstance(node, cst.Call) and node not in alone and _is_atomic(file, node):
            name = code_of(node.func)
            yield (
                node,
                f"the result of `{name}` is not reliable on the target: count first, then place, in two kernels",
            )


def _is_atomic(file: FileContext, node: cst.Call) -> bool:
    return any(name.startswith(ATOMIC) for name in file.externals(node.func))


RULE = Refuse()
