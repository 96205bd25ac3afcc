"""Evaluation: counted by hand, and what is said when there is too little."""

from __future__ import annotations

import numpy as np
import pytest

from apm.label import Answer, Session
from apm.label.evaluation import Calibration, evaluate
from apm.tables import read_table
from channelcode.errors import InvalidArgument

X = np.random.default_rng(2).normal(size=(60, 2))
TRUTH = np.where(X[:, 0] > 0, "yes", "no")


def answers(count):
    return {row: Answer("label", str(TRUTH[row])) for row in range(count)}


def test_calibration_by_hand():
    found = Calibration(np.array([0.6, 0.9]), np.array([0.5, 1.0]), np.array([4, 2]), True)
    assert found.accuracy == pytest.approx((4 * 0.5 + 2) / 6)
    assert found.error == pytest.approx((4 * 0.1 + 2 * 0.1) / 6)


def test_measured_against_a_column(tmp_path):
    path = tmp_path / "pool.csv"
    rows = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), TRUTH)]
    path.write_text("a,b,truth\n" + "\n".join(rows) + "\n")
    table, session, told = read_table(path), Session(X), answers(20)
    found = evaluate(session, told, table=table, truth="truth")
    learner = session.learner(told)
    right = learner.predict(X[20:]) == TRUTH[20:]
    assert found.curve.measured
    assert found.calibration is not None
    assert found.calibration.held_back
    assert found.calibration.accuracy == pytest.approx(right.mean())
    assert found.curve.accuracy[-1] == pytest.approx(right.mean())
    assert found.curve.labels[-1] == found.advice.labels == 20
    assert found.counts == {name: int((TRUTH[:20] == name).sum()) for name in found.counts}


def test_by_cross_validation():
    found = evaluate(Session(X), answers(20))
    assert not found.curve.measured
    assert found.calibration is not None
    assert int(found.calibration.rows.sum()) == 20
    assert not found.calibration.held_back
    assert found.calibration.accuracy > 0.6  # separable by the first column


def test_too_little():
    assert evaluate(Session(X), answers(8)).calibration is None
    for few in ({}, {0: Answer("label", "a")}, {0: Answer("skip")}):
        with pytest.raises(InvalidArgument, match="two classes"):
            evaluate(Session(X), few)
