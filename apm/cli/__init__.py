"""The command `apm`: capacities, the demo, the paper's experiments."""

from __future__ import annotations

import typer

from apm.cli.ask import ask_command, tell_command
from apm.cli.bisect import bisect_command
from apm.cli.capacity import capacity_command
from apm.cli.console import EXIT_CODES
from apm.cli.demo import demo_command
from apm.cli.evaluate import evaluate_command, export_command
from apm.cli.studies import datasets_command, reproduce_command, study_command
from apm.cli.transmit import transmit_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Active learning as feedback channel coding: capacities with proof, and APM selection.",
    epilog=EXIT_CODES,
)
app.command("ask")(ask_command)
app.command("tell")(tell_command)
app.command("evaluate")(evaluate_command)
app.command("export")(export_command)
app.command("capacity")(capacity_command)
app.command("transmit")(transmit_command)
app.command("bisect")(bisect_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
app.command("study")(study_command)
app.command("datasets")(datasets_command)


def main() -> None:
    """Run the command line."""
    app()


__all__ = ["app", "main"]
