"""Hands calls to the first backend that accepts them."""

import functools

TABLES = {}


class BaseBackend:
    backend_type = "base"
    env_var = None
    priority = 5
    implementation = None
    verifier = None

    @classmethod
    def is_available(cls):
        return True

    def accepts(self, name, args, kwargs):
        check = self.verifier or getattr(self, f"{name}_verifier", None)
        try:
            return check is None or check(*args, **kwargs)[0]
        except Exception:
            return False


class BackendRegistry:
    def __init__(self):
        self.known = []

    def route(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            for backend in sorted(self.known, key=lambda b: b.priority):
                chosen = backend.implementation or getattr(backend, function.__name__, None)
                if (
                    chosen is not None
                    and backend.is_available()
                    and backend.accepts(function.__name__, args, kwargs)
                ):
                    return chosen(*args, **kwargs)
            return function(*args, **kwargs)

        return call


def table(key):
    return TABLES.setdefault(key, BackendRegistry())


def register(entry, *, backend=None, verifier=None):
    def decorate(implementation):
        if isinstance(implementation, type):
            made = implementation()
        else:
            made = backend()
            made.implementation, made.verifier = implementation, verifier
        table(entry if isinstance(entry, str) else entry.__wrapped__).known.append(made)
        return implementation

    return decorate


def routed(entry):
    return table(entry).route if isinstance(entry, str) else table(entry).route(entry)
