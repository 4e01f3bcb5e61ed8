"""descriptor-load: tensor descriptors, which the target does not have, become loads and stores by offsets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.functions import reached
from tritonport.engine.context import FileContext, JitNode, dotted_text
from tritonport.engine.rule import Build, RuleResult
from tritonport.facts.asked import Evaluator, NotFollowed
from tritonport.facts.naming import fresh
from tritonport.facts.walk import children, code_of, find, names_in, walk
from tritonport.passes.capability_probe import queries
from tritonport.passes.syntax import wrapped
from tritonport.record import RuleClass

_TL = "triton.language."
MAKE = frozenset({f"{_TL}make_tensor_descriptor", f"{_TL}_experimental_make_tensor_descriptor"})
LOAD = frozenset({f"{_TL}load_tensor_descriptor", f"{_TL}_experimental_descriptor_load"})
STORE = frozenset({f"{_TL}store_tensor_descriptor", f"{_TL}_experimental_descriptor_store"})
_ARGUMENTS = ("base", "shape", "strides", "block_shape")


class DescriptorLoad:
    """Each descriptor of a kernel is taken apart where it is made, and used as offsets and a mask where it is read."""

    slug = "descriptor-load"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        done: set[str] = set()
        for key in file.programs.plans:
            for function in reached(file.analysis.functions, key):
                jit = file.jit(function.key)
                if jit is not None and function.key not in done:
                    done.add(function.key)
                    _Function(file, jit, result, key).rewrite()
        return result


@dataclass(frozen=True)
class _Descriptor:
    """name: what it is assigned to. base, shape, strides, block: source text. lanes: one name per dimension."""

    name: str
    base: str
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    block: tuple[str, ...]
    lanes: tuple[str, ...]


class _Function:
    """The descriptors of one jit function."""

    def __init__(self, file: FileContext, jit: JitNode, result: RuleResult, kernel: str) -> None:
        self.file, self.jit, self.result, self.kernel = file, jit, result, kernel
        self.order = {node: place for place, node in enumerate(walk(jit.node))}
        self.parents = {child: node for node in self.order for child in children(node)}
        self.taken = {name.value for name in names_in(jit.node)}
        self.evaluator = Evaluator(file.analysis.index, queries())

    def rewrite(self) -> None:
        for statement in find(self.jit.node.body, cst.SimpleStatementLine):
            made = statement.body[0] if len(statement.body) == 1 else None
            if isinstance(made, cst.Assign) and self._is_call(made.value, MAKE):
                self._descriptor(statement, made)
        self._from_host()

    def _descriptor(self, statement: cst.SimpleStatementLine, made: cst.Assign) -> None:
        if self._never_runs(statement):
            self.result.not_applicable(made, "the target does not reach this branch", kernel=self.kernel)
            return
        found = self._read(made)
        uses = self._uses(made, found) if isinstance(found, _Descriptor) else found
        if isinstance(uses, str):
            self.result.unresolved(made, f"{uses}: load by offsets and a mask", kernel=self.kernel)
            return
        assert isinstance(found, _Descriptor)
        lanes = [f"{n} = tl.arange(0, {size})" for n, size in zip(found.lanes, found.block, strict=True)]
        lines = [cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine) for line in lanes]
        lines[0] = lines[0].with_changes(leading_lines=statement.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=statement.trailing_whitespace)
        self.result.rewrite(statement, lambda _: cst.FlattenSentinel(lines), kernel=self.kernel)
        for call, new in uses:
            self.result.rewrite(call, new, kernel=self.kernel)

    def _is_call(self, node: cst.CSTNode, names: frozenset[str]) -> bool:
        return isinstance(node, cst.Call) and not names.isdisjoint(self.file.externals(node.func))

    def _never_runs(self, node: cst.CSTNode) -> bool:
        """Whether a test around a statement is known to come out against it, by what every launch passes."""
        child: cst.CSTNode = node
        while child in self.parents:
            parent = self.parents[child]
            if isinstance(parent, cst.If) and child in (parent.body, parent.orelse):
                known = self._known(parent.test)
                if known is not None and known != (child is parent.body):
                    return True
            child = parent
        return False

    def _known(self, test: cst.BaseExpression) -> bool | None:
        """The outcome of a test on parameters, on the target."""
        env: dict[str, ast.expr] = {}
        expr = ast.parse(f"({code_of(test)})", mode="eval").body
        outcomes: set[bool] = set()
        sites = [s for s in self.file.analysis.sites if self.jit.function.key in s.kernels]
        for site in sites:
            env = {k.arg: k.value for k in site.node.keywords if k.arg is not None}
            try:
                outcomes.add(bool(self.evaluator.evaluate(site.module, expr, env)))
            except NotFollowed:
                return None
        return outcomes.pop() if len(outcomes) == 1 else None

    def _read(self, made: cst.Assign) -> _Descriptor | str:
        target = made.targets[0].target
        call = cst.ensure_type(made.value, cst.Call)
        given = {
            (a.keyword.value if a.keyword is not None else _ARGUMENTS[i]): a.value
            for i, a in enumerate(call.args)
            if a.keyword is not None or i < len(_ARGUMENTS)
        }
        if len(made.targets) != 1 or not isinstance(target, cst.Name) or set(given) != set(_ARGUMENTS):
            return "a descriptor that is not one name with a base, a shape, strides and a block shape"
        if len(_assignments(self.jit.node, target.value)) != 1:
            return f"`{target.value}` is assigned more than once"
        moved = self._moved(made, call)
        if moved is not None:
            return f"`{moved}` changes after the descriptor is made"
        lists = [_items(given[name]) for name in _ARGUMENTS[1:]]
        if any(items is None or len(items) != len(lists[0] or ()) for items in lists) or not lists[0]:
            return "a shape, strides or a block shape that are not written out"
        shape, strides, block = (items for items in lists if items is not None)
        lanes: list[str] = []
        for index in range(len(block)):
            lanes.append(fresh(f"{target.value}_{index}", self.taken))
            self.taken.add(lanes[-1])
        return _Descriptor(target.value, _text(given["base"]), shape, strides, block, tuple(lanes))

    def _moved(self, made: cst.Assign, call: cst.Call) -> str | None:
        for name in names_in(call):
            places = [self.order[node] for node in _assignments(self.jit.node, name.value)]
            if any(place > self.order[made] for place in places):
                return name.value
        return None

    def _uses(self, made: cst.Assign, found: _Descriptor) -> list[tuple[cst.Call, Build]] | str:
        uses: list[tuple[cst.Call, Build]] = []
        for name in find(self.jit.node.body, cst.Name):
            if name.value != found.name or self._is_label(name) or self.order[name] <= self.order[made] + 2:
                continue
            call = self._use(name)
            if call is None:
                return f"`{found.name}` is used as something other than a load or a store"
            new = self._access(call, found)
            if new is None:
                return f"`{code_of(call)}` has offsets that are not written out, or an option"
            uses.append((call, new))
        return uses

    def _is_label(self, name: cst.Name) -> bool:
        """An attribute's or a keyword's name, no variable."""
        parent = self.parents[name]
        return (isinstance(parent, cst.Attribute) and parent.attr is name) or (
            isinstance(parent, cst.Arg) and parent.keyword is name
        )

    def _use(self, name: cst.Name) -> cst.Call | None:
        """`name.load(...)`, `name.store(...)`, or the functions that take a descriptor."""
        parent = self.parents[name]
        outer = self.parents[parent]
        if isinstance(parent, cst.Attribute) and parent.attr.value in ("load", "store"):
            return outer if isinstance(outer, cst.Call) and outer.func is parent else None
        if isinstance(parent, cst.Arg) and self._is_call(outer, LOAD | STORE):
            return outer if isinstance(outer, cst.Call) and outer.args[0] is parent else None
        return None

    def _access(self, call: cst.Call, found: _Descriptor) -> Build | None:
        method = isinstance(call.func, cst.Attribute) and dotted_text(call.func.value) == found.name
        args = [a for a in call.args if a.keyword is None][0 if method else 1 :]
        stored = self._is_call(call, STORE) or (
            method and isinstance(call.func, cst.Attribute) and call.func.attr.value == "store"
        )
        if any(a.keyword is not None for a in call.args) or len(args) != (2 if stored else 1):
            return None
        if self._is_call(call, frozenset({f"{_TL}_experimental_descriptor_store"})):
            return None
        offsets = _items(args[0].value)
        if offsets is None or len(offsets) != len(found.block):
            return None
        pointer, mask = _pointer(found, offsets), _mask(found, offsets)
        return (lambda node: _store(node, pointer, mask)) if stored else (lambda _: _load(pointer, mask))

    def _from_host(self) -> None:
        """Descriptors that the host makes: parameters with `.load([...])`."""
        parameters = set(self.jit.function.parameters)
        for call in find(self.jit.node.body, cst.Call):
            receiver = call.func.value if isinstance(call.func, cst.Attribute) else None
            handed = self._is_call(call, LOAD | STORE) and call.args and call.args[0].value
            given = handed or (
                receiver
                if isinstance(call.func, cst.Attribute)
                and call.func.attr.value in ("load", "store")
                and call.args
                and isinstance(call.args[0].value, cst.List | cst.Tuple)
                else None
            )
            if isinstance(given, cst.Name) and given.value in parameters and not self._never_runs(call):
                why = f"`{given.value}` is a descriptor of the host: pass the tensor, load by offsets and a mask"
                self.result.unresolved(call, why, kernel=self.kernel)


def _assignments(function: cst.FunctionDef, name: str) -> list[cst.CSTNode]:
    targets: Iterator[cst.CSTNode] = (
        node
        for node in walk(function.body)
        if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For)
    )
    return [
        node
        for node in targets
        if any(n.value == name for n in names_in(node.target))  # type: ignore[attr-defined]
    ]


def _items(node: cst.BaseExpression) -> tuple[str, ...] | None:
    if not isinstance(node, cst.List | cst.Tuple):
        return None
    return tuple(_text(element.value) for element in node.elements)


def _text(node: cst.BaseExpression) -> str:
    return code_of(node)


def _factor(text: str) -> str:
    return code_of(wrapped(cst.parse_expression(text)))


def _load(pointer: str, mask: str) -> cst.BaseExpression:
    return cst.parse_expression(f"tl.load({pointer}, mask={mask}, other=0)")


def _store(updated: cst.CSTNode, pointer: str, mask: str) -> cst.BaseExpression:
    """The value is taken from the call as it is now: it may hold a load that was rewritten."""
    value = cst.ensure_type(updated, cst.Call).args[-1].value
    return cst.parse_expression(f"tl.store({pointer}, {code_of(value)}, mask={mask})")


def _expanded(lane: str, dim: int, rank: int) -> str:
    """A lane of one dimension in a tile of that rank."""
    if rank == 1:
        return lane
    return f"{lane}[{', '.join(':' if i == dim else 'None' for i in range(rank))}]"


def _pointer(found: _Descriptor, offsets: Sequence[str]) -> str:
    """The start, in 64 bits, and then the lanes: no product of an offset and a stride wraps."""
    base = cst.parse_expression(found.base)
    terms = [found.base if isinstance(base, cst.BinaryOperation) else code_of(wrapped(base))]
    for offset, stride in zip(offsets, found.strides, strict=True):
        if offset != "0":
            start = f"tl.cast({offset}, tl.int64)"
            terms.append(start if stride == "1" else f"{start} * {_factor(stride)}")
    for dim, (lane, stride) in enumerate(zip(found.lanes, found.strides, strict=True)):
        tile = _expanded(lane, dim, len(found.lanes))
        terms.append(tile if stride == "1" else f"{tile} * {_factor(stride)}")
    return " + ".join(terms)


def _mask(found: _Descriptor, offsets: Sequence[str]) -> str:
    """What lies inside the tensor: a descriptor gives zeros for what does not, and leaves it out of a store."""
    parts: list[str] = []
    for dim, (lane, offset, size) in enumerate(zip(found.lanes, offsets, found.shape, strict=True)):
        index = lane if offset == "0" else f"{offset} + {lane}"
        inside = f"{index} < {size}"
        if not offset.isdecimal():
            inside = f"({index} >= 0) & ({inside})"
        rank = len(found.lanes)
        parts.append(inside if rank == 1 else _expanded(f"({inside})", dim, rank))
    return " & ".join(parts)


RULE = DescriptorLoad()
