"""Re-reads output for what may not remain. Written apart from the rules, over `ast`, so as to contradict them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

GPU_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
_ASKING = frozenset({"program_id", "num_programs"})
RUNTIME_WRAPPERS = frozenset({"on_cube_cores", "on_vector_cores", "on_cores"})


@dataclass(frozen=True, slots=True)
class Residue:
    """Something left in an output file. function: the top-level function or class around it."""

    slug: str
    function: str
    line: int
    why: str


def residues(text: str, kernels: frozenset[str], rules: frozenset[str]) -> Iterator[Residue]:
    """What is left of what the active rules should have removed, for these migrated kernels of one file."""
    tree = ast.parse(text)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    if "grid-collapse" in rules:
        yield from _kernels(functions, kernels, _Names(tree))
        yield from _launches(tree, kernels)
    if "launch-options" in rules:
        yield from _options(tree, kernels, functions)


class _Names:
    """What the names of one file may stand for, by every assignment and import outside its functions."""

    def __init__(self, tree: ast.Module) -> None:
        self.meant: dict[str, set[str]] = {}
        for node in _outside_functions(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign | ast.NamedExpr) else targets
            for target in targets:
                if isinstance(target, ast.Name):
                    self.meant.setdefault(target.id, set()).update(_last_parts(node))
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.meant.setdefault(alias.asname or alias.name, set()).add(alias.name)

    def of(self, name: str) -> set[str]:
        """The name, and every name that it may stand for."""
        found, todo = {name}, [name]
        while todo:
            more = self.meant.get(todo.pop(), set()) - found
            found |= more
            todo += more
        return found


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _outside_functions(child)


def _last_parts(node: ast.AST) -> set[str]:
    """Names, and last parts of dotted names, that are read below a node."""
    return {
        item.id if isinstance(item, ast.Name) else item.attr
        for item in ast.walk(node)
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load)
    }


def _called_names(node: ast.AST) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Call):
            yield ast.unparse(item.func)


def _kernels(
    functions: dict[str, ast.FunctionDef], kernels: frozenset[str], names: _Names
) -> Iterator[Residue]:
    for name in sorted(kernels & set(functions)):
        kernel = functions[name]
        if not any(isinstance(node, ast.For) for node in ast.walk(kernel)):
            yield Residue("grid-collapse", name, kernel.lineno, "the kernel has no task loop")
        for node in _below(functions, kernel, names):
            yield from _program_ids(name, node, names, is_kernel=node is kernel)
            if node is not kernel:
                yield from _returns(name, node)


def _below(
    functions: dict[str, ast.FunctionDef], kernel: ast.FunctionDef, names: _Names
) -> Iterator[ast.FunctionDef]:
    """The kernel, and every function that its body reaches: called or handed on, under whatever name."""
    todo, seen = [kernel], {kernel.name}
    while todo:
        node = todo.pop()
        yield node
        for item in _read(node):
            for name in names.of(item.id if isinstance(item, ast.Name) else item.attr):
                if name in functions and name not in seen and _is_jit(functions[name], names):
                    seen.add(name)
                    todo.append(functions[name])


def _is_jit(node: ast.FunctionDef, names: _Names) -> bool:
    """Whether a function is device code; what only made a constant that a task reads is not."""
    return any("jit" in names.of(last) for d in node.decorator_list for last in _last_parts(d))


def _read(node: ast.FunctionDef) -> Iterator[ast.Name | ast.Attribute]:
    """Names of the module, and members of them, that a body reads."""
    bound = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for item in (found for statement in node.body for found in ast.walk(statement)):
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load):
            root: ast.expr = item
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id not in bound:
                yield item


def _program_ids(kernel: str, node: ast.FunctionDef, names: _Names, *, is_kernel: bool) -> Iterator[Residue]:
    calls = {id(call.func): call for call in ast.walk(node) if isinstance(call, ast.Call)}
    for item in _read(node):
        if _ASKING.isdisjoint(names.of(item.id if isinstance(item, ast.Name) else item.attr)):
            continue
        call = calls.get(id(item))
        if not (is_kernel and call is not None and _first_axis(call)):
            text = ast.unparse(call or item)
            yield Residue("grid-collapse", kernel, item.lineno, f"`{text}` in the body of a task")


def _first_axis(call: ast.Call) -> bool:
    first = call.args[0] if call.args else next((k.value for k in call.keywords), None)
    return isinstance(first, ast.Constant) and first.value == 0


def _returns(kernel: str, node: ast.FunctionDef) -> Iterator[Residue]:
    for item in ast.walk(node):
        if isinstance(item, ast.Return) and item.value is None:
            yield Residue("early-return", kernel, item.lineno, f"a return is left in `{node.name}`")


def _launches(tree: ast.Module, kernels: frozenset[str]) -> Iterator[Residue]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            target = node.func.value
            if isinstance(target, ast.Name | ast.Attribute):
                name = ast.unparse(target).rpartition(".")[2]
                if name in kernels:
                    yield Residue(
                        "grid-collapse",
                        name,
                        node.lineno,
                        f"`{ast.unparse(node.func)}` launches the whole grid",
                    )


def _options(
    tree: ast.Module, kernels: frozenset[str], functions: dict[str, ast.FunctionDef]
) -> Iterator[Residue]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        launched = isinstance(node.func, ast.Subscript) and any(
            c.rpartition(".")[2] in RUNTIME_WRAPPERS for c in _called_names(node.func.value)
        )
        config = ast.unparse(node.func).rpartition(".")[2] == "Config"
        left = [k.arg for k in node.keywords if k.arg in GPU_OPTIONS]
        if left and (launched or (config and kernels & set(functions))):
            kernel = next((k for k in sorted(kernels) if k in functions), "")
            own = {a.arg for k in kernels if k in functions for a in functions[k].args.args}
            if not launched or not set(left) <= own:
                yield Residue(
                    "launch-options", kernel, node.lineno, f"`{left[0]}` is still passed to the target"
                )
