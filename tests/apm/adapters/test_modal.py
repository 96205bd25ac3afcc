"""modAL: a query function with the picks of `Learner`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from apm import APM, Learner, Random, VariationalLogistic
from apm.adapters import APMClassifier, modal_query
from channelcode import InvalidArgument


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=50) > 0).astype(int)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("selector", [None, APM()])
def test_picks_are_those_of_the_learner(data, selector, n):
    active = pytest.importorskip("modAL.models", reason="modAL is not installed")
    X, y = data
    learner = Learner(X, VariationalLogistic(prior_precision=1.0, intercept=True), selector)
    told = [int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 1)[0]), 30]
    learner.tell(told, y[told].tolist())
    left = np.setdiff1d(np.arange(50), told)
    theirs = active.ActiveLearner(
        APMClassifier(),
        query_strategy=modal_query(selector, pool=X),
        X_training=X[told],
        y_training=y[told],
    )
    indices, rows = theirs.query(X[left], n_instances=n)
    assert_array_equal(left[indices], learner.ask(n))
    assert_array_equal(rows, X[left[indices]])


def test_a_pipeline_is_looked_through(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), APMClassifier()).fit(X[:10], y[:10])
    scaled = pipeline[:-1].transform(X)
    inner, _ = modal_query()(pipeline[-1], scaled[10:])
    outer, _ = modal_query()(pipeline, X[10:])
    assert_array_equal(inner, outer)


def test_a_seed_repeats(data):
    X, y = data
    model = APMClassifier().fit(X[:10], y[:10])
    draws = [modal_query(Random(), rng=seed)(model, X[10:], 5)[0].tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_other_estimators_are_refused(data):
    X, y = data
    with pytest.raises(InvalidArgument, match="fitted APMClassifier"):
        modal_query()(LogisticRegression().fit(X, y), X)
    with pytest.raises(InvalidArgument, match="fitted APMClassifier"):
        modal_query()(APMClassifier(), X)
    with pytest.raises(InvalidArgument, match="selector must be"):
        modal_query("apm")(APMClassifier().fit(X, y), X)  # type: ignore[arg-type]
