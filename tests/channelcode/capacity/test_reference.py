"""Every reference figure, by the automatic choice and by the continuous solver."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from channelcode import (
    Cauchit,
    DiscreteChannel,
    Lapse,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    restrict,
)
from channelcode.capacity import (
    Auto,
    BlahutArimoto,
    Continuous,
    InteriorPoint,
    Power,
    Unconstrained,
    capacity,
)

# Figures computed in 50 digits by an independent program (see the data's own notes).
DATA = json.loads((Path(__file__).parents[2] / "data" / "capacity.json").read_text())
CHANNELS = {
    "logistic": Logistic(),
    "probit": Probit(),
    "cauchit": Cauchit(),
    "lapse_logistic_eps0.02": Lapse(Logistic(), low=0.02, high=0.02),
    "ordinal_logit_-1_1": Ordinal([-1.0, 1.0]),
    "qgauss_2bit_1.5": QuantisedGaussian([-1.5, 0.0, 1.5]),
}
ROWS = [pytest.param(row, id=f"{row['channel']}-{row['P']}") for row in DATA["rows"]]
SOFTMAX = [pytest.param(row, id=f"softmax3-{row['P']}") for row in DATA["softmax"]]
SOLVERS = [pytest.param(Auto(), id="auto"), pytest.param(Continuous(), id="continuous")]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("row", ROWS)
def test_scalar_channels(row, solver):
    result = capacity(CHANNELS[row["channel"]], Power(row["P"]), solver=solver)
    exact = float(row["capacity_bits"])
    assert result.bits == pytest.approx(exact, abs=1e-9)
    assert result.lower <= exact <= result.upper
    assert result.gap <= 1e-9
    slope = float(row["multiplier_bits_per_power"])
    if slope > 1e-6:  # below this the capacity does not determine the atoms
        assert result.multiplier == pytest.approx(slope, rel=1e-6)
        assert len(result.input) == len(row["points"])
        np.testing.assert_allclose(result.input.atoms, np.array(row["points"], float), atol=1e-5)
        np.testing.assert_allclose(result.input.weights, np.array(row["weights"], float), atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("row", SOFTMAX)
def test_softmax(row, solver):
    result = capacity(Softmax(3), Power(row["P"]), solver=solver)
    exact = float(row["capacity_bits"])
    assert result.bits == pytest.approx(exact, abs=1e-9)
    assert result.lower <= exact <= result.upper
    assert result.multiplier == pytest.approx(float(row["multiplier_bits_per_power"]), rel=1e-6)
    assert len(result.input) == row["n_mass"]
    radii = np.linalg.norm(result.input.atoms, axis=1)
    vertices = radii > 1e-5
    np.testing.assert_allclose(radii[vertices], float(row["radius"]), atol=1e-5)
    np.testing.assert_allclose(
        result.input.weights[vertices], float(row["weight_each_vertex"]), atol=1e-5
    )
    np.testing.assert_allclose(result.input.atoms.sum(axis=1), 0.0, atol=1e-5)  # centred


def test_saturated_deficit_keeps_its_digits():
    result = capacity(Probit(), Power(100.0))
    assert result.bits == 1.0
    assert result.deficit_bits == pytest.approx(5.96171251572315e-22, rel=1e-12)


@pytest.mark.parametrize("solver", [InteriorPoint(), BlahutArimoto()])
def test_random_matrix(solver):
    matrix = np.random.default_rng(0).dirichlet(np.ones(64), size=64)
    result = capacity(DiscreteChannel(matrix), Unconstrained(), solver=solver)
    low, high = DATA["dmc"]["bits"]
    assert low - 1e-9 <= result.bits <= high + 1e-9
    assert result.gap <= 1e-9


def test_softmax_grid():
    basis = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]])
    basis /= np.linalg.norm(basis, axis=1, keepdims=True)
    line = np.linspace(-6.0, 6.0, 61)
    grid = np.array([x * basis[0] + y * basis[1] for x in line for y in line])
    result = capacity(restrict(Softmax(3), grid), Power(4.0))
    low, high = DATA["grid"]["bits"]
    assert low - 1e-9 <= result.bits <= high + 1e-9
    assert result.stats.method == "InteriorPoint"


@pytest.mark.slow
def test_large_random_matrix():
    matrix = np.random.default_rng(0).dirichlet(np.ones(512), size=512)
    result = capacity(DiscreteChannel(matrix), Unconstrained())
    assert result.gap <= 1e-9
    assert result.bits == pytest.approx(0.66487634270, abs=1e-9)  # by Blahut-Arimoto, certified


@pytest.mark.parametrize(("amplitude", "atoms"), [(1.66, 2), (1.672, 3)])
def test_amplitude_limited_gaussian_channel(amplitude, atoms):
    # Sharma and Shamai (2010): binary input is optimal up to A = 1.6659; cells of 0.1 move the
    # threshold by less than 0.002
    from channelcode.capacity import Peak

    fine = QuantisedGaussian(np.arange(-6.0, 6.05, 0.1))
    result = capacity(fine, Peak(amplitude))
    assert len(result.input) == atoms
    assert result.gap <= 1e-9
