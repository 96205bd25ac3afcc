"""How the commands speak: one console, one line for a mistake, one line for a file written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import typer

from channelcode.errors import ChannelCodeError


@cache
def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def console() -> Any:
    """The console that results go to."""
    return _console()


@contextmanager
def told() -> Iterator[None]:
    """Turn the library's own errors into one line and exit code 2; others keep their traceback."""
    try:
        yield
    except ChannelCodeError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None


def saved(figure: Any, path: Path) -> None:
    """Write a figure, making its folder, and name it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:  # matplotlib's word for an unknown file ending
        typer.echo(f"error: {path} cannot be drawn: {error}", err=True)
        raise typer.Exit(2) from None
    console().print(f"drawn to {path}")
