"""`apm ask` and `apm tell`: the next rows to label, and their labels, with files in between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apm.cli.console import plain_errors
from apm.cli.pool import (
    ClassNames,
    Encoding,
    FeatureNames,
    IdName,
    ImageName,
    Labels,
    Out,
    Pool,
    Seed,
    SelectorName,
    TextNames,
    To,
    emit,
    files,
    opened,
    remark,
)
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.label import Answer, RowNames


def ask_command(
    pool: Pool,
    labels: Labels,
    number: Annotated[int, typer.Option("--number", "-n", help="How many rows.")] = 1,
    features: FeatureNames = None,
    text: TextNames = None,
    image: ImageName = None,
    identity: IdName = None,
    to: To = "csv",
    out: Out = None,
    classes: ClassNames = None,
    selector: SelectorName = None,
    seed: Seed = 0,
    encoding: Encoding = None,
) -> None:
    """Print the rows to label next, best first.

    The answer follows from the pool, the label file, the options and nothing else: the same files
    give the same rows. A label file that is not there yet counts as empty.
    """
    from apm.label.formats import FORMATS, Item, Shape, write_rows

    with plain_errors():
        if to not in FORMATS:
            raise InvalidArgument("to", f"must be one of {', '.join(FORMATS)}", to)
        held = opened(
            pool, labels, features=features, text=text, image=image, identity=identity,
            classes=classes, seed=seed, encoding=encoding, selector=selector,
        )  # fmt: skip
        answers = held.file.read()
        found = held.session.ask(answers, number)
        if len(found) < number:
            remark([f"{len(found)} of {len(held.table)} rows are left without an answer"])
        known = held.session.known_classes(answers)
        shape = Shape(held.rows, known, text=held.text, image=held.image)
        emit(write_rows([Item(row) for row in found], shape, to), out)


def tell_command(
    pool: Pool,
    labels: Labels,
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[ROW=LABEL]...", help="Labels by row: 17=spam.")
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(help="A row not to ask again.")] = None,
    unsure: Annotated[list[str] | None, typer.Option(help="A row nobody can label.")] = None,
    reopen: Annotated[
        list[str] | None, typer.Option("--open", help="A row whose answer is taken back.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A file with answers: CSV, JSONL, or a tool's export."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Column of that file with the labels. Default: label.")
    ] = None,
    identity: IdName = None,
    encoding: Encoding = None,
) -> None:
    """Append labels to the label file; they are on the disk when the command ends.

    A row that is told again has its last label. What other tools export (Label Studio, doccano,
    Prodigy) is read by --from; a file is read as a whole or not at all.
    """
    with plain_errors():
        table, rows, file = files(pool, labels, identity=identity, encoding=encoding)
        before = file.read()
        new = _given(rows, pairs or [], skip or [], unsure or [], reopen or [])
        if source is not None:
            from apm.label.taken import take

            taken = take(source, rows, column=column)
            new = {**taken.answers, **new}
            if taken.unanswered:
                remark([f"{taken.unanswered} records of {source} had no answer"])
            if taken.unusable:
                remark([f"{taken.unusable} records of {source} only said which class it is not"])
        elif not new:
            raise InvalidArgument("row=label", "must be given, or --from a file", "nothing")
        changed = {row: each for row, each in new.items() if before.get(row) != each}
        file.append(changed.items())
        for side in file.moved_aside:
            remark([f"the last line of {labels} was cut short and is now in {side}"])
        classes = {each.label for each in before.values() if each.label}
        fresh = sorted({each.label for each in changed.values() if each and each.label} - classes)
        if fresh and classes:
            remark([f"new class {name!r}" for name in fresh])
        after = file.read()
        count = sum(1 for each in after.values() if each.label)
        typer.echo(
            f"{len(changed)} answer{'' if len(changed) == 1 else 's'} written; "
            f"{count} of {len(table)} rows have a label in {labels}"
        )


def _given(
    rows: RowNames, pairs: list[str], skip: list[str], unsure: list[str], reopen: list[str]
) -> dict[int, Answer | None]:
    """The answers of the command line by row; two for one row are refused."""
    from apm.label import Answer
    from apm.label.book import LABELLED, SKIPPED, UNSURE

    found: dict[int, Answer | None] = {}
    named = [(*_split(pair, rows), LABELLED) for pair in pairs]
    for names, kind in ((skip, SKIPPED), (unsure, UNSURE), (reopen, None)):
        named += [(name, "", kind) for name in names]
    for name, label, kind in named:
        row = rows.row(name)
        if row is None:
            raise InvalidArgument("row", rows.rule(), name)
        answer = None if kind is None else Answer(kind, label)
        if row in found and found[row] != answer:
            raise InvalidArgument("row", "must have one answer", name)
        found[row] = answer
    return found


def _split(pair: str, rows: RowNames) -> tuple[str, str]:
    """The row and the label of `row=label`; the first equals sign parts them that can."""
    from apm.label.escaping import as_label

    parts = pair.split("=")
    if len(parts) < 2:
        raise InvalidArgument("row=label", "must have an equals sign, as in 17=spam", pair)
    places = [
        place for place in range(1, len(parts)) if rows.row("=".join(parts[:place])) is not None
    ]
    if len(places) > 1:
        raise InvalidArgument("row=label", "could mean several rows: use --from a file", pair)
    place = places[0] if places else 1
    name, label = "=".join(parts[:place]), as_label("=".join(parts[place:]))
    if label is None:
        raise InvalidArgument("label", "must be one line of text", pair)
    return name, label
