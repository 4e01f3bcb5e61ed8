"""How the package `braid` is run; the folder that holds it is on sys.path."""

import torch

META = {
    "covers": ("program id through helpers of another module", "alias launch", "package"),
    "entry": "braid",
    "outcome": {
        "braid.kernels.weave:weave_kernel": "converted",
        "braid.kernels.weave:first_half_kernel": "converted",
        "braid.kernels.weave:second_half_kernel": "converted",
    },
}


def make_inputs(device):
    return {"left": torch.randn(4, 10, device=device), "right": torch.randn(4, 10, device=device)}


def launch(left, right):
    import braid

    both = braid.interleave(left, right)
    return both, braid.separate(both), braid.separate(both, second=True)


def reference(left, right):
    return torch.stack([left, right], -1).flatten(1), left, right
