"""capability-probe: its output decides as the target should on an NPU, and as before on a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cases import environment
from tritonport.facts.asked import Evaluator, NotFollowed
from tritonport.passes.capability_probe import queries
from tritonport.resources import rules_root

EXAMPLES = rules_root() / "catalog" / "capability-probe" / "examples"
RUNTIME = Path(__file__).resolve().parents[2] / "tritonport" / "emit" / "templates"
SCRIPT = """
import json, sys, torch
from tests.support import interp
interp.install()
capability, memory = json.loads(sys.argv[2])
class Driver:
    class utils:
        get_device_properties = staticmethod(lambda index: {'max_shared_mem': memory})
    class active: pass
Driver.active.utils = Driver.utils
def asked(*args):
    if capability is None: raise AssertionError('Torch not compiled with CUDA enabled')
    return tuple(capability)
torch.cuda.get_device_capability = asked
torch.cuda.is_available = lambda: capability is not None
import tritonport_runtime
tritonport_runtime.on_npu = lambda: capability is None
from tests.facts.run_pair import load
from pathlib import Path
module = load(Path(sys.argv[1]))
module.driver = Driver
found = {name: getattr(module, name) for name in ('SIZES', 'FAST') if hasattr(module, name)}
if hasattr(module, 'scale'):
    launched = []
    class Kernel:
        def __getitem__(self, grid): return lambda *args, **named: launched.append(named['N'])
    module.scale = Kernel()
    class Input(torch.Tensor):
        device = type('Device', (), {'index': 0})
    module.launch(torch.zeros(8).as_subclass(Input))
    found['N'] = launched[0]
print(json.dumps(found))
"""


def decided(name: str, capability: tuple[int, int] | None, memory: int) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(EXAMPLES / f"{name}.out.py"), json.dumps([capability, memory])],
        env=environment(PYTHONPATH=f"{RUNTIME}:{Path(__file__).resolve().parents[2]}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    return json.loads(done.stdout)


def test_a_question_that_raises_on_an_npu_is_not_asked_there() -> None:
    assert decided("capability", None, 1) == {"SIZES": [64], "FAST": False}
    assert decided("capability", (9, 0), 232448) == {"SIZES": [128, 256], "FAST": True}
    assert decided("capability", (8, 6), 101376) == {"SIZES": [64], "FAST": True}


@pytest.mark.parametrize(
    ("capability", "memory", "size"),
    [(None, 1, 128), (None, 10**6, 128), ((9, 0), 232448, 1024), ((8, 6), 101376, 256), ((7, 5), 65536, 128)],
)
def test_memory_of_an_npu_decides_nothing(capability: tuple[int, int] | None, memory: int, size: int) -> None:
    assert decided("shared_memory", capability, memory) == {"N": size}


def test_what_the_table_does_not_know_is_not_followed() -> None:
    import ast

    from tritonport.discover.index import Index

    evaluator = Evaluator(Index({}), queries())
    for text in ("os.environ.get('A') == '1'", "hasattr(a, 'b')", "[x for x in y]", "lambda: 1"):
        with pytest.raises(NotFollowed):
            evaluator.evaluate("m", ast.parse(text, mode="eval").body, {})
    assert evaluator.evaluate("m", ast.parse("(1, 2)[0] < 2 and 'a'.upper() == 'A'", mode="eval").body, {})
