"""`apm evaluate` and `apm export`: what the labels are worth by now, and everything in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from apm.cli.console import console, picture_path, plain_errors, saved
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
    TextNames,
    To,
    emit,
    opened,
)

if TYPE_CHECKING:
    from apm.label.evaluation import Evaluation

SHOWN = 12  # lines of the learning curve


def evaluate_command(
    pool: Pool,
    labels: Labels,
    truth: Annotated[
        str | None, typer.Option(help="Column of the pool with labels, to measure against.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to draw (PNG, SVG or PDF).")] = None,
    features: FeatureNames = None,
    text: TextNames = None,
    identity: IdName = None,
    classes: ClassNames = None,
    seed: Seed = 0,
    encoding: Encoding = None,
) -> None:
    """Show the learning curve, the calibration and what further labels would bring.

    With --truth the curve and the calibration are measured on rows that have no label in the
    label file. Without it the curve is what the model expects of itself, and the calibration is
    that of the labelled rows, each predicted from the others.
    """
    with plain_errors():
        place = None if plot is None else picture_path(plot)
        chosen = features
        held = opened(
            pool, labels, features=chosen, text=text, identity=identity, classes=classes,
            seed=seed, encoding=encoding, aside=truth,
        )  # fmt: skip
        from apm.label.evaluation import evaluate

        found = evaluate(held.session, held.file.read(), table=held.table, truth=truth)
        _show(found)
        if place is not None:
            from apm.plot import evaluation

            saved(evaluation(found.curve, found.calibration), place)


def export_command(
    pool: Pool,
    labels: Labels,
    to: To = "csv",
    out: Out = None,
    features: FeatureNames = None,
    text: TextNames = None,
    image: ImageName = None,
    identity: IdName = None,
    classes: ClassNames = None,
    seed: Seed = 0,
    encoding: Encoding = None,
) -> None:
    """Write every row with its label, the predicted label and the probability of each class.

    Probabilities are there once two classes have labels.
    """
    from apm.label.formats import FORMATS, Item, Shape, write_rows
    from channelcode.errors import InvalidArgument

    with plain_errors():
        if to not in FORMATS:
            raise InvalidArgument("to", f"must be one of {', '.join(FORMATS)}", to)
        held = opened(
            pool, labels, features=features, text=text, image=image, identity=identity,
            classes=classes, seed=seed, encoding=encoding,
        )  # fmt: skip
        answers = held.file.read()
        known = held.session.known_classes(answers)
        probability: Any = None
        if len({answer.label for answer in answers.values() if answer.label}) > 1:
            learner = held.session.learner(answers)
            probability, known = learner.predict_proba(), tuple(learner.classes_.tolist())
        items = []
        for row in range(len(held.table)):
            answer = answers.get(row)
            given = {} if probability is None else dict(zip(known, probability[row].tolist()))
            kind, label = ("", None) if answer is None else (answer.kind, answer.label or None)
            items.append(Item(row, kind, label, given))
        cells = to not in ("csv", "jsonl")
        shape = Shape(held.rows, known, text=held.text, image=held.image, cells=cells)
        emit(write_rows(items, shape, to), out)


def _show(found: Evaluation) -> None:
    from rich.table import Table
    from rich.text import Text

    from apm.label.escaping import one_line

    out = console()
    total = sum(found.counts.values())
    by_class = ", ".join(f"{one_line(name)} {count}" for name, count in found.counts.items())
    out.print(Text(f"{total} labels: {by_class}"))
    curve = found.curve
    kind = "measured" if curve.measured else "expected by the model"
    table = Table(title=f"learning curve, {kind}", title_justify="left")
    for name in ("labels", "accuracy", "log loss"):
        table.add_column(name, justify="right")
    step = max(1, -(-len(curve.labels) // SHOWN))
    places = sorted({*range(len(curve.labels) - 1, -1, -step)})
    for place in places:
        table.add_row(
            str(curve.labels[place]), f"{curve.accuracy[place]:.1%}", f"{curve.log_loss[place]:.3f}"
        )
    out.print(table)
    calibration = found.calibration
    if calibration is None:
        out.print("calibration: needs ten labels, and two classes in every four fifths of them")
    else:
        rows = "rows held back" if calibration.held_back else "labelled rows, cross-validated"
        table = Table(title=f"calibration on {rows}", title_justify="left")
        for name in ("rows", "probability given", "right"):
            table.add_column(name, justify="right")
        for count, given, right in zip(calibration.rows, calibration.given, calibration.right):
            table.add_row(str(count), f"{given:.1%}", f"{right:.1%}")
        out.print(table)
        out.print(f"accuracy {calibration.accuracy:.1%}, calibration error {calibration.error:.3f}")
        if not calibration.held_back:
            out.print("(rows that were asked for are harder than most: this is pessimistic)")
    out.print(Text(str(found.advice)))
