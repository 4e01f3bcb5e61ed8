"""shared-layout: where a caller feeds several kernels, the head-first copy is made once and handed to all of them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from tritonport.discover import Analysis
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.hosts.sharing import Share, Sharing, Use, calls_of
from tritonport.facts.naming import fresh
from tritonport.facts.walk import children, walk
from tritonport.passes._build import block_of, import_from_runtime, runtime_name
from tritonport.passes.host_layout import keyword_added
from tritonport.record import RuleClass

SHARED = "shared_head_first"


class SharedLayout:
    """Reads what gate-layout wrote, of every file: it runs after all files have been through the other rules."""

    slug = "shared-layout"
    rule_class: RuleClass = "exact"

    def concerns(self, analysis: Analysis) -> frozenset[str]:
        return frozenset(share.function.module for share in _plan(analysis).shares)

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        sharing = _plan(file.analysis)
        own: defaultdict[str, list[Share]] = defaultdict(list)
        for share in sharing.shares:
            if share.function.module == file.module.name:
                own[share.function.qualname].append(share)
        for refused in sharing.refused:
            if refused.function.module == file.module.name:
                node = _definition(file, refused.function.qualname)
                result.not_applicable(node, f"each kernel gets a copy of its own: {refused.why}")
        if own:
            keywords = {(s.function.key, s.name): _held(s) for s in sharing.shares}
            positions = _Positions(file.tree)
            for name, shares in own.items():
                _Change(file, _definition(file, name), shares, keywords, positions, result).make()
        import_from_runtime(
            file, result, [SHARED] if any(s.makes for found in own.values() for s in found) else []
        )
        return result


_LAST: list[tuple[Analysis, Sharing]] = []


def _plan(analysis: Analysis) -> Sharing:
    """The plan of a closure, which the rule asks for file by file; the last one is kept."""
    if not _LAST or _LAST[0][0] is not analysis:
        _LAST[:] = [(analysis, Sharing(analysis))]
    return _LAST[0][1]


def _held(share: Share) -> str:
    """The name of the copy in a function, and of the parameter by which it takes it."""
    nodes = list(ast.walk(share.function.node))
    taken = {n.id for n in nodes if isinstance(n, ast.Name)} | {
        n.arg for n in nodes if isinstance(n, ast.arg)
    }
    return fresh(f"{share.name}_hf", taken)


def _definition(file: FileContext, qualname: str) -> cst.FunctionDef:
    (node,) = file.functions[qualname]
    return node


class _Positions:
    """The calls of a tree's functions in source order, those in formatted strings left out, as `calls_of` has them."""

    def __init__(self, tree: cst.Module) -> None:
        self._at = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)

    def calls(self, function: cst.FunctionDef) -> list[cst.Call]:
        return sorted(_calls(function.body), key=self._place)

    def _place(self, call: cst.Call) -> tuple[int, int, int, int]:
        at = self._at[call]
        return at.start.line, at.start.column, -at.end.line, -at.end.column


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    if isinstance(node, cst.FormattedString):
        return
    if isinstance(node, cst.Call):
        yield node
    for child in children(node):
        yield from _calls(child)


@dataclass
class _Change:
    """The edits of one function."""

    file: FileContext
    function: cst.FunctionDef
    shares: Sequence[Share]
    keywords: Mapping[tuple[str, str], str]
    positions: _Positions
    result: RuleResult
    _made: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def make(self) -> None:
        calls = self.positions.calls(self.function)
        assert len(calls) == len(calls_of(self.shares[0].function.node)), "both parsers see the same calls"
        for share in self.shares:
            held = self.keywords[share.function.key, share.name]
            for use in share.uses:
                self._use(calls[use.number], use, share, held)
            if share.given:
                self.result.rewrite(
                    self.function.params, lambda node, held=held: _with_keyword(node, held), counts=False
                )
            if share.makes:
                self._make(calls[min(use.number for use in share.uses)], share, held)
        self._insert()

    def _use(self, call: cst.Call, use: Use, share: Share, held: str) -> None:
        if use.takes is None:
            self.result.rewrite(call, lambda node: _third(node, held), kernel=use.kernel)
            if use.kernel is not None:
                self.result.note(use.kernel, _shared(share))
        elif use.takes in self.keywords:
            self._hand_over(call, self.keywords[use.takes], held)

    def _hand_over(self, call: cst.Call, keyword: str, held: str) -> None:
        self.result.rewrite(
            call, lambda node: keyword_added(cst.ensure_type(node, cst.Call), keyword, held), counts=False
        )

    def _make(self, first: cst.Call, share: Share, held: str) -> None:
        given = f"{share.name}, {held}" if share.given else share.name
        body = self.function.body.body
        place = next(i for i, statement in enumerate(body) if any(n is first for n in walk(statement)))
        self._made[place].append(f"{held} = {runtime_name(self.file, SHARED)}({given})")

    def _insert(self) -> None:
        if isinstance(self.function.body, cst.SimpleStatementSuite):
            texts = [text for found in self._made.values() for text in found]
            if texts:
                self.result.rewrite(self.function.body, lambda node: _opened(node, texts))
            return
        for place, texts in self._made.items():
            self.result.rewrite(
                self.function.body.body[place],
                lambda node, texts=texts: cst.FlattenSentinel([*map(cst.parse_statement, texts), node]),
            )


def _shared(share: Share) -> str:
    """What the report says of a kernel whose copy others use as well."""
    where = "a caller that feeds several kernels has it already" if share.given else "others need it too"
    return f"shared-layout: the copy of `{share.name}` is made once where {where}"


def _opened(suite: cst.CSTNode, texts: Sequence[str]) -> cst.IndentedBlock:
    """The body of `def f(..): ..` in lines of its own, behind the copies."""
    assert isinstance(suite, cst.SimpleStatementSuite)
    block = block_of(suite)
    return block.with_changes(body=[*map(cst.parse_statement, texts), *block.body])


def _third(node: cst.CSTNode, held: str) -> cst.Call:
    """`head_first(g, H, g_hf)`: the copy that exists, else one of its own."""
    call = cst.ensure_type(node, cst.Call)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return call.with_changes(
        args=[call.args[0], call.args[1].with_changes(comma=comma), cst.Arg(cst.Name(held))]
    )


def _with_keyword(node: cst.CSTNode, name: str) -> cst.Parameters:
    """The signature with one more parameter, None by default; among the named ones where there are such."""
    params = cst.ensure_type(node, cst.Parameters)
    named = bool(params.kwonly_params) or isinstance(params.star_arg, cst.Param)
    found = "kwonly_params" if named else "params"
    every: Sequence[cst.Param] = getattr(params, found)
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Param(cst.Name(name), default=cst.Name("None"), equal=tight)
    if not every:
        return params.with_changes(**{found: [new]})
    last = every[-1]
    between = next((p.comma for p in every if isinstance(p.comma, cst.Comma) and p is not last), None)
    plain = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    added = [*every[:-1], last.with_changes(comma=between or plain), new.with_changes(comma=last.comma)]
    return params.with_changes(**{found: added})


RULE = SharedLayout()
