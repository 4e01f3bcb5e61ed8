"""A measurement that the search's tests vary."""

from __future__ import annotations

from tritonport.npu.measure import Measurement, Use

FITS = Measurement(
    True,
    0.1,
    {"UB": Use(50, 100)},
    whole_plan=True,
    scalar_iterations=0,
    discrete_elements=0,
    sub_block="tiled",
    cross_core_syncs=4,
    barriers=10,
)
