"""Language shims: places where the interpreter is stricter or looser than the compiler about plain Python
values."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from tritonport.verify.child.shims.untyped import interp, tl

_LOOP_VARIABLE = "_tritonport_loop_variable"


def index_of_one_element() -> None:
    """NumPy 2.4 refuses int() of a one-element array, which Triton's `tensor.__index__` calls in every
    `range`."""
    original = interp._patch_lang_tensor

    def to_int(self: Any) -> int:
        data = np.asarray(self.handle.data)
        return int(data.reshape(-1)[0]) if data.size == 1 else int(data)

    if (
        len(inspect.signature(original).parameters) == 2
    ):  # Triton 3.4 on restores what it patched, through a scope

        def scoped(tensor: Any, scope: Any) -> None:
            original(tensor, scope)
            scope.set_attr(tensor, "__index__", to_int)

        interp._patch_lang_tensor = scoped
        return

    def plain(tensor: Any) -> None:
        original(tensor)
        tensor.__index__ = to_int

    interp._patch_lang_tensor = plain


def loop_variables_are_tensors() -> None:
    """The compiler makes the variable of `for i in range(n)` an int32 tensor, the interpreter leaves a Python
    int, so that `i.to(tl.int64)` fails. Rebinds the variable at the top of each loop body."""

    class Transformer(interp.ASTTransformer):
        def visit_For(self, node: ast.For) -> ast.For:
            self.generic_visit(node)
            if _is_range(node.iter) and isinstance(node.target, ast.Name):
                node.body.insert(0, _rebind(node.target.id))
            return node

    def loop_variable(value: int) -> Any:
        return tl.tensor(interp.TensorHandle(np.array([value], dtype=np.int32), tl.int32), tl.int32)

    # FunctionRewriter copies the interpreter module's globals into those of each kernel
    setattr(interp, _LOOP_VARIABLE, loop_variable)
    interp.ASTTransformer = Transformer
    interp.FunctionRewriter.ast_transformer = Transformer()


def unpacking_takes_what_it_names() -> None:
    """The compiler gives `a, b = x, y, z` the first two values and says nothing; Python refuses it. 0.4.1's backward
    of the delta rule takes its program ids so."""

    class Transformer(interp.ASTTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.Assign:
            names, values = node.targets[0], node.value
            if isinstance(names, ast.Tuple) and isinstance(values, ast.Tuple):
                plain = not any(isinstance(part, ast.Starred) for part in (*names.elts, *values.elts))
                values.elts = values.elts[: len(names.elts)] if plain else values.elts
            return super().visit_Assign(node)

    interp.ASTTransformer = Transformer
    interp.FunctionRewriter.ast_transformer = Transformer()


def _is_range(node: ast.expr) -> bool:
    """`range` and `tl.range`; a `tl.static_range` variable is a constant for the compiler too."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
    return name == "range"


def _rebind(name: str) -> ast.Assign:
    call = ast.Call(
        func=ast.Name(id=_LOOP_VARIABLE, ctx=ast.Load()),
        args=[ast.Name(id=name, ctx=ast.Load())],
        keywords=[],
    )
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=call)


def captured_builtins() -> None:
    """`exp = tl.exp` at module level keeps the unpatched builtin, which then asks for `@triton.jit`. The
    interpreter patches attributes of triton.language only; here the names in the kernel's own module are
    patched with them."""
    original = interp._patch_lang
    found: dict[ModuleType, list[tuple[str, Any]]] = {}

    def patched(function: Any) -> Any:
        scope = original(function)
        module = sys.modules.get(function.__module__)
        if module is None or module.__dict__ is not function.__globals__:
            return scope
        if module not in found:
            found[module] = _builtins_in(module)
        for name, member in found[module]:
            if function.__globals__[name] is member:
                extra = () if scope is None else (scope,)
                interp._patch_attr(module, name, member, interp.interpreter_builder, *extra)
        return scope

    interp._patch_lang = patched


def _builtins_in(module: ModuleType) -> list[tuple[str, Any]]:
    members = [(n, v) for n, v in vars(module).items() if callable(v) and not inspect.ismodule(v)]
    return [(name, value) for name, value in members if tl.core.is_builtin(value)]


def unknown_launch_options() -> None:
    """Triton 3.2 hands launch options that are no parameters of the kernel to the kernel, which refuses
    them."""
    if not hasattr(interp, "RESERVED_KWS"):
        return
    original = interp.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        known = {*self.arg_names, "warmup"}
        return original(self, *args, **{k: v for k, v in kwargs.items() if k in known})

    interp.GridExecutor.__call__ = call


def precisions_of_products() -> None:
    """The interpreter multiplies in fp32 whatever precision is asked for, and refuses what it has no name for: Triton
    3.6 knows bf16x3 and bf16x6."""
    options = interp.interpreter_builder.options
    known = dict.fromkeys((*options.allowed_dot_input_precisions, "bf16x3", "bf16x6"))
    names = {name.lower(): name for name in dir(interp._ir.INPUT_PRECISION)}
    allowed = tuple(name for name in known if name in names)
    interp.interpreter_builder.options = replace(options, allowed_dot_input_precisions=allowed)


def libdevice() -> None:
    """The functions of triton.language.extra.libdevice are `...` stubs that return None. NumPy's equivalents,
    in the argument's own precision, for those that NumPy has."""
    import importlib

    try:
        module = importlib.import_module("triton.language.extra.libdevice")
    except ImportError:
        return
    for name, function in _LIBM.items():
        for alias in (name, f"fast_{name}f"):
            member = getattr(module, alias, None)
            if member is not None and member.__module__ == module.__name__:
                setattr(module, alias, _elementwise(function))


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


_LIBM: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "tanh",
        "log1p",
        "exp",
        "exp2",
        "log",
        "log2",
        "expm1",
        "sin",
        "cos",
        "tan",
        "sqrt",
        "trunc",
        "fmod",
    )
} | {"rsqrt": _rsqrt, "atan": np.arctan, "pow": np.power}


def _elementwise(function: Any) -> Any:
    def call(*args: Any) -> Any:
        tensors = [a if isinstance(a, tl.tensor) else tl.full((1,), a, tl.float32) for a in args]
        arrays = np.broadcast_arrays(*[t.handle.data for t in tensors])
        dtype = tensors[0].dtype.scalar
        result = np.asarray(function(*arrays)).astype(arrays[0].dtype)
        block = tensors[0].type.is_block()
        return tl.tensor(
            interp.TensorHandle(result, dtype), tl.block_type(dtype, list(result.shape)) if block else dtype
        )

    return call


SHIMS = (
    index_of_one_element,
    loop_variables_are_tensors,
    unpacking_takes_what_it_names,
    captured_builtins,
    unknown_launch_options,
    precisions_of_products,
    libdevice,
)
