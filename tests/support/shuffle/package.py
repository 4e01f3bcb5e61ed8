"""One package as a whole: what its names mean across modules, and which of them are free to change."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.shuffle.scopes import Binding, Function, Module, Scope, analyse, parameters


@dataclass(frozen=True)
class Meaning:
    """What an expression stands for: a module of the package, a function, a class, or something outside."""

    module: str | None = None
    function: Function | None = None
    is_class: bool = False
    external: bool = False
    local: bool = False
    """A parameter or an assigned variable: what it holds is not known."""


LAUNCH_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg", "grid", "warmup", "stream"})
UNKNOWN = Meaning()
EXTERNAL = Meaning(external=True)


@dataclass(eq=False)
class Package:
    """root/name is the package's folder. keep: folder and file names that stay as they are."""

    root: Path
    name: str
    keep: frozenset[str] = frozenset()
    modules: dict[str, Module] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    bodies: dict[ast.AST, Scope] = field(default_factory=dict)
    fixed: frozenset[str] = LAUNCH_OPTIONS
    """Names that stay wherever they stand, since calls of something outside use them as keywords."""
    _free: dict[tuple[Scope, str], bool] = field(default_factory=dict)

    def load(self) -> Package:
        for path in sorted((self.root / self.name).rglob("*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            self.files[name] = path
            self.modules[name] = analyse(name, is_package, ast.parse(path.read_text(encoding="utf-8")))
        self.bodies = {node: scope for m in self.modules.values() for node, scope in m.inside.items()}
        self.fixed = LAUNCH_OPTIONS | self.outside_keywords()
        return self

    # Modules ---------------------------------------------------------------------------------------
    def components(self) -> frozenset[str]:
        """Names of folders and files that change."""
        parts = {part for name in self.files for part in name.split(".")}
        return frozenset(part for part in parts if part not in self.keep and not is_dunder(part))

    def owns(self, module: str) -> bool:
        return module == self.name or module.startswith(self.name + ".")

    def is_module(self, name: str) -> bool:
        return name in self.modules

    # Bindings --------------------------------------------------------------------------------------
    def free(self, scope: Scope, name: str) -> bool:
        """Whether a binding is the package's own, so that its name may change."""
        key = (scope, name)
        if key not in self._free:
            self._free[key] = True  # what a circular import asks for
            self._free[key] = self._decide(scope, name)
        return self._free[key]

    def _decide(self, scope: Scope, name: str) -> bool:
        if is_dunder(name) or name in self.fixed or scope.kind == "class":
            return False
        return all(self._binding_free(binding, name) for binding in scope.bound[name])

    def _binding_free(self, binding: Binding, name: str) -> bool:
        if binding.how != "import":
            return binding.how == "own"
        if not self.owns(binding.module):
            return False
        if binding.alias:
            return True
        if binding.name is None:
            return name not in self.keep
        return self.exported_free(binding.module, binding.name)

    def exported_free(self, module: str, name: str) -> bool:
        """Whether `from module import name` names something whose name changes."""
        found = self._exporter(module, name)
        if found is not None:
            return self.free(found.scope, name)
        if self.is_module(f"{module}.{name}"):
            return name not in self.keep and not is_dunder(name)
        # A module made at run time: decided by what the name is wherever it is defined.
        owners = [m.scope for m in self.modules.values() if name in m.scope.bound]
        return bool(owners) and all(self.free(scope, name) for scope in owners)

    def _exporter(self, module: str, name: str, seen: frozenset[str] = frozenset()) -> Module | None:
        if module not in self.modules or module in seen:
            return None
        here = self.modules[module]
        if name in here.scope.bound and not self._imports_itself(module, name):
            return here
        for star in here.scope.stars:
            found = self._exporter(star, name, seen | {module})
            if found is not None:
                return found
        return None

    def _imports_itself(self, module: str, name: str) -> bool:
        """`from package import part` in package/__init__.py: the name is the sub-module's."""
        last = self.modules[module].scope.bound[name][-1]
        return last.how == "import" and (last.module, last.name) == (module, name)

    def owner(self, module: Module, scope: Scope, name: str) -> Scope | None:
        """The scope that binds name, star imports included."""
        found = scope.lookup(name)
        if found is not None:
            return found
        exporter = next(
            (e for star in module.scope.stars if (e := self._exporter(star, name)) is not None), None
        )
        return None if exporter is None else exporter.scope

    # Meanings --------------------------------------------------------------------------------------
    def meaning(self, module: Module, node: ast.expr) -> Meaning:
        if isinstance(node, ast.Name):
            owner = self.owner(module, module.scope_of[node], node.id)
            return EXTERNAL if owner is None else self._bound_meaning(owner, node.id)
        if isinstance(node, ast.Attribute):
            return self._member(self.meaning(module, node.value), node.attr)
        return UNKNOWN

    def _member(self, base: Meaning, attr: str) -> Meaning:
        if base.external:
            return EXTERNAL
        return UNKNOWN if base.module is None else self.exported(base.module, attr)

    def exported(self, module: str, name: str) -> Meaning:
        found = self._exporter(module, name)
        if found is not None:
            return self._bound_meaning(found.scope, name)
        return Meaning(module=f"{module}.{name}") if self.is_module(f"{module}.{name}") else UNKNOWN

    def _bound_meaning(self, scope: Scope, name: str) -> Meaning:
        binding = scope.bound[name][-1]
        if binding.how == "import":
            if not self.owns(binding.module):
                return EXTERNAL
            if binding.name is None:
                return Meaning(module=binding.module)
            return self.exported(binding.module, binding.name)
        if isinstance(binding.node, ast.ClassDef):
            return Meaning(is_class=True)
        if isinstance(binding.node, Function):
            return Meaning(function=binding.node)
        return Meaning(local=True)

    # Parameters ------------------------------------------------------------------------------------
    def parameter_names(self) -> frozenset[str]:
        """Names of all parameters that change, over all functions of the package."""
        found: set[str] = set()
        for module in self.modules.values():
            for function, scope in module.inside.items():
                if isinstance(function, Function):
                    names = [arg.arg for arg in parameters(function.args)]
                    found.update(name for name in names if self.free(scope, name))
        return frozenset(found)

    def outside_keywords(self) -> frozenset[str]:
        """Keys of dictionaries that are spread (`**options`) into calls of something outside the package."""
        found: set[str] = set()
        for module in self.modules.values():
            for node in module.parents:
                if isinstance(node, ast.Call) and self.meaning(module, node.func).external:
                    for spread in (k.value for k in node.keywords if k.arg is None):
                        if isinstance(spread, ast.Name):
                            found.update(self._keys_of(module, spread))
        return frozenset(found)

    def _keys_of(self, module: Module, node: ast.Name) -> set[str]:
        """String keys of every dictionary written in an assignment to this name, where it is defined."""
        owner, name = self.owner(module, module.scope_of[node], node.id), node.id
        for _ in range(9):  # imports of imports
            last = owner.bound[name][-1] if owner is not None else None
            if last is None or last.how != "import":
                break
            exporter = self._exporter(last.module, last.name or "")
            if exporter is None:
                return set()
            module, owner, name = exporter, exporter.scope, last.name or ""
        bound = [] if owner is None else owner.bound[name]
        values = [module.parents.get(b.node) for b in bound if b.node is not None]
        dicts = [
            d for v in values if isinstance(v, ast.Assign) for d in ast.walk(v) if isinstance(d, ast.Dict)
        ]
        keys = [key.value for d in dicts for key in d.keys if isinstance(key, ast.Constant)]
        return {key for key in keys if isinstance(key, str)}

    def function_names(self) -> frozenset[str]:
        """Names of module-level functions that change."""
        return frozenset(
            name
            for module in self.modules.values()
            for name, bindings in module.scope.bound.items()
            if isinstance(bindings[-1].node, Function) and self.free(module.scope, name)
        )


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
