"""How good the labels have made the model by now: learning curve, calibration, what is to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.label.book import LABELLED, Answer
from apm.label.session import Answers, Session
from apm.tables import Table
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.insight import Curve, StopAdvice

FOLDS = 5
GROUPS = 5
POINTS = 40  # of the learning curve, at most


@dataclass(frozen=True)
class Calibration:
    """Predictions in groups of equal size, from the least to the most sure, `(g,)` each.

    `given` is the mean probability of the predicted labels, `right` the share of them that is
    right, `rows` the size of a group. `accuracy` is the share over all, and `error` the expected
    calibration error. `held_back` says that the rows were not asked for; otherwise they are the
    labelled rows, each predicted from the labels of four fifths of the others.
    """

    given: np.ndarray
    right: np.ndarray
    rows: np.ndarray
    held_back: bool

    @property
    def accuracy(self) -> float:
        """The share of all rows whose predicted label is right."""
        return float(np.sum(self.right * self.rows) / np.sum(self.rows))

    @property
    def error(self) -> float:
        """The mean distance between the probability given and the share of right ones."""
        return float(np.sum(self.rows * np.abs(self.given - self.right)) / np.sum(self.rows))


@dataclass(frozen=True)
class Evaluation:
    """What `apm evaluate` shows: labels by class, the curve, the calibration, the advice."""

    counts: dict[str, int]
    curve: Curve
    calibration: Calibration | None
    advice: StopAdvice


def evaluate(session: Session, answers: Answers, *, table: Table | None = None,
             truth: str | None = None) -> Evaluation:  # fmt: skip
    """The evaluation of the answers; `truth` names a column with the labels of rows held back.

    The labels are learnt again in the order of `answers`, which is the order of the label file.
    """
    told = {row: answer for row, answer in answers.items() if answer.kind == LABELLED}
    if len({answer.label for answer in told.values()}) < 2:
        rule = "must hold labels of two classes before they can be evaluated"
        raise InvalidArgument("labels", rule, f"{len(told)} labels")
    counts: dict[str, int] = {}
    for answer in told.values():
        counts[answer.label] = counts.get(answer.label, 0) + 1
    learner = session.in_order(told)
    every = max(1, -(-len(told) // POINTS))
    held: list[int] = []
    known: list[str] = []
    if truth is not None and table is not None:
        held, known = _held_back(table, truth, told)
    if held:
        curve = learner.curve(session.features[held], known, every=every)
        probability = learner.predict_proba(session.features[held])
        calibration = _calibration(probability, learner.classes_, known, True)
    else:
        curve = learner.curve(every=every)
        calibration = _cross_validated(session, told)
    return Evaluation(counts, curve, calibration, session.learner(answers).stop_advice())


def _held_back(table: Table, truth: str, told: dict[int, Answer]) -> tuple[list[int], list[str]]:
    """The rows without an answer whose label the table has, and these labels."""
    column = table.column(truth, "truth")
    rows = [row for row in range(len(table)) if row not in told and column.text(row).strip()]
    if not rows:
        raise InvalidArgument("truth", "must have labels of rows that were not labelled", truth)
    return rows, [column.text(row).strip() for row in rows]


def _cross_validated(session: Session, told: dict[int, Answer]) -> Calibration | None:
    """Each labelled row predicted from the others, a fifth at a time; None if they are too few."""
    rows = sorted(told)
    if len(rows) < 2 * FOLDS:
        return None
    classes = session.known_classes(told)
    found, truth = [], []
    for fold in range(FOLDS):
        out = rows[fold::FOLDS]
        rest = {row: told[row] for row in rows if row not in set(out)}
        if len({answer.label for answer in rest.values()}) < 2:
            return None
        learner = session.learner(rest)
        probability = np.zeros((len(out), len(classes)))
        places = [classes.index(name) for name in learner.classes_.tolist()]
        probability[:, places] = learner.predict_proba(session.features[out])
        found.append(probability)
        truth += [told[row].label for row in out]
    return _calibration(np.vstack(found), np.array(classes), truth, False)


def _calibration(probability: Any, classes: Any, truth: list[str], held_back: bool) -> Calibration:
    guess = np.argmax(probability, axis=1)
    sure = probability[np.arange(len(guess)), guess]
    right = np.asarray(classes)[guess] == np.asarray(truth)
    order = np.argsort(sure, kind="stable")
    groups = np.array_split(order, min(GROUPS, len(order)))
    return Calibration(
        np.array([sure[group].mean() for group in groups]),
        np.array([right[group].mean() for group in groups]),
        np.array([len(group) for group in groups]),
        held_back,
    )
