"""Addresses and masks of one program far into a tensor that is never allocated; prints them as JSON.

    python -m tests.facts.run_far FILE KERNEL PROGRAM ARGUMENTS

FILE's KERNEL runs as program PROGRAM of axis 0 under the interpreter. ARGUMENTS: JSON by parameter; "pointer" is one
element, anything else itself. Loads give ones and stores go nowhere, so that only the arithmetic of indices counts:
NumPy's int32 wraps as the device's does. The n-th pointer starts n elements into one buffer, so that offsets from the
buffer's start say which pointer they belong to.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.facts.run_pair import load
from tests.support import interp


def main() -> None:
    import numpy as np
    import torch
    from triton.runtime import interpreter

    path, kernel, program, arguments = sys.argv[1:]
    given: dict[str, Any] = json.loads(arguments)
    buffer = torch.zeros(len(given))
    views = iter(buffer.split(1))
    args = {n: next(views) if v == "pointer" else v for n, v in given.items()}
    seen: list[list[int]] = []

    def note(pointers: Any, mask: Any) -> None:
        """The live lanes of one access."""
        lanes = np.broadcast_to(pointers, mask.shape)[mask].astype(object)
        seen.append(sorted(int(x - buffer.data_ptr()) // buffer.element_size() for x in lanes))

    builder = interpreter.InterpreterBuilder

    def program_id(_self: Any, _axis: int) -> Any:
        return interpreter.TensorHandle(np.array([int(program)], dtype=np.int32), interpreter.tl.int32)

    def loaded(_self: Any, ptrs: Any, mask: Any, *_rest: Any) -> Any:
        note(ptrs.data, mask.data)
        return interpreter.TensorHandle(np.ones(ptrs.data.shape, np.float32), interpreter.tl.float32)

    def stored(_self: Any, ptrs: Any, _value: Any, mask: Any, *_rest: Any) -> None:
        note(ptrs.data, mask.data)

    builder.create_get_program_id = program_id
    builder.create_masked_load, builder.create_masked_store = loaded, stored
    builder.create_load = lambda self, ptrs, *rest: loaded(self, ptrs, _every(ptrs))
    builder.create_store = lambda self, ptrs, value, *rest: stored(self, ptrs, value, _every(ptrs))

    def _every(ptrs: Any) -> Any:
        return interpreter.TensorHandle(np.ones(ptrs.data.shape, bool), interpreter.tl.int1)

    getattr(load(Path(path)), kernel)[(1,)](**args)
    print(json.dumps(seen))


if __name__ == "__main__":
    interp.install()
    main()
