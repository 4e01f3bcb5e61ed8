"""Values that do not depend on how NumPy happens to lay out an array.

`tl.trans` is a view in the interpreter, and both BLAS and `np.sum` pick another order of additions for a view than for
a contiguous array: the last bit of a product changes with the layout of its operands in this process. On a device a
tile has no such layout, so a rewrite that only changes how a tile was loaded has to give the same bits here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tritonport.verify.child.shims.untyped import interp, tl


def _contiguous(handle: Any) -> Any:
    """The same values in C order, in a buffer of their own where they were not."""
    if handle.data.flags.c_contiguous:
        return handle
    return interp.TensorHandle(np.ascontiguousarray(handle.data), handle.dtype)


def products() -> None:
    """`tl.dot(a, tl.trans(b))` takes another BLAS kernel than the product with a tile that was loaded transposed, and
    `tl.dot(a, tl.trans(a))` the one for symmetric results."""
    builder = interp.InterpreterBuilder
    stock = builder.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        return stock(self, _contiguous(a), _contiguous(b), d, *rest)

    builder.create_dot = create_dot


def reductions() -> None:
    """`np.sum` adds in the order of memory, so a sum over a transposed tile is not the sum over its copy."""
    base = interp.ReduceOps.__mro__[1]
    stock = base.apply

    def apply(self: Any, operand: Any) -> Any:
        if isinstance(operand, tuple):
            return stock(self, tuple(_tile(tensor) for tensor in operand))
        return stock(self, _tile(operand))

    base.apply = apply


def _tile(tensor: Any) -> Any:
    handle = _contiguous(tensor.handle)
    return tensor if handle is tensor.handle else tl.core.tensor(handle, tensor.type)


SHIMS = (products, reductions)
