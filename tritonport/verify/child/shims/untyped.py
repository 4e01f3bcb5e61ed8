"""Triton's interpreter and language as untyped modules: the shims replace private members of both."""

from __future__ import annotations

import importlib
from typing import Any

interp: Any = importlib.import_module("triton.runtime.interpreter")
tl: Any = importlib.import_module("triton.language")
