"""Builds the persistent kernel and its task function from an upstream kernel."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst
import libcst.matchers as m

from tritonport.discover.functions import JIT
from tritonport.engine.context import FileContext, JitNode
from tritonport.facts.naming import fresh
from tritonport.facts.programs import ProgramPlan, TaskVariant
from tritonport.facts.walk import code_of
from tritonport.passes._build import argument_list, block_of, call, keyword, quote

TASK_COMMENT = "# One task of the kernel above: upstream's body, with its program ids as parameters."
HELPER_COMMENT = "# The helper above for task loops: the program id is handed in."


def parameters(node: cst.FunctionDef) -> list[cst.Param]:
    return [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]


def persistent_kernel(file: FileContext, plan: ProgramPlan, updated: cst.FunctionDef) -> cst.FunctionDef:
    """The kernel with its name, decorators and parameters, its body now the loop over this core's tasks."""
    text = f"def kernel():\n{_loop_text(file, plan, updated)}"
    loop = cst.ensure_type(
        cst.ensure_type(cst.parse_statement(text), cst.FunctionDef).body, cst.IndentedBlock
    )
    block = block_of(updated.body)
    doc = [block.body[0]] if _is_docstring(block.body[0]) else []
    return updated.with_changes(
        params=_with_extra(updated.params, plan.extra),
        decorators=[_specialize(file, d, plan.extra) for d in updated.decorators],
        body=cst.IndentedBlock(body=[*doc, *loop.body], indent=block.indent, header=block.header),
    )


def task_function(
    file: FileContext, variant: TaskVariant, jit: JitNode, updated: cst.FunctionDef, comment: str
) -> cst.FunctionDef:
    """The upstream body as a device function whose first parameters are its program ids.

    Default values stay: a helper may be called without them. The persistent kernel passes every argument.
    """
    plain = [_plain(p) for p in (*updated.params.posonly_params, *updated.params.params)]
    named = [_plain(p) for p in updated.params.kwonly_params]
    params = [*variant.leading, *plain, *(["*"] if named else []), *named]
    head = argument_list(f"def {variant.name}", params, "").rstrip("\n")
    text = f"@{_jit_text(file, jit.node)}\n{head}: pass\n"
    block = block_of(updated.body)
    body = list(block.body[1:] if _is_docstring(block.body[0]) else block.body)
    lines = [
        cst.EmptyLine(indent=False),
        cst.EmptyLine(indent=False),
        cst.EmptyLine(comment=cst.Comment(comment)),
    ]
    new = cst.ensure_type(cst.parse_statement(text), cst.FunctionDef)
    header = cst.TrailingWhitespace() if body is not block.body else block.header
    return new.with_changes(
        body=block.with_changes(body=body or [cst.SimpleStatementLine([cst.Pass()])], header=header),
        leading_lines=lines,
    )


def _is_docstring(statement: cst.CSTNode) -> bool:
    return m.matches(
        statement, m.SimpleStatementLine(body=[m.Expr(m.SimpleString() | m.ConcatenatedString())])
    )


def _plain(param: cst.Param) -> str:
    annotation = f": {code_of(param.annotation.annotation)}" if param.annotation is not None else ""
    if param.default is None:
        return f"{param.name.value}{annotation}"
    equal = " = " if annotation else "="
    return f"{param.name.value}{annotation}{equal}{code_of(param.default)}"


def _jit_text(file: FileContext, node: cst.FunctionDef) -> str:
    for decorator in node.decorators:
        target = (
            decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
        )
        if JIT & set(file.externals(target)):
            return code_of(target)
    raise AssertionError("a kernel without a jit decorator")


def _loop_text(file: FileContext, plan: ProgramPlan, node: cst.FunctionDef) -> str:
    tl = file.analysis.index.local_name(file.module.name, "triton.language") or "triton.language"
    names = [p.name.value for p in parameters(node)]
    taken = {*names, *plan.extra, *plan.axis_names}
    tasks, core, cores, start, i, task = (
        fresh(n, taken) for n in ("tasks", "core", "cores", "start", "i", "task")
    )
    grid = plan.axis_names
    decode = [f"{task}"] if plan.rank == 1 else [f"{task} % {grid[0]}", f"{task} // {grid[0]}"]
    if plan.rank == 3:
        decode = [decode[0], f"{decode[1]} % {grid[1]}", f"{task} // ({grid[0]} * {grid[1]})"]
    leading = [decode[axis] for axis, _ in plan.variant.pids] + [grid[axis] for axis, _ in plan.variant.sizes]
    sizes = [text for text in plan.formulas if text is not None]
    if plan.rank == 1 and not plan.variant.sizes:
        lines = [f"{tasks} = {sizes[0] if sizes else grid[0]}"]
    else:
        lines = [f"{grid[axis]} = {text}" for axis, text in enumerate(plan.formulas) if text is not None]
        lines.append(f"{tasks} = {' * '.join(grid)}")
    lines += [
        f"{core}, {cores} = {tl}.program_id(0), {tl}.num_programs(0)",
    ]
    count = f"({tasks} - {core} + {cores} - 1) // {cores}"
    if _always_alone(plan):
        # bishengir-compile (ascendnpu-ir 1.2.0) does not end for a cube kernel whose loop stores the same in each trip.
        lines.append(f"if {core} < {tasks}:")
    elif file.settings.schedule == "contiguous":
        lines += [
            "# The contiguous share of this core; shares differ by at most one task.",
            f"{start} = {core} * ({tasks} // {cores}) + {tl}.minimum({core}, {tasks} % {cores})",
            f"for {i} in range({count}):",
            f"    {task} = {start} + {i}",
        ]
    else:
        lines += [f"for {i} in range({count}):", f"    {task} = {core} + {i} * {cores}"]
    text = "".join(f"    {line}\n" for line in lines)
    named = {p.name.value for p in node.params.kwonly_params}
    passed = [f"{name}={name}" if name in named else name for name in names]
    return text + argument_list(f"        {plan.variant.name}", [*leading, *passed], " " * 8)


