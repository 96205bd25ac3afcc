"""Waiting times under moderate powers: Newton's method on atoms and log-weights."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Exponential, Gamma, Power, Status, capacity, capacity_curve
from channelcode.capacity.noise.waiting_law import Law, Newton, waiting_law
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure


@pytest.mark.parametrize(("shape", "power"), [(1.0, 0.3), (3.0, 0.2), (20.0, 0.01), (0.3, 0.05)])
def test_kkt_by_other_integrals(shape, power):
    channel = Gamma(shape)
    found = waiting_law(channel, power, tol=1e-11)
    assert found is not None
    law = DiscreteMeasure(found.points, found.weights)
    assert float(law.weights @ law.atoms**2) == pytest.approx(power, rel=1e-10)
    s = found.multiplier
    heavy = law.atoms[law.weights > 1e-6]
    height = output_divergence(channel, heavy, law).nats - s * heavy**2
    assert np.ptp(height) < 1e-9
    between = np.linspace(heavy[0] - 1.0, heavy[-1], 60)
    other = output_divergence(channel, between, law).nats - s * between**2
    assert other.max() < height.max() + 1e-8


@pytest.mark.parametrize(
    ("channel", "power"),
    [(Exponential(), 3e-5), (Exponential(), 1e-3), (Exponential(), 0.7), (Gamma(7.0), 0.03)],
    ids=repr,
)
def test_powers_that_stalled(channel, power):
    result = capacity(channel, Power(power))
    assert result.status is Status.OPTIMAL
    assert result.stats.method.startswith("Newton")


def test_a_curve_from_tiny_powers_to_moderate_ones():
    curve = capacity_curve(Exponential(), [1e-8, 1e-6, 1e-5, 1e-4, 1e-2, 0.3])
    assert (np.diff(curve.multiplier) < 0).all()
    slope = np.diff(curve.bits) / np.diff(curve.powers)
    assert (slope < curve.multiplier[:-1]).all()
    assert (slope > curve.multiplier[1:]).all()


def test_the_derivatives_of_the_system():
    newton = Newton(Gamma(2.0))
    found = waiting_law(Gamma(2.0), 0.05, tol=1e-9)
    assert found is not None
    law = Law(found.points + 0.01, np.log(found.weights), found.multiplier)
    right, system = newton.system(law, 0.05)
    size = 1e-6
    for j in range(len(found.points)):
        for part in (0, 1):
            points, logs = law.points.copy(), law.logs.copy()
            (logs, points)[part][j] += size
            moved, _ = newton.system(Law(points, logs, law.price), 0.05)
            n = len(points)
            found_slope = (right[n : 2 * n] - moved[n : 2 * n]) / size  # F', where c is not
            assert found_slope == pytest.approx(system[n : 2 * n, j + part * n], rel=1e-3, abs=1e-4)
