"""What the commands for files share: their options, and how they open a pool with its labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from apm.cli.extensions import SELECTORS, SELECTORS_GROUP, completions, named_selector
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.label import LabelFile, RowNames, Session
    from apm.tables import Table

Pool = Annotated[Path, typer.Argument(help="The rows to label: CSV, TSV, JSONL, Parquet or .npy.")]
Labels = Annotated[
    Path, typer.Option("--labels", help="The label file (CSV): all that is remembered.")
]
FeatureNames = Annotated[
    list[str] | None,
    typer.Option("--features", help="Columns to learn from: a,b,c. Default: all that suit."),
]
TextNames = Annotated[
    list[str] | None, typer.Option("--text", help="Column with texts to learn from and to show.")
]
ImageName = Annotated[
    str | None, typer.Option("--image", help="Column with file names of images to show.")
]
IdName = Annotated[
    str | None, typer.Option("--id", help="Column that names the rows. Default: numbers from 0.")
]
ClassNames = Annotated[
    list[str] | None,
    typer.Option("--classes", help="The classes, a,b,c. Default: those in the label file."),
]
SelectorName = Annotated[
    str | None,
    typer.Option(
        "--selector",
        help="The rule that chooses. Default: the one that our studies rank best.",
        autocompletion=completions(SELECTORS, SELECTORS_GROUP),
    ),
]
To = Annotated[
    str,
    typer.Option(
        help="csv, jsonl, label-studio, doccano or prodigy.",
        autocompletion=completions(("csv", "jsonl", "label-studio", "doccano", "prodigy")),
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the targets that are drawn from the pool.")]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of the pool. Default: UTF-8, or by its mark.")
]
Out = Annotated[Path | None, typer.Option("--out", help="Write here and not to the screen.")]


class Opened(NamedTuple):
    """A pool, its label file and the session that chooses; the columns that are shown."""

    table: Table
    rows: RowNames
    file: LabelFile
    session: Session
    text: str | None
    image: str | None


def opened(
    pool: Path,
    labels: Path,
    *,
    features: list[str] | None = None,
    text: list[str] | None = None,
    image: str | None = None,
    identity: str | None = None,
    classes: list[str] | None = None,
    seed: int = 0,
    encoding: str | None = None,
    aside: str | None = None,
    selector: str | None = None,
) -> Opened:
    """Read the pool, type its columns, and open the label file; remarks go to standard error.

    `aside` is a column that is not learnt from.
    """
    from apm.label import Session
    from apm.tables import features_of

    table, rows, file = files(pool, labels, identity=identity, encoding=encoding)
    texts = _listed(text, table.names) or []
    if image is not None:
        table.column(image, "image")
    left_out = [name for name in (image, identity, aside) if name is not None]
    found = features_of(
        table, columns=_listed(features, table.names), text=texts, leave_out=left_out
    )
    remark(found.notes)
    rule = None if selector is None else named_selector(selector)
    session = Session(found.matrix, classes=_listed(classes) or (), selector=rule, seed=seed)
    return Opened(table, rows, file, session, texts[0] if texts else None, image)


def files(
    pool: Path, labels: Path, *, identity: str | None, encoding: str | None
) -> tuple[Table, RowNames, LabelFile]:
    """The pool and its label file, without features."""
    from apm.label import LabelFile, RowNames
    from apm.tables import read_table

    table = read_table(pool, encoding=encoding)
    remark(table.notes)
    rows = RowNames(table, identity)
    file = LabelFile(labels, rows)
    if file.torn:
        remark([f"the last line of {labels} was cut short and does not count"])
    return table, rows, file


def remark(notes: Iterable[str]) -> None:
    """Say something beside the result, on standard error."""
    from apm.label.escaping import one_line

    for note in notes:
        typer.echo(f"note: {one_line(note)}", err=True)


def emit(pieces: Iterable[str], out: Path | None) -> None:
    """Write to standard output, or whole to a file."""
    if out is None:
        import sys

        for piece in pieces:
            sys.stdout.write(piece)
        return
    from apm.storage import replacing

    with replacing(out) as file:
        for piece in pieces:
            file.write(piece.encode())
    typer.echo(f"written to {out}", err=True)


def _listed(given: list[str] | None, names: Iterable[str] = ()) -> list[str] | None:
    """Names given one by one or separated by commas; a name that has a comma stands for itself."""
    if given is None:
        return None
    known = set(names)
    found: list[str] = []
    for each in given:
        found += [each] if each in known else [part.strip() for part in each.split(",")]
    if not all(found):
        raise InvalidArgument("columns", "must be names separated by commas", ",".join(given))
    return list(dict.fromkeys(found))
