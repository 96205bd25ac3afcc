"""APM and its two halves: options, budgets, and what they add up to."""

from __future__ import annotations

from fractions import Fraction
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import Bohning, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower, SpectralPower
from apm.selectors import APM, APMExploit, APMExplore, Parameters, Predictions
from channelcode.capacity import Power, capacity
from channelcode.channels import Cloglog, Lapse, Logistic
from channelcode.errors import InvalidArgument
from tests.apm.given import given_belief


def small_pool() -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    labels = (X[:6, 0] + 0.3 * rng.normal(size=6) > 0).astype(int)
    return Belief(VariationalLogistic(0.1).fit(X[:6], labels)), X


def test_spectral_power_takes_the_radius_it_was_prepared_with():
    belief, X = small_pool()
    selector = APM(SpectralPower()).prepared(belief, X)
    assert selector.radius == pytest.approx(np.linalg.norm(X, axis=1).max(), rel=1e-12)
    small = X[np.linalg.norm(X, axis=1) < 1.0]
    assert selector.budget(belief, small) == pytest.approx(selector.budget(belief, X))
    assert APM().budget(belief, small) < selector.budget(belief, small)


@pytest.mark.parametrize("kind", [APM, APMExploit, APMExplore])
def test_a_wrong_power_policy_is_refused(kind):
    with pytest.raises(InvalidArgument, match="power"):
        kind(2.0)
    with pytest.raises(InvalidArgument, match="radius"):
        kind(radius=-1.0)


def test_another_channel_is_looked_through():
    own, other = given_belief([1.0], [[1.0]]), given_belief([1.0], [[1.0]], channel=Cloglog())
    X = np.array([[-1.0], [0.0], [2.0]])
    seen = APM(FixedPower(4.0), channel=Cloglog()).scores(own, X)
    np.testing.assert_allclose(seen, APM(FixedPower(4.0)).scores(other, X), rtol=1e-12)
    assert not np.allclose(seen, APM(FixedPower(4.0)).scores(own, X), rtol=1e-3)


def test_prepared_twice_is_prepared_once():
    belief, X = small_pool()
    once = APM(message=Predictions(num_targets=3)).prepared(belief, X)
    again = once.prepared(belief, 100 * X)
    assert again.radius == once.radius
    scores = once.scores(belief, X[:5])
    np.testing.assert_array_equal(again.scores(belief, X[:5]), scores)
    own = APM(radius=2.0).prepared(belief, X)
    assert own.radius == 2.0


def test_the_pools_maximum_is_over_the_candidates_alone():
    """Excluding the row of the largest power lowers the budget; the others are judged by it."""
    belief = given_belief([0.0], [[1.0]])
    X = np.array([[10.0], [1.0], [0.4]])
    selector = APM(PoolMaxPower())
    # with P = 100 the widest law is nearest; with P = 1, sigma = sqrt(2 / pi) would be
    assert selector.select(belief, X).tolist() == [0]
    told = selector.explain(belief, X, 1, exclude=[0])
    assert told.power == pytest.approx(1.0)


@pytest.mark.parametrize(
    "options, name", [({"message": "theta"}, "message"), ({"channel": 3}, "channel")]
)
def test_wrong_options_are_refused(options: dict[str, Any], name: str):
    with pytest.raises(InvalidArgument, match=f"{name} must be"):
        APM(**options)


@pytest.mark.parametrize("power", [1.0, 1e10, 1e26, 1e40, 1e300])
@pytest.mark.parametrize("message", [Parameters(), Predictions(), Predictions(pooled=False)])
def test_a_huge_budget_does_not_hide_the_candidates(power, message):
    """-W2^2 is nearly -P for all of them: the order is that of exact arithmetic all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    belief = Belief(VariationalLogistic(1.0).fit(X[:10], X[:10, 0] > 0))
    rule = APM(FixedPower(power), message=message)
    laws = belief.push(X)
    if isinstance(message, Parameters):
        root = Fraction(sqrt(2 * power / pi))
        pairs = zip(np.sqrt(laws.total_variance).tolist(), laws.mean.tolist())
        exact = [2 * Fraction(s) * root - Fraction(s) ** 2 - Fraction(m) ** 2 for s, m in pairs]
        assert int(rule.select(belief, X)[0]) == max(range(40), key=exact.__getitem__)
    # as P grows the spread decides alone
    limit = APM(FixedPower(1e308), message=message).select(belief, X)
    assert power < 1e26 or rule.select(belief, X).tolist() == limit.tolist()
    assert limit[0] not in (0, 1)


@pytest.mark.parametrize("channel", [Cloglog(), Lapse(Logistic(), low=0.1)], ids=repr)
def test_a_huge_budget_of_another_channel_does_not_either(channel):
    """The part of the deviations by its own formula, target by target: sorted atoms and cuts."""
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]], channel=channel)
    X = np.array([[1e-3, 0.0], [0.5, -2.0], [3.0, 1.0], [3.0, 1.1], [0.0, 0.0]])
    laws = belief.push(X)
    found = APM(FixedPower(1e26)).match(belief, X, None, laws)
    target = capacity(channel, Power(1e26)).input
    order = np.argsort(target.atoms)
    atoms, weights = np.asarray(target.atoms)[order], target.weights[order]
    cuts = norm.pdf(norm.ppf(np.cumsum(weights)[:-1]))
    deviation = np.sqrt(laws.total_variance)
    spread = deviation**2 - 2 * deviation * float(np.diff(atoms) @ cuts)
    # a deviation of zero leaves the rounding of the largest terms
    np.testing.assert_allclose(found.spread, spread, rtol=1e-9, atol=1e-12 * np.abs(spread).max())


def test_choices_remember_the_scores_with_their_constant():
    belief, X = small_pool()
    rule = APM(FixedPower(9.0))
    choice = rule.choose(belief, X, np.arange(len(X)))
    np.testing.assert_allclose(choice.scores, rule.scores(belief, X), rtol=1e-12)
    assert choice.rating.constant == -9.0


def test_the_warning_about_many_classes_points_at_the_line_that_chose_the_rule():
    with pytest.warns(UserWarning, match="looks at all 3 classes at once") as seen:
        Learner([[1.0], [-1.0], [2.0]], Bohning(3, 0.5), APM(FixedPower(1.0)), seed=0)
    assert [warning.filename for warning in seen] == [__file__]
