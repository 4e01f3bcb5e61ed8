"""Re-reads output for what may not remain. Written apart from the rules, over `ast`, so as to contradict them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

GPU_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
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
        yield from _kernels(functions, kernels)
        yield from _launches(tree, kernels)
    if "launch-options" in rules:
        yield from _options(tree, kernels, functions)


def _called_names(node: ast.AST) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Call):
            yield ast.unparse(item.func)


def _kernels(functions: dict[str, ast.FunctionDef], kernels: frozenset[str]) -> Iterator[Residue]:
    for name in sorted(kernels & set(functions)):
        kernel = functions[name]
        if not any(isinstance(node, ast.For) for node in ast.walk(kernel)):
            yield Residue("grid-collapse", name, kernel.lineno, "the kernel has no task loop")
        for node in _below(functions, kernel):
            yield from _program_ids(name, node, is_kernel=node is kernel)
            if node is not kernel:
                yield from _returns(name, node)


def _below(functions: dict[str, ast.FunctionDef], kernel: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    todo, seen = [kernel], {kernel.name}
    while todo:
        node = todo.pop()
        yield node
        for called in _called_names(node):
            if called in functions and called not in seen:
                seen.add(called)
                todo.append(functions[called])


def _program_ids(kernel: str, node: ast.FunctionDef, *, is_kernel: bool) -> Iterator[Residue]:
    for item in ast.walk(node):
        if not isinstance(item, ast.Call):
            continue
        last = ast.unparse(item.func).rpartition(".")[2]
        if last in ("program_id", "num_programs"):
            first = item.args[0] if item.args else next((k.value for k in item.keywords), None)
            if not is_kernel or not (isinstance(first, ast.Constant) and first.value == 0):
                yield Residue(
                    "grid-collapse", kernel, item.lineno, f"`{ast.unparse(item)}` in the body of a task"
                )


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
