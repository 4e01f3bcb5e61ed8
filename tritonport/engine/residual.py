"""Re-reads output for what may not remain. Written apart from the rules, over `ast`, so as to contradict them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonport.engine.device_code import File, Files, reads

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


def residues(
    text: str,
    kernels: frozenset[str],
    rules: frozenset[str],
    module: str = "",
    files: Files | None = None,
) -> Iterator[Residue]:
    """What is left of what the active rules should have removed, for these migrated kernels of one file.

    module, files: its import name, and the output's modules, for what its kernels reach in other files.
    """
    everything = files or Files()
    file = everything.get(module) or File(ast.parse(text), module)
    if "grid-collapse" in rules:
        yield from _kernels(file, kernels, everything)
        yield from _launches(file.tree, kernels)
    if "launch-options" in rules:
        yield from _options(file.tree, kernels, file.functions)


def _called_names(node: ast.AST) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Call):
            yield ast.unparse(item.func)


def _kernels(file: File, kernels: frozenset[str], files: Files) -> Iterator[Residue]:
    for name in sorted(kernels & set(file.functions)):
        kernel = file.functions[name]
        if not isinstance(kernel.body[-1], ast.For | ast.If):
            why = "the kernel has neither a task loop nor a guard of its one task"
            yield Residue("grid-collapse", name, kernel.lineno, why)
        for home, node in files.reached(file, kernel):
            for line, text in _program_ids(home, node, is_kernel=node is kernel):
                why = f"`{text}` in the body of a task"
                if home is file:
                    yield Residue("grid-collapse", name, line, why)
                else:
                    yield Residue(
                        "grid-collapse", name, kernel.lineno, f"{why}, in `{node.name}` of another file"
                    )
            if node is not kernel and home is file:
                yield from _returns(name, node)


def _program_ids(file: File, node: ast.FunctionDef, *, is_kernel: bool) -> Iterator[tuple[int, str]]:
    """Lines and texts of what asks for a program id where a task was handed its own."""
    calls = {id(call.func): call for call in ast.walk(node) if isinstance(call, ast.Call)}
    for read in reads(node):
        if _ASKING.isdisjoint(file.meant(read)):
            continue
        call = calls.get(id(read))
        if not (is_kernel and call is not None and _first_axis(call)):
            yield read.lineno, ast.unparse(call or read)


def _first_axis(call: ast.Call) -> bool:
    first = call.args[0] if call.args else next((k.value for k in call.keywords), None)
    return isinstance(first, ast.Constant) and first.value == 0


def _returns(kernel: str, node: ast.FunctionDef) -> Iterator[Residue]:
    """Returns before the end of a helper; one that is its last statement leaves nothing out."""
    for item in ast.walk(node):
        if isinstance(item, ast.Return) and item.value is None and item is not node.body[-1]:
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
