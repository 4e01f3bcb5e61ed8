"""The case of the tiny operator: dense and varlen, whole and ragged chunks, grouped heads, bf16 and fp32."""

import torch
from tiny.gram import gram


def make_inputs(device):
    rng = torch.Generator().manual_seed(3)

    def draw(length, heads, value_heads, chunks, dtype, cu=None):
        x = torch.randn(length, heads, 32, generator=rng).to(dtype)
        g = -torch.rand(length, value_heads, generator=rng)
        s = torch.randn(chunks, value_heads, generator=rng)
        return {"x": x, "g": g, "s": s, "cu": None if cu is None else torch.tensor(cu)}

    return {
        "runs": [
            draw(40, 1, 2, 3, torch.bfloat16),
            draw(53, 2, 2, 5, torch.float32, cu=[0, 7, 40, 53]),
            draw(33, 2, 4, 3, torch.float32),
        ]
    }


def launch(runs):
    return [gram(**run) for run in runs]
