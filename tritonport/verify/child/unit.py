"""One unit of verification as a worker sees it: values in, named tensors out, and perhaps a reference."""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from tritonport.verify.tolerance import Tolerance


class NotHereError(Exception):
    """This release or file cannot run the unit; the message says why."""


class Unit(ABC):
    """exact_reference: whether `reference` answers; tolerance: for one of its outputs."""

    @abstractmethod
    def inputs(self) -> dict[str, Any]: ...

    @abstractmethod
    def run(self, values: dict[str, Any]) -> dict[str, Tensor]: ...

    @abstractmethod
    def reference(self, values: dict[str, Any]) -> dict[str, Tensor] | None: ...

    @abstractmethod
    def tolerance(self, name: str, output: Tensor) -> Tolerance: ...


def first_of(places: Sequence[str]) -> Callable[..., Any]:
    """The function under the first of these `module:function` that this release has."""
    for place in places:
        module, _, attribute = place.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise  # the module is there, something that it needs is not
        except AttributeError:
            continue
    raise NotHereError(f"this release has no {' or '.join(places)}")


def required(function: Callable[..., Any]) -> set[str]:
    """Parameters that a call has to give."""
    return {name for name, p in inspect.signature(function).parameters.items() if _has_to_be_given(p)}


def _has_to_be_given(parameter: inspect.Parameter) -> bool:
    plain = parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return plain and parameter.default is inspect.Parameter.empty


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Named in the signature, or taken out of **kwargs by name: an unknown keyword would be swallowed
    silently."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.name == name for p in parameters):
        return True
    swallows = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return swallows and name in inspect.unwrap(function).__code__.co_consts
