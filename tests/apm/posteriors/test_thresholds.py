from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from apm import Belief, Thresholds
from channelcode.errors import InvalidArgument


def test_posterior_is_bayes_rule():
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=9))
    posterior = Thresholds(values, amplitude=1.5)
    law = np.full(9, 1 / 9)
    for _ in range(12):
        query, answer = rng.normal(), int(rng.integers(2))
        posterior = posterior.update([query], answer)
        right = expit(1.5)
        law = law * np.where((values >= query) == (answer == 1), right, 1 - right)
        law /= law.sum()
    np.testing.assert_allclose(posterior.weights, law, rtol=1e-12)
    assert posterior.mean[0] == pytest.approx(law @ values)
    assert np.cumsum(law)[values < posterior.median].max(initial=0) < 0.5
    fitted = Thresholds(values, amplitude=1.5).fit(posterior.design, posterior.codes)
    np.testing.assert_allclose(fitted.weights, law, rtol=1e-12)
    again = Thresholds.from_state(posterior.state())
    np.testing.assert_array_equal(again.weights, posterior.weights)
    assert again.amplitude == 1.5


def test_induced_laws_have_two_values():
    belief = Belief(Thresholds([0.0, 1.0, 2.0, 3.0], amplitude=2.0))
    laws = belief.push([[0.5], [2.5]])
    np.testing.assert_allclose(laws.mean, [2 * (0.75 - 0.25), 2 * (0.25 - 0.75)])
    np.testing.assert_allclose(laws.second_moment, 4.0)
    np.testing.assert_allclose(belief.predict_proba([[1.5]]), 0.5)


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="values"):
        Thresholds([1.0, 1.0])
    with pytest.raises(InvalidArgument, match="values"):
        Thresholds([1.0])
    with pytest.raises(InvalidArgument, match="amplitude"):
        Thresholds([1.0, 2.0], amplitude=0.0)
    with pytest.raises(InvalidArgument, match="crossover"):
        Thresholds.noisy([1.0, 2.0], 0.5)
    with pytest.raises(InvalidArgument, match="one column"):
        Belief(Thresholds([1.0, 2.0])).push([[1.0, 2.0]])


def test_gaps_between_three_queries_and_the_power_at_most():
    """One threshold in the middle of each gap, and one beyond each end, half the least gap away."""
    posterior = Thresholds.between([4.0, 1.0, 9.0], amplitude=3.0)
    np.testing.assert_allclose(posterior.values, [-0.5, 2.5, 6.5, 10.5])
    np.testing.assert_allclose(posterior.summed_covariance, [[9.0]])
    # a query at the median of two halves has that variance, and none has more
    law = Thresholds([0.0, 1.0], amplitude=3.0)
    pushed = Belief(law).push(np.array([[0.5], [-1.0]]))
    np.testing.assert_allclose(pushed.total_variance, [9.0, 0.0], atol=1e-12)
