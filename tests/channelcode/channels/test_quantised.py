"""The Gaussian channel behind a quantiser."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from channelcode import InvalidArgument, Probit, QuantisedGaussian
from tests.channelcode.channels.tails import BOTH, assert_log_probs

CUTS = (-1.5, 0.25, 1.5)


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_tails(noise):
    def upper(z):
        return mpmath.erfc(z / mpmath.sqrt(2)) / 2

    def exact(l):
        z = [(mpmath.mpf(t) - l) / noise for t in CUTS]
        inner = [
            upper(-b) - upper(-a) if a + b < 0 else upper(a) - upper(b) for a, b in pairwise(z)
        ]
        return [upper(-z[0]), *inner, upper(z[-1])]

    # each log is good to 1e-16 of its own size (5e7 / noise^2 at the far end)
    assert_log_probs(QuantisedGaussian(CUTS, noise), exact, BOTH, rtol=1e-12, atol=1e-12)


def test_one_threshold_is_the_probit_channel():
    l = np.linspace(-40, 40, 81)
    np.testing.assert_allclose(
        QuantisedGaussian([0.0]).log_prob(l), Probit().log_prob(l), rtol=1e-14
    )


def test_coarser_cells_are_sums_of_finer_ones():
    l = np.linspace(-5, 5, 21)
    fine = QuantisedGaussian([-1.0, 0.0, 1.0]).prob(l)
    coarse = QuantisedGaussian([0.0]).prob(l)
    np.testing.assert_allclose(fine[:, :2].sum(axis=1), coarse[:, 0], atol=1e-15)


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan, None])
def test_bad_noise(noise):
    with pytest.raises(InvalidArgument, match=r"^noise must"):
        QuantisedGaussian([0.0], noise)


@pytest.mark.parametrize("bad", [[1.0, 0.0], [], [np.inf]])
def test_bad_thresholds(bad):
    with pytest.raises(InvalidArgument, match=r"^thresholds must"):
        QuantisedGaussian(bad)
