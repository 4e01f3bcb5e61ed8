"""The host's half of a layout change: head-first copies before a launch, results copied back after it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.naming import fresh
from tritonport.facts.walk import children, code_of, names_in, walk
from tritonport.passes._build import import_from_runtime, runtime_name

HEAD_FIRST, EMPTY, BACK, ROWS = "head_first", "head_first_empty", "copy_back", "head_rows"
"""Helpers of the run-time module; with one head none of them copies."""
APART = "check_apart"
"""Raises where tensors share memory."""
_EMPTY = frozenset({"empty", "empty_like", "new_empty"})


@dataclass(frozen=True)
class Relaid:
    """A kernel parameter that becomes head first. heads: the kernel's parameter with the head count.

    rows: the new parameter with the number of rows. apart: parameters that must be other memory, which only the run
    can tell.
    """

    name: str
    heads: str
    rows: str
    loaded: bool
    stored: bool
    apart: tuple[str, ...] = ()


class LaunchStopped(Exception):
    """A launch that cannot be edited; the text says why."""


@dataclass(frozen=True)
class _Edit:
    """What one launch statement becomes."""

    call: cst.Call
    new_call: cst.Call
    line: cst.SimpleStatementLine
    before: tuple[str, ...]
    after: tuple[str, ...]


class HostLayout:
    """Collects the host edits of one file, one per launch statement."""

    def __init__(self, file: FileContext) -> None:
        self.file = file
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        _note_parents(file.tree, self.parents)
        self.keyword_only = True
        self._edits: list[_Edit] = []
        self._used: set[str] = set()

    def relay(self, sites: list[LaunchSite], function: cst.FunctionDef, changed: list[Relaid]) -> None:
        """Plans the edits of every launch of a kernel. Raises LaunchStopped, with nothing planned."""
        calls = [self.file.launch_call(site) for site in sites]
        names = [p.name.value for p in function.params.params]
        used: set[str] = set()
        edits = [self._site(call, names, changed, used) for call in calls]
        self.keyword_only = all(arg.keyword is not None for call in calls for arg in call.args)
        self._edits += edits
        self._used |= used

    def add_edits(self, result: RuleResult) -> None:
        for edit in self._edits:
            result.rewrite(edit.call, lambda _, new=edit.new_call: new.deep_clone(), counts=False)
            result.rewrite(edit.line, lambda line, edit=edit: _surrounded(line, edit), counts=False)
        import_from_runtime(self.file, result, self._used)

    def _site(self, call: cst.Call, names: list[str], changed: list[Relaid], used: set[str]) -> _Edit:
        line, host = self._line(call), self._host(call)
        passed = _passed(call, names)
        taken = {n.value for n in names_in(host)}
        before: list[str] = []
        after: list[str] = []
        values: dict[str, str] = {}
        extra: list[tuple[str, str]] = []
        for relaid in changed:
            tensor, heads = passed.get(relaid.name), passed.get(relaid.heads)
            if tensor is None or heads is None:
                raise LaunchStopped(
                    f"a launch that does not pass `{relaid.name}` and `{relaid.heads}` itself: pass both there"
                )
            if code_of(tensor.value) == "None":
                extra.append((relaid.rows, "0"))
                continue
            given = f"{_again(tensor.value)}, {_again(heads.value)}"
            used.add(ROWS)
            others = [_again(passed[name].value) for name in relaid.apart if name in passed]
            if others:
                used.add(APART)
                before.append(
                    f"{runtime_name(self.file, APART)}({', '.join([code_of(tensor.value), *others])})"
                )
            extra.append((relaid.rows, f"{runtime_name(self.file, ROWS)}({given})"))
            if not relaid.stored:
                used.add(HEAD_FIRST)
                values[relaid.name] = f"{runtime_name(self.file, HEAD_FIRST)}({given})"
                continue
            if not isinstance(tensor.value, cst.Name):
                raise LaunchStopped(
                    f"an output that is not a plain name: give {code_of(tensor.value)} one in a line before"
                )
            held = fresh(f"{relaid.name}_hf", taken)
            taken.add(held)
            fresh_output = not relaid.loaded and self._uninitialised(host, tensor.value.value, line)
            maker = EMPTY if fresh_output else HEAD_FIRST
            used |= {maker, BACK}
            before.append(f"{held} = {runtime_name(self.file, maker)}({given})")
            after.append(f"{runtime_name(self.file, BACK)}({code_of(tensor.value)}, {held})")
            values[relaid.name] = held
        new = _with_args(call, passed, values, extra)
        return _Edit(call, new, line, tuple(before), tuple(after))

    def _line(self, call: cst.Call) -> cst.SimpleStatementLine:
        expr = self.parents.get(call)
        line = self.parents.get(expr) if isinstance(expr, cst.Expr) else None
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            raise LaunchStopped("a launch that is not a statement of its own: give it a line")
        return line

    def _host(self, node: cst.CSTNode) -> cst.FunctionDef:
        at: cst.CSTNode | None = node
        while at is not None and not isinstance(at, cst.FunctionDef):
            at = self.parents.get(at)
        if at is None:
            raise LaunchStopped("a launch outside any function: put it into one")
        return at

    def _uninitialised(self, host: cst.FunctionDef, name: str, launch: cst.SimpleStatementLine) -> bool:
        """Whether a tensor was only allocated before the launch, so that it has nothing worth copying."""
        found = _Allocations(name, launch)
        found.see(self._repeated(host, launch))
        return found.allocated and not found.touched

    def _repeated(self, host: cst.FunctionDef, launch: cst.CSTNode) -> cst.CSTNode:
        """The body of the innermost loop around a launch, which an earlier trip has written by then, or the host's."""
        at = launch
        while at is not host:
            at = self.parents[at]
            if isinstance(at, (cst.For, cst.While)):
                return at.body
        return host.body


