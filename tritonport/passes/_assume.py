"""Guards for what the user asserted: a check before each launch that the assertion speaks of."""

from __future__ import annotations

import ast

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.assume import Assumption
from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import children, code_of
from tritonport.passes._build import import_from_runtime, quote, runtime_name

CHECK = "check_assumption"


class Assumptions:
    """The guards of one file."""

    def __init__(self, file: FileContext, result: RuleResult) -> None:
        self.file, self.result = file, result
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}

    def guard(self) -> None:
        """Puts the checks in front of the statements that launch."""
        wanted = [
            (site, lines)
            for site in self.file.sites
            if any(k in self.file.programs.plans for k in site.kernels) and (lines := self._lines(site))
        ]
        if not wanted:
            return
        self._note_parents(self.file.tree)
        for site, lines in wanted:
            self._before(self.file.launch_call(site), lines, site)
        import_from_runtime(self.file, self.result, [CHECK])

    def _lines(self, site: LaunchSite) -> list[str]:
        """One line per assertion whose names the launch passes, over what it passes."""
        kernel = next(k for k in site.kernels if k in self.file.programs.plans)
        given = dict(zip(self.file.analysis.functions[kernel].parameters, site.node.args, strict=False))
        given |= {k.arg: k.value for k in site.node.keywords if k.arg is not None}
        name, mark = runtime_name(self.file, CHECK), quote(self.file)
        return [
            f"{name}({_over(a, given)}, {mark}{a.text}{mark})"
            for a in self.file.settings.assumptions
            if set(a.names) <= set(given)
        ]

    def _before(self, call: cst.Call, lines: list[str], site: LaunchSite) -> None:
        at: cst.CSTNode = call
        while not isinstance(at, cst.SimpleStatementLine):
            at = self.parents[at]
        block = self.parents[at]
        body = list(getattr(block, "body", ()))
        place = next((i for i, node in enumerate(body) if node is at), 0)
        earlier = {code_of(node).strip() for node in body[:place]}
        new = [line for line in lines if line not in earlier]
        if new:
            kernel = next(k for k in site.kernels if k in self.file.programs.plans)
            self.result.rewrite(at, lambda old: _with_checks(old, new), kernel=kernel)

    def _note_parents(self, node: cst.CSTNode) -> None:
        for child in children(node):
            self.parents[child] = node
            self._note_parents(child)


def _with_checks(old: cst.CSTNode, lines: list[str]) -> cst.FlattenSentinel[cst.CSTNode]:
    """The checks above a statement; comments over the statement stay above both."""
    statement = cst.ensure_type(old, cst.SimpleStatementLine)
    checks = [cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine) for line in lines]
    checks[0] = checks[0].with_changes(leading_lines=statement.leading_lines)
    return cst.FlattenSentinel([*checks, statement.with_changes(leading_lines=[])])


def _over(assumption: Assumption, given: dict[str, ast.expr]) -> str:
    """The assertion over the expressions that a launch passes."""

    class Passed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return given[node.id]

    return ast.unparse(Passed().visit(ast.parse(assumption.text, mode="eval").body))
