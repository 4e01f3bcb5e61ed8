"""Which host functions take and make a shared copy: what writes, what may be the same memory, what is rebound."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tritonport.discover import analyse
from tritonport.facts.hosts.sharing import Sharing
from tritonport.sources.tree import SourceTree

HEAD = """
import functools
import torch
import triton
import triton.language as tl
import torch.distributed as dist
from tritonport_runtime import head_first, unrouted

TABLE = {}
STATE = torch.zeros(4)


@triton.jit
def read(g, rows, y, N: tl.constexpr):
    p = y + tl.arange(0, N)
    q = g + tl.arange(0, N) + rows
    q = tl.load(q)
    tl.store(p, q)


@triton.jit
def swap(a, b, N: tl.constexpr):
    p = a + tl.arange(0, N)
    x = tl.load(p)
    p = b + tl.arange(0, N)
    tl.store(p, x)


@triton.heuristics
def again(x):
    return torch.clone(x)


def user(g, y=None, flag=False):
    y = torch.empty_like(g)
    read[(1,)](head_first(g, 4), 0, y, N=8)
    if flag:
        g.zero_()
    return y
"""

MAKES = {
    "twice": "    return user(g), user(g)",
    "other": "    a = user(g)\n    a.mul_(2.0)\n    return a + user(g)",
    "view_of_new": "    a = user(g)\n    b = a.view(-1)[1:]\n    b += 1\n    return b, user(g)",
    "kernel": "    a, y = user(g), torch.empty_like(g)\n    swap[(1,)](g, y, N=8)\n    return a, user(g)",
    "compared": "    a = user(g)\n    n = a.eq(0).sum()\n    return a, user(g), n",
    "table": "    a = user(g)\n    TABLE['a'] = a\n    return a, user(g)",
    "in_loop": "    out = []\n    for _ in range(3):\n        out.append(user(g) + user(g))\n    return out",
    "shape": "    a = user(g)\n    n = g.shape[0]\n    n += 1\n    return a, user(g), n",
    "not_taken": "    a = user(g, flag=False)\n    return a, user(g)",
    "gathered": "    b = torch.empty_like(user(g))\n    dist.all_gather_into_tensor(b, g)\n    return user(g)",
}
REFUSES = {
    "in_place": "    a = user(g)\n    g.add_(1)\n    return a, user(g)",
    "augmented": "    a = user(g)\n    g += 1\n    return a, user(g)",
    "item": "    a = user(g)\n    g[0] = 1\n    return a, user(g)",
    "view": "    v = g.view(-1)\n    a = user(g)\n    v.zero_()\n    return a, user(g)",
    "in_list": "    vs = [g]\n    a = user(g)\n    vs[0].zero_()\n    return a, user(g)",
    "other_name": "    a = user(g)\n    other.zero_()\n    return a, user(g)",
    "kernel": "    a = user(g)\n    swap[(1,)](other, g, N=8)\n    return a, user(g)",
    "kernel_of_another": "    a = user(g)\n    swap[(1,)](g, other, N=8)\n    return a, user(g)",
    "callee": "    a = user(g, flag=True)\n    return a, user(g)",
    "callee_told": "    a = user(g, flag=other is None)\n    return a, user(g)",
    "cached": "    g, b = again(other), again(other)\n    a = user(g)\n    b.zero_()\n    return a, user(g)",
    "out": "    a = user(g)\n    torch.add(a, 1, out=g)\n    return a, user(g)",
    "global": "    a = user(g)\n    STATE.zero_()\n    return a, user(g)",
    "rebound": "    a = user(g)\n    g = other\n    return a, user(g)",
    "rebound_in_loop": "    for g in other:\n        a = user(g), user(g)\n    return a",
    "walrus": "    a = user(g)\n    return a, user(g := other), user(g)",
    "nested": "    def change():\n        g.zero_()\n    a = user(g)\n    change()\n    return a, user(g)",
    "data": "    a = user(g)\n    g.data = other\n    return a, user(g)",
    "unknown_method": "    a = user(g)\n    other.work(g)\n    return a, user(g)",
    "ranks": "    a = user(g)\n    dist.all_reduce(g)\n    return a, user(g)",
    "partial": "    f = functools.partial(torch.Tensor.zero_, g)\n    a = user(g)\n    f()\n    return a, user(g)",
    "lambda": "    f = lambda: g.zero_()\n    a = user(g)\n    f()\n    return a, user(g)",
    "callback": "    a = user(g)\n    other()\n    return a, user(g)",
    "lambdas_own_name": "    f = lambda g: (user(g), user(g))\n    return f(other)",
    "inner_class": "    class Inner:\n        a = user(g)\n        b = user(g)\n    return Inner",
    "in_place_option": "    a = user(g)\n    torch.relu(g, inplace=True)\n    return a, user(g)",
    "loop": "    for _ in range(2):\n        a = user(g), user(g)\n        g.mul_(2)\n    return a",
}


def sharing(folder: Path, text: str) -> Sharing:
    (folder / "hosts.py").write_text(text, encoding="utf-8")
    return Sharing(analyse(SourceTree(folder, None, PurePosixPath("hosts.py"))))


def made(folder: Path, body: str) -> set[str]:
    found = sharing(folder, f"{HEAD}\n\ndef caller(g, other):\n{body}\n")
    return {share.name for share in found.shares if share.makes and share.function.qualname == "caller"}


@pytest.mark.parametrize("name", MAKES)
def test_a_caller_of_several_makes_the_copy(tmp_path: Path, name: str) -> None:
    assert made(tmp_path, MAKES[name]) == {"g"}


@pytest.mark.parametrize("name", REFUSES)
def test_a_write_between_or_a_name_bound_again_keeps_a_copy_for_each(tmp_path: Path, name: str) -> None:
    assert made(tmp_path, REFUSES[name]) == set()


def test_only_plain_functions_take_a_copy(tmp_path: Path) -> None:
    bodies = {
        "decorated": "@torch.no_grad()\ndef {}(g):\n    return user(g)",
        "changes": "def {}(g):\n    g.mul_(2)\n    return user(g)",
        "binds": "def {}(g):\n    g = g + 1\n    return user(g)",
        "packs": "def {}(*g):\n    return user(g)",
        "seen": "@unrouted(torch.no_grad())\ndef {}(g):\n    return user(g)",
        "plain": "def {}(g, **options):\n    return user(g)",
    }
    text = "\n\n\n".join(body.format(name) for name, body in bodies.items())
    calls = "".join(f"    {name}(g)\n    {name}(g)\n" for name in bodies)
    found = sharing(tmp_path, f"{HEAD}\n\n{text}\n\n\ndef caller(g):\n{calls}")
    assert {s.function.qualname for s in found.shares if s.given} == {"plain", "seen", "user"}


def test_a_function_that_is_defined_twice_is_left_alone(tmp_path: Path) -> None:
    twice = "    def caller(g):\n        return user(g), user(g)\n"
    assert not sharing(tmp_path, f"{HEAD}\n\nif STATE is None:\n{twice}else:\n{twice}").shares
    assert not sharing(tmp_path, f"{HEAD}\n\nclass Op:\n{twice}\n{twice}").shares


def test_a_caller_whose_callees_take_nothing_stays(tmp_path: Path) -> None:
    assert not sharing(tmp_path, f"{HEAD}\n\ndef caller(g):\n    return user(g)\n").shares
