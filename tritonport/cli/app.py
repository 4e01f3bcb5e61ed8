"""The command line: thin commands over the API; every mistake is one line."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tritonport import __version__
from tritonport.cli.check_cmd import check
from tritonport.cli.console import silence_stdout
from tritonport.cli.diff_cmd import diff
from tritonport.cli.doctor_cmd import doctor
from tritonport.cli.migrate_cmd import migrate
from tritonport.cli.overrides_cmd import overrides
from tritonport.cli.plan_cmd import plan
from tritonport.cli.report_cmd import report
from tritonport.cli.rules_cmd import rules_app
from tritonport.cli.toolchain_cmd import toolchain_app
from tritonport.cli.tune_cmd import ablate, tune
from tritonport.cli.upstream_cmd import upstream
from tritonport.cli.verify_cmd import verify
from tritonport.errors import ExitCode, UserError

app = typer.Typer(
    name="tritonport",
    help="Turns GPU Triton kernels into kernels for Huawei Ascend NPUs, and proves what it did.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(migrate)
app.command()(plan)
app.command()(verify)
app.command()(check)
app.command()(upstream)
app.command()(overrides)
app.command()(tune)
app.command()(ablate)
app.command()(diff)
app.command()(report)
app.command()(doctor)
app.add_typer(rules_app, name="rules")
app.add_typer(toolchain_app, name="toolchain")

INTERRUPTED = 130
TERMINATED = 143
DEBUG = "TRITONPORT_DEBUG"
# typer brings click's classes with it from some version on, and depends on click before that.
USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tritonport {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")] = False,
) -> None:
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """Entry point: exit statuses of tritonport.errors.ExitCode, 130 when interrupted, 143 when told to end."""
    signal.signal(signal.SIGTERM, _terminate)
    _open_streams()
    sys.exit(_run())


def _open_streams() -> None:
    """A command that is started with stdout or stderr closed (`>&-`) has none in Python."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def _terminate(*_: object) -> NoReturn:
    """Ends by an exception, so that worker processes and half-written folders go."""
    raise SystemExit(TERMINATED)


def _run() -> int:
    try:
        result = app(standalone_mode=False)
    except UserError as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        return _fail(f"tritonport: {error}")
    except (typer.Abort, KeyboardInterrupt):
        return _fail("tritonport: interrupted, the previous output is whole", INTERRUPTED)
    except BrokenPipeError:
        silence_stdout()
        return ExitCode.OK
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"tritonport: {place}{error.strerror or error}")
    except Exception as error:
        return _fail(f"tritonport: {_in_one_line(error)}")
    return int(result) if isinstance(result, int) else ExitCode.OK


def _in_one_line(error: Any) -> str:
    if isinstance(error, USAGE_ERROR):
        return f"{error.format_message()} (see tritonport --help)"
    if os.environ.get(DEBUG):
        traceback.print_exc()
    line = " ".join(str(error).split()) or type(error).__name__
    return f"internal error: {line} (please report it; `tritonport --debug COMMAND ...` shows the traceback)"


def _fail(line: str, code: int = ExitCode.USAGE) -> int:
    print(line, file=sys.stderr)  # noqa: T201
    return code
