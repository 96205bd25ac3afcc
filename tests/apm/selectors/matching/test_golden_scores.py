"""Every score of the reference file, to 1e-8."""

from __future__ import annotations

import numpy as np
import pytest

from apm.power import FixedPower, SpectralPower
from apm.selectors import (
    APM,
    BALD,
    APMExploit,
    APMExplore,
    InformationGain,
    MaxVariance,
    Uncertainty,
)
from apm.selectors.matching.target import paper_utility, two_atom_constant
from channelcode.measures import ScalarPool
from tests.apm.given import given_belief

METHODS = {
    "APM-LR": lambda power: APM(FixedPower(power)),
    "APM-LR-U": lambda power: APMExploit(FixedPower(power)),
    "APM-LR-V": lambda power: APMExplore(FixedPower(power)),
    "UNCERTAINTY": lambda power: Uncertainty(),
    "BALD": lambda power: BALD(),
    "MAXVAR": lambda power: MaxVariance(),
    "INFOGAIN": lambda power: InformationGain(),
}
# The paper leaves out of W2^2 what no candidate changes: (1 - 2/pi) P.
HAS_CONSTANT = {"APM-LR", "APM-LR-V"}


@pytest.fixture(scope="module")
def records(reference):
    return reference("scores")["records"]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_scores_are_the_reference_utilities(records, place, method):
    record = records[place]
    belief = given_belief(record["mean"], record["covariance"], map=record["map"])
    scores = METHODS[method](record["power"]).scores(belief, record["pool"])
    if method in HAS_CONSTANT:
        scores = scores + two_atom_constant(record["power"])
    expected = np.array(record["utilities"][method])
    # 1e-8 of the largest utility: the file holds 17 digits, the eigenvectors lose a few
    np.testing.assert_allclose(scores, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert np.argmax(scores) == np.argmax(expected)


@pytest.mark.parametrize("place", range(4))
def test_paper_utility_is_eq_apm_lr_without_a_constant(records, place):
    record = records[place]
    belief = given_belief(record["mean"], record["covariance"])
    laws = belief.push(record["pool"])
    assert isinstance(laws, ScalarPool)
    utility = paper_utility(laws, record["power"])
    np.testing.assert_allclose(utility, record["utilities"]["APM-LR"], rtol=1e-8)


@pytest.mark.parametrize("place", range(4))
def test_spectral_power_with_the_initial_radius_is_the_reference_power(records, place):
    record = records[place]
    belief = given_belief(record["mean"], record["covariance"])
    selector = APM(SpectralPower(), radius=record["max_norm"])
    power = selector.budget(belief, record["pool"])
    assert power == pytest.approx(record["power"], rel=1e-10)
    top = belief.posterior.top_eigenvalue
    assert top == pytest.approx(record["max_eigenvalue"], rel=1e-10)
