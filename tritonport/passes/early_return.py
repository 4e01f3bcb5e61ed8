"""`if c: return` -> a guard around the rest: a return cannot stay in a body that a task loop calls."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
import libcst.matchers as m

from tritonport.engine.apply import apply_edits
from tritonport.engine.context import FileContext
from tritonport.engine.rule import Edit, RuleResult
from tritonport.facts.naming import fresh
from tritonport.facts.walk import children, code_of, comment_counts, comments_in, find, walk
from tritonport.passes._build import block_of
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
            body = block_of(jit.node.body)
            try:
                guarded = _Guard(jit.node).block(list(body.body))
            except _CannotGuard as error:
                result.unresolved(error.node, error.why, kernel=plan.key)
                continue
            new = body.with_changes(body=guarded)
            lost = _lost([body], [new])
            new = new.with_changes(footer=[*lost, *body.footer])
            result.rewrite(jit.node.body, lambda _, new=new: new, kernel=plan.key)
        return result


def _returns(node: cst.CSTNode) -> list[cst.Return]:
    return find(node, cst.Return)


def _plain(node: cst.Return) -> bool:
    return node.value is None or (isinstance(node.value, cst.Name) and node.value.value == "None")


def _is_return(statement: cst.BaseStatement) -> bool:
    return m.matches(statement, m.SimpleStatementLine(body=[m.Return()]))


def _comment_lines(statement: cst.BaseStatement) -> list[cst.EmptyLine]:
    """Comments around a statement that goes away, as lines of their own."""
    line = cst.ensure_type(statement, cst.SimpleStatementLine)
    kept = [empty for empty in line.leading_lines if empty.comment is not None]
    trailing = line.trailing_whitespace.comment
    return [*kept, *([cst.EmptyLine(comment=trailing)] if trailing is not None else [])]


def _lost(before: Sequence[cst.CSTNode], after: Sequence[cst.CSTNode]) -> list[cst.EmptyLine]:
    """Comments that went with a return or an `else`, as lines of their own."""
    kept = comment_counts(after)
    if not comment_counts(before) - kept:
        return []
    lines: list[cst.EmptyLine] = []
    for comment in (comment for node in before for comment in comments_in(node)):
        if kept[comment.value]:
            kept[comment.value] -= 1
        else:
            lines.append(cst.EmptyLine(comment=comment))
    return lines


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
        self.bound = {p.name.value for p in (*kernel.params.params, *kernel.params.kwonly_params)}

    def block(self, statements: Statements) -> Statements:
        for index, statement in enumerate(statements):
            if _returns(statement):
                before, after = statements[:index], statements[index + 1 :]
                self.bound |= {name for s in before for name in _surely_assigned(s)}
                guarded = self._guard(statement, after)
                lost = _lost([statement, *after], guarded)
                if lost and guarded and isinstance(first := guarded[0], cst.SimpleStatementLine | cst.If):
                    guarded[0] = first.with_changes(leading_lines=[*first.leading_lines, *lost])
                return [*before, *guarded]
        return statements

    def _guarded(self, statements: Statements) -> Statements:
        """Statements for a run-time branch, their own returns guarded.

        A name may not change its type in such a branch, so those that are bound before it get new names in it.
        """
        bound = set(self.bound)
        statements = self.block(statements)
        again = [n for n in dict.fromkeys(_assigned(statements)) if n in bound]
        names = {name: fresh(f"{name}_", self._taken) for name in again}
        self._taken |= set(names.values())
        first = [cst.parse_statement(f"{new} = {old}") for old, new in names.items()]
        return [*first, *_renamed(statements, names)]

    def _guard(self, statement: cst.BaseStatement, rest: Statements) -> Statements:
        if isinstance(statement, cst.SimpleStatementLine):
            return self._final(statement, rest)
        if isinstance(statement, cst.If):
            return self._branch(statement, rest)
        raise _CannotGuard(statement, "a return inside a loop, which the target's front end refuses")

    def _final(self, statement: cst.SimpleStatementLine, rest: Statements) -> Statements:
        returned = statement.body[-1]
        if not isinstance(returned, cst.Return) or not _plain(returned):
            raise _CannotGuard(statement, f"a kernel returns a value: `{code_of(returned).strip()}`")
        if rest:
            raise _CannotGuard(statement, "code after an unconditional return")
        kept = statement.body[:-1]
        return [statement.with_changes(body=kept)] if kept else []

    def _branch(self, statement: cst.If, rest: Statements) -> Statements:
        then, other = self._arms(statement)
        if not _returns_anywhere(other) and _ends_in_return(then):
            return self._leave_then(statement, then, other, rest)
        if not _returns_anywhere(then) and other and _ends_in_return(other):
            kept = self._guarded([*then, *rest])
            return [self._if(statement, statement.test, kept, other[:-1], _comment_lines(other[-1]))]
        return self._nested(statement, then, other, rest)

    def _arms(self, statement: cst.If) -> tuple[Statements, Statements]:
        then = _statements(statement.body)
        if isinstance(statement.orelse, cst.If):
            return then, [statement.orelse]
        return then, _statements(statement.orelse.body) if statement.orelse is not None else []

    def _leave_then(
        self, statement: cst.If, then: Statements, other: Statements, rest: Statements
    ) -> Statements:
        """`if c: A; return` followed by the rest."""
        comments = _comment_lines(then[-1])
        follow = self._guarded([*other, *rest])
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
        if len(other) == 1 and isinstance(other[0], cst.If) and isinstance(like.orelse, cst.If):
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
        """Returns inside the branches of other conditions: a flag.

        What follows a return in its branch is guarded in place, or, where the rest needs names that it binds, moves
        behind the guard: skip = False; if test: ...; skip = c; if not skip: (if test: what followed the return); rest
        """
        name = fresh("skip", self._taken)
        self._taken.add(name)
        marks = _Mark(self, name, {n.value for s in rest for n in _variables(s)})
        repeatable = _repeatable(statement.test, [*then, *other])
        marked_then, tail_then = marks.block(then, first=True, movable=repeatable)
        marked_other, tail_other = marks.block(other, first=True, movable=repeatable)
        flag = cst.parse_statement(f"{name} = False").with_changes(leading_lines=statement.leading_lines)
        first = self._if(statement, statement.test, marked_then, marked_other, []).with_changes(
            leading_lines=[]
        )
        behind: Statements = []
        if tail_then or tail_other:
            if not _returns_anywhere(other) and not tail_other:
                # The other branch binds what the rest needs too: it belongs behind the guard with its twin.
                first = first.with_changes(orelse=None)
                tail_other = other
            second = self._if(statement, statement.test, tail_then or [_pass()], tail_other, [])
            behind = [second.with_changes(leading_lines=[])]
        follow = self._guarded([*behind, *rest])
        if not follow:
            return [flag, first]
        guard = cst.If(test=cst.parse_expression(f"not {name}"), body=cst.IndentedBlock(body=follow))
        return [flag, first, guard]


def _repeatable(test: cst.BaseExpression, branches: Statements) -> bool:
    """Whether a condition can be asked again after its branches, and says the same."""
    read = {name.value for name in _variables(test)}
    return not find(test, cst.Call) and not read & set(_assigned(branches))


class _Mark:
    """Turns the returns of a block into writes of a flag."""

    def __init__(self, guard: _Guard, name: str, needed: set[str]) -> None:
        self._guard, self._name, self._needed = guard, name, needed

    def block(
        self, statements: Statements, *, first: bool, movable: bool = False
    ) -> tuple[Statements, Statements]:
        """The block without returns, and what must move behind the guard.

        first: nothing before this block can have set the flag, so that a condition may be assigned to it.
        movable: what follows the return may move; else it is guarded in place, where nothing new can be bound.
        """
        index = next((i for i, s in enumerate(statements) if _returns(s)), None)
        if index is None:
            return statements, []
        before, suffix = statements[:index], statements[index + 1 :]
        marked = [*before, *self._statement(statements[index], first=first)]
        if not suffix:
            return marked, []
        if movable:
            return marked, suffix
        bound = self._guard.bound | {n for s in before for n in _surely_assigned(s)}
        if (set(_assigned(suffix)) - bound) & self._needed:
            raise _CannotGuard(suffix[0], "what follows a nested return binds names that the rest needs")
        inner, _ = self.block(suffix, first=False)
        return [
            *marked,
            cst.If(test=cst.parse_expression(f"not {self._name}"), body=cst.IndentedBlock(body=inner)),
        ], []

    def _statement(self, statement: cst.BaseStatement, *, first: bool) -> Statements:
        if isinstance(statement, cst.If):
            if first and statement.orelse is None and _only_returns(statement):
                return [self._condition(statement)]
            return [self._branch(statement)]
        if isinstance(statement, cst.SimpleStatementLine):
            returned = statement.body[-1]
            if isinstance(returned, cst.Return) and _plain(returned):
                assign = cst.ensure_type(cst.parse_statement(f"{self._name} = True"), cst.SimpleStatementLine)
                return [statement.with_changes(body=[*statement.body[:-1], assign.body[0]])]
            raise _CannotGuard(statement, f"a kernel returns a value: `{code_of(returned).strip()}`")
        raise _CannotGuard(statement, "a return inside a loop, which the target's front end refuses")

    def _condition(self, statement: cst.If) -> cst.BaseStatement:
        """`if c: return` -> `skip = c`."""
        line = cst.ensure_type(cst.parse_statement(f"{self._name} = x"), cst.SimpleStatementLine)
        assign = cst.ensure_type(line.body[0], cst.Assign).with_changes(value=statement.test)
        comments = [*statement.leading_lines, *_comment_lines(_statements(statement.body)[0])]
        return line.with_changes(body=[assign], leading_lines=comments)

    def _branch(self, statement: cst.If) -> cst.If:
        then, _ = self.block(_statements(statement.body), first=False)
        orelse = statement.orelse
        if isinstance(orelse, cst.If) and _returns(orelse):
            orelse = self._branch(orelse)
        elif isinstance(orelse, cst.Else) and _returns(orelse):
            other, _ = self.block(_statements(orelse.body), first=False)
            orelse = orelse.with_changes(body=_block(other, orelse.body))
        return statement.with_changes(body=_block(then, statement.body), orelse=orelse)


def _targets(statement: cst.CSTNode) -> list[cst.Name]:
    """Names that the assignments at or below a statement bind; `x += 1` binds no new value of another type."""
    nodes = [n for n in walk(statement) if isinstance(n, cst.AssignTarget | cst.AnnAssign | cst.NamedExpr)]
    return [name for node in nodes for name in _variables(node.target)]


def _assigned(statements: Statements) -> list[str]:
    return [name.value for statement in statements for name in _targets(statement)]


def _surely_assigned(statement: cst.BaseStatement) -> list[str]:
    return [n.value for n in _targets(statement)] if isinstance(statement, cst.SimpleStatementLine) else []


def _variables(node: cst.CSTNode) -> list[cst.Name]:
    """Names at or below a node that are variables: no attributes, no keywords of calls."""
    if isinstance(node, cst.Name):
        return [node]
    if isinstance(node, cst.Attribute | cst.Arg):
        return _variables(node.value)
    return [name for child in children(node) for name in _variables(child)]


def _renamed(statements: Statements, names: dict[str, str]) -> Statements:
    block = cst.Module(body=[]).with_changes(body=statements)
    edits = [
        Edit(node, lambda _, new=names[node.value]: cst.Name(new))
        for statement in statements
        for node in _variables(statement)
        if node.value in names
    ]
    return list(apply_edits(block, edits).body)  # type: ignore[arg-type]


def _statements(suite: cst.BaseSuite) -> Statements:
    if isinstance(suite, cst.IndentedBlock):
        return list(suite.body)
    simple = cst.ensure_type(suite, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(body=simple.body, trailing_whitespace=simple.trailing_whitespace)]


def _returns_anywhere(statements: Statements) -> bool:
    return any(_returns(s) for s in statements)


def _ends_in_return(statements: Statements) -> bool:
    """Whether the block's one return is its last statement, and returns nothing."""
    if not statements or not _is_return(statements[-1]) or not _plain(_returns(statements[-1])[0]):
        return False
    return not _returns_anywhere(statements[:-1])


def _only_returns(node: cst.If) -> bool:
    body = _statements(node.body)
    return len(body) == 1 and _ends_in_return(body)


def _pass() -> cst.BaseStatement:
    return cst.SimpleStatementLine(body=[cst.Pass()])


RULE = EarlyReturn()
