"""Makes Triton's interpreter run GPU kernels on CPU tensors, and makes its bf16 right.

Each shim is one function that says what goes wrong without it. No file of Triton is changed; the shims
replace attributes of `triton.runtime.interpreter` in this process, so `install` must run before any kernel is
imported. They hold for Triton 3.2 to 3.6 (tritonport.verify.versions refuses others).
"""

from __future__ import annotations

import os

_installed: list[str] = []


def install() -> None:
    """Apply every shim once. TRITON_INTERPRET has to be set before triton is first imported."""
    if _installed:
        return
    os.environ["TRITON_INTERPRET"] = "1"
    from tritonport.verify.child.shims import bf16, host, language, layout, speed

    for module in (host, language, layout, bf16, speed):
        for shim in module.SHIMS:
            shim()
            _installed.append(shim.__name__)
