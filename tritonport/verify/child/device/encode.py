"""Values of a device as they travel: kept on the device until they are saved, and placed on the device that reads
them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from tritonport.verify.child import encode
from tritonport.verify.child.encode import Decoder, Encoder, Json, NotEncodableError

HOST = "cpu"
_ON_HOST = "host"
"""How a device recording writes torch.device("cpu"): in the interpreter's, "cpu" stands for the device."""


class DeviceEncoder(Encoder):
    """Copies storages where they lie: a copy on the device costs nothing beside one to the host.

    Each tensor names its device, so that a tensor that the host code keeps on the CPU goes back there. What the
    interpreter recorded names none: there every tensor stands for one on a device.
    """

    def encode(self, value: Any) -> Json:
        if isinstance(value, torch.device) and value.type == HOST:
            return {"device": _ON_HOST}
        return super().encode(value)

    def _tensor(self, tensor: torch.Tensor) -> Json:
        if tensor.layout != torch.strided:
            raise NotEncodableError(f"a {tensor.layout} tensor")
        storage = tensor.untyped_storage()
        key = storage.data_ptr() if storage.nbytes() else -id(tensor)
        return self._described(tensor, key, _copied_where_it_lies) | {"device": tensor.device.type}


def _copied_where_it_lies(tensor: torch.Tensor) -> torch.Tensor:
    storage = tensor.untyped_storage().clone()
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)


class DeviceDecoder(Decoder):
    """Hands out tensors on one device; those that were on the CPU beside a device stay there."""

    def __init__(
        self, storages: Mapping[str, torch.Tensor], device: torch.device, *, gradients: bool = False
    ) -> None:
        super().__init__(storages, gradients=gradients)
        self._device = device
        self._flat: dict[str, torch.Tensor] = {}

    def decode(self, tree: Json) -> Any:
        if isinstance(tree, dict) and "device" in tree and len(tree) == 1:
            return torch.device(HOST) if tree["device"] == _ON_HOST else self._device
        return super().decode(tree)

    def _tensor(self, body: Json) -> torch.Tensor:
        name, dtype = body["storage"], getattr(torch, body["dtype"])
        if name not in self._flat:
            on_host = body.get("device") == HOST
            source = self._source[name].reshape(-1).view(torch.uint8)
            self._flat[name] = source.to(torch.device(HOST) if on_host else self._device, copy=True)
        flat = self._flat[name]
        size = dtype.itemsize
        whole = flat[: flat.numel() // size * size].view(dtype)
        return torch.as_strided(whole, body["shape"], body["stride"], body["offset"])


def save_value(folder: Path, name: str, value: Any) -> None:
    encoder = DeviceEncoder()
    tree = encoder.encode(value)
    encode.save(folder, name, tree, on_host(encoder.tensors))


def load_value(folder: Path, name: str, device: torch.device) -> Any:
    tree, tensors = encode.load(folder, name)
    return DeviceDecoder(tensors, device).decode(tree)


def on_host(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.to(HOST) for name, tensor in tensors.items()}


def without_repeats(tree: Json, tensors: Mapping[str, torch.Tensor]) -> tuple[Json, dict[str, torch.Tensor]]:
    """A recorded call whose unchanged arguments are stored once: most are after it what they were before.

    Storages of entry (`a`) stay apart from each other even when they are equal: the callee may write to one.
    """
    entry = {name: tensor for name, tensor in tensors.items() if name.startswith("a")}
    names = {name: name for name in entry}
    for name in tensors.keys() - entry.keys():
        names[name] = next((k for k, other in entry.items() if _same(tensors[name], other)), name)
    return _renamed(tree, names), {name: tensors[name] for name in set(names.values())}


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.device == b.device and torch.equal(a, b)


def _renamed(tree: Json, names: Mapping[str, str]) -> Json:
    if isinstance(tree, dict):
        return {k: names[v] if k == "storage" else _renamed(v, names) for k, v in tree.items()}
    return [_renamed(item, names) for item in tree] if isinstance(tree, list) else tree
