"""A copy of a package in which every name that is the package's own is another one.

Local variables, parameters, kernels, host functions, module-level variables, files, sub-packages and the
top-level package are renamed, each old name always to the same new one, wherever it stands: definitions,
uses, imports, keywords, names in strings. What stays: classes, methods, their parameters and attributes,
dunder names, whatever comes from outside the package, parameters of a function that an object outside holds,
launch options, and the folder names given as `keep`.

The copy imports and computes what the original computes. Its names mean nothing: what a tool makes of it
shows whether the tool reads structure or names.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.support.shuffle.package import Package
from tests.support.shuffle.renames import Renamer
from tests.support.shuffle.rewrite import rewrite

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


@dataclass(frozen=True)
class Shuffled:
    """root: the folder to import from. package: the copy's name. names: old identifier -> new identifier."""

    root: Path
    package: str
    names: dict[str, str]
    modules: dict[str, str]
    """Old dotted module name -> new one."""
    functions: dict[str, str]
    """Old `module:function` -> new one."""

    def name(self, old: str) -> str:
        return self.names.get(old, old)


class _Names:
    """Deals out new names, in an order that depends on the seed and on nothing else."""

    def __init__(self, taken: frozenset[str], seed: int) -> None:
        self.taken = set(taken)
        self.random = random.Random(seed)
        self.given: dict[str, str] = {}

    def __call__(self, old: str) -> str:
        if old not in self.given:
            self.given[old] = self._fresh()
        return self.given[old]

    def _fresh(self) -> str:
        while True:
            name = "".join(self.random.choice(_SYLLABLES) for _ in range(4))
            if name not in self.taken:
                self.taken.add(name)
                return name


def shuffle(root: Path, package: str, out: Path, *, seed: int = 0, keep: Iterable[str] = ()) -> Shuffled:
    """Write the renamed copy of root/package below out, which must not hold it yet."""
    whole = Package(root, package, frozenset(keep)).load()
    texts = {name: path.read_text(encoding="utf-8") for name, path in whole.files.items()}
    new = _Names(_words(texts.values()), seed)
    renamer = Renamer(whole, new)
    for name, module in whole.modules.items():
        target = _place(out, whole.files[name].relative_to(root), renamer)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewrite(texts[name], module, list(renamer.of(module))), encoding="utf-8")
    _copy_data(root / package, root, out, renamer)
    return Shuffled(
        root=out,
        package=renamer.path(package),
        names=dict(new.given),
        modules={name: renamer.path(name) for name in whole.modules},
        functions=_functions(whole, renamer),
    )


def _words(texts: Iterable[str]) -> frozenset[str]:
    """Every run of word characters in the sources: no new name may be one of them."""
    separators = {chr(code): " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
    table = str.maketrans(separators)
    return frozenset(word for text in texts for word in text.translate(table).split())


def _place(out: Path, relative: Path, renamer: Renamer) -> Path:
    parts = [renamer.path(part) for part in (*relative.parts[:-1], relative.stem)]
    return out.joinpath(*parts[:-1], parts[-1] + relative.suffix)


def _copy_data(folder: Path, root: Path, out: Path, renamer: Renamer) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            target = _place(out, path.relative_to(root), renamer)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _functions(whole: Package, renamer: Renamer) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, module in whole.modules.items():
        for function in module.scope.bound:
            if whole.exported(name, function).function is not None:
                new = renamer.new(function) if whole.free(module.scope, function) else function
                found[f"{name}:{function}"] = f"{renamer.path(name)}:{new}"
    return found
