"""One configuration per tuned kernel, the same on both sides: tiles, num_warps and num_stages.

With other num_warps or num_stages the sums of one kernel come out differently, so that no two runs could be
compared bit for bit; and a measurement would choose differently from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PREFERRED_WARPS = 4
"""The middle of what GPU kernels offer; the first configurations of a list often have 1 or 2, and spill."""

Configs = dict[str, dict[str, Any]]
_pins: Configs = {}


def pin(configs: Mapping[str, Mapping[str, Any]]) -> None:
    """Take these configurations (by `module:kernel`) from now on, where the tuner offers them."""
    _pins.clear()
    _pins.update({kernel: dict(values) for kernel, values in configs.items()})


def pinned() -> Configs:
    """What each tuned kernel was launched with since the last `pin`, or was told to."""
    return {kernel: dict(values) for kernel, values in _pins.items()}


def install(refusals: tuple[type[Exception], ...]) -> None:
    """Replace the tuner's measuring by the choice; once per process.

    refusals: what a launch raises whose configuration does not fit the device; then the next one is tried.
    """
    from triton.runtime import autotuner

    tuner: Any = autotuner.Autotuner

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        refused: Exception | None = None
        try:
            for config in _in_order(self, kwargs):
                try:
                    return _launch(self, config, args, kwargs)
                except refusals as error:
                    refused = error
        finally:
            self.nargs = None
        raise refused or RuntimeError(f"no configuration left for {_name(self)}")

    tuner.run = run


def _launch(tuner: Any, config: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tuner.best_config = config
    chosen = config.all_kwargs()
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **chosen})
    result = tuner.fn.run(*args, **{**chosen, **kwargs})
    _pins[_name(tuner)] = _plain(chosen)
    return result


def _in_order(tuner: Any, kwargs: dict[str, Any]) -> Iterator[Any]:
    """The pinned configuration, then those with its tiles, then those with the preferred number of warps."""
    offered = list(tuner.prune_configs(kwargs)) if len(tuner.configs) > 1 else list(tuner.configs)
    wanted = _pins.get(_name(tuner))

    def rank(config: Any) -> tuple[bool, ...]:
        values = _plain(config.all_kwargs())
        tiles = wanted is not None and dict(config.kwargs).items() <= wanted.items()
        return (values != wanted, not tiles, config.num_warps != PREFERRED_WARPS)

    yield from sorted(offered, key=rank)


def _name(tuner: Any) -> str:
    function = tuner.base_fn
    return f"{function.__module__}:{function.__name__}"


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
