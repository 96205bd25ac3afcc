"""`apm reproduce`, `apm study`, `apm sweep`, `apm datasets`: studies from the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from apm.cli.console import INTERRUPTED, console, plain_errors


def reproduce_command(
    out: Annotated[
        Path, typer.Option(help="Folder for report, figures, tables and trials.")
    ] = Path("results"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A few trials on a few data sets.")
    ] = False,
    trials: Annotated[
        int | None, typer.Option(help="Trials for each data set (paper: 150).")
    ] = None,
    queries: Annotated[int | None, typer.Option(help="Labels asked for in each trial.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this data set; may be repeated.")
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only this method; repeatable.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all processors.")] = None,
    dask: Annotated[
        str | None, typer.Option(help="Dask scheduler: tcp://host:port, or its file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random stream.")] = 0,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with original data files (or set APM_DATA).")
    ] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add methods to trials that lack them.")
    ] = False,
) -> None:
    """Run the paper's experiments, or what is left of them, and write the report."""
    from apm.studies import reproduce

    with plain_errors(), _interruptible("apm reproduce"):
        done = reproduce(
            out,
            quick=quick,
            workers=workers,
            dask=dask,
            trials=trials,
            datasets=dataset or None,
            methods=method or None,
            queries=queries,
            seed=seed,
            data_dir=data_dir,
            progress=progress,
            extend=extend,
        )
        console().print(f"report: {done.report}")


def study_command(
    name: Annotated[str, typer.Argument(help="The study to run: multiclass or rule.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: results-NAME.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="At most this many paired seeds a cell.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    dask: Annotated[
        str | None, typer.Option(help="Dask scheduler: tcp://host:port, or its file.")
    ] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add methods to trials that lack them.")
    ] = False,
) -> None:
    """Run a study beyond the paper: K classes (`multiclass`), or the default rule (`rule`)."""
    from apm.studies import run_multiclass, run_rule
    from channelcode.errors import InvalidArgument

    with plain_errors(), _interruptible(f"apm study {name}"):
        if name not in ("multiclass", "rule"):
            raise InvalidArgument("study", "must be 'multiclass' or 'rule'", name)
        folder = Path(f"results-{name}") if out is None else out
        run = run_multiclass if name == "multiclass" else run_rule
        made = run(
            folder, workers=workers, dask=dask, seeds=seeds, progress=progress, extend=extend
        )
        console().print(f"report: {made}" if name == "multiclass" else f"tables: {made}")


def sweep_command(
    channel: Annotated[
        list[str], typer.Option(help="A channel, as for `apm capacity`; may be repeated.")
    ],
    power: Annotated[float, typer.Option(help="The largest power of the curves.")],
    points: Annotated[int, typer.Option(help="Number of powers on each curve.")] = 100,
    out: Annotated[Path, typer.Option(help="The table to write.")] = Path("capacities.csv"),
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    dask: Annotated[
        str | None, typer.Option(help="Dask scheduler: tcp://host:port, or its file.")
    ] = None,
) -> None:
    """Capacity curves of several channels, with proof, by workers or on a Dask cluster."""
    import numpy as np

    from apm.cli.channel import parse_channel
    from apm.studies.engine.tables import write_csv
    from apm.studies.sweep import capacity_sweep
    from channelcode._validation import integer, positive

    with plain_errors():
        largest, count = positive("power", power), integer("points", points, least=2)
        names = list(dict.fromkeys(channel))
        powers = np.linspace(largest / count, largest, count)
        curves = capacity_sweep(
            {name: parse_channel(name) for name in names}, powers, workers=workers, dask=dask
        )
        rows = [
            (name, *numbers)
            for name, curve in curves.items()
            for numbers in zip(curve.powers, curve.bits, curve.lower, curve.upper)
        ]
        made = write_csv(out, ("channel", "power", "bits", "lower", "upper"), rows)
        console().print(f"table: {made}")


def datasets_command() -> None:
    """List the data sets by nickname."""
    from apm.studies import list_datasets

    with plain_errors():
        for name in list_datasets():
            console().print(name)


@contextmanager
def _interruptible(command: str) -> Iterator[None]:
    """Ctrl-C ends the command with one line; what was finished stays."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"stopped; the same {command} continues where it was", err=True)
        raise typer.Exit(INTERRUPTED) from None
