"""Newton's method returns to an optimum from nearby."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Features, Ordinal, QuantisedGaussian, Softmax
from channelcode.capacity import Cost, Peak, Power, Problem, Unconstrained
from channelcode.capacity.solvers.continuous.newton import _balanced_solve, polish

CHANNELS = {
    "ordinal_logit_-1_1": Ordinal([-1.0, 1.0]),
    "qgauss_2bit_1.5": QuantisedGaussian([-1.5, 0.0, 1.5]),
}
LOG_TWO = np.log(2)


def rows(reference):
    """Reference optima whose atoms the capacity determines."""
    return [
        row
        for row in reference("capacity")["rows"]
        if row["channel"] in CHANNELS
        and float(row["multiplier_bits_per_power"]) > 1e-4
        and len(row["points"]) > 1
        and min(map(float, row["weights"])) > 1e-3
    ]


def test_back_to_the_reference_optima(reference, rng):
    chosen = rows(reference)
    assert len(chosen) >= 4
    for row in chosen:
        atoms, weights = np.array(row["points"], float), np.array(row["weights"], float)
        s = float(row["multiplier_bits_per_power"]) * LOG_TWO
        problem = Problem(CHANNELS[row["channel"]], Power(row["P"]))
        mixed = 0.99 * weights + 0.01 * rng.dirichlet(np.ones(len(weights)))
        moved = atoms * (1.0 + 0.01 * rng.normal(size=len(atoms)))
        found = polish(problem, moved, mixed, s * 1.02)
        np.testing.assert_allclose(found.points, atoms, atol=1e-6)
        np.testing.assert_allclose(found.weights, weights, atol=1e-6)
        assert found.multiplier == pytest.approx(s, rel=1e-7)
        assert abs(found.residual) <= 1e-13
        assert found.concave


def test_a_cost_of_ones_own_is_the_power():
    """l^2 by differences leads to the same place as the power with its exact derivatives."""
    start = (np.array([-4.2, 0.1, 4.3]), np.array([0.4, 0.2, 0.4]), 0.02)
    power = polish(Problem(Ordinal([-1.0, 1.0]), Power(16.0)), *start)
    own = polish(Problem(Ordinal([-1.0, 1.0]), Cost(lambda l: l * l, 16.0)), *start)
    np.testing.assert_allclose(own.points, power.points, atol=1e-7)
    assert own.multiplier == pytest.approx(power.multiplier, rel=1e-7)


def test_atoms_on_the_peak_stay_there():
    # a quantised Gaussian channel of peak 3: both ends and zero
    channel = QuantisedGaussian(np.arange(-4.0, 4.1, 0.5))
    found = polish(
        Problem(channel, Peak(2.0)), np.array([-2.0, 0.05, 2.0]), np.array([0.4, 0.2, 0.4]), 0.0
    )
    assert found.points[[0, 2]].tolist() == [-2.0, 2.0]
    assert found.points[1] == pytest.approx(0.0, abs=1e-7)
    assert found.weights[0] == pytest.approx(found.weights[2], abs=1e-9)
    assert found.multiplier == 0.0
    assert abs(found.residual) <= 1e-12


def test_atoms_on_a_sphere_turn():
    head = Features(Softmax(3), np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]))
    angles = np.array([0.0, 2 * np.pi / 3, 4 * np.pi / 3]) + np.array([0.02, -0.03, 0.01])
    points = 2.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = polish(Problem(head, Peak(2.0)), points, np.array([0.3, 0.3, 0.4]), 0.0)
    np.testing.assert_allclose(np.linalg.norm(found.points, axis=1), 2.0, rtol=1e-12)
    ideal = 2.0 * np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
    np.testing.assert_allclose(found.points, ideal, atol=1e-6)
    np.testing.assert_allclose(found.weights, 1 / 3, atol=1e-9)


def test_a_saddle_is_told():
    """One atom at a minimum of F meets F' = 0 but is no maximum."""
    found = polish(
        Problem(Ordinal([-1.0, 1.0]), Power(4.0)),
        np.array([-3.0, 0.0, 3.0]),
        np.array([0.2, 0.6, 0.2]),
        0.01,
        max_steps=1,
    )
    assert not found.concave


def test_the_best_iterate_is_returned():
    problem = Problem(Ordinal([-1.0, 1.0]), Unconstrained())
    start = (np.array([-30.0, 1.0, 30.0]), np.array([0.3, 0.3, 0.4]), 0.0)
    before = polish(problem, *start, max_steps=0)
    after = polish(problem, *start)
    assert after.residual <= before.residual


def test_badly_scaled_and_singular_systems():
    rng = np.random.default_rng(0)
    scale = 10.0 ** rng.uniform(-8, 8, 5)
    matrix = scale[:, None] * rng.normal(size=(5, 5)) / scale
    truth = rng.normal(size=5) * scale
    found = _balanced_solve(matrix, matrix @ truth)
    assert found is not None
    np.testing.assert_allclose(found, truth, rtol=1e-6)
    flat = _balanced_solve(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([2.0, 2.0]))
    assert flat is not None
    np.testing.assert_allclose(flat, [1.0, 1.0], atol=1e-12)
    assert _balanced_solve(np.array([[np.nan]]), np.array([1.0])) is None
