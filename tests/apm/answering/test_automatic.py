"""A learner told nothing but the pool."""

from __future__ import annotations

import numpy as np
import pytest

from apm.answering import default_posterior
from apm.encoders import Standardised
from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from apm.selectors import Random
from channelcode.errors import InvalidArgument
from tests.apm.loops import data, labels_for, run


def test_the_pool_alone_is_enough():
    X, y = data(60)
    X = X * [1.0, 1e4, 1e-4] + 5.0
    learner = Learner(X, seed=0)
    run(learner, np.array(["no", "yes"])[y], 15)
    assert learner.classes_.tolist() == ["no", "yes"]
    assert np.mean(learner.predict() == np.array(["no", "yes"])[y]) > 0.8
    assert isinstance(learner.belief.posterior, VariationalLogistic)
    assert learner.belief.posterior.intercept
    assert isinstance(learner.belief.encoder, Standardised)


def test_more_classes_may_appear():
    X, _ = data(60)
    names = np.array(["c", "a", "b"])[labels_for(X, 3)]
    learner = Learner(X, seed=0)
    order = [int(np.flatnonzero(names == name)[0]) for name in "cab"]
    learner.tell(order[:2], names[order[:2]])
    assert learner.classes_.tolist() == ["a", "c"]
    two = learner.predict_proba()
    learner.tell(order[2], "b")
    assert learner.classes_.tolist() == ["a", "b", "c"]
    assert learner.predict_proba().shape == (60, 3)
    run(learner, names, 20)
    assert np.mean(learner.predict() == names) > 0.8
    fresh = Learner(X, classes=["a", "b", "c"], seed=0)
    fresh.tell(learner.labelled, names[learner.labelled])
    np.testing.assert_allclose(fresh.predict_proba(), learner.predict_proba(), atol=1e-6)
    for _ in range(21):
        learner.undo()
    assert learner.classes_.tolist() == ["a", "c"]
    np.testing.assert_allclose(learner.predict_proba(), two, atol=1e-8)
    assert len(learner.history) == 44


def test_a_learner_that_grew_is_saved(tmp_path):
    X, _ = data(60)
    names = np.array(["c", "a", "b"])[labels_for(X, 3)]
    learner = Learner(X, seed=0)
    learner.tell(range(6), names[:6])
    again = Learner.load(learner.save(tmp_path / "a.npz"))
    assert run(again, names, 5) == run(learner, names, 5)
    again.tell(59, "z")  # a fourth
    assert again.classes_.tolist() == ["a", "b", "c", "z"]
    assert again.undo().tolist() == [59]
    np.testing.assert_allclose(again.predict_proba(), learner.predict_proba(), atol=1e-8)


def test_the_order_of_named_classes_is_kept_for_predictions():
    X, _ = data()
    learner = Learner(X, classes=["low", "medium", "high"], seed=0)
    learner.tell(0, "high")
    assert learner.classes_.tolist() == ["low", "medium", "high"]
    assert learner.predict_proba().shape == (30, 3)
    assert learner.predict(X[:1]).tolist() == ["high"]
    with pytest.raises(InvalidArgument, match="class"):
        learner.tell(1, "z")


def test_a_selector_of_ones_own_stays():
    X, _ = data()
    learner = Learner(X, selector=Random(), seed=0)
    learner.tell([0, 1, 2], ["a", "b", "c"])
    assert learner.selector == Random()


def test_bad_arguments():
    X, _ = data()
    with pytest.raises(InvalidArgument, match="classes must be given to the model"):
        Learner(X, VariationalLogistic(), classes=["a", "b"])
    for classes in (["a"], ["a", "a"], []):
        with pytest.raises(InvalidArgument, match="classes must"):
            Learner(X, classes=classes)
    with pytest.raises(InvalidArgument, match="num_classes"):
        default_posterior(1)
