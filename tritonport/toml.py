"""Reads TOML with errors that name the file and the line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from tritonport.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises UserError when it cannot be read, is not UTF-8 or not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read it: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise UserError("not UTF-8", "TOML files must be UTF-8", file=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"not valid TOML: {error}", file=str(path), line=_line_in(str(error))) from error


def line_of_key(path: Path, key: str) -> int | None:
    """Line of the first assignment to key, for messages; None when the key is written some other way."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name = line.partition("=")[0].strip().strip("\"'")
        if name == key or line.strip() in (f"[{key}]", f"[[{key}]]"):
            return number
    return None


def _line_in(message: str) -> int | None:
    found = re.search(r"at line (\d+)", message)
    return int(found.group(1)) if found else None
