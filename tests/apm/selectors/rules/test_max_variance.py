"""The largest variance: a quadratic form, or the trace of one."""

from __future__ import annotations

import numpy as np

from apm.selectors import MaxVariance
from tests.apm.given import given_belief, three_classes


def test_max_variance_is_the_quadratic_form():
    covariance = np.array([[2.0, 0.3], [0.3, 1.0]])
    belief = given_belief([0.7, -0.4], covariance)
    X = np.random.default_rng(0).normal(size=(5, 2))
    expected = np.einsum("ni,ij,nj->n", X, covariance, X)
    np.testing.assert_allclose(MaxVariance().scores(belief, X), expected, rtol=1e-12)


def test_classes_count_the_trace_of_their_covariance():
    belief, X = three_classes()
    covariance = np.asarray(belief.posterior.covariance)
    for row, score in zip(X, MaxVariance().scores(belief, X), strict=True):
        lift = np.kron(np.eye(3), row)
        np.testing.assert_allclose(score, np.trace(lift @ covariance @ lift.T), rtol=1e-10)


def test_the_mean_plays_no_part():
    X = np.random.default_rng(0).normal(size=(5, 2))
    near, far = (given_belief([shift, 0.0], np.eye(2)) for shift in (0.0, 100.0))
    np.testing.assert_array_equal(MaxVariance().scores(near, X), MaxVariance().scores(far, X))
