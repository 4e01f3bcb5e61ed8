"""Which memory host code may write, with what it calls and launches."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tritonport.discover import Analysis
from tritonport.discover.index import External, Value
from tritonport.facts.hosts.kernel_stores import KernelStores
from tritonport.facts.hosts.memory import (
    MAKERS,
    OUTSIDE,
    Host,
    HostMemory,
    Key,
    Origins,
    last,
    runtime_helper,
)
from tritonport.facts.hosts.syntax import own_nodes, passed, positions, statements

_READING = frozenset(
    {
        "view",
        "reshape",
        "contiguous",
        "t",
        "transpose",
        "permute",
        "expand",
        "expand_as",
        "view_as",
        "narrow",
        "select",
    }
    | {
        "to",
        "type",
        "type_as",
        "float",
        "half",
        "bfloat16",
        "double",
        "int",
        "long",
        "bool",
        "cpu",
        "detach",
        "item",
    }
    | {
        "squeeze",
        "unsqueeze",
        "flatten",
        "unflatten",
        "unbind",
        "split",
        "chunk",
        "repeat",
        "repeat_interleave",
    }
    | {
        "numel",
        "dim",
        "size",
        "stride",
        "element_size",
        "data_ptr",
        "is_contiguous",
        "is_floating_point",
        "tolist",
    }
    | {
        "exp",
        "exp2",
        "log",
        "sqrt",
        "rsqrt",
        "abs",
        "neg",
        "add",
        "sub",
        "mul",
        "div",
        "pow",
        "matmul",
        "sigmoid",
    }
    | {
        "softmax",
        "max",
        "min",
        "amax",
        "amin",
        "all",
        "any",
        "diff",
        "flip",
        "roll",
        "tril",
        "triu",
        "masked_fill",
    }
    | {
        "index_select",
        "gather",
        "movedim",
        "get",
        "items",
        "keys",
        "values",
        "format",
        "join",
        "startswith",
        "count",
    }
    | {
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "where",
        "clamp",
        "ceil",
        "floor",
        "round",
        "sign",
        "isnan",
        "isfinite",
    }
    | {
        "logical_and",
        "logical_or",
        "logical_not",
        "argmax",
        "argmin",
        "sort",
        "topk",
        "nonzero",
        "unique",
        "norm",
    }
    | {
        "prod",
        "cumprod",
        "std",
        "var",
        "mm",
        "bmm",
        "tanh",
        "relu",
        "log2",
        "log1p",
        "expm1",
        "swapaxes",
        "unfold",
    }
    | {"save_for_backward", "mark_non_differentiable"}
)
"""Methods that write neither their receiver nor what they are given. Those of torch that do end in `_`."""
_TABLES = frozenset({"dict", "list", "OrderedDict", "defaultdict", "WeakValueDictionary"})
_FIRST_WRITTEN = frozenset(
    {
        "all_gather_into_tensor",
        "all_reduce",
        "broadcast",
        "reduce_scatter_tensor",
        "all_to_all_single",
        "recv",
        "irecv",
    }
)
_SAFE_PACKAGES = frozenset({"torch", "triton", "einops", "builtins"}) | sys.stdlib_module_names
_UNSAFE = ("torch.ops.", "torch.distributed.", "torch._foreach", "torch.utils.", "triton.runtime.")


@dataclass
class HostWrites:
    """Answers for every function of a closure; each is read once."""

    analysis: Analysis
    memory: HostMemory = field(init=False)
    _stores: KernelStores = field(init=False)
    _written: dict[Key, Origins] = field(default_factory=dict[Key, Origins])

    def __post_init__(self) -> None:
        self.memory = HostMemory(self.analysis)
        self._stores = KernelStores(self.analysis)
        self._sites = {id(site.node): site for site in self.analysis.sites}

    def between(self, host: Host, body: Sequence[ast.stmt], name: str) -> str | None:
        """What may write, in these statements of a function, the memory that a name holds there; None if nothing."""
        held = self.memory.anywhere(host).get(name, frozenset({OUTSIDE}))
        for place, written in (*self._writes(host, [*body, *host.nested]), *self._in_lambdas(host)):
            if _meet(held, written):
                return ast.unparse(place)
        return None

    def _in_lambdas(self, host: Host) -> Iterator[tuple[ast.AST, Origins]]:
        """What a lambda writes, wherever it stands: it may be called at any place."""
        anywhere = self.memory.anywhere(host)
        for function in (n for n in ast.walk(host.node) if isinstance(n, ast.Lambda)):
            for node in ast.walk(function.body):
                for value in self._written_at(host, node):
                    yield node, self.memory.origins(host, value, anywhere)

    def written(self, host: Host) -> Origins:
        """Parameters (and OUTSIDE) whose memory a call of a function may write."""
        if host.key not in self._written:
            self._written[host.key] = host.parameters | {OUTSIDE}
            found = self._writes(host, [*host.node.body, *host.nested])
            self._written[host.key] = frozenset(o for _, w in found for o in w if not isinstance(o, int))
        return self._written[host.key]

    def _writes(self, host: Host, body: Sequence[ast.stmt]) -> Iterator[tuple[ast.AST, Origins]]:
        """(place, memory that may be written there)."""
        states, anywhere = self.memory.states(host), self.memory.anywhere(host)
        for statement in statements(body, host.branches):
            nested = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            held = anywhere if nested else states.get(id(statement), anywhere)
            for node in ast.walk(statement) if nested else own_nodes(statement, host.decided):
                for value in self._written_at(host, node):
                    yield node, self.memory.origins(host, value, held)

    def _written_at(self, host: Host, node: ast.AST) -> Iterator[ast.expr]:
        if isinstance(node, ast.Call):
            yield from self._written_by(host, node)
        elif isinstance(node, ast.AugAssign):
            yield node.target
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if not self._is_table(host, node.value):
                yield node.value
        elif isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Store):
            # Any other attribute only binds a name.
            yield node.value

    def _is_table(self, host: Host, expr: ast.expr) -> bool:
        """A module's own dictionary or list: an entry that is set writes no tensor."""
        meant = () if host.owns(expr) else self.analysis.index.meanings(host.home, expr, host.node)
        values = [m.expr for m in meant if isinstance(m, Value)]
        made = [isinstance(v, ast.Dict | ast.List) or last(getattr(v, "func", v)) in _TABLES for v in values]
        return bool(meant) and len(values) == len(meant) and all(made)

    def _written_by(self, host: Host, call: ast.Call) -> Iterator[ast.expr]:
        """Expressions whose memory a call may write."""
        yield from (k.value for k in call.keywords if k.arg == "out")
        every = [value for _, value in passed(call, ())]
        if any(k.arg == "inplace" for k in call.keywords):
            yield from every
        if isinstance(call.func, ast.Subscript):
            yield from self._written_by_launch(call)
        elif (helper := runtime_helper(self.analysis.index, host.home, call)) is not None:
            yield from every[:1] if helper == "copy_back" else ()
        elif (callee := self.memory.callee(host, call)) is not None:
            written = self.written(callee)
            yield from (
                v for name, v in passed(call, positions(callee.node)) if name is None or name in written
            )
            if OUTSIDE in written:
                yield ast.Name(OUTSIDE, ast.Load())
        else:
            yield from self._written_elsewhere(host, call, every)

    def _written_by_launch(self, call: ast.Call) -> Iterator[ast.expr]:
        site = self._sites.get(id(call))
        for key in site.kernels if site is not None else ("",):
            stored = self._stores.of(key) if key else frozenset[str]()
            parameters = self.analysis.functions[key].parameters if key else ()
            given = passed(call, parameters)
            yield from (value for name, value in given if not key or name is None or name in stored)

    def _written_elsewhere(self, host: Host, call: ast.Call, every: list[ast.expr]) -> Iterator[ast.expr]:
        name = last(call.func)
        dotted = self._dotted(host, call.func)
        if dotted is not None:
            if dotted.startswith("torch.distributed."):
                yield from (
                    every[:1] if name in _FIRST_WRITTEN else () if name.startswith(("get_", "is_")) else every
                )
            elif (
                dotted.partition(".")[0] not in _SAFE_PACKAGES
                or dotted.startswith(_UNSAFE)
                or name.endswith("_")
            ):
                yield from every
        elif isinstance(call.func, ast.Attribute):
            if name.endswith("_") and not name.startswith("_"):
                yield call.func.value
            elif name not in _READING | MAKERS:
                yield from (call.func.value, *every)
        elif not (isinstance(call.func, ast.Name) and self._is_nested_or_builtin(host, call.func.id)):
            # A callable may hold what it writes: `functools.partial(update, g)`.
            yield from (call.func, *every)

    def _dotted(self, host: Host, func: ast.expr) -> str | None:
        """The one name outside the package that is called, through no local name."""
        if host.owns(func):
            return None
        meant = self.analysis.index.meanings(host.home, func, host.node)
        return meant[0].dotted if len(meant) == 1 and isinstance(meant[0], External) else None

    def _is_nested_or_builtin(self, host: Host, name: str) -> bool:
        if any(function.name == name for function in host.nested):
            return True
        return name not in host.local | host.parameters and name in _BUILTINS


_BUILTINS = frozenset(
    {
        "len",
        "min",
        "max",
        "range",
        "isinstance",
        "int",
        "float",
        "bool",
        "str",
        "tuple",
        "list",
        "dict",
        "set",
        "zip",
    }
    | {
        "sum",
        "abs",
        "any",
        "all",
        "enumerate",
        "sorted",
        "reversed",
        "print",
        "hasattr",
        "getattr",
        "type",
        "round",
    }
    | {
        "ValueError",
        "RuntimeError",
        "TypeError",
        "NotImplementedError",
        "AssertionError",
        "super",
        "id",
        "repr",
    }
)


def _meet(held: Origins, written: Origins) -> bool:
    """Whether two may be the same memory: made by one call, or both from outside of the function."""
    outside = [any(not isinstance(o, int) for o in side) for side in (held, written)]
    return not held.isdisjoint(written) or all(outside)
