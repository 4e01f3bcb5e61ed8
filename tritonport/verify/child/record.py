"""Records calls of the host functions that launch kernels, while a whole operator runs.

Which functions those are is seen, not told: a profile hook notes every call into the package, the launch hook
marks the innermost named function on the stack. Kernels run with the hook off, so it costs next to nothing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tritonport.verify.child.encode import Encoder, Json, NotEncodableError
from tritonport.verify.child.functions import FunctionKey, is_under, key_of_code
from tritonport.verify.child.launches import Launch, listen, unlisten

_NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(slots=True)
class HostCall:
    """One call. before/after are the arguments as encoded on entry and on return; why_not says what stopped
    that."""

    function: FunctionKey
    kernels: list[str]
    before: Json = None
    after: Json = None
    result: Json = None
    tensors: dict[str, Any] = field(default_factory=dict[str, Any])
    why_not: str | None = None

    def signature(self) -> str:
        """Equal for calls that differ in tensor contents alone."""
        return f"{self.function} {_shape_only(self.before)}"


class Kept:
    """Files of recorded calls, host-NNN, one for calls that differ in tensor contents alone.

    save: writes one of them (folder, name, its tree, its tensors).
    """

    def __init__(self, save: Callable[[Path, str, dict[str, Json], dict[str, Any]], None]) -> None:
        self._save = save
        self._seen: set[str] = set()

    def keep(self, call: HostCall, folder: Path, number: int) -> dict[str, Any]:
        """What the migrated side has to know of the call; `file` where it was written."""
        about = {"function": str(call.function), "kernels": call.kernels, "why_not": call.why_not}
        if call.why_not is not None:
            return about
        if call.signature() in self._seen:
            return about | {"repeated": True}
        self._seen.add(call.signature())
        name = f"host-{number:03d}"
        tree = {"before": call.before, "after": call.after, "result": call.result}
        self._save(folder, name, tree, call.tensors)
        return about | {"file": name}


@dataclass(slots=True)
class _Open:
    frame: FrameType
    arguments: Any = None
    before: Json = None
    tensors: dict[str, Any] = field(default_factory=dict[str, Any])
    kernels: list[str] = field(default_factory=list[str])
    why_not: str | None = None


class Recorder:
    """Context manager; `calls` holds, in order of return, every call that launched a kernel itself."""

    def __init__(self, root: Path, encoder: Callable[[str], Encoder] = Encoder) -> None:
        """encoder: makes, from a prefix for its storages, what encodes one side of a call."""
        self.root, self._encoder = root, encoder
        self.calls: list[HostCall] = []
        self._open: list[_Open] = []
        self._watched: dict[CodeType, bool] = {}
        self._keys: dict[CodeType, FunctionKey | None] = {}
        self._depth = 0

    def __enter__(self) -> Recorder:
        listen(self)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_exc: object) -> None:
        sys.setprofile(None)
        unlisten(self)

    def before(self, launch: Launch) -> None:
        sys.setprofile(None)
        if launch.programs:
            self._mark(launch)

    def after(self, launch: Launch) -> None:
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "call" and self._watches(frame.f_code):
            sys.setprofile(None)
            try:
                self._open.append(_enter(frame, self._encoder("a")))
            finally:
                sys.setprofile(self._profile)
        elif event == "return" and self._open and self._open[-1].frame is frame:
            sys.setprofile(None)
            try:
                self._leave(self._open.pop(), value)
            finally:
                sys.setprofile(self._profile)

    def _watches(self, code: CodeType) -> bool:
        if code not in self._watched:
            plain = not code.co_name.startswith("<") and not code.co_flags & _NOT_PLAIN
            self._watched[code] = plain and is_under(code.co_filename, self.root)
        return self._watched[code]

    def _mark(self, launch: Launch) -> None:
        """The innermost open call of a function that can be called again in another process; local helpers,
        tuners and launchers that take a kernel or themselves as an argument belong to their caller."""
        named = [call for call in reversed(self._open) if self._is_named(call)]
        best = next((call for call in named if call.why_not is None), named[0] if named else None)
        if best is not None:
            best.kernels.append(launch.kernel)

    def _is_named(self, call: _Open) -> bool:
        key = self._key(call.frame.f_code)
        return key is not None and "<locals>" not in key.qualname

    def _key(self, code: CodeType) -> FunctionKey | None:
        if code not in self._keys:
            self._keys[code] = key_of_code(code)
        return self._keys[code]

    def _leave(self, call: _Open, value: Any) -> None:
        key = self._key(call.frame.f_code)
        if not call.kernels or key is None:
            return
        done = HostCall(key, call.kernels, call.before, tensors=call.tensors, why_not=call.why_not)
        if done.why_not is None:
            encoder = self._encoder("r")
            done.why_not = _guard(lambda: _encode_return(done, encoder, call.arguments, value))
            done.tensors.update(encoder.tensors)
        self.calls.append(done)


def _encode_return(call: HostCall, encoder: Encoder, arguments: Any, value: Any) -> None:
    call.after, call.result = encoder.encode(arguments), encoder.encode(value)


def _enter(frame: FrameType, encoder: Encoder) -> _Open:
    call = _Open(frame, _arguments(frame))

    def encode() -> None:
        call.before = encoder.encode(call.arguments)

    call.why_not = _guard(encode)
    call.tensors = encoder.tensors
    return call


def _guard(action: Callable[[], None]) -> str | None:
    try:
        action()
    except NotEncodableError as error:
        return f"it is called with or returns {error}"
    return None


def _arguments(frame: FrameType) -> list[Any]:
    """[positional, keyword]: enough to make the same call again."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    positional = [values[n] for n in names[: code.co_argcount]]
    keyword = {n: values[n] for n in names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]}
    at = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        positional.extend(values[names[at]])
        at += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keyword.update(values[names[at]])
    return [positional, keyword]


def _shape_only(tree: Json) -> Json:
    if isinstance(tree, dict):
        return {k: _shape_only(v) for k, v in tree.items() if k not in ("storage", "offset")}
    return [_shape_only(item) for item in tree] if isinstance(tree, list) else tree
