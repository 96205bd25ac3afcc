"""APM's two terms add up to APM."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from apm.power import FixedPower
from apm.selectors import APM, APMExploit, APMExplore, ContestedPair
from apm.selectors.matching.input_noise import slope
from channelcode.capacity import Power, capacity
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.channels import Channel, Cloglog, Lapse, Logistic, Probit
from channelcode.errors import InvalidArgument
from channelcode.transport import w2_squared
from tests.apm.given import given_belief, three_classes

CHANNELS: list[Channel] = [Logistic(), Probit(), Cloglog(), Lapse(Logistic(), low=0.05)]


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
@pytest.mark.parametrize("solver", [None, Continuous()])
def test_the_halves_add_up_to_the_whole(channel, solver):
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]], channel=channel)
    X = np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0], [0.0, 0.0]])
    whole, exploit, explore = (
        kind(FixedPower(5.0), solver=solver).scores(belief, X)
        for kind in (APM, APMExploit, APMExplore)
    )
    np.testing.assert_allclose(exploit + explore, whole, rtol=1e-9, atol=1e-12)
    assert np.all(exploit <= 0)
    assert np.all(explore <= 0)


def test_classes_halves_add_up_to_the_whole():
    belief, X = three_classes()
    parts = [kind(FixedPower(5.0)).scores(belief, X[:4]) for kind in (APMExploit, APMExplore)]
    whole = APM(FixedPower(5.0)).scores(belief, X[:4])
    np.testing.assert_allclose(sum(parts), whole, rtol=1e-9)


def test_exploitation_of_an_asymmetric_channel_is_the_distance_of_the_means():
    from channelcode.capacity import Power, capacity

    belief = given_belief([1.0], [[1.0]], channel=Cloglog())
    X = np.array([[-1.0], [0.0], [2.0]])
    target = capacity(Cloglog(), Power(25.0)).input
    assert abs(target.mean) > 1  # not symmetric: the two-atom shortcut would be wrong here
    found = APMExploit(FixedPower(25.0)).scores(belief, X)
    np.testing.assert_allclose(found, -((X[:, 0] - target.mean) ** 2), rtol=1e-9)
    whole = APM(FixedPower(25.0)).scores(belief, X)
    np.testing.assert_allclose(whole, -w2_squared(belief.push(X), target), rtol=1e-9)


@pytest.mark.parametrize("channel", [Logistic(), Probit(2.0), Cloglog()], ids=repr)
def test_the_averaged_mean_is_the_logit_of_the_averaged_label(channel):
    """For a probit exactly: Phi(k m) = E Phi(L); for the others with the slope that is left."""
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]], channel=channel)
    X = np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0], [0.0, 0.0]])
    laws = belief.push(X)
    k = np.array([slope(channel, float(s)) for s in np.sqrt(laws.total_variance)])
    centre = 0.0 if channel != Cloglog() else capacity(channel, Power(5.0)).input.mean
    found = APMExploit(FixedPower(5.0), averaged=True).scores(belief, X)
    # a table of slopes, or pi/8 in place of the exact slope: up to 4 % of k, which is squared
    np.testing.assert_allclose(found, -((k * laws.mean - centre) ** 2), rtol=0.08, atol=1e-12)
    if isinstance(channel, Probit):
        up = belief.predict_proba(X)[:, 1]
        np.testing.assert_allclose(found, -((2.0 * norm.ppf(up)) ** 2), rtol=1e-6, atol=1e-12)


def test_the_pair_is_seen_as_by_apm():
    belief, X = three_classes()
    pair = ContestedPair().view(belief, belief.push(X)).laws
    found = APMExploit(channel=ContestedPair()).scores(belief, X)
    np.testing.assert_allclose(found, -(pair.mean**2), rtol=1e-12)
    blunt = APMExploit(channel=ContestedPair(), averaged=True).scores(belief, X)
    np.testing.assert_allclose(
        blunt, -(pair.mean**2) / (1 + np.pi / 8 * pair.total_variance), rtol=1e-12
    )
    with pytest.raises(InvalidArgument, match="channel"):
        APMExploit(channel="pair")
