"""Builds a package of copies of the tiny operator, and an output folder in which each copy may be mutated.

One package with many copies means one pair of worker processes for a whole table of faults.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, Script
from tritonport.verify.model import KernelTarget

HERE = Path(__file__).parent / "tiny"


@dataclass(frozen=True)
class Fault:
    """Replace every expression or statement that reads `old` by `new`, in the migrated file (or in
    `where`)."""

    name: str
    old: str = ""
    new: str = ""


CONTROL = Fault("control")


class _Replace(ast.NodeTransformer):
    def __init__(self, fault: Fault) -> None:
        self.old, self.new = ast.unparse(ast.parse(fault.old).body[0]), ast.parse(fault.new).body
        self.count = 0

    def generic_visit(self, node: ast.AST) -> object:
        node = super().generic_visit(node)  # type: ignore[assignment]
        if isinstance(node, ast.expr) and ast.unparse(node) == self.old:
            self.count += 1
            return self.new[0].value
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Expr) and ast.unparse(node) == self.old:
            self.count += 1
            return self.new
        return node


def mutate(source: str, fault: Fault) -> str:
    """The source with one fault in it. Raises when nothing reads like the fault's old text."""
    if not fault.old:
        return source
    replace = _Replace(fault)
    tree = ast.fix_missing_locations(replace.visit(ast.parse(source)))
    assert replace.count, f"{fault.name}: no {fault.old!r}"
    return ast.unparse(tree)


@dataclass(frozen=True)
class Tiny:
    source: SourceTree
    out: Path
    cases: CaseSet
    targets: dict[str, KernelTarget] = field(default_factory=dict)


def build(folder: Path, faults: Iterable[Fault], *, ported: str | None = None) -> Tiny:
    """ported: text of the migrated module, the hand-made one by default."""
    upstream, out = folder / "upstream" / "tiny", folder / "out" / "tiny"
    upstream.mkdir(parents=True)
    out.mkdir(parents=True)
    for path in (
        HERE / "upstream" / "tiny" / "__init__.py",
        HERE / "ported" / "tiny" / "tritonport_runtime.py",
    ):
        target = upstream if path.name == "__init__.py" else out
        (target / path.name).write_text(path.read_text())
    (out.parent / "activate.py").write_text(ACTIVATE)
    good = (HERE / "ported" / "tiny" / "gram.py").read_text() if ported is None else ported
    scripts: list[Script] = []
    targets: dict[str, KernelTarget] = {}
    for n, fault in enumerate(faults):
        module = f"gram_{n:02d}"
        (upstream / f"{module}.py").write_text((HERE / "upstream" / "tiny" / "gram.py").read_text())
        (out / f"{module}.py").write_text(mutate(good, fault))
        case = folder / f"{module}_case.py"
        case.write_text((HERE / "case.py").read_text().replace("tiny.gram", f"tiny.{module}"))
        scripts.append(Script(fault.name, case, None))
        targets[fault.name] = KernelTarget(f"tiny.{module}:gram_kernel")
    source = SourceTree(folder / "upstream", "tiny", PurePosixPath("tiny"))
    return Tiny(source, out.parent, CaseSet(scripts=tuple(scripts)), targets)


def upstream_tree(root: Path) -> SourceTree:
    """The tiny package below root, with its case as a module of its own."""
    package = root / "tiny"
    package.mkdir()
    for path in ((HERE / "case.py"), *(HERE / "upstream" / "tiny").glob("*.py")):
        (package / path.name).write_text(path.read_text())
    return SourceTree(root, "tiny", PurePosixPath("tiny"), "tiny-ops", "1.0")


def case_of(source: SourceTree) -> CaseSet:
    """The one case of an upstream tree."""
    return CaseSet(scripts=(Script("case", source.root / "tiny" / "case.py", "tiny.case"),))


def out_with(folder: Path, fault: Fault) -> Path:
    """An output folder below `folder`, with one fault in its migrated module."""
    out = folder / "out"
    (out / "tiny").mkdir(parents=True)
    for path in (HERE / "ported" / "tiny").glob("*.py"):
        text = path.read_text()
        (out / "tiny" / path.name).write_text(mutate(text, fault) if path.name == "gram.py" else text)
    (out / "activate.py").write_text(ACTIVATE)
    return out


ACTIVATE = '''
"""A finder that takes modules from this folder where it has them."""
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        file = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.is_file() else None


sys.meta_path.insert(0, Finder)
'''
