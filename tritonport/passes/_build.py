"""Builds the few shapes of code that rules emit, in the style of the file around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst
import libcst.matchers as m

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.naming import fresh, names_of
from tritonport.facts.walk import code_of

LINE = 100
"""Column at which emitted argument lists wrap."""


def wrapped_list(items: Sequence[str], indent: str) -> str:
    """Comma-separated items in lines of at most LINE columns, each line indented, with a trailing comma."""
    lines: list[str] = []
    for item in items:
        if lines and len(indent) + len(lines[-1]) + len(item) + 2 <= LINE:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    return "".join(f"{indent}{line}\n" for line in lines)


def argument_list(head: str, items: Sequence[str], indent: str) -> str:
    """`head(a, b)` on one line where that fits, else in wrapped lines."""
    line = f"{head}({', '.join(items)})\n"
    if len(line) <= LINE:
        return line
    return f"{head}(\n{wrapped_list(items, indent + '    ')}{indent})\n"


def call(function: str, args: Iterable[cst.Arg]) -> cst.Call:
    """`function(a, b)` with plain spacing."""
    items = list(args)
    spaced = [
        arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        if index + 1 < len(items)
        else arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        for index, arg in enumerate(items)
    ]
    return cst.Call(func=cst.parse_expression(function), args=spaced)


def keyword(name: str, value: str) -> cst.Arg:
    return cst.Arg(
        keyword=cst.Name(name),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def runtime_name(file: FileContext, name: str) -> str:
    """The name under which a file uses a run-time helper: its own, unless the file uses that name for something."""
    return fresh(name, own_names(file))


def own_names(file: FileContext) -> frozenset[str]:
    """Names that mean something of the file's own somewhere in it, but for what it imports from the run-time module."""
    return names_of(file.module.tree, file.settings.runtime_module)


def import_from_runtime(file: FileContext, result: RuleResult, names: Iterable[str]) -> None:
    """Import run-time helpers: extends the import an earlier rule added, else adds one after the last import."""
    wanted = {name: runtime_name(file, name) for name in names}
    if not wanted:
        return
    module = file.settings.runtime_module
    result.rewrite(
        file.tree, lambda tree: _with_import(cst.ensure_type(tree, cst.Module), module, wanted), counts=False
    )


def _with_import(tree: cst.Module, module: str, names: dict[str, str]) -> cst.Module:
    body = list(tree.body)
    for index, statement in enumerate(body):
        found = _runtime_import(statement, module)
        if found is not None:
            assert not isinstance(found.names, cst.ImportStar)
            names = {
                **names,
                **{a.evaluated_name: a.evaluated_alias or a.evaluated_name for a in found.names},
            }
            body[index] = _import_line(module, names).with_changes(
                leading_lines=cst.ensure_type(statement, cst.SimpleStatementLine).leading_lines
            )
            return tree.with_changes(body=body)
    return with_import_line(tree, module, names)


def with_import_line(tree: cst.Module, module: str, names: dict[str, str]) -> cst.Module:
    """The module with `from module import name as local` behind its imports. names: name -> local name."""
    body = list(tree.body)
    body.insert(_after_imports(body), _import_line(module, names))
    return tree.with_changes(body=body)


def _runtime_import(statement: cst.CSTNode, module: str) -> cst.ImportFrom | None:
    if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.ImportFrom):
        found = statement.body[0]
        if found.module is not None and code_of(found.module) == module:
            return found
    return None


def _import_line(module: str, names: dict[str, str]) -> cst.SimpleStatementLine:
    items = [
        name if local == name else f"{name} as {local}"
        for name, local in sorted(names.items(), key=lambda item: item[0].lower())
    ]
    text = f"from {module} import {', '.join(items)}"
    if len(text) > LINE:
        text = f"from {module} import (\n{wrapped_list(items, '    ')})"
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)


def block_of(suite: cst.BaseSuite) -> cst.IndentedBlock:
    """A body as an indented block, also where it stands on the line of its head."""
    if isinstance(suite, cst.IndentedBlock):
        return suite
    simple = cst.ensure_type(suite, cst.SimpleStatementSuite)
    line = cst.SimpleStatementLine(body=simple.body, trailing_whitespace=simple.trailing_whitespace)
    return cst.IndentedBlock(body=[line])


def _after_imports(body: Sequence[cst.CSTNode]) -> int:
    """After the last import of the leading run of imports (docstring, imports, try-imports)."""
    place = 0
    for index, statement in enumerate(body):
        if m.matches(statement, m.SimpleStatementLine(body=[m.Import() | m.ImportFrom()])):
            place = index + 1
        elif m.matches(statement, m.SimpleStatementLine(body=[m.Expr(m.SimpleString())])) and index == 0:
            place = 1
        elif isinstance(statement, cst.FunctionDef | cst.ClassDef):
            break
    return place


def quote(file: FileContext) -> str:
    """The string quote that the file uses most."""
    return "'" if file.module.text.count("'") > file.module.text.count('"') else '"'
