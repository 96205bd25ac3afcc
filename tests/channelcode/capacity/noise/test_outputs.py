"""What the exchange of letters sees of outputs agrees with sums and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, rel_entr, xlogy

from channelcode import AdditiveLaplace, Poisson
from channelcode.capacity.noise.outputs import CountedOutputs, LaplaceOutputs
from channelcode.channels.densities.view import FiniteView


@pytest.mark.parametrize("dark", [0.0, 2.0])
def test_counts_are_summed_at_inputs_from_the_middle(dark):
    channel = Poisson(dark)
    outputs = CountedOutputs(channel, FiniteView(channel, 0.0, 60.0))
    points, weights = np.array([-30.0, -12.0, 30.0]), np.array([0.5, 0.2, 0.3])
    inputs = np.linspace(-30.0, 30.0, 7)
    counts = np.arange(250.0)

    def rows(u):
        rates = u[:, None] + 30.0 + dark
        return np.exp(xlogy(counts, rates) - rates - gammaln(counts + 1))

    expected = rel_entr(rows(inputs), weights @ rows(points)).sum(axis=1)
    assert outputs.divergence(inputs, points, weights) == pytest.approx(expected, rel=1e-11)
    letters = outputs.letters()
    assert np.abs(letters).max() <= 30.0 * (1 + 1e-12)
    assert outputs.rows(letters).sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def test_laplace_noise_in_panels():
    outputs = LaplaceOutputs(AdditiveLaplace(0.5))
    one = np.array([1.0])
    d = np.abs(np.array([-2.0, 0.0, 1.0]) - 0.25) / 0.5
    found = outputs.divergence(np.array([-2.0, 0.0, 1.0]), np.array([0.25]), one)
    assert found == pytest.approx(d + np.exp(-d) - 1.0, rel=1e-12)
    assert outputs.rows(np.array([-1.0, 2.0])).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
