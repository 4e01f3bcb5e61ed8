"""Where sources come from: a path, a module of an installed distribution, or a wheel by name and version."""

from tritonport.sources.resolve import resolve
from tritonport.sources.tree import SourceTree

__all__ = ["SourceTree", "resolve"]
