import functools

import triton
import triton.language as tl
from tritonport_runtime import unrouted

PORTS = {}
KNOWN = set()


def port_of(fn):
    """Registers an implementation for a function that is known already."""
    assert fn in KNOWN

    def add(port):
        PORTS[fn.__name__] = port
        return port

    return add


def routed(fn):
    KNOWN.add(fn)

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
@unrouted(routed)
def run(x):
    double[(x.numel(),)](x)


@port_of(getattr(run, "__wrapped__", run))
def run_by_hand(x):
    raise NotImplementedError
