"""Host-side shims: a driver without a device, device contexts on CPU, and an autotuner that never
measures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

SHARED_MEMORY = 232448
"""Bytes of shared memory per block that the stub device reports: an H100's opt-in limit (CUDA C++ Programming
Guide, table of compute capability 9.0). It decides which tiles upstream's host code takes."""

MULTIPROCESSORS = 132
"""Multiprocessors that the stub device reports: an H100 SXM."""

Pins = dict[str, dict[str, Any]]
_pins: Pins = {}
_chosen: Pins = {}


def pin_configs(pins: Mapping[str, Mapping[str, Any]]) -> None:
    """Take these tile parameters for these kernels (by `module:function`) from now on, where the tuner offers
    them. What a device's recording has besides, such as num_warps, means nothing here."""
    _pins.clear()
    _pins.update({name: dict(values) for name, values in pins.items()})


def chosen_configs() -> Pins:
    """Which tile parameters each tuned kernel ran with last."""
    return {name: dict(values) for name, values in _chosen.items()}


class _Target:
    backend, arch, warp_size = "cpu", "interpreter", 32


class _Utils:
    @staticmethod
    def get_device_properties(_device: int) -> dict[str, int]:
        return {"multiprocessor_count": MULTIPROCESSORS, "max_shared_mem": SHARED_MEMORY}


class _Driver:
    """What Triton and kernel libraries ask of the active driver."""

    utils = _Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> type[_Target]:
        return _Target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return torch.cpu

    def get_benchmarker(self) -> Callable[..., Any]:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise RuntimeError("nothing is measured in the interpreter")

        return refuse


def stub_driver() -> None:
    """Without a GPU, importing tuned kernels fails with "0 active drivers" (Triton 3.2: Autotuner.__init__
    asks)."""
    from triton.runtime import driver

    stub: Any = _Driver()
    driver.set_active(stub)


class _NullDevice(contextlib.AbstractContextManager[None]):
    def __init__(self, index: Any = None) -> None:
        self.index = index

    def __exit__(self, *_exc: object) -> None:
        return None


def device_contexts() -> None:
    """Host code enters `torch.<backend>.device(index)`: torch.cpu has none and torch.cuda's fails on a CPU
    build.

    torch.cuda.device_count becomes 1, or libraries take an absent device for a small one and drop wide tiles.
    """
    if not hasattr(torch.cpu, "device"):
        setattr(torch.cpu, "device", _NullDevice)  # noqa: B010 - torch.cpu's stub has no such attribute
    if not torch.cuda.is_available():
        torch.cuda.device = _NullDevice
        torch.cuda.device_count = lambda: 1


def pinned_autotuner() -> None:
    """There is nothing to measure and no driver to measure with. The tuner takes one configuration: the
    pinned one where it is on offer, else the first that is left after pruning; both sides of a comparison so
    run the same."""
    from triton.runtime.autotuner import Autotuner

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        config = self.best_config = _pick(self, kwargs)
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        try:
            return self.fn.run(*args, **{**config.all_kwargs(), **kwargs})
        finally:
            self.nargs = None

    Autotuner.run = run


def _pick(tuner: Any, kwargs: dict[str, Any]) -> Any:
    name = f"{tuner.base_fn.__module__}:{tuner.base_fn.__name__}"
    configs = list(tuner.prune_configs(kwargs)) if len(tuner.configs) > 1 else list(tuner.configs)
    wanted = _pins.get(name)
    config = next(
        (c for c in configs if wanted is not None and dict(c.kwargs).items() <= wanted.items()), configs[0]
    )
    _chosen[name] = dict(config.kwargs)
    return config


SHIMS = (stub_driver, device_contexts, pinned_autotuner)
