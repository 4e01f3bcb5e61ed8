"""Where sources come from: a path, a module of an installed distribution, or a wheel from the package index."""
