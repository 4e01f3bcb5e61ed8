import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y):
    o = tl.program_id(0)
    tl.store(y + o, tl.load(x + o) * 2)


def run(x):
    assert x.is_cuda, "on the device, please"
    y = torch.empty(x.shape, device="cuda")  # the result
    with torch.cuda.device(x.device):
        double[(x.numel(),)](x, y)
    return y
