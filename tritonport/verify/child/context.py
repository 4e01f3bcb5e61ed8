"""The `ctx` of an autograd function, so that a forward or backward that launches kernels can be called
alone."""

from __future__ import annotations

from typing import Any


class ContextStandIn:
    """Takes the place of `ctx`: keeps what forward saves, hands out what backward asks for."""

    def __init__(self, saved: tuple[Any, ...], attributes: dict[str, Any]) -> None:
        self.saved_tensors = saved
        self.__dict__.update(attributes)

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *_tensors: Any) -> None:
        pass

    def mark_dirty(self, *_tensors: Any) -> None:
        pass

    def set_materialize_grads(self, _value: bool) -> None:
        pass


def read_context(ctx: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a context holds: the tensors saved for backward, and its attributes."""
    attributes = {name: value for name, value in vars(ctx).items() if name != "saved_tensors"}
    if isinstance(ctx, ContextStandIn):
        return tuple(ctx.saved_tensors), attributes
    if "needs_input_grad" not in attributes and hasattr(ctx, "needs_input_grad"):
        attributes["needs_input_grad"] = tuple(ctx.needs_input_grad)
    return _saved(ctx), attributes


def _saved(ctx: Any) -> tuple[Any, ...]:
    to_save = getattr(ctx, "to_save", None)  # set by save_for_backward while forward runs
    if to_save is not None:
        return tuple(to_save)
    try:
        return tuple(ctx.saved_tensors)
    except (RuntimeError, AttributeError):  # forward before it has saved anything
        return ()
