"""Values that cross a process boundary: a JSON tree, and the storages of its tensors in one safetensors file.

A tensor is written as its whole storage plus shape, strides and offset, so that views, gaps and two names for
one memory come back as they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tritonport.verify.child.context import ContextStandIn, read_context

Json = Any


class NotEncodableError(Exception):
    """A value that cannot be handed to another process; the message names its type."""


class Encoder:
    """Encodes values one by one; storages seen twice are kept once. Call `save` at the end."""

    def __init__(self, prefix: str = "s") -> None:
        """prefix tells the storages of two encoders apart that end up in one file."""
        self._prefix = prefix
        self._storages: dict[int, tuple[str, torch.Tensor]] = {}
        self._keep: list[torch.Tensor] = []

    def encode(self, value: Any) -> Json:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if isinstance(value, (torch.dtype, torch.device)):
            return {type(value).__name__: str(value).removeprefix("torch.")}
        if isinstance(value, (tuple, list)):
            items: Sequence[Any] = value
            return {"list" if isinstance(value, list) else "tuple": [self.encode(item) for item in items]}
        if isinstance(value, Mapping):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, (torch.autograd.function.FunctionCtx, ContextStandIn)):
            saved, attributes = read_context(value)
            return {"context": [self.encode(saved), self.encode(attributes)]}
        raise NotEncodableError(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def _tensor(self, tensor: torch.Tensor) -> Json:
        if tensor.layout != torch.strided or tensor.device.type != "cpu":
            raise NotEncodableError(f"a {tensor.layout} tensor on {tensor.device}")
        key = tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else -id(tensor)
        return self._described(tensor, key, _copy_storage)

    def _described(
        self, tensor: torch.Tensor, key: int, copied: Callable[[torch.Tensor], torch.Tensor]
    ) -> dict[str, Json]:
        """A view of a storage, which is copied the first time. key: the storage's."""
        if key not in self._storages:
            self._storages[key] = (f"{self._prefix}{len(self._storages)}", copied(tensor))
            self._keep.append(tensor)  # a freed storage's address may be handed out again
        return {
            "storage": self._storages[key][0],
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "stride": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "gradient": tensor.requires_grad,
        }

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        return dict(self._storages.values())


def _copy_storage(tensor: torch.Tensor) -> torch.Tensor:
    storage = tensor.detach().untyped_storage().clone()
    flat = torch.empty(0, dtype=torch.uint8).set_(storage)
    whole = storage.nbytes() % tensor.element_size() == 0
    return flat.view(tensor.dtype) if whole else flat


class Decoder:
    """Rebuilds values from a JSON tree and the storages beside it, on the CPU, whatever device they were recorded on.
    Each decoder hands out fresh memory.

    gradients: whether tensors that asked for a gradient do so again. Host code asks them: it makes no gradient of a
    state that needs none.
    """

    def __init__(self, storages: Mapping[str, torch.Tensor], *, gradients: bool = False) -> None:
        self._source = storages
        self._gradients = gradients
        self._fresh: dict[str, torch.UntypedStorage] = {}

    def decode(self, tree: Json) -> Any:
        if not isinstance(tree, dict):
            return tree
        ((kind, body),) = tree.items()
        if kind == "float":
            return float.fromhex(body)
        if kind == "tensor":
            return self._tensor(body).requires_grad_(self._gradients and body.get("gradient", False))
        if kind == "dtype":
            return getattr(torch, body)
        if kind == "device":
            return torch.device("cpu")
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in body}
        if kind == "context":
            return ContextStandIn(self.decode(body[0]), self.decode(body[1]))
        items = [self.decode(item) for item in body]
        return items if kind == "list" else tuple(items)

    def _tensor(self, body: Json) -> torch.Tensor:
        name = body["storage"]
        if name not in self._fresh:
            self._fresh[name] = self._source[name].untyped_storage().clone()
        out = torch.empty(0, dtype=getattr(torch, body["dtype"]))
        return out.set_(self._fresh[name], body["offset"], body["shape"], body["stride"])


def save(folder: Path, name: str, tree: Json, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write NAME.json and NAME.safetensors into folder."""
    (folder / f"{name}.json").write_text(json.dumps(tree), encoding="utf-8")
    save_file(dict(tensors), folder / f"{name}.safetensors")


def load(folder: Path, name: str) -> tuple[Json, dict[str, torch.Tensor]]:
    """Read what `save` wrote."""
    tree = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return tree, load_file(folder / f"{name}.safetensors")


def save_value(folder: Path, name: str, value: Any) -> None:
    encoder = Encoder()
    tree = encoder.encode(value)
    save(folder, name, tree, encoder.tensors)


def load_value(folder: Path, name: str) -> Any:
    tree, tensors = load(folder, name)
    return Decoder(tensors).decode(tree)
