"""dot-precision: precisions of `tl.dot` that the target does not have become the one that it takes by default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from tritonport.discover.functions import reached
from tritonport.engine.context import FileContext, JitNode
from tritonport.engine.rule import RuleResult
from tritonport.facts.asked import Evaluator, NotFollowed
from tritonport.facts.walk import children, code_of, find
from tritonport.passes._build import call, import_from_runtime, runtime_name
from tritonport.passes.capability_probe import queries
from tritonport.passes.launch_options import CONFIG
from tritonport.record import RuleClass

WRAPPER = "dot_precision"
OPTIONS = ("input_precision", "allow_tf32")
DOT = "triton.language.dot"
TAKEN = frozenset({"ieee", "hf32"})
"""triton-ascend 3.2.0, NPUOptions.allowed_dot_input_precisions; others, and allow_tf32=True, are front-end errors."""
_NOT_FOLLOWED = object()


class DotPrecision:
    """A literal leaves the product; a name is followed to the launches, configurations and constants that give it."""

    slug = "dot-precision"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        host = _Host(file, result)
        for key in file.programs.plans:
            for function in reached(file.analysis.functions, key):
                jit = file.jit(function.key)
                if jit is not None:
                    host.dots(jit, key)
        host.launches()
        if host.wrapped:
            import_from_runtime(file, result, [WRAPPER])
        return result


class _Host:
    """The edits of one file; every node is edited once, however many kernels reach it."""

    def __init__(self, file: FileContext, result: RuleResult) -> None:
        self.file, self.result = file, result
        self.name = runtime_name(file, WRAPPER)
        self.evaluator = Evaluator(file.analysis.index, queries())
        self.done: set[cst.CSTNode] = set()
        self.wrapped = False

    def dots(self, jit: JitNode, kernel: str) -> None:
        """Products in a jit function, and what they name in this file."""
        for node in find(jit.node.body, cst.Call):
            arg = _option(node) if self.file.is_call_of(node, DOT) else None
            if arg is None or node in self.done or self._is_taken(arg.value):
                continue
            self.done.add(node)
            if isinstance(arg.value, cst.SimpleString) or code_of(arg.value) == "True":
                self.result.rewrite(node, _with_default, kernel=kernel)
            elif isinstance(arg.value, cst.Name):
                self._named(jit, arg.value.value, node, kernel)
            else:
                why = f"`{code_of(arg.value)}`: the target takes ieee or hf32; pass the precision as a constexpr"
                self.result.unresolved(node, why, kernel=kernel)

    def _named(self, jit: JitNode, name: str, node: cst.Call, kernel: str) -> None:
        if name in jit.function.parameters:
            self._configurations(jit, name, kernel)
            return
        constants = list(_constants(self.file.tree, name))
        for value, tests in constants:
            if self._reached(tests):
                self._wrap(_inside(value), kernel)
        if not constants:
            why = f"`{name}` comes from elsewhere: the target takes ieee or hf32; pass the precision as a constexpr"
            self.result.unresolved(node, why, kernel=kernel)

    def _reached(self, tests: tuple[tuple[cst.BaseExpression, bool], ...]) -> bool:
        """Whether an assignment may run on the target: no test around it is known to come out otherwise."""
        return all(self._known(test) in (_NOT_FOLLOWED, outcome) for test, outcome in tests)

    def _known(self, node: cst.BaseExpression) -> object:
        try:
            expr = ast.parse(f"({code_of(node)})", mode="eval").body
            return self.evaluator.evaluate(self.file.module.name, expr, {})
        except NotFollowed:
            return _NOT_FOLLOWED

    def _configurations(self, jit: JitNode, name: str, kernel: str) -> None:
        for decorator in jit.node.decorators:
            for config in find(decorator, cst.Call):
                table = config.args[0].value if config.args else None
                if self.file.is_call_of(config, *CONFIG) and isinstance(table, cst.Dict):
                    for element in table.elements:
                        key = getattr(element, "key", None)
                        if isinstance(key, cst.SimpleString) and key.evaluated_value == name:
                            self._wrap(element.value, kernel)

    def launches(self) -> None:
        """What launches of this file pass for a parameter that some product takes as its precision."""
        for site in self.file.sites:
            for kernel in (k for k in site.kernels if k in self.file.programs.plans):
                names = _precision_parameters(self.file, kernel)
                for arg in self.file.launch_call(site).args:
                    if arg.keyword is not None and arg.keyword.value in names:
                        self._wrap(arg.value, kernel)

    def _wrap(self, node: cst.BaseExpression, kernel: str) -> None:
        if node in self.done or self._is_taken(node):
            return
        self.done.add(node)
        self.wrapped = True
        self.result.rewrite(
            node, lambda updated: call(self.name, [cst.Arg(_expression(updated))]), kernel=kernel
        )

    def _is_taken(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Call) and code_of(node.func) == self.name:
            return True
        value = self._known(node)
        return value is None or value is False or (isinstance(value, str) and value.lower() in TAKEN)


def _precision_parameters(file: FileContext, kernel: str) -> frozenset[str]:
    """Parameters of a kernel that are the precision of a product in its own body."""
    definition = file.analysis.functions[kernel].definition
    found = {
        keyword.value.id
        for node in ast.walk(definition.node)
        if isinstance(node, ast.Call) and DOT in file.analysis.index.externals(definition.module, node.func)
        for keyword in node.keywords
        if keyword.arg in OPTIONS and isinstance(keyword.value, ast.Name)
    }
    return frozenset(found & set(file.analysis.functions[kernel].parameters))


def _inside(value: cst.BaseExpression) -> cst.BaseExpression:
    """What `tl.constexpr(...)` holds."""
    return value.args[0].value if isinstance(value, cst.Call) and len(value.args) == 1 else value


def _option(node: cst.Call) -> cst.Arg | None:
    return next((a for a in node.args if a.keyword is not None and a.keyword.value in OPTIONS), None)


def _with_default(updated: cst.CSTNode) -> cst.Call:
    """tf32 is the default where there is tf32; tf32x3 is nearest to ieee."""
    node = cst.ensure_type(updated, cst.Call)
    arg = _option(node)
    assert arg is not None
    text = arg.value
    if isinstance(text, cst.SimpleString) and str(text.evaluated_value).lower() != "tf32":
        mark = text.quote
        new = arg.with_changes(value=cst.SimpleString(f"{mark}ieee{mark}"))
        return node.with_changes(args=[new if a is arg else a for a in node.args])
    kept = [a for a in node.args if a is not arg]
    if node.args[-1] is arg:
        kept[-1] = kept[-1].with_changes(comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg)
    return node.with_changes(args=kept)


def _constants(
    node: cst.CSTNode, name: str, tests: tuple[tuple[cst.BaseExpression, bool], ...] = ()
) -> Iterator[tuple[cst.BaseExpression, tuple[tuple[cst.BaseExpression, bool], ...]]]:
    """Assignments of a module-level name, with the tests around each and how they have to come out."""
    for child in children(node):
        if isinstance(child, cst.FunctionDef | cst.ClassDef):
            continue
        if isinstance(child, cst.If):
            yield from _constants(child.body, name, (*tests, (child.test, True)))
            if child.orelse is not None:
                inner = cst.Module([child.orelse]) if isinstance(child.orelse, cst.If) else child.orelse
                yield from _constants(inner, name, (*tests, (child.test, False)))
        elif isinstance(child, cst.Assign | cst.AnnAssign):
            targets = [t.target for t in child.targets] if isinstance(child, cst.Assign) else [child.target]
            named = any(isinstance(t, cst.Name) and t.value == name for t in targets)
            if named and child.value is not None:
                yield child.value, tests
        else:
            yield from _constants(child, name, tests)


def _expression(node: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    return node


RULE = DotPrecision()
