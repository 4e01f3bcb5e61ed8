"""An optimiser's step in place on four tensors; scalars that change each call are not specialised."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("adam", "four tensors in place", "many scalar arguments", "launch in a loop"),
    "outcome": {"adam": "converted"},
    "rtol": 1e-5,
}


@triton.jit(do_not_specialize=["rate", "step_size"])
def adam(weight, grad, first, second, count, rate, step_size, beta1, beta2, eps, decay, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    live = at < count
    w = tl.load(weight + at, mask=live)
    g = tl.load(grad + at, mask=live)
    m = tl.load(first + at, mask=live)
    v = tl.load(second + at, mask=live)
    w *= 1 - rate * decay
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    tl.store(weight + at, w - step_size * m / (tl.sqrt(v) + eps), mask=live)
    tl.store(first + at, m, mask=live)
    tl.store(second + at, v, mask=live)


def make_inputs(device):
    return {"weight": torch.randn(300, device=device), "grads": torch.randn(3, 300, device=device)}


def launch(weight, grads):
    weight = weight.clone()
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    blocks = triton.cdiv(weight.numel(), 128)
    for number, grad in enumerate(grads, 1):
        size = 0.1 * (1 - 0.99**number) ** 0.5 / (1 - 0.9**number)
        adam[(blocks,)](
            weight, grad, first, second, weight.numel(), 0.1, size, 0.9, 0.99, 1e-8, 0.01, TILE=128
        )
    return weight, first, second


def reference(weight, grads):
    weight = weight.double()
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    for number, grad in enumerate(grads.double(), 1):
        size = 0.1 * (1 - 0.99**number) ** 0.5 / (1 - 0.9**number)
        weight = weight * (1 - 0.1 * 0.01)
        first = 0.9 * first + 0.1 * grad
        second = 0.99 * second + 0.01 * grad * grad
        weight = weight - size * first / (second.sqrt() + 1e-8)
    return weight.float(), first.float(), second.float()
