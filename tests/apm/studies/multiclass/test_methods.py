"""The methods of the study are the library's selectors, and one term of the rule by itself."""

from __future__ import annotations

import numpy as np

from apm.belief import Belief
from apm.posteriors import Bohning
from apm.selectors import Selector
from apm.studies.multiclass.methods import DEFAULT, METHODS


def belief() -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return Belief(Bohning(3, 1.0).fit(X[:12], np.arange(12) % 3)), X


def test_every_method_is_a_selector() -> None:
    held, X = belief()
    assert DEFAULT in METHODS
    for selector in METHODS.values():
        assert isinstance(selector, Selector)
        assert np.isfinite(selector.prepared(held, X).scores(held, X, rng=0)).all()


def test_the_first_term_is_the_blunted_difference_of_the_two_largest_logits() -> None:
    held, X = belief()
    two = np.sort(X @ held.posterior.mean.T, axis=1)[:, -2:]
    leverage = np.einsum("ij,jk,ik->i", X, np.asarray(held.posterior.covariance.inner), X)
    expected = -((two[:, 1] - two[:, 0]) ** 2) / (1 + np.pi / 8 * 2 * leverage)
    np.testing.assert_allclose(METHODS["APM pair, exploit"].scores(held, X), expected, rtol=1e-10)
