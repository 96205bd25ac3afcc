"""How the commands speak: one console, one line for a mistake, one line for a file written."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import typer

from apm.storage import replacing
from apm.storage.whole import named
from channelcode.errors import ChannelCodeError, InvalidArgument

FAILED, REFUSED, INTERRUPTED = 1, 2, 130  # 130: what a shell expects after Ctrl-C
EXIT_CODES = (
    "Exit codes: 0 done; 1 a file, a disk, memory or a worker failed; 2 an argument or a file's "
    "content was refused, or a solver did not reach its tolerance; 130 stopped by Ctrl-C."
)
PICTURES = ("png", "svg", "pdf")


@cache
def _console() -> Any:
    from rich.console import Console

    # NO_COLOR means no escapes at all, not only no colours
    plain = bool(os.environ.get("NO_COLOR"))
    colours: Any = None if plain else "auto"
    return Console(highlight=False, soft_wrap=True, color_system=colours)


def console() -> Any:
    """The console that results go to."""
    return _console()


@contextmanager
def plain_errors() -> Iterator[None]:
    """One line for what goes wrong, and an exit code: see `EXIT_CODES`. Bugs keep their traceback.

    Output is flushed before the command counts as done: a full disk or a closed pipe is noticed.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _remark
            try:
                yield
            finally:
                sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `apm datasets | head -1`
        _silence()
        raise typer.Exit(FAILED) from None
    except ChannelCodeError as error:
        _complain(error)
        raise typer.Exit(REFUSED) from None
    except OSError as error:
        _complain(error)
        _silence()
        raise typer.Exit(FAILED) from None
    except MemoryError as error:
        _complain(error or "not enough memory")
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        _complain("stopped")
        raise typer.Exit(INTERRUPTED) from None


def saved(figure: Any, path: Path, *, aside: bool = False) -> None:
    """Write a figure whole, and name the file; `aside` on standard error."""
    place = picture_path(path)
    with replacing(place) as file:
        figure.savefig(file, dpi=150, format=place.suffix[1:])
    if aside:
        typer.echo(f"drawn to {place}", err=True)
    else:
        console().print(f"drawn to {place}")


def picture_path(path: Path) -> Path:
    """Where a picture will be written; refused before the work if that cannot be.

    Without an ending it is a PNG. The folder is made.
    """
    if not path.name:
        raise InvalidArgument("plot", "must name a file", str(path))
    place = path if path.suffix else path.with_name(f"{path.name}.png")
    if place.suffix[1:].lower() not in PICTURES:
        raise InvalidArgument("plot", f"must end in one of {', '.join(PICTURES)}", str(path))
    writable_folder(place.parent)
    if os.path.lexists(place) and not place.is_file():
        raise InvalidArgument("plot", "must be a file", str(place))
    return place


def writable_folder(folder: Path) -> None:
    """Make a folder, and see that a file can be written in it."""
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    with named(folder), tempfile.TemporaryFile(dir=folder):
        pass


def _remark(message: Any, *_: object, **__: object) -> None:
    """A warning of the library, in one line."""
    typer.echo(f"warning: {' '.join(str(message).split())}", err=True)


def _complain(error: object) -> None:
    text = " ".join(str(error).split())  # one line
    typer.echo(f"error: {text}", err=True)


def _silence() -> None:
    """Send what is left in the buffer nowhere, so that the end of the process does not fail too."""
    with suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handle, sys.stdout.fileno())
        os.close(handle)
