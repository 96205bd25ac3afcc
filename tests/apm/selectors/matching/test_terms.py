"""APM's two terms add up to APM."""

from __future__ import annotations

import numpy as np
import pytest

from apm.power import FixedPower
from apm.selectors import APM, APMExploit, APMExplore
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.channels import Channel, Cloglog, Lapse, Logistic, Probit
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
