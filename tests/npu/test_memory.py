"""Memory use, from the compiler's record and from addresses."""

from __future__ import annotations

import json

from tritonport.npu.measure import Message, Use
from tritonport.npu.memory import read_plan

LIMITS = {"UB": 1000, "L1": 4000, "L0C": 2000}


def buffer(offsets, bits, life, line, *, shape="8x8xf32"):
    return {
        "offset": offsets,
        "extent": bits,
        "life_time_in_ir": life,
        "alloc_time_in_ir": life[0],
        "buffer": f"%a = memref.alloc() : memref<{shape}, #hivm.address_space<ub>>",
        "source_location": f'loc("pkg/a.py":{line}:1)',
    }


def write(folder, name, *records):
    data = {"Record": [{"scope": s, "memory_info_array": b, "error_info": ""} for s, b in records]}
    (folder / f"memory_info_{name}.json").write_text(json.dumps(data))


def test_use_is_the_highest_end_of_any_copy(tmp_path):
    write(tmp_path, "aiv", ("ub", [buffer([0, 100], 80, [0, 9], 3), buffer([10], 160, [2, 3], 4)]))
    write(tmp_path, "aic", ("cbuf", [buffer([0], 4000, [0, 1], 5)]))
    plan = read_plan(tmp_path, "module {}", LIMITS, [])
    assert plan.uses == {"UB": Use(100 * 8 + 80, 1000), "L1": Use(4000, 4000)}
    assert plan.uses["UB"].percent == 88.0
    assert plan.whole


def test_the_bits_of_an_overflow_message_win(tmp_path):
    write(tmp_path, "aiv", ("ub", [buffer([0], 80, [0, 9], 3)]))
    message = Message("overflow", "", buffer="UB", requires_bits=1500, limit_bits=1000)
    plan = read_plan(tmp_path, None, LIMITS, [message])
    assert plan.uses["UB"].percent == 150.0
    assert not plan.whole


def test_largest_buffers_of_the_fullest_moment(tmp_path):
    early = buffer([0], 900, [0, 1], 1)
    together = [buffer([n], 100 * n, [5, 6], 10 + n) for n in range(1, 8)]
    write(tmp_path, "aiv", ("ub", [early, *together, together[0]]))
    plan = read_plan(tmp_path, None, LIMITS, [])
    assert [(b.bits, b.line) for b in plan.largest] == [(700, 17), (600, 16), (500, 15), (400, 14), (300, 13)]
    assert plan.largest[0].type == "8x8xf32"


def test_without_a_record_the_addresses_of_the_ir_are_read(tmp_path):
    text = """module {
  func.func @k() {
    %c16_i64 = arith.constant 16 : i64
    %0 = hivm.hir.pointer_cast(%c16_i64) : memref<4x4xf16, #hivm.address_space<ub>>
    return
  }
}
"""
    plan = read_plan(tmp_path, text, LIMITS, [])
    assert plan.uses == {"UB": Use(16 * 8 + 16 * 16, 1000)}
    unknown = text.replace("4x4xf16", "?x4xf16")
    assert (plan.whole, read_plan(tmp_path, unknown, LIMITS, []).whole) == (True, False)
    assert read_plan(tmp_path, unknown, LIMITS, []).uses == {}


def test_nothing_to_read_is_not_a_plan(tmp_path):
    (tmp_path / "memory_info_aiv.json").write_text("{ cut off")
    plan = read_plan(tmp_path, "module {}", LIMITS, [])
    assert (plan.uses, plan.whole) == ({}, False)
