"""Which program ids and grid sizes a jit function asks for, directly and through the helpers that it calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonport.discover import Analysis
from tritonport.discover.functions import NUM_PROGRAMS, PROGRAM_ID, JitFunction, reached
from tritonport.facts.axes import Refusal
from tritonport.facts.id_axes import axis_in
from tritonport.facts.unfollowed import Unfollowed

_ONE_AXIS = "write 0, 1 or 2, and one helper per axis"
WAITING = frozenset({"triton.language.atomic_cas", "triton.language.atomic_xchg"})


@dataclass
class IdUse:
    """Axes asked for by `program_id` and by `num_programs`."""

    pids: set[int] = field(default_factory=set[int])
    sizes: set[int] = field(default_factory=set[int])


class IdUses:
    """Id uses of every jit function of a closure, found once each."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._own: dict[str, IdUse] = {}
        self._defined = Counter(d.key for d in analysis.index.definitions)
        self._unfollowed = Unfollowed(analysis, self._asks)

    def of(self, key: str) -> IdUse:
        """Everything that the function and its callees ask for."""
        total = IdUse()
        for function in reached(self._analysis.functions, key):
            own = self._own_use(function)
            total.pids |= own.pids
            total.sizes |= own.sizes
        return total

    def _asks(self, key: str) -> bool:
        use = self.of(key)
        return bool(use.pids or use.sizes)

    def helpers(self, key: str) -> Iterator[str]:
        """The helpers under a kernel that ask for ids, and so need a variant that is handed them."""
        for function in reached(self._analysis.functions, key):
            if function.key != key and self._asks(function.key):
                yield function.key

    def _calls(self, function: JitFunction, names: frozenset[str]) -> Iterator[tuple[str, ast.Call]]:
        module = function.definition.module
        for node in ast.walk(function.definition.node):
            if isinstance(node, ast.Call):
                for dotted in self._analysis.index.externals(module, node.func):
                    if dotted in names:
                        yield dotted, node

    def _own_use(self, function: JitFunction) -> IdUse:
        if function.key not in self._own:
            use = self._own[function.key] = IdUse()
            for dotted, call in self._calls(function, frozenset({PROGRAM_ID, NUM_PROGRAMS})):
                axis = axis_in(self._analysis, function, call)
                if axis is not None:
                    (use.pids if dotted == PROGRAM_ID else use.sizes).add(axis)
        return self._own[function.key]

    def refusal(self, key: str) -> Refusal | None:
        """Why the programs of this kernel cannot become tasks of one loop, if they cannot."""
        for function in reached(self._analysis.functions, key):
            file = str(self._analysis.index.modules[function.definition.module].file)
            for dotted, call in self._calls(function, frozenset({PROGRAM_ID, NUM_PROGRAMS})):
                if axis_in(self._analysis, function, call) is None:
                    name = dotted.rpartition(".")[2]
                    return Refusal(
                        file,
                        call.lineno,
                        f"the axis of `{name}` is not one constant: `{ast.unparse(call)}`; {_ONE_AXIS}",
                    )
            for why, line in self._structural(function, is_kernel=function.key == key):
                return Refusal(file, line, why)
            unseen = self._unfollowed.refusal(function)
            if unseen is not None:
                return unseen
        return None

    def _in_loop(self, function: JitFunction) -> bool:
        """Whether a loop at module level makes the function, once in each round."""
        tree = self._analysis.index.modules[function.definition.module].tree
        loops = (n for n in tree.body if isinstance(n, ast.For | ast.While))
        return any(node is function.definition.node for loop in loops for node in ast.walk(loop))

    def _structural(self, function: JitFunction, *, is_kernel: bool) -> Iterator[tuple[str, int]]:
        node = function.definition.node
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        use = self._own_use(function)
        if self._defined[function.key] > 1 and (is_kernel or use.pids or use.sizes):
            yield "it is defined more than once in its module", node.lineno
        if is_kernel and self._in_loop(function):
            yield "it is defined in a loop: move it to the top level of its module", node.lineno
        if is_kernel and (node.args.vararg or node.args.kwarg):
            yield "it takes * or ** parameters", node.lineno
        module = function.definition.module
        for loop in ast.walk(node):
            if isinstance(loop, ast.While):
                for item in ast.walk(loop):
                    if isinstance(item, ast.Call) and WAITING & set(
                        self._analysis.index.externals(module, item.func)
                    ):
                        yield "its programs wait for one another (an atomic in a while loop)", item.lineno
