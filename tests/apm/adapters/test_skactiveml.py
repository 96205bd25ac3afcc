"""scikit-activeml: its template tests, and the same picks as `Learner`."""

# Odd types are what these tests are about.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import importlib.util
import os
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("skactiveml", reason="scikit-activeml is not installed")

from numpy.testing import assert_allclose, assert_array_equal
from skactiveml.classifier import ParzenWindowClassifier
from skactiveml.utils import MISSING_LABEL

from apm import (
    APM,
    BALD,
    Bohning,
    ContestedPair,
    Learner,
    Margin,
    PoolMaxPower,
    Predictions,
    Random,
    Uncertainty,
    VariationalLogistic,
)
from apm.adapters import APMActiveClassifier, APMQueryStrategy

# scikit-activeml keeps its template tests in the repository; release 0.6.1 shipped them. `.ci/run`
# unpacks that wheel and says where its folder `skactiveml/tests` is.
TEMPLATES = os.environ.get("SKACTIVEML_TEMPLATES")
SMALL = np.array([[1.0, 2.0], [5.0, 8.0], [8.0, 4.0], [5.0, 4.0]])


def template(name: str):
    """A module of the templates, as `skactiveml.tests.<name>`."""
    if TEMPLATES is None:
        pytest.skip("SKACTIVEML_TEMPLATES does not say where the templates are")
    folder = Path(TEMPLATES)
    if "skactiveml.tests" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "skactiveml.tests", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        sys.modules["skactiveml.tests"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"skactiveml.tests.{name}")


def strategy_case():
    base = template("template_query_strategy").TemplateSingleAnnotatorPoolQueryStrategy

    class Strategy(base, unittest.TestCase):
        def setUp(self):
            super().setUp(
                qs_class=APMQueryStrategy,
                init_default_params={},
                query_default_params_clf={
                    "X": SMALL,
                    "y": np.array([0, 1, MISSING_LABEL, MISSING_LABEL]),
                    "clf": APMActiveClassifier(classes=[0, 1], random_state=0),
                },
            )

        def test_init_param_selector(self):
            self._test_param(
                "init", "selector", [(1, TypeError), ("apm", TypeError), (APM(), None)]
            )

        def test_query_param_clf(self):
            super().test_query_param_clf([(ParzenWindowClassifier(classes=[0, 1]), TypeError)])

        def test_query(self):
            X, y = SMALL, np.array([0, 1, MISSING_LABEL, MISSING_LABEL])
            clf = APMActiveClassifier(classes=[0, 1])
            learner = Learner(X, VariationalLogistic(1.0, intercept=True, classes=[0, 1]))
            learner.tell([0, 1], [0, 1])
            assert_array_equal(APMQueryStrategy().query(X, y, clf), learner.ask())

    return Strategy


def classifier_case():
    base = template("template_estimator").TemplateSkactivemlClassifier

    class Classifier(base, unittest.TestCase):
        def setUp(self):
            super().setUp(
                estimator_class=APMActiveClassifier,
                init_default_params={"classes": ["tokyo", "paris"], "missing_label": "nan"},
                fit_default_params={"X": np.zeros((3, 1)), "y": ["tokyo", "paris", "nan"]},
                predict_default_params={"X": [[1.0]]},
            )

        def test_init_param_posterior(self):
            cases = [(1, TypeError), (Bohning, None), (VariationalLogistic(1.0), None)]
            self._test_param("init", "posterior", cases)

        def test_init_param_prior_precision(self):
            cases = [(-1.0, ValueError), ("large", ValueError), (2.0, None)]
            self._test_param("init", "prior_precision", cases)

        def test_init_param_intercept(self):
            self._test_param("init", "intercept", [(True, None), (False, None)])

        def test_fit(self):
            model = APMActiveClassifier(classes=[0, 1], missing_label=-1)
            model.fit([[0.0], [1.0], [9.0]], [0, 1, -1])
            assert model.posterior_.num_observations == 2

        def test_predict(self):
            model = APMActiveClassifier(classes=[0, 1]).fit([[-1.0], [1.0]], [0, 1])
            assert model.predict([[-2.0], [2.0]]).tolist() == [0, 1]

        def test_predict_proba(self):
            model = APMActiveClassifier(classes=[0, 1]).fit(np.zeros((2, 1)), [MISSING_LABEL] * 2)
            assert_allclose(model.predict_proba([[3.0]]), [[0.5, 0.5]])

    return Classifier


@pytest.mark.parametrize("case, least", [(strategy_case, 21), (classifier_case, 19)])
def test_template(case, least):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case())
    assert suite.countTestCases() >= least
    result = unittest.TestResult()
    suite.run(result)
    assert not result.failures + result.errors, "\n".join(
        t for _, t in result.failures + result.errors
    )
    assert not result.skipped


def pool(classes, rng):
    X = rng.normal(size=(60, 4))
    truth = np.argmax(X @ rng.normal(size=(4, classes)), axis=1)
    return X, truth


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(
    "selector, classes",
    [
        (None, 2),
        (APM(), 2),
        (APM(PoolMaxPower()), 2),
        (Uncertainty(), 2),
        (None, 3),
        (APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions()), 3),
        (Margin(), 3),
    ],
)
def test_picks_are_those_of_the_learner(selector, classes, batch, rng):
    X, truth = pool(classes, rng)
    options = {"intercept": True, "classes": range(classes)}
    model = (
        VariationalLogistic(prior_precision=1.0, **options)
        if classes == 2
        else Bohning(classes, prior_precision=1.0, **options)
    )
    learner = Learner(X, model, selector, seed=0)
    y = np.full(60, np.nan)
    clf = APMActiveClassifier(classes=range(classes))
    for row in (3, 17, 31):
        learner.tell(row, int(truth[row]))
        y[row] = truth[row]
        found = APMQueryStrategy(selector).query(X, y, clf, batch_size=batch)
        assert_array_equal(found, learner.ask(batch))


@pytest.mark.parametrize("selector", [None, APM(PoolMaxPower()), BALD()])
def test_some_candidates_have_the_utilities_they_have_among_all(selector, rng):
    """Or a strategy that is run on parts of the pool would compare different numbers."""
    X, truth = pool(2, rng)
    y = np.full(60, np.nan)
    y[:5] = truth[:5]
    clf = APMActiveClassifier(classes=[0, 1])
    strategy = APMQueryStrategy(selector, random_state=0)
    _, whole = strategy.query(X, y, clf, return_utilities=True)
    _, part = strategy.query(X, y, clf, candidates=[7, 20, 41], return_utilities=True)
    assert_allclose(part[0, [7, 20, 41]], whole[0, [7, 20, 41]], rtol=1e-9)
    assert np.isnan(np.delete(part[0], [7, 20, 41])).all()


def test_a_random_state_repeats(rng):
    X, _ = pool(2, rng)
    y = np.full(60, np.nan)
    clf = APMActiveClassifier(classes=[0, 1])
    first = APMQueryStrategy(Random(), random_state=3).query(X, y, clf, batch_size=5)
    again = APMQueryStrategy(Random(), random_state=3).query(X, y, clf, batch_size=5)
    other = APMQueryStrategy(Random(), random_state=4).query(X, y, clf, batch_size=5)
    assert_array_equal(first, again)
    assert list(first) != list(other)
