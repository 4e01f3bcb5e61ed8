"""Makes the side of a worker that runs on a device."""

from __future__ import annotations

import importlib
from pathlib import Path

from tritonport.verify.child.device import tuner
from tritonport.verify.child.device.backends import KINDS
from tritonport.verify.child.device.migrated import DeviceMigrated
from tritonport.verify.child.device.original import DeviceOriginal
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.messages import Setup


def make_side(setup: Setup, settings: DeviceSetup) -> DeviceOriginal | DeviceMigrated:
    """Prepares the device, puts the migrated modules in force, and returns what runs the units.

    To be called before the package under test is imported.
    """
    backend = KINDS[settings.kind](settings.index)
    backend.prepare()
    tuner.install(backend.refusals())
    watched = tuple(Path(p) for p in setup.watched)
    if setup.out is None:
        return DeviceOriginal(watched[0], backend, settings)
    if (Path(setup.out) / "activate.py").is_file():
        importlib.import_module("activate")  # the output's own module, first on the path
    roots = (Path(setup.out), *watched)
    exact = setup.exact if settings.comparable else None
    return DeviceMigrated(roots, exact, setup.cases.tolerances, backend, settings)
