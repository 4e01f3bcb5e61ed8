import functools

import triton
import triton.language as tl

PORTS = {}


def routed(fn):
    @functools.wraps(fn)
    def call(*args, **kwargs):
        port = PORTS.get(fn.__name__)
        if port is not None:
            return port(*args, **kwargs)
        return fn(*args, **kwargs)

    return call


@triton.jit
def double(x):
    o = tl.program_id(0)
    tl.store(x + o, tl.load(x + o) * 2)


# in place
def run(x):
    double[(x.numel(),)](x)
