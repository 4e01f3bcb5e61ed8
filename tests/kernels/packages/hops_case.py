"""How the package `hops` is run; the folder that holds it is on sys.path."""

import torch

META = {
    "covers": ("helpers with a program id that are reached by way of other modules", "taken names across modules"),
    "entry": "hops",
    "outcome": {
        "hops.kernels:handed_on_kernel": "converted",
        "hops.kernels:dotted_kernel": "converted",
        "hops.kernels:renamed_kernel": "converted",
        "hops.kernels:taken_kernel": "converted",
        "hops.kernels:alike_kernel": "converted",
        "hops.starred:starred_kernel": "converted",
    },
}


def make_inputs(device):
    return {"jobs": 7, "device": device}


def launch(jobs, device):
    from hops import kernels

    return kernels.run(jobs, device)


def reference(jobs, device):
    job = torch.arange(jobs, dtype=torch.float32, device=device)
    one = torch.ones_like(job)
    return torch.stack([one, 2 * one, 3 + job, 2 * job + 5, 11 * job + 0.5, 1 + 2 * job])
