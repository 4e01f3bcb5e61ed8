"""How far a result may lie from a float64 reference, or a reordered one from the original. Fixed before any
migrated output is seen: a formula of the data type and the reduction length, with constants that the case set
states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

UNIT_ROUNDOFF = {"bf16": 2.0**-8, "fp16": 2.0**-11, "fp32": 2.0**-24, "fp64": 2.0**-53}
"""Half the distance from 1 to the next value: what one rounding may lose, relatively (Higham, Accuracy and
Stability of Numerical Algorithms, section 2.1)."""

_ACCUMULATOR = UNIT_ROUNDOFF["fp32"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """relative: of ||out - ref|| / ||ref||. ulps: of the largest single error, in units in the last place of
    the output's type at max(|ref|, rms(ref)). unit: that type, where it is known. noise: what the fp32 sums alone
    may lose, relatively to the numbers that are summed."""

    relative: float
    ulps: float
    source: str
    unit: str | None = None
    noise: float = 0.0

    def scaled(self, factor: float) -> Tolerance:
        return replace(self, relative=self.relative * factor, ulps=self.ulps * factor)

    def in_units_of(self, dtype: str) -> Tolerance:
        """The same bound for an output of another type: units in the last place of fp32 are 65536 to one of bf16."""
        if self.unit is None or dtype == self.unit:
            return self
        ratio = UNIT_ROUNDOFF[self.unit] / UNIT_ROUNDOFF.get(dtype, _ACCUMULATOR)
        return replace(self, ulps=max(1.0, self.ulps * ratio), unit=dtype)


@dataclass(frozen=True, slots=True)
class ToleranceSpec:
    """Constants of the formula.

    stages: how often a value is rounded to the input type on the longest way through the operator.
    growth: how much the fp32 sums may lose beyond sqrt(length) * u (conditioning of the chunk solve).
    peak: largest single error over the root mean square one.
    conditioning: by output, how much larger its error is because it is a difference of nearly equal sums.
    tf32: products of fp32 operands keep 10 bits of them, as in NVIDIA's tf32 and Ascend's hf32 (fp16 keeps as
    many).
    """

    stages: Mapping[str, int] = field(default_factory=dict[str, int])
    growth: float = 16.0
    peak: float = 16.0
    conditioning: Mapping[str, float] = field(default_factory=dict[str, float])
    source: str = "formula of tritonport.verify.tolerance, no constants given"
    tf32: bool = False

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> ToleranceSpec:
        stages, conditioning = dict(table["stages"]), dict(table.get("conditioning", {}))
        return cls(stages, float(table["growth"]), float(table["peak"]), conditioning, str(table["source"]))

    def against_reference(self, dtype: str, output_dtype: str, length: int) -> Tolerance:
        """dtype: the inputs'. output_dtype: the compared tensor's. length: terms in the longest sum (tokens
        plus key dim).

        Independent roundings add in the root mean square: each rounding loses u/sqrt(3) rms at worst over a
        binade, s of them sqrt(s/3)*u; a factor 2 covers the spread over draws. Sums of n terms in fp32 lose
        u32*sqrt(n).
        """
        operands = "fp16" if dtype == "fp32" and self.tf32 else dtype
        rounding = 2.0 * UNIT_ROUNDOFF[operands] * sqrt(self.stages.get(operands, 4) / 3.0)
        summing = self.growth * _ACCUMULATOR * sqrt(max(length, 1))
        relative = summing if operands == "fp32" else rounding + summing
        ulp = 2.0 * UNIT_ROUNDOFF.get(output_dtype, _ACCUMULATOR)
        return Tolerance(relative, max(1.0, self.peak * relative / ulp), self.source, output_dtype, summing)
