"""Turns what the user named into a source tree: disk first, then what is installed, then the manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement

from tritonport.errors import UserError
from tritonport.sources.disk import from_path
from tritonport.sources.distribution import license_files
from tritonport.sources.installed import from_installed
from tritonport.sources.manifest import manifest_of, manifest_providing
from tritonport.sources.tree import SourceTree
from tritonport.sources.wheel import Wheel, fetch

Progress = Callable[[str, int, int], None]
"""What is done now, how many steps of it are done, and how many there are."""


def resolve(
    src: str, *, from_spec: str | None = None, offline: bool = False, progress: Progress | None = None
) -> SourceTree:
    """The sources that SRC names.

    src: a file or folder on disk, or a module (`fla/ops/gated_delta_rule` or `fla.ops.gated_delta_rule`).
    from_spec: `distribution==version`; src is then a module of that wheel.
    offline: never ask the package index.
    Nothing of the sources is imported. Raises UserError when src is nowhere, or cannot be fetched.
    """
    if from_spec is not None:
        return _from_index(module_of(src), src, from_spec, offline, progress)
    if Path(src).exists():
        return from_path(Path(src))
    module = module_of(src)
    if module is None:
        raise UserError(f"no such file or folder: {src}")
    installed = from_installed(module)
    if installed is not None:
        return installed
    manifest = manifest_providing(module)
    if manifest is None:
        raise UserError(
            f"no such file, folder or installed module: {src}",
            "--from DIST==VERSION takes it from the package index",
        )
    release = manifest.newest
    name = f"{manifest.distribution} {release.version}"
    note = f"{src} is neither on disk nor installed: taken from {name}, the newest release listed"
    return _from_index(module, src, f"{manifest.distribution}=={release.version}", offline, progress, note)


def module_of(src: str) -> str | None:
    """The dotted name that src may stand for (`fla/ops/x.py` -> `fla.ops.x`), None when it cannot be one."""
    path = PurePosixPath(src.replace("\\", "/"))
    plain = path.with_suffix("") if path.suffix == ".py" else path
    parts = plain.parts if len(plain.parts) > 1 else tuple(str(plain).split("."))
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None


def _from_index(
    module: str | None, src: str, spec: str, offline: bool, progress: Progress | None, *notes: str
) -> SourceTree:
    if module is None:
        raise UserError(
            f"not a module name: {src}", "with --from, SRC is a module of the wheel, such as fla.ops.x"
        )
    name, version = _parse_spec(spec)
    manifest = manifest_of(name)
    release = manifest.release(version) if manifest else None
    wheel = fetch(name, version, release.sha256 if release else None, offline=offline, progress=progress)
    if release is None:
        notes = (*notes, f"{name} {version} is not listed in the manifest: its digest was not checked")
    return SourceTree(
        root=wheel.tree,
        package=module.partition(".")[0],
        entry=_entry_in(wheel, module),
        distribution=wheel.distribution,
        version=wheel.version,
        licenses=_wheel_licenses(wheel),
        notes=notes,
    )


def _parse_spec(spec: str) -> tuple[str, str]:
    """Name and version of `name==version`; a bare name that a manifest lists means its newest release."""
    hint = "write --from DIST==VERSION, such as fla-core==0.6.0"
    try:
        requirement = Requirement(spec)
    except InvalidRequirement as error:
        raise UserError(f"cannot read --from {spec!r}", hint) from error
    pins = list(requirement.specifier)
    if not pins and (manifest := manifest_of(requirement.name)):
        return requirement.name, manifest.newest.version
    if len(pins) != 1 or pins[0].operator != "==" or pins[0].version.endswith("*"):
        raise UserError(f"--from {spec!r} does not name one version", hint)
    return requirement.name, pins[0].version


def _entry_in(wheel: Wheel, module: str) -> PurePosixPath:
    path = PurePosixPath(*module.split("."))
    if (wheel.tree / path).is_dir():
        return path
    file = path.with_suffix(".py")
    if (wheel.tree / file).is_file():
        return file
    raise UserError(f"{wheel.distribution} {wheel.version} has no module {module}")


def _wheel_licenses(wheel: Wheel) -> tuple[Path, ...]:
    infos = sorted(wheel.tree.glob("*.dist-info"))
    return tuple(
        path for info in infos for folder in (info, info / "licenses") for path in license_files(folder)
    )
