"""Information for the money."""

from __future__ import annotations

import numpy as np
import pytest

from apm import Belief, Expert, ExpertLearner, GainPerCost, InformationGain, Laplace
from apm.selectors.rules.gain_per_cost import expert_gains
from channelcode import GaussianPool, Lapse, Logistic, ScalarPool
from channelcode.information import mutual_information

X = np.random.default_rng(0).normal(size=(8, 2))


def test_without_experts_it_is_the_information_gain():
    belief = Belief(Laplace(Logistic(), 1.0).fit(X, np.arange(8) % 2))
    np.testing.assert_array_equal(
        GainPerCost().scores(belief, X), InformationGain().scores(belief, X)
    )


@pytest.mark.parametrize("scale", [0.01, 30.0])
def test_the_best_expert_changes_as_the_posterior_narrows(scale):
    """Narrow: Fisher information over price, (1 - 2 r)^2 / c. Wide: what a label can tell at all.

    At r = .1 and a third of the price .64 against .33 when narrow, .53 bits against .33 when wide;
    at r = .3 and a fifth .16 against .2 and .12 against .2.
    """
    law = ScalarPool([0.0], [scale**2])
    sure = float(mutual_information(Logistic(), law).bits[0])
    for rate, price, better in ((0.1, 3.0, True), (0.3, 5.0, False)):
        noisy = float(mutual_information(Lapse(Logistic(), rate, rate), law).bits[0])
        assert (noisy > sure / price) is better


def test_laws_go_through_each_expert_s_own_channel():
    experts = [Expert(Logistic(), 2.0, "a"), Expert(Lapse(Logistic(), 0.3, 0.1), 1.0, "b")]
    learner = ExpertLearner(X, Laplace(Logistic(), 1.0), experts=experts, seed=0)
    belief, pairs = learner.belief, learner.pairs
    laws = belief.push(pairs)
    assert isinstance(laws, GaussianPool)
    gain, numbers = expert_gains(belief.channel, laws)
    np.testing.assert_array_equal(numbers, np.tile([0, 1], 8))
    variance = np.square(X).sum(axis=1)
    for place, expert in enumerate(experts):
        expected = mutual_information(expert.channel, ScalarPool(np.zeros(8), variance)).bits
        np.testing.assert_allclose(gain[place::2], expected, atol=1e-9)
    scores = GainPerCost().scores(belief, pairs)
    np.testing.assert_allclose(scores, gain / np.tile([2.0, 1.0], 8))
