"""What a fault is: where it can be put into a migrated kernel, and in which cases it changes the result."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from tests.mutation.tree import TaskKernel, code
from tritonport.facts.walk import walk
from tritonport.verify.cases import Case

CHUNK = 64
"""Rows of a chunk unless a case says otherwise."""


@dataclass(frozen=True)
class Place:
    """One place of one kernel. edits: node -> what takes its place.

    tests: constexpr tests of the kernel and their outcome where the place is evaluated. needs: what the
    place asks of a case on top of what the fault asks, launches: of the plain arguments of one of its launches.
    host: the place is in host code, and its line has to run.
    """

    edits: tuple[tuple[cst.CSTNode, cst.CSTNode], ...]
    tests: Mapping[str, bool] = field(default_factory=dict[str, bool])
    needs: Callable[[Case], bool] = lambda _case: True
    launches: Callable[[Mapping[str, Any]], bool] = lambda _constants: True
    host: bool = False


@dataclass(frozen=True)
class Fault:
    """name: the class. source: where a port had it. needs: the cases whose result the fault changes. least: how many
    mutants of it the whole suite has at the least."""

    name: str
    source: str
    needs: Callable[[Case], bool]
    places: Callable[[TaskKernel], Iterator[Place]]
    least: int = 3


def is_varlen(case: Case) -> bool:
    return case.cu_seqlens is not None


def is_dense(case: Case) -> bool:
    return case.cu_seqlens is None


def lengths(case: Case) -> list[int]:
    bounds = case.cu_seqlens
    return [case.length] if bounds is None else [b - a for a, b in itertools.pairwise(bounds)]


def has_tail(case: Case) -> bool:
    """A last chunk that is not full."""
    return any(n % (case.chunk_size or CHUNK) for n in lengths(case))


def has_chunks(case: Case) -> bool:
    """A sequence of several chunks."""
    return any(n > (case.chunk_size or CHUNK) for n in lengths(case))


def has_batch(case: Case) -> bool:
    return is_dense(case) and case.batch > 1


def has_groups(case: Case) -> bool:
    """More value heads than heads."""
    return (case.value_heads or case.heads) > case.heads


def any_case(_case: Case) -> bool:
    return True


def both(*needs: Callable[[Case], bool]) -> Callable[[Case], bool]:
    return lambda case: all(need(case) for need in needs)


def expression(text: str) -> cst.BaseExpression:
    return cst.parse_expression(text)


def bracketed(node: cst.BaseExpression) -> str:
    return f"({code(node)})"


def tests_of(kernel: TaskKernel, *nodes: cst.CSTNode) -> dict[str, bool]:
    """The constexpr tests around nodes; those of the nearest evaluated node inside one that has none itself."""
    known = kernel.facts.tests
    found: dict[str, bool] = {}
    for node in nodes:
        found |= next((known[n] for n in walk(node) if n in known), {})
    return found
