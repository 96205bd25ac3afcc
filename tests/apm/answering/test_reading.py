"""Frames: names are remembered, other names or another order are refused."""

from __future__ import annotations

import numpy as np
import pytest

from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from channelcode.errors import InvalidArgument
from tests.apm.loops import data

pandas = pytest.importorskip("pandas")


def labelled_frame():
    X, y = data()
    frame = pandas.DataFrame(X, columns=["age", "size", "weight"])
    learner = Learner(frame, VariationalLogistic(), seed=0)
    learner.tell(range(8), y[:8])
    return frame, learner


def test_names_are_remembered():
    frame, learner = labelled_frame()
    assert learner.feature_names_in_.tolist() == ["age", "size", "weight"]
    assert learner.n_features_in_ == 3
    np.testing.assert_array_equal(learner.predict_proba(frame), learner.predict_proba())
    np.testing.assert_array_equal(learner.predict(frame.to_numpy()), learner.predict())


def test_other_names_or_another_order_are_refused():
    frame, learner = labelled_frame()
    for method in (learner.predict, learner.predict_proba, learner.extend):
        with pytest.raises(InvalidArgument, match="columns in the order of the pool"):
            method(frame[["size", "age", "weight"]])
        with pytest.raises(InvalidArgument, match=r"unknown columns \['Age'\]"):
            method(frame.rename(columns={"age": "Age"}))
        with pytest.raises(InvalidArgument, match="missing columns"):
            method(frame[["age", "size"]])
        with pytest.raises(InvalidArgument, match="must have 3 columns"):
            method(frame.to_numpy()[:, :2])


def test_names_survive_a_file(tmp_path):
    frame, learner = labelled_frame()
    again = Learner.load(learner.save(tmp_path / "a.npz"))
    assert again.feature_names_in_.tolist() == ["age", "size", "weight"]
    with pytest.raises(InvalidArgument, match="order of the pool"):
        again.predict(frame[["size", "age", "weight"]])


def test_without_names_there_are_none():
    X, _ = data()
    for pool in (X, pandas.DataFrame(X)):
        learner = Learner(pool, VariationalLogistic(), seed=0)
        assert not hasattr(learner, "feature_names_in_")
        assert learner.n_features_in_ == 3
