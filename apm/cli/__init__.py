"""The command `apm`: labelling from files, capacities, the demo, the paper's experiments."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from apm.cli.ask import ask_command, tell_command
from apm.cli.bisect import bisect_command
from apm.cli.capacity import capacity_command
from apm.cli.console import EXIT_CODES
from apm.cli.demo import demo_command
from apm.cli.evaluate import evaluate_command, export_command
from apm.cli.label import label_command
from apm.cli.studies import datasets_command, reproduce_command, study_command, sweep_command
from apm.cli.transmit import transmit_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Active learning as feedback channel coding: which rows to label, capacities with proof.",
    epilog=EXIT_CODES,
)


def _version(wanted: bool) -> None:
    if wanted:
        from channelcode import __version__

        typer.echo(f"channelcode {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Annotated[
        int,
        typer.Option("--verbose", "-v", count=True, help="Say more on standard error; -vv: all."),
    ] = 0,
) -> None:
    if verbose:
        import logging

        level = logging.INFO if verbose == 1 else logging.DEBUG
        logging.basicConfig(level=level, format="%(name)s: %(message)s", stream=sys.stderr)


app.command("ask")(ask_command)
app.command("tell")(tell_command)
app.command("label")(label_command)
app.command("evaluate")(evaluate_command)
app.command("export")(export_command)
app.command("capacity")(capacity_command)
app.command("transmit")(transmit_command)
app.command("bisect")(bisect_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
app.command("study")(study_command)
app.command("sweep")(sweep_command)
app.command("datasets")(datasets_command)


def main() -> None:
    """Run the command line, under the name that it was called by."""
    name = os.path.basename(sys.argv[0])
    app(prog_name=name if name in ("apm", "channelcode") else "apm")


__all__ = ["app", "main"]
