"""The library's own gated delta layer with random weights: one training step; a prefill and the tokens after it.

The reference is the layer written plainly in float64, over all tokens at once: so a decoded token also has to be what
one long forward pass gives.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tritonport.verify.child.reference import gated_delta_rule

META = {"rtol": 2.2e-2}
"""23 independent roundings to bf16 on the longest way, which is that of a projection's gradient: projection,
convolution, normalisation, six in the operator, gated norm, projection; and back through the target. They lose
2 u sqrt(23 / 3) = 2.2e-2, u = 2^-8: the formula of tritonport.verify.tolerance."""

SHAPE = {"hidden_size": 64, "head_dim": 32, "num_heads": 1, "num_v_heads": 2, "expand_v": 1.0, "layer_idx": 0}
HEAD, HEADS, EPS = 32, 2, 1e-5
FULL_PRECISION = ("A_log", "dt_bias")
PREFILL = 70
"""More than the 64 tokens up to which the layer decodes: the prefill runs by chunks, what follows token by token."""


def training(device: str) -> dict[str, Any]:
    return _inputs("train", 2, 80, device)


def decoding(device: str) -> dict[str, Any]:
    return _inputs("decode", 1, PREFILL + 3, device)


def _inputs(mode: str, batch: int, length: int, device: str) -> dict[str, Any]:
    weights = {
        name: value.detach().to(device, torch.float32 if name in FULL_PRECISION else torch.bfloat16)
        for name, value in _layer().state_dict().items()
    }
    x, target = (torch.randn(batch, length, SHAPE["hidden_size"], device=device) for _ in range(2))
    return {"mode": mode, "x": x.bfloat16(), "target": target, "weights": weights}


def _layer() -> nn.Module:
    if importlib.util.find_spec("transformers") is None:
        _without_init("fla.layers")
    return importlib.import_module("fla.layers.gated_deltanet").GatedDeltaNet(**SHAPE)


def _without_init(name: str) -> None:
    """The package imports every layer, and with some of them transformers, which this one does not need."""
    spec = importlib.util.find_spec(name)
    if name not in sys.modules and spec is not None:
        sys.modules[name] = importlib.util.module_from_spec(spec)


def launch(mode: str, x: Tensor, target: Tensor, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    layer = _layer()
    layer.load_state_dict({name: value.clone() for name, value in weights.items()}, assign=True)
    return _train(layer, x, target) if mode == "train" else _decode(layer.eval(), x)


def _train(layer: nn.Module, x: Tensor, target: Tensor) -> dict[str, Tensor]:
    x = x.clone().requires_grad_()
    y, _, _ = layer(x)
    (y.float() * target).sum().backward()
    named = {name: parameter for name, parameter in layer.named_parameters() if parameter.grad is not None}
    gradients = {f"gradient of {name}": parameter.grad.clone() for name, parameter in named.items()}
    torch.optim.SGD(layer.parameters(), lr=0.01).step()
    stepped = {f"{name} after the step": parameter.detach() for name, parameter in named.items()}
    return {"y": y.detach(), "gradient of x": x.grad, **gradients, **stepped}


class _Cache(dict[int, dict[str, Any]]):
    """What the layer asks of a model's cache."""

    def update(self, layer_idx: int, offset: int, **state: Any) -> None:
        self[layer_idx] = state


def _decode(layer: nn.Module, x: Tensor) -> dict[str, Tensor]:
    cache = _Cache()
    with torch.no_grad():
        parts = [x[:, :PREFILL], *x[:, PREFILL:].split(1, dim=1)]
        y = [layer(part, past_key_values=cache, use_cache=True)[0] for part in parts]
    states = {f"state {n}": state for n, state in enumerate(cache[0]["conv_state"])}
    return {"y": torch.cat(y, dim=1), "state": cache[0]["recurrent_state"], **states}


def reference(mode: str, x: Tensor, target: Tensor, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    wide = {name: value.double().requires_grad_() for name, value in weights.items()}
    x = x.double().requires_grad_()
    y = _plain(x, wide)
    if mode != "train":
        return {"y": y.detach()}
    (y * target.double()).sum().backward()
    gradients = {f"gradient of {name}": value.grad for name, value in wide.items()}
    return {"y": y.detach(), "gradient of x": x.grad, **gradients}


def _plain(x: Tensor, w: dict[str, Tensor]) -> Tensor:
    def branch(name: str) -> Tensor:
        mixed = (x @ w[f"{name}_proj.weight"].T).transpose(1, 2)
        kernel = w[f"{name}_conv1d.weight"]
        mixed = functional.conv1d(
            functional.pad(mixed, (kernel.shape[-1] - 1, 0)), kernel, groups=kernel.shape[0]
        )
        return functional.silu(mixed).transpose(1, 2).unflatten(-1, (-1, HEAD))

    q, k, v = (branch(name) for name in "qkv")
    q, k = (t * torch.rsqrt(t.square().sum(-1, keepdim=True) + 1e-6) for t in (q, k))
    g = -w["A_log"].exp() * functional.softplus(x @ w["a_proj.weight"].T + w["dt_bias"])
    beta = (x @ w["b_proj.weight"].T).sigmoid()
    o, _ = gated_delta_rule(q, k, v, g, beta, HEAD**-0.5, None, None)
    o = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + EPS) * w["o_norm.weight"]
    o = o * functional.silu((x @ w["g_proj.weight"].T).unflatten(-1, (HEADS, HEAD)))
    return o.flatten(-2) @ w["o_proj.weight"].T
