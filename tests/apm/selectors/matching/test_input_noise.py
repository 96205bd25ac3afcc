"""Channels behind Gaussian noise: against quadrature by SciPy, and the probit's closed form."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from apm.selectors.matching.input_noise import NoisyInput, bend, noise_table, slope
from channelcode.capacity import Power, capacity
from channelcode.channels import Cauchit, Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument


@settings(max_examples=20, deadline=None)
@given(st.floats(-6.0, 6.0), st.floats(0.05, 6.0))
def test_blurred_logistic_by_quadrature(l: float, s: float) -> None:
    integral, _ = quad(lambda z: expit(l + s * z) * norm.pdf(z), -9, 9, epsabs=1e-13, limit=400)
    # eight deviations of the trapezoid rule leave out 1e-15
    assert NoisyInput(Logistic(), s).prob(l)[1] == pytest.approx(integral, abs=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.floats(-4.0, 4.0), st.floats(0.0, 5.0), st.floats(0.7, 3.0))
def test_blurred_probit_is_a_probit(l: float, s: float, scale: float) -> None:
    wide = Probit(sqrt(scale**2 + s**2)).prob(l)
    # the rule is made for channels that bend over a unit of l, as the logistic does
    np.testing.assert_allclose(NoisyInput(Probit(scale), s).prob(l), wide, atol=1e-7)


@pytest.mark.parametrize("s", [0.0, 0.5, 2.0, 8.0])
def test_slopes(s: float) -> None:
    assert bend(Probit(2.0)) == 0.25
    assert slope(Probit(2.0), s) == pytest.approx(1 / sqrt(1 + 0.25 * s**2), rel=1e-6)
    exact = 4 * quad(lambda z: expit(s * z) * expit(-s * z) * norm.pdf(z), -9, 9, limit=400)[0]
    assert slope(Logistic(), s) == pytest.approx(exact, rel=1e-6)
    approximate = 1 / sqrt(1 + pi * s**2 / 8)
    assert approximate == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("channel", [Cauchit(), Ordinal([-1.0, 1.0])], ids=repr)
def test_slopes_fall_with_the_noise(channel) -> None:
    assert bend(channel) is None
    levels, ratios = noise_table(channel, 10.0)
    assert levels[0] == 0
    assert ratios[0] == 1
    assert levels[-1] == pytest.approx(10.0)
    assert (np.diff(ratios) < 1e-9).all()  # data processing
    assert (ratios > 0).all()


@pytest.mark.parametrize(("s", "power"), [(0.7, 0.5), (2.0, 9.0)])
def test_blurred_logistic_is_still_best_used_with_two_atoms(s: float, power: float) -> None:
    """What lets `exact` keep B_sqrt(P) for the logistic channel."""
    result = capacity(NoisyInput(Logistic(), s), Power(power))
    atoms = result.input.atoms
    np.testing.assert_allclose(np.abs(atoms[result.input.weights > 1e-6]), sqrt(power), rtol=1e-3)


def test_blurring_a_vector_channel_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="scalar"):
        NoisyInput(Softmax(3), 1.0)
    with pytest.raises(InvalidArgument, match="deviation"):
        NoisyInput(Logistic(), -1.0)
