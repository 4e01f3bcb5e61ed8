"""The gated delta layers of Qwen3-Next and Qwen3.5 as transformers writes them, with random weights: one training
step; a prefill and the tokens after it.

transformers takes the chunked and the recurrent operator from the library where that can be imported, and else
computes them itself; that second way, on weights in float64, is the reference, over all tokens at once.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor, nn

META = {"rtol": 2.2e-2}
"""What fla_layer.py counts: 23 roundings to bf16 on the longest way of such a layer, 2 u sqrt(23 / 3), u = 2^-8.
transformers rounds six times more (silu by itself, three steps in the gated norm, forward and backward); that is not
counted. Where the original misses the bound, its own error is the yardstick (docs/verification.md)."""

FAMILIES = {
    "qwen3_next": ("Qwen3NextConfig", "Qwen3NextGatedDeltaNet"),
    "qwen3_5": ("Qwen3_5TextConfig", "Qwen3_5GatedDeltaNet"),
}
SHAPE = {
    "hidden_size": 64,
    "linear_num_key_heads": 1,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "num_hidden_layers": 1,
    "layer_types": ["linear_attention"],
}
OPERATORS = ("torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule")
FULL_PRECISION = ("A_log", "dt_bias")
PREFILL = 70


def next_training(device: str) -> dict[str, Any]:
    return _inputs("qwen3_next", "train", 80, device)


def next_decoding(device: str) -> dict[str, Any]:
    return _inputs("qwen3_next", "decode", PREFILL + 3, device)


def training(device: str) -> dict[str, Any]:
    return _inputs("qwen3_5", "train", 80, device)


def decoding(device: str) -> dict[str, Any]:
    return _inputs("qwen3_5", "decode", PREFILL + 3, device)


def _inputs(family: str, mode: str, length: int, device: str) -> dict[str, Any]:
    weights = {
        name: value.detach().to(device, torch.float32 if name in FULL_PRECISION else torch.bfloat16)
        for name, value in _layer(family, {})[0].state_dict().items()
    }
    x, target = (torch.randn(2, length, SHAPE["hidden_size"], device=device) for _ in range(2))
    return {"family": family, "mode": mode, "x": x.bfloat16(), "target": target, "weights": weights}


def _modeling(family: str) -> Any:
    return importlib.import_module(f"transformers.models.{family}.modeling_{family}")


def _layer(family: str, weights: dict[str, Tensor]) -> tuple[nn.Module, Any]:
    config_class, layer_class = FAMILIES[family]
    modeling = _modeling(family)
    config = getattr(modeling, config_class)(**SHAPE)
    layer = getattr(modeling, layer_class)(config, layer_idx=0)
    if weights:
        layer.load_state_dict({name: value.clone() for name, value in weights.items()}, assign=True)
    return layer, config


def launch(
    family: str, mode: str, x: Tensor, target: Tensor, weights: dict[str, Tensor]
) -> dict[str, Tensor]:
    layer, config = _layer(family, weights)
    return _train(layer, x, target) if mode == "train" else _decode(layer.eval(), config, x)


def _train(layer: nn.Module, x: Tensor, target: Tensor) -> dict[str, Tensor]:
    x = x.clone().requires_grad_()
    y = layer(x)
    (y * target.to(y.dtype)).sum(dtype=torch.float64).backward()
    named = {name: parameter for name, parameter in layer.named_parameters() if parameter.grad is not None}
    gradients = {f"gradient of {name}": parameter.grad.clone() for name, parameter in named.items()}
    torch.optim.SGD(layer.parameters(), lr=0.01).step()
    stepped = {f"{name} after the step": parameter.detach() for name, parameter in named.items()}
    return {"y": y.detach(), "gradient of x": x.grad, **gradients, **stepped}


def _decode(layer: nn.Module, config: Any, x: Tensor) -> dict[str, Tensor]:
    from transformers.cache_utils import DynamicCache

    cache = DynamicCache(config=config)
    with torch.no_grad():
        parts = [x[:, :PREFILL], *x[:, PREFILL:].split(1, dim=1)]
        y = [layer(part, cache_params=cache) for part in parts]
    held = cache.layers[0]
    return {"y": torch.cat(y, dim=1), "state": held.recurrent_states[0], "window": held.conv_states[0]}


def reference(
    family: str, mode: str, x: Tensor, target: Tensor, weights: dict[str, Tensor]
) -> dict[str, Tensor]:
    modeling = _modeling(family)
    taken = {name: getattr(modeling, name) for name in OPERATORS}
    for name, operator in taken.items():
        setattr(modeling, name, operator.__wrapped__)
    try:
        layer, _ = _layer(family, {name: value.double() for name, value in weights.items()})
        found = _train(layer, x.double(), target.double())
    finally:
        for name, operator in taken.items():
            setattr(modeling, name, operator)
    wanted = [n for n in found if mode == "train" and not n.endswith("after the step")] or ["y"]
    return {name: found[name] for name in wanted}
