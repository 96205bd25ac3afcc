"""APM and its two halves: options, budgets, and what they add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import VariationalLogistic
from apm.power import FixedPower, PoolMaxPower, SpectralPower
from apm.selectors import APM, APMExploit, APMExplore, Predictions
from channelcode.channels import Cloglog
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
