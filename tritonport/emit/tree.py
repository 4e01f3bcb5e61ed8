"""Writes OUT: everything into a folder beside it, then one rename. An interrupted run leaves the old output whole."""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path, PurePosixPath

from tritonport.emit.lock import LOCK
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree

TEMPLATES = Path(__file__).resolve().parent / "templates"
RUNTIME = "tritonport_runtime"
ACTIVATE = "activate.py"


def runtime_module(tree: SourceTree) -> str:
    """Import name of the emitted run-time module: inside the package, or beside a lone file."""
    return f"{tree.package}.{RUNTIME}" if tree.package else RUNTIME


def check_out(out: Path, tree: SourceTree) -> None:
    """Refuse an output folder that would harm something. Raises UserError."""
    target = out.resolve()
    if target == tree.root or (tree.root in target.parents and _inside_sources(target, tree)):
        raise UserError(
            f"the output folder {out} lies inside the source tree {tree.root}", "choose another -o"
        )
    if target in tree.entry_path.resolve().parents or target == tree.entry_path.resolve():
        raise UserError(f"the output folder {out} holds the sources", "choose another -o")
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file", "choose a folder for -o")
    if out.is_dir() and any(out.iterdir()) and not (out / LOCK).is_file():
        raise UserError(
            f"{out} is not empty and tritonport did not make it ({LOCK} is missing)",
            "choose a new folder, or empty it",
        )
    parent = next(p for p in target.parents if p.exists())
    if not os.access(parent, os.W_OK) or (out.is_dir() and not os.access(out, os.W_OK)):
        raise UserError(
            f"no permission to write in {parent if not out.is_dir() else out}", "choose another -o"
        )


def _inside_sources(target: Path, tree: SourceTree) -> bool:
    """Inside the package, or inside the folder that was named; beside a lone file is allowed."""
    package = tree.root / tree.package if tree.package else None
    if (package is not None and package in target.parents) or target == package:
        return True
    return tree.entry_path.is_dir() and (tree.entry_path == target or tree.entry_path in target.parents)


def check_names(tree: SourceTree, files: Iterable[PurePosixPath]) -> None:
    """Refuse sources with a module where an emitted file goes. files: of their modules. Raises UserError."""
    taken = {str(file) for file in files} | {f"{tree.package}.py"}
    if (tree.root / runtime_path(tree)).is_file():
        taken.add(runtime_path(tree))
    for name, template in ((runtime_path(tree), f"{RUNTIME}.py"), (ACTIVATE, f"{ACTIVATE}.in")):
        if name in taken and not _emitted(tree.root / name, TEMPLATES / template):
            raise UserError(
                f"the output gets a file {name} of its own, and a module of the sources has that name",
                "rename that module",
                name,
            )


def _emitted(file: Path, template: Path) -> bool:
    """Whether an earlier run wrote a file: its docstring ends as the template's does."""
    return file.is_file() and _last_said(file) == _last_said(template)


def _last_said(file: Path) -> str:
    try:
        said = ast.get_docstring(ast.parse(file.read_bytes().replace(b"{modules}", b"{}")))
    except (SyntaxError, ValueError):
        return ""
    return (said or "").rpartition("\n")[2]


@contextlib.contextmanager
def staged(out: Path) -> Generator[Path]:
    """A folder to fill; it takes OUT's place when the block ends without an error, and is removed otherwise."""
    out = out.resolve()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise UserError(f"cannot write beside {out}: {error.strerror}", "choose another -o") from error
    try:
        yield stage
        stage.chmod(0o755)
        _swap(stage, out)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _swap(stage: Path, out: Path) -> None:
    if not out.exists():
        stage.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    out.rename(old / "out")
    try:
        stage.rename(out)
    except BaseException:
        (old / "out").rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def write_files(
    stage: Path, tree: SourceTree, files: Mapping[str, str], modules: Mapping[str, str] | None
) -> None:
    """The files at their paths, upstream's licences, and activate.py for these modules; None for no activation."""
    for path, text in files.items():
        target = stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    if modules is not None:
        (stage / ACTIVATE).write_text(_activate(tree, modules), encoding="utf-8")
    for licence in tree.licenses:
        shutil.copyfile(licence, stage / licence.name)


def runtime_path(tree: SourceTree) -> str:
    return f"{runtime_module(tree).replace('.', '/')}.py"


def runtime_text() -> str:
    return (TEMPLATES / f"{RUNTIME}.py").read_text(encoding="utf-8")


def _activate(tree: SourceTree, modules: Mapping[str, str]) -> str:
    table = "{\n" + "".join(f"    {name!r}: {path!r},\n" for name, path in sorted(modules.items())) + "}"
    template = (TEMPLATES / "activate.py.in").read_text(encoding="utf-8")
    name = tree.package or next(iter(sorted(modules)), "the module")
    return template.replace("{modules}", table).replace("{package}", name)
