"""The entry point, of `tritonport` and of `python -m tritonport`."""

from __future__ import annotations

import sys


def main() -> None:
    """Interrupted while the tool itself is still being imported, nothing was begun."""
    try:
        from tritonport.cli import app
    except KeyboardInterrupt:
        sys.stderr.write("tritonport: interrupted, the previous output is whole\n")
        sys.exit(130)
    app.main()


if __name__ == "__main__":
    main()
