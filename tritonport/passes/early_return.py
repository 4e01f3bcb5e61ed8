"""`if c: return` -> a guard around the rest: a return cannot stay in a body that a task loop calls."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from tritonport.engine.context import FileContext, code_of
from tritonport.engine.rule import RuleResult
from tritonport.facts.naming import fresh
from tritonport.facts.walk import find, walk
from tritonport.record import RuleClass

Statements = list[cst.BaseStatement]


class _CannotGuard(Exception):
    """Why a return cannot become a guard."""

    def __init__(self, node: cst.CSTNode, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


class EarlyReturn:
    """Rewrites the bodies of kernels that become tasks."""

    slug = "early-return"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for plan, jit in file.planned():
            returns = _returns(jit.node.body)
            if not returns:
                continue
            body = cst.ensure_type(jit.node.body, cst.IndentedBlock)
            try:
                guarded = _Guard(jit.node).block(list(body.body))
            except _CannotGuard as error:
                result.unresolved(error.node, error.why, kernel=plan.key)
                continue
            new = body.with_changes(body=guarded)
            result.rewrite(body, lambda _, new=new: new, kernel=plan.key)
        return result


def _returns(node: cst.CSTNode) -> list[cst.Return]:
    return find(node, cst.Return)


def _is_return(statement: cst.BaseStatement) -> bool:
    return m.matches(statement, m.SimpleStatementLine(body=[m.Return()]))


def _comment_lines(statement: cst.BaseStatement) -> list[cst.EmptyLine]:
    """Comments around a statement that goes away, as lines of their own."""
    line = cst.ensure_type(statement, cst.SimpleStatementLine)
    kept = [empty for empty in line.leading_lines if empty.comment is not None]
    trailing = line.trailing_whitespace.comment
    return [*kept, *([cst.EmptyLine(comment=trailing)] if trailing is not None else [])]


def _block(statements: Statements, like: cst.BaseSuite) -> cst.IndentedBlock:
    block = like if isinstance(like, cst.IndentedBlock) else cst.IndentedBlock(body=[])
    return block.with_changes(body=statements)


def _not(test: cst.BaseExpression) -> cst.BaseExpression:
    inner = test if test.lpar else test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    simple = isinstance(test, cst.Name | cst.Attribute | cst.Call)
    return cst.UnaryOperation(operator=cst.Not(), expression=test if simple else inner)


class _Guard:
    """Moves what follows a return into a guard, block by block."""

    def __init__(self, kernel: cst.FunctionDef) -> None:
        self._taken = {node.value for node in find(kernel, cst.Name)}

    def block(self, statements: Statements) -> Statements:
        for index, statement in enumerate(statements):
            if _returns(statement):
                before, after = statements[:index], statements[index + 1 :]
                return [*before, *self._guard(statement, after)]
        return statements

    def _guard(self, statement: cst.BaseStatement, rest: Statements) -> Statements:
        if isinstance(statement, cst.SimpleStatementLine):
            return self._final(statement, rest)
        if isinstance(statement, cst.If):
            return self._branch(statement, rest)
        raise _CannotGuard(statement, "a return inside a loop, which the target's front end refuses")

    def _final(self, statement: cst.SimpleStatementLine, rest: Statements) -> Statements:
        returned = statement.body[-1]
        if not isinstance(returned, cst.Return) or returned.value is not None:
            raise _CannotGuard(statement, f"a kernel returns a value: `{code_of(statement).strip()}`")
        if rest:
            raise _CannotGuard(statement, "code after an unconditional return")
        kept = statement.body[:-1]
        return [statement.with_changes(body=kept)] if kept else []

    def _branch(self, statement: cst.If, rest: Statements) -> Statements:
        then, other = self._arms(statement)
        if not _returns_anywhere(other) and _ends_in_return(then):
            return self._leave_then(statement, then, other, rest)
        if not _returns_anywhere(then) and other and _ends_in_return(other):
            kept = self.block([*then, *rest])
            return [self._if(statement, statement.test, kept, other[:-1], _comment_lines(other[-1]))]
        return self._nested(statement, then, other, rest)

    def _arms(self, statement: cst.If) -> tuple[Statements, Statements]:
        then = _statements(statement.body)
        if isinstance(statement.orelse, cst.If):
            return then, [statement.orelse]
        return then, _statements(statement.orelse.body) if statement.orelse is not None else []

    def _leave_then(self, statement: cst.If, then: Statements, other: Statements, rest: Statements) -> Statements:
        """`if c: A; return` followed by the rest."""
        comments = _comment_lines(then[-1])
        follow = self.block([*other, *rest])
        if len(then) > 1:
            return [self._if(statement, statement.test, then[:-1], follow, comments)]
        if not follow:
            return []
        return [self._if(statement, _not(statement.test), follow, [], comments)]

    def _if(
        self,
        like: cst.If,
        test: cst.BaseExpression,
        then: Statements,
        other: Statements,
        comments: list[cst.EmptyLine],
    ) -> cst.If:
        orelse: cst.If | cst.Else | None = None
        if len(other) == 1 and isinstance(other[0], cst.If) and other[0] is like.orelse:
            orelse = other[0]
        elif other:
            orelse = cst.Else(body=_block(other, like.body))
        return like.with_changes(
            test=test,
            body=_block(then, like.body),
            orelse=orelse,
            leading_lines=[*like.leading_lines, *comments],
            whitespace_before_test=cst.SimpleWhitespace(" "),
        )

    def _nested(self, statement: cst.If, then: Statements, other: Statements, rest: Statements) -> Statements:
        """A return inside the branch of another condition: a flag, and the branch split in two.

        skip = False
        if test: ...; skip = condition
        if not skip:
            if test: what followed the return
            rest
        """
        index = next((i for i, s in enumerate(then) if _returns(s)), None)
        if index is None or _returns_anywhere(other):
            raise _CannotGuard(statement, "returns in several branches")
        inner = then[index]
        if not isinstance(inner, cst.If) or inner.orelse is not None or not _only_returns(inner):
            raise _CannotGuard(inner, "a return nested in more than one condition")
        prefix, suffix = then[:index], then[index + 1 :]
        self._check_repeatable(statement.test, prefix)
        name = fresh("skip", self._taken)
        self._taken.add(name)
        flag = cst.parse_statement(f"{name} = False").with_changes(leading_lines=statement.leading_lines)
        decide = cst.ensure_type(cst.parse_statement(f"{name} = x"), cst.SimpleStatementLine)
        assign = cst.ensure_type(decide.body[0], cst.Assign).with_changes(value=inner.test)
        comments = [*inner.leading_lines, *_comment_lines(_statements(inner.body)[0])]
        decide = decide.with_changes(body=[assign], leading_lines=comments)
        first = self._if(statement, statement.test, [*prefix, decide], [], []).with_changes(leading_lines=[])
        second = self._if(statement, statement.test, suffix or [_pass()], other, []).with_changes(leading_lines=[])
        follow = self.block([*([second] if suffix or other else []), *rest])
        guard = cst.If(test=cst.parse_expression(f"not {name}"), body=cst.IndentedBlock(body=follow))
        return [flag, first, guard]

    def _check_repeatable(self, test: cst.BaseExpression, prefix: Statements) -> None:
        """The outer condition is asked twice: nothing before the return may change it."""
        if find(test, cst.Call):
            raise _CannotGuard(test, f"the condition `{code_of(test)}` would be evaluated twice")
        read = {n.value for n in find(test, cst.Name)}
        for statement in prefix:
            for target in walk(statement):
                if not isinstance(target, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For):
                    continue
                if read & {n.value for n in find(target.target, cst.Name)}:
                    raise _CannotGuard(statement, f"the condition `{code_of(test)}` changes before the return")


def _statements(suite: cst.BaseSuite) -> Statements:
    if isinstance(suite, cst.IndentedBlock):
        return list(suite.body)
    simple = cst.ensure_type(suite, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(body=simple.body, trailing_whitespace=simple.trailing_whitespace)]


def _returns_anywhere(statements: Statements) -> bool:
    return any(_returns(s) for s in statements)


def _ends_in_return(statements: Statements) -> bool:
    """Whether the block's one return is its last statement, and returns nothing."""
    if not statements or not _is_return(statements[-1]) or _returns(statements[-1])[0].value is not None:
        return False
    return not _returns_anywhere(statements[:-1])


def _only_returns(node: cst.If) -> bool:
    body = _statements(node.body)
    return len(body) == 1 and _ends_in_return(body)


def _pass() -> cst.BaseStatement:
    return cst.SimpleStatementLine(body=[cst.Pass()])


RULE = EarlyReturn()
