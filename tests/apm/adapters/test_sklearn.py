"""The scikit-learn classifier: every check of scikit-learn's own, and life in its company."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportAssignmentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from apm import Belief, Bohning, Laplace, VariationalLogistic
from apm.adapters import APMClassifier
from channelcode import InvalidArgument, Logistic, Probit, Softmax
from tests.naming import plain


def softmax_laplace(num_classes):
    """A Laplace posterior of softmax regression, with an intercept."""
    return Laplace(Softmax(num_classes), 1.0, intercept=True)


# Posteriors of two classes are given as they are, posteriors of K classes as makers.
QUICK = [APMClassifier(), APMClassifier(Laplace(Probit(), 1.0, intercept=True))]
SLOW = [
    APMClassifier(Bohning),
    APMClassifier(softmax_laplace),
    APMClassifier(VariationalLogistic(1.0, intercept=True)),
    APMClassifier(Laplace(Logistic(), 1.0, intercept=True)),
]


def relabels_by_the_first() -> bool:
    """Whether scikit-learn (1.6.0 does) makes y binary by its first entry: in its check of weights
    it shuffles one copy before, and the two copies then have different labels.
    """
    from sklearn.utils.estimator_checks import _enforce_estimator_tags_y

    made = [_enforce_estimator_tags_y(QUICK[1], np.array(y)) for y in ([0, 1, 2], [1, 0, 2])]
    return not np.array_equal(made[0][[1, 0, 2]], made[1])


def checks(estimators, *marks):
    """Every check of scikit-learn but the one that needs SCIPY_ARRAY_API, and a broken one."""
    for estimator in estimators:
        for place, (each, check) in enumerate(estimator_checks_generator(estimator)):
            name = getattr(check, "func", check).__name__
            broken = name.startswith("check_sample_weight_equivalence") and relabels_by_the_first()
            if name != "check_array_api_input" and not broken:
                yield pytest.param(
                    each, check, marks=marks, id=f"{plain(estimator)}-{place}-{name}"
                )


@pytest.mark.parametrize("estimator, check", [*checks(QUICK), *checks(SLOW, pytest.mark.slow)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:200], np.where(y[:200] == 1, "benign", "malignant")


def test_probabilities_are_those_of_the_belief():
    X, y = load_iris(return_X_y=True)
    model = APMClassifier(prior_precision=0.5).fit(X, y)
    belief = Belief(Bohning(3, prior_precision=0.5, intercept=True)).fit(X, y)
    assert_allclose(model.predict_proba(X), belief.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert model.posterior_.num_observations == len(y)


def test_names_of_columns_are_remembered(cancer):
    X, y = cancer
    model = make_pipeline(StandardScaler(), APMClassifier()).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.classes_.tolist() == ["benign", "malignant"]
    bare = APMClassifier().fit(X, y)
    assert bare.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        bare.predict(X[X.columns[::-1]])


def test_grid_search_in_two_processes(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), APMClassifier())
    grid = {"apmclassifier__prior_precision": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, n_jobs=2, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_calibration_clone_and_joblib(cancer):
    X, y = cancer
    model = make_pipeline(StandardScaler(), APMClassifier(Laplace(Probit(), 1.0)))
    assert CalibratedClassifierCV(clone(model), cv=2).fit(X, y).score(X, y) > 0.9
    model.fit(X, y)
    kept = io.BytesIO()
    joblib.dump(model, kept)
    kept.seek(0)
    assert_allclose(joblib.load(kept).predict_proba(X), model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("posterior", [None, Bohning, softmax_laplace])
def test_labels_in_parts_are_labels_at_once(posterior):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    parts = APMClassifier(posterior).partial_fit(X[:7], y[:7], classes=[0, 1, 2])
    parts.partial_fit(X[7:], y[7:])
    whole = APMClassifier(posterior).fit(X, y)
    # both end at the same optimum, to the solvers' tolerance
    assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-6)


def test_bad_input_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        APMClassifier().predict(X)
    with pytest.raises(ValueError, match="classes must be given"):
        APMClassifier().partial_fit(X, y)
    model = APMClassifier().partial_fit(X, y, classes=[0, 1, 2])
    before = model.posterior_
    with pytest.raises(ValueError, match="among the classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="those of the first call"):
        model.partial_fit(X[:1], [1], classes=[0, 1])
    assert model.posterior_ is before
    with pytest.raises(InvalidArgument, match="posterior must be a posterior"):
        APMClassifier(lambda num_classes: "no posterior").fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        APMClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="takes 4 classes"):
        APMClassifier(Bohning(4)).fit(X, y)