def _again(node: cst.BaseExpression) -> str:
    """Text of an argument that is evaluated twice. Raises LaunchStopped where that may not give the same twice."""
    for part in walk(node):
        if isinstance(part, cst.Call) and not _asks_for_size(part):
            raise LaunchStopped(
                f"`{code_of(node)}` would be computed twice: give it a name in a line before the launch"
            )
        if isinstance(part, (cst.NamedExpr, cst.Await, cst.Yield)):
            raise LaunchStopped(
                f"`{code_of(node)}` does something beside being a value: compute it in a line before"
            )
    return code_of(node)


def _asks_for_size(call: cst.Call) -> bool:
    """`x.size(1)`, `x.numel()`, `len(x)`."""
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value in ("size", "numel", "dim", "stride")
    return _is(call.func, "len")


@dataclass
class _Allocations:
    """What happens to one name in a function before a statement."""

    name: str
    until: cst.CSTNode
    done: bool = False
    allocated: bool = False
    touched: bool = False

    def see(self, node: cst.CSTNode) -> None:
        self.done |= node is self.until
        if self.done:
            return
        if isinstance(node, cst.Assign) and any(_is(t.target, self.name) for t in node.targets):
            self.allocated = _only_allocates(node.value)
            self.touched |= not self.allocated
            return
        if isinstance(node, cst.Name) and node.value == self.name:
            self.touched = True
        for child in children(node):
            self.see(child)


def _is(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _only_allocates(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.IfExp):
        return _only_allocates(node.body) and _only_allocates(node.orelse)
    if _is(node, "None"):
        return True
    return (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _EMPTY
    )


def _passed(call: cst.Call, names: list[str]) -> dict[str, cst.Arg]:
    """Arguments of a launch by parameter name. Raises LaunchStopped for `*args` and `**kwargs`."""
    found: dict[str, cst.Arg] = {}
    for i, arg in enumerate(call.args):
        if arg.star:
            raise LaunchStopped("a launch with unpacked arguments: write them out")
        found[arg.keyword.value if arg.keyword is not None else names[i]] = arg
    return found


def _with_args(
    call: cst.Call, passed: dict[str, cst.Arg], values: dict[str, str], extra: list[tuple[str, str]]
) -> cst.Call:
    """The launch with some arguments replaced, and keyword arguments after the tensors that they belong to."""
    replaced = {id(passed[name]): cst.parse_expression(text) for name, text in values.items()}
    args = [a.with_changes(value=replaced[id(a)]) if id(a) in replaced else a for a in call.args]
    added = [_keyword(args, name, text) for name, text in extra]
    last = args[-1]
    if isinstance(last.comma, cst.Comma):
        return call.with_changes(
            args=[*args[:-1], _like(args, last), *added[:-1], added[-1].with_changes(comma=last.comma)]
        )
    return call.with_changes(
        args=[
            *args[:-1],
            last.with_changes(comma=_separator(args)),
            *added[:-1],
            added[-1].with_changes(comma=last.comma),
        ]
    )


def _separator(args: list[cst.Arg]) -> cst.Comma:
    """The comma that stands between the arguments of a call."""
    first = args[0].comma
    return (
        first
        if isinstance(first, cst.Comma) and len(args) > 1
        else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    )


def _like(args: list[cst.Arg], arg: cst.Arg) -> cst.Arg:
    return arg.with_changes(comma=_separator(args))


def _keyword(args: list[cst.Arg], name: str, text: str) -> cst.Arg:
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    equal = next((a.equal for a in args if a.keyword is not None), tight)
    return cst.Arg(cst.parse_expression(text), keyword=cst.Name(name), equal=equal, comma=_separator(args))


def _surrounded(line: cst.CSTNode, edit: _Edit) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
    assert isinstance(line, cst.SimpleStatementLine)
    if not edit.before and not edit.after:
        return line
    before = [cst.parse_statement(text) for text in edit.before]
    after = [cst.parse_statement(text) for text in edit.after]
    if before:
        before[0] = before[0].with_changes(leading_lines=line.leading_lines)
        line = line.with_changes(leading_lines=[])
    return cst.FlattenSentinel([*before, line, *after])


def _note_parents(node: cst.CSTNode, parents: dict[cst.CSTNode, cst.CSTNode]) -> None:
    for child in children(node):
        parents[child] = node
        _note_parents(child, parents)


def keyword_added(call: cst.Call, name: str, text: str) -> cst.Call:
    """The launch with one more keyword argument, in the layout of the others."""
    return _with_args(call, {}, {}, [(name, text)])