def _always_alone(plan: ProgramPlan) -> bool:
    """Whether every launch starts one program, which asks for no id: there is nothing to loop over."""
    axes = [axis for item in plan.sites for grid in item.site.grids for axis in grid.axes or (None,)]
    ones = all(isinstance(axis, ast.Constant) and axis.value == 1 for axis in axes)
    return bool(axes) and ones and not plan.variant.leading


def _with_extra(params: cst.Parameters, extra: Sequence[str]) -> cst.Parameters:
    """The parameter list with further ones at its end, in the layout of the list."""
    field = "kwonly_params" if params.kwonly_params else "params"
    old: list[cst.Param] = list(getattr(params, field))
    default = cst.Name("None") if field == "params" and old and old[-1].default is not None else None
    for name in extra:
        param = cst.Param(name=cst.Name(name))
        if default is not None:
            tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            param = param.with_changes(default=default, equal=tight)
        old = _append(old, param)
    return params.with_changes(**{field: old})


def _append(params: list[cst.Param], new: cst.Param) -> list[cst.Param]:
    if not params:
        return [new]
    last = params[-1]
    if len(params) > 1:
        between = params[-2].comma
    else:
        between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        if isinstance(last.comma, cst.Comma) and isinstance(
            last.comma.whitespace_after, cst.ParenthesizedWhitespace
        ):
            newline = last.comma.whitespace_after.with_changes(last_line=cst.SimpleWhitespace("    "))
            between = cst.Comma(whitespace_after=newline)
    comma = between
    if isinstance(between, cst.Comma) and isinstance(last.comma, cst.Comma):
        # The comment behind the last parameter stays with it, not with the new one.
        comma = _keep_comment(between, last.comma)
    closing = _without_comment(last.comma)
    tail = last.whitespace_after_param if not isinstance(last.comma, cst.Comma) else cst.SimpleWhitespace("")
    first = last.with_changes(comma=comma, whitespace_after_param=cst.SimpleWhitespace(""))
    return [*params[:-1], first, new.with_changes(comma=closing, whitespace_after_param=tail)]


def _keep_comment(between: cst.Comma, closing: cst.Comma) -> cst.Comma:
    space, end = between.whitespace_after, closing.whitespace_after
    if isinstance(space, cst.ParenthesizedWhitespace):
        space = space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        if isinstance(end, cst.ParenthesizedWhitespace):
            space = space.with_changes(first_line=end.first_line, empty_lines=end.empty_lines)
    return between.with_changes(whitespace_after=space)


def _without_comment(comma: cst.Comma | cst.MaybeSentinel) -> cst.Comma | cst.MaybeSentinel:
    if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        space = comma.whitespace_after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        return comma.with_changes(whitespace_after=space)
    return comma


def _specialize(file: FileContext, decorator: cst.Decorator, extra: Sequence[str]) -> cst.Decorator:
    """`do_not_specialize` names the new sizes too: a kernel is not compiled anew for every grid."""
    node = decorator.decorator
    target = node.func if isinstance(node, cst.Call) else node
    if not extra or not JIT & set(file.externals(target)):
        return decorator
    mark = quote(file)
    names = ", ".join(f"{mark}{name}{mark}" for name in extra)
    if not isinstance(node, cst.Call):
        return decorator.with_changes(
            decorator=cst.parse_expression(f"{code_of(node)}(do_not_specialize=[{names}])")
        )
    args = list(node.args)
    for index, arg in enumerate(args):
        if arg.keyword is not None and arg.keyword.value == "do_not_specialize":
            old = arg.value
            if isinstance(old, cst.List | cst.Tuple):
                kept = (e.with_changes(comma=cst.MaybeSentinel.DEFAULT) for e in old.elements)
                text = ", ".join([*(code_of(e) for e in kept), names])
            else:
                text = f"*({code_of(old)}), {names}"
            args[index] = arg.with_changes(value=cst.parse_expression(f"[{text}]"))
            return decorator.with_changes(decorator=node.with_changes(args=args))
    return decorator.with_changes(
        decorator=call(code_of(target), [*args, keyword("do_not_specialize", f"[{names}]")])
    )
