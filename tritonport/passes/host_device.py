"""Host code that names CUDA, or that would route around the migrated kernel, for a host with an NPU."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.discover.functions import JIT
from tritonport.discover.index import Definition
from tritonport.engine.context import FileContext
from tritonport.engine.rule import Build, RuleResult
from tritonport.facts.dispatch import Dispatchers
from tritonport.facts.walk import children
from tritonport.passes._build import call, import_from_runtime, runtime_name
from tritonport.passes.syntax import written
from tritonport.record import RuleClass

DEVICE_KEYWORDS = frozenset({"device", "device_type"})
CORES = "multi_processor_count"
UNROUTED = "unrouted"
DEVICE_CALLS = frozenset({"torch.device", "torch.autocast", "torch.amp.autocast"})


class HostDevice:
    """Device strings, torch.cuda, device asserts, torch.compile and dispatch decorators near migrated kernels."""

    slug = "host-device"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        helpers = self._dispatch(file, result)
        if any(set(site.kernels) & set(file.programs.plans) for site in file.sites):
            device = _Device(file, result)
            device.see(file.tree)
            helpers |= device.helpers
        import_from_runtime(file, result, sorted(helpers))
        return result

    def _dispatch(self, file: FileContext, result: RuleResult) -> set[str]:
        """Wraps decorators that route calls; returns the helper that it needed.

        They stay, because other modules may register implementations for the function that they know.
        """
        units = frozenset(
            f"{s.module}:{s.unit}" for s in file.analysis.sites if set(s.kernels) & set(file.programs.plans)
        )
        dispatchers = Dispatchers(file.analysis)
        helpers: set[str] = set()
        for definition in file.analysis.index.definitions:
            if definition.module != file.module.name or isinstance(definition.node, ast.ClassDef):
                continue
            if definition.key not in file.analysis.reachable:
                continue
            nodes = file.functions.get(definition.qualname, ())
            found = dispatchers.on(definition) if len(nodes) == 1 else ()
            if not found or len(nodes[0].decorators) != len(definition.node.decorator_list):
                continue
            if not dispatchers.leads_to(definition, units):
                result.not_applicable(nodes[0], "routes calls, but leads to no migrated kernel")
                continue
            for index in found:
                result.rewrite(
                    nodes[0].decorators[index].decorator,
                    lambda node: call(runtime_name(file, UNROUTED), [cst.Arg(_expression(node))]),
                    kernel=_kernel(file, definition),
                )
            helpers.add(UNROUTED)
        return helpers


def _kernel(file: FileContext, definition: Definition) -> str | None:
    """The migrated kernel that a function launches itself; None where it only calls functions that do."""
    return next(
        (
            k
            for s in file.sites
            if s.unit == definition.node.name
            for k in s.kernels
            if k in file.programs.plans
        ),
        None,
    )


class _Device:
    """Finds what names CUDA in host code; jit functions are left alone."""

    def __init__(self, file: FileContext, result: RuleResult) -> None:
        self.file, self.result = file, result
        self.helpers: set[str] = set()
        self.written = frozenset(written(file.tree))
        self.own_cores = any(_last(node) == CORES for node in self.written)
        """Whether the file gives a member of that name to objects of its own, which are no devices then."""

    def _name(self, helper: str) -> str:
        return runtime_name(self.file, helper)

    def _replace(self, node: cst.CSTNode, helper: str, build: Build) -> None:
        self.helpers.add(helper)
        self.result.rewrite(node, build)

    def see(self, node: cst.CSTNode) -> None:
        """The node and what is below it, from the outside in."""
        if self._enters(node):
            for child in children(node):
                self.see(child)

    def _enters(self, node: cst.CSTNode) -> bool:
        """Looks at one node; False where nothing below it is to be looked at."""
        kind = type(node)
        if kind is cst.FunctionDef:
            return self._function(cst.ensure_type(node, cst.FunctionDef))
        if kind is cst.Attribute:
            return self._attribute(cst.ensure_type(node, cst.Attribute))
        if kind is cst.Decorator:
            self._decorator(cst.ensure_type(node, cst.Decorator))
        elif kind is cst.Call:
            self._call(cst.ensure_type(node, cst.Call))
        elif kind is cst.Comparison:
            self._comparison(cst.ensure_type(node, cst.Comparison))
        return True

    def _function(self, node: cst.FunctionDef) -> bool:
        targets = [
            d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator for d in node.decorators
        ]
        return not any(JIT & set(self.file.externals(t)) for t in targets)

    def _decorator(self, node: cst.Decorator) -> None:
        target = node.decorator.func if isinstance(node.decorator, cst.Call) else node.decorator
        if "torch.compile" in self.file.externals(target):
            self._replace(
                node.decorator,
                "off_npu",
                lambda updated: call(self._name("off_npu"), [cst.Arg(_expression(updated))]),
            )

    def _attribute(self, node: cst.Attribute) -> bool:
        if node in self.written:
            return True
        if node.attr.value == CORES:
            if self.own_cores and not _is_device(node.value):
                return True
            self._replace(node, "processor_count", lambda _: call(self._name("processor_count"), []))
            return False
        if "torch.cuda" in self.file.externals(node):
            self._replace(node, "accelerator", lambda _: call(self._name("accelerator"), []))
            return False
        if node.attr.value == "is_cuda":
            self._replace(
                node,
                "is_accelerated",
                lambda updated: call(
                    self._name("is_accelerated"), [cst.Arg(cst.ensure_type(updated, cst.Attribute).value)]
                ),
            )
        return True

    def _call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "cuda":
            self._cuda_method(node)
        is_device_call = bool(DEVICE_CALLS & set(self.file.externals(node.func)))
        is_to = isinstance(node.func, cst.Attribute) and node.func.attr.value == "to"
        for index, arg in enumerate(node.args):
            named = arg.keyword is not None and arg.keyword.value in DEVICE_KEYWORDS
            if named or (arg.keyword is None and index == 0 and (is_device_call or is_to)):
                self._string(arg.value)

    def _cuda_method(self, node: cst.Call) -> None:
        if node.args or "torch.cuda" in self.file.externals(node.func):
            if node.args:
                self.result.unresolved(node, "`.cuda(...)` with arguments: write `.to(device)`")
            return

        def build(updated: cst.CSTNode) -> cst.Call:
            old = cst.ensure_type(updated, cst.Call)
            func = cst.ensure_type(old.func, cst.Attribute).with_changes(attr=cst.Name("to"))
            return old.with_changes(
                func=func, args=[cst.Arg(cst.parse_expression(f'{self._name("device_name")}("cuda")'))]
            )

        self._replace(node, "device_name", build)

    def _comparison(self, node: cst.Comparison) -> None:
        """`x.device.type == "cuda"`."""
        if isinstance(node.left, cst.Attribute) and node.left.attr.value == "type":
            for target in node.comparisons:
                self._string(target.comparator)

    def _string(self, node: cst.BaseExpression) -> None:
        if isinstance(node, cst.SimpleString) and str(node.evaluated_value).partition(":")[0] == "cuda":
            self._replace(
                node,
                "device_name",
                lambda updated: call(self._name("device_name"), [cst.Arg(_expression(updated))]),
            )


def _last(node: cst.CSTNode) -> str | None:
    node = node.attr if isinstance(node, cst.Attribute) else node
    return node.value if isinstance(node, cst.Name) else None


def _is_device(node: cst.BaseExpression) -> bool:
    """`torch.cuda.get_device_properties(...)`, by its last name."""
    return isinstance(node, cst.Call) and _last(node.func) == "get_device_properties"


def _expression(node: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    return node


RULE = HostDevice()
