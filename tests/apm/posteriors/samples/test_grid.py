"""Grids: figures of questplus and of dense integration, Bayes' rule, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal

from apm import APM, Belief, FixedPower, Grid, InformationGain, Linear, NonLinear
from apm.posteriors.samples.axes import spacing
from apm.testing import check_posterior
from channelcode import Gaussian, Lapse, Logistic, Softmax
from channelcode.errors import InvalidArgument
from tests.apm.posteriors.samples.models import GOLDEN, quest, smc

QUEST = ["weibull_2afc", "normcdf_yesno", "weibull_lapse_unknown"]
slope = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X[:, :1] - theta[:, 0]), 2)
AXES = [np.linspace(-3.0, 3.0, 13), np.linspace(-1.0, 1.0, 5)]
X = np.linspace(-4.0, 4.0, 9)[:, None]


def a_grid(prior: Any = None, **options: Any) -> Grid:
    return Grid(AXES, Logistic(), slope, prior, **options)


# Against questplus --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUEST)
def test_picks_and_entropies_of_questplus(name):
    grid, stimuli, figures = quest(name)
    belief = Belief(grid)
    for trial, (pick, answer) in enumerate(zip(figures["picks"], figures["responses"])):
        gain = belief.information_gain(stimuli) * np.log(2.0)
        assert stimuli[int(np.argmax(gain)), 0] == pick
        (row,) = InformationGain().select(belief, stimuli)
        assert stimuli[row, 0] == pick
        posterior: Any = belief.posterior
        expected = figures["expected_entropy_nats"][trial]
        assert posterior.entropy - gain.max() == pytest.approx(expected, abs=1e-10)
        if trial == 0:
            np.testing.assert_allclose(gain, figures["gain_first_nats"], atol=1e-12)
        if trial == len(figures["picks"]) - 1:
            np.testing.assert_allclose(gain, figures["gain_last_nats"], atol=1e-12)
        belief = belief.update([pick], answer)
        means = [m for m, v in zip(figures["posterior_means"][trial].values(),
                                   figures["params"].values()) if len(v) > 1]  # fmt: skip
        np.testing.assert_allclose(belief.posterior.mean, means, atol=1e-10)
    posterior = belief.posterior
    assert posterior.entropy == pytest.approx(figures["final_entropy_nats"], abs=1e-10)
    assert posterior.entropy.bits == pytest.approx(posterior.entropy.nats / np.log(2.0))


@pytest.mark.parametrize("name", QUEST[:2])
def test_distances_to_the_target_are_those_of_the_figures(name):
    """APM on grid points with their masses; the targets were computed once, certified."""
    grid, stimuli, figures = quest(name)
    for case in GOLDEN["A_apm"][name]:
        if case["budget"] != "fixed 4" or case["after"] == 5:
            continue  # one capacity for the rest: the same code
        told = slice(0, case["after"])
        belief = Belief(grid)
        if case["after"]:
            stimulus = np.array(figures["picks"][told])[:, None]
            belief = belief.update(stimulus, figures["responses"][told])
        scores = APM(FixedPower(case["power"])).scores(belief, stimuli)
        # the target's atoms are certified to about 1e-6 bits, which moves them by up to 1e-3
        np.testing.assert_allclose(-scores, case["w2_squared"], rtol=2e-3)
        assert stimuli[int(np.argmax(scores)), 0] == case["pick"]


# Against dense integration ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_mode", "two_modes", "ring"])
def test_a_location_in_the_plane(name):
    figures = GOLDEN["D_locate"][name]
    a, b, deviation = figures["a"], figures["b"], figures["prior_sd"]

    def reached(theta, rows):
        return b - a * np.square(rows[:, None, :] - theta[None]).sum(axis=2)

    axis = np.linspace(-9.0, 9.0, 121)  # spacing .15: at most half a deviation of every mode
    prior = Gaussian([0.0, 0.0], deviation**2 * np.eye(2))
    grid = Grid([axis, axis], Logistic(), NonLinear(reached, 2), prior)
    posterior = grid.update(np.array(figures["X"]), figures["y"])
    # 9 is 4.5 prior deviations: 1.4e-5 of the prior's mass lie beyond, of an evidence of .6 or less
    assert posterior.log_evidence == pytest.approx(figures["log_evidence"], abs=3e-5)
    np.testing.assert_allclose(posterior.mean, figures["mean"], atol=2e-4)
    np.testing.assert_allclose(posterior.covariance, figures["covariance"], atol=1e-3)
    if name == "one_mode":
        side = np.linspace(-4.0, 4.0, 17)
        candidates = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        gain = Belief(posterior).information_gain(candidates) * np.log(2.0)
        np.testing.assert_allclose(gain, figures["gain_nats"], atol=1e-7)


def test_three_parameters_against_a_finer_grid():
    channel, encoder, prior, rows, labels, figures = smc("locate")
    scale = np.array(figures["sd0"])
    axes = [
        mean + deviation * np.linspace(low, high, 49)
        for mean, deviation, (low, high) in zip(figures["mu0"], scale, figures["box"])
    ]
    posterior = Grid(axes, channel, encoder, prior).update(rows, labels)
    # a spacing of .6 deviations on the box of the figures, which ends where nothing is
    assert posterior.resolution > 1.5
    assert posterior.log_evidence == pytest.approx(figures["log_evidence"], abs=1e-6)
    np.testing.assert_allclose(posterior.mean, figures["mean"], atol=1e-6)
    np.testing.assert_allclose(posterior.covariance, figures["covariance"], atol=1e-6)


def test_gaussian_densities_in_any_form_are_the_same():
    mean, covariance = [0.5, -0.2], [[2.0, 0.3], [0.3, 0.25]]
    frozen: Any = multivariate_normal(mean, np.array(covariance))  # type: ignore[arg-type]
    forms: list[Any] = [Gaussian(mean, covariance), frozen, frozen.pdf]
    found = [a_grid(prior).log_weights for prior in forms]
    for logs in found[1:]:
        np.testing.assert_allclose(logs, found[0], atol=1e-10)
    cells = np.full((13, 5), 0.5 * 0.5)
    cells[[0, -1]] /= 2
    cells[:, [0, -1]] /= 2
    np.testing.assert_allclose(np.exp(found[0]), frozen.pdf(a_grid().theta) * cells.ravel())


# Bayes' rule --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_weights_evidence_and_moments(seed):
    rng = np.random.default_rng(seed)
    masses = rng.random((13, 5)) * (rng.random((13, 5)) > 0.3) + 1e-9
    rows, labels = rng.normal(size=(6, 1)) * 2, rng.integers(0, 2, size=6)
    posterior = a_grid(masses).update(rows, labels)
    l = np.exp(posterior.theta[:, 1]) * (rows - posterior.theta[:, 0])
    joint = masses.ravel() / masses.sum() * np.where(labels[:, None], expit(l), expit(-l)).prod(0)
    np.testing.assert_allclose(posterior.weights, joint / joint.sum(), rtol=1e-9)
    assert posterior.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-10)
    marginal = (joint / joint.sum()).reshape(13, 5)
    np.testing.assert_allclose(posterior.marginal(0), marginal.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(posterior.marginal(1), marginal.sum(axis=0), rtol=1e-9)
    centred = posterior.theta - posterior.weights @ posterior.theta
    expected = np.einsum("s,si,sj->ij", posterior.weights, centred, centred)
    np.testing.assert_allclose(posterior.covariance, expected, atol=1e-12)
    outer = marginal[0].sum() + marginal[-1].sum() + marginal[1:-1, [0, -1]].sum()
    assert posterior.edge_mass == pytest.approx(outer, rel=1e-9)


def test_ten_thousand_labels_do_not_underflow():
    rows = np.tile(X, (1112, 1))[:10_000]
    labels = np.random.default_rng(0).integers(0, 2, size=10_000)
    at_once = a_grid().update(rows, labels)
    in_parts = a_grid().update(rows[:5000], labels[:5000]).update(rows[5000:], labels[5000:])
    l = np.exp(at_once.theta[:, 1]) * (X - at_once.theta[:, 0])
    ones = np.bincount(np.arange(10_000) % 9, weights=labels)
    zeros = np.bincount(np.arange(10_000) % 9, weights=1 - labels)
    exact = ones @ log_expit(l) + zeros @ log_expit(-l) - np.log(65)
    for posterior in (at_once, in_parts):
        # sums of ten thousand terms of order one, rounded at 1e-16 of their total of 1e4
        np.testing.assert_allclose(posterior.log_weights, exact, rtol=1e-12)
        assert posterior.weights.sum() == pytest.approx(1.0)
        assert np.isfinite(posterior.log_evidence)


def test_reparametrisation_changes_nothing():
    """The same points by other names: masses, predictions and gains stay."""
    rows, labels = X[::2], [0, 1, 0, 1, 1]
    plain = a_grid().update(rows, labels)
    renamed = NonLinear(lambda t, Z: t[:, 1] * (Z[:, :1] - np.cbrt(t[:, 0])), 2)
    other = Grid([AXES[0] ** 3, np.exp(AXES[1])], Logistic(), renamed).update(rows, labels)
    np.testing.assert_allclose(other.weights, plain.weights, rtol=1e-9)
    assert other.log_evidence == pytest.approx(plain.log_evidence)
    np.testing.assert_allclose(
        Belief(other).information_gain(X), Belief(plain).information_gain(X), atol=1e-12
    )
    shuffled = Grid([AXES[0][::-1], AXES[1]], Logistic(), slope).update(rows, labels)
    np.testing.assert_allclose(
        shuffled.weights.reshape(13, 5)[::-1].ravel(), plain.weights, rtol=1e-12
    )


def test_a_linear_encoder_and_classes():
    axes = [np.linspace(-2, 2, 5)] * 4
    grid = Grid(axes, Softmax(2), Linear())
    line = NonLinear(lambda t, Z: np.stack([Z @ t[:, :2].T, Z @ t[:, 2:].T], axis=2), 4)
    bent = Grid(axes, Softmax(2), line)
    rows = np.random.default_rng(1).normal(size=(6, 2))
    labels = ["b", "a", "a", "b", "a", "a"]
    np.testing.assert_allclose(
        grid.update(rows, labels).weights, bent.update(rows, labels).weights, rtol=1e-9
    )


@pytest.mark.parametrize(
    "grid", [a_grid(), Grid(AXES, Lapse(Logistic(), 0.1, 0.1), slope)], ids=["plain", "lapse"]
)
def test_the_contract_of_a_posterior(grid):
    rows = np.random.default_rng(0).normal(size=(12, 3))
    check_posterior(grid, rows)


# Saying when a density has outgrown its grid ------------------------------------------------------


def test_warnings_for_densities_only():
    prior = Gaussian([0.0, 0.0], np.eye(2))
    rows, labels = np.repeat(X, 40, axis=0), np.repeat(X[:, 0] > 0.2, 40)
    wide = Grid([np.linspace(-6, 6, 25), np.linspace(-5, 5, 25)], Logistic(), slope, prior)
    with pytest.warns(UserWarning, match="too coarse"):
        seen = wide.update(rows, labels)
    assert seen.resolution < 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen.update([0.0], 1)  # it has been said
        a_grid().update(rows, labels)  # the grid is the model
    with pytest.warns(UserWarning, match="too small: .* mass"):
        a_grid(prior).update([[0.0]], [1])


def test_resolution_is_in_units_of_the_spacing():
    axis = np.linspace(-8.0, 8.0, 33)
    grid = Grid([axis, [1.0]], Logistic(), slope, Gaussian([0.0, 1.0], np.diag([4.0, 1.0])))
    assert grid.resolution == pytest.approx(2.0 / 0.5, rel=1e-3)
    assert Grid([[0.0], [1.0]], Logistic(), slope).resolution == np.inf
    assert Grid([[0.0], [1.0]], Logistic(), slope).edge_mass == 0.0


# What is refused ----------------------------------------------------------------------------------


def test_impossible_labels_are_refused_and_the_state_is_kept():
    channel = Lapse(Logistic(), 0.0, 0.0)
    far = NonLinear(lambda t, Z: np.where(Z < 0, -1e5, 1e5) + 0 * t[:, 0], 1)
    belief = Belief(Grid([[0.0, 1.0]], channel, far)).update([1.0], 1)
    before = np.array(belief.posterior.log_weights)  # type: ignore[attr-defined]
    with np.errstate(all="ignore"):
        impossible = NonLinear(lambda t, Z: np.where(Z < 0, -1e308, 1e5) + 0 * t[:, 0], 1)
        never = Grid([[0.0, 1.0]], Certain(), impossible)
        with pytest.raises(InvalidArgument, match="must be possible"):
            never.update([[1.0], [-1.0]], [1, 1])
    np.testing.assert_array_equal(belief.posterior.log_weights, before)  # type: ignore[attr-defined]
    assert never.update([1.0], 1).num_observations == 1


class Certain(Logistic):
    """Answers by the sign of l, without noise."""

    def log_prob(self, l):
        yes = l > 0
        return np.log(np.stack([~yes, yes], axis=-1).astype(float))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": np.linspace(0, 1, 5)}, "list of arrays"),
        ({"axes": "ab"}, "list of arrays"),
        ({"axes": []}, "list of arrays"),
        ({"axes": [AXES[0], 1.0]}, "list of arrays"),
        ({"axes": [AXES[0]]}, "2 parameters"),
        ({"axes": [AXES[0], [1.0, 1.0]]}, "distinct"),
        ({"axes": [AXES[0], [1.0, np.nan]]}, "finite"),
        ({"axes": [np.arange(1e4), np.arange(1e4)]}, "at most"),
        ({"prior": np.zeros(65)}, "mass at some point"),
        ({"prior": np.ones(64)}, "one mass for each point"),
        ({"prior": -np.ones(65)}, "not be negative"),
        ({"prior": lambda theta: np.zeros(len(theta))}, "mass at some point"),
        ({"prior": lambda theta: theta[:, 0]}, "not its logarithm"),
        ({"prior": lambda theta: np.ones((len(theta), 2))}, "one value for each"),
        ({"prior": Gaussian([0.0], [[1.0]])}, "law of 2 parameters"),
        ({"prior": Gaussian([0.0, 0.0], np.diag([1.0, 0.0]))}, "variance may be zero"),
        ({"prior": Gaussian([0.0, 0.0], np.ones((2, 2)))}, "singular"),
        ({"channel": "logistic"}, "channel"),
        ({"encoder": np.tanh}, "encoder"),
    ],
)
def test_bad_arguments(arguments, message):
    good = {"axes": AXES, "channel": Logistic(), "encoder": slope}
    with pytest.raises(InvalidArgument, match=message):
        Grid(**(good | arguments))


def test_the_encoder_is_not_asked_where_the_prior_has_no_mass():
    root = NonLinear(lambda t, Z: np.sqrt(t[:, 0]) * Z, 1)
    axis = np.linspace(-1.0, 2.0, 7)
    with pytest.raises(InvalidArgument, match=r"theta = \[-1\.0\]"):
        Grid([axis], Logistic(), root).update([1.0], 1)
    grid = Grid([axis], Logistic(), root, np.where(axis < 0, 0.0, 1.0)).update([1.0], 1)
    inside = Grid([axis[axis >= 0]], Logistic(), root).update([1.0], 1)
    np.testing.assert_allclose(grid.weights[axis >= 0], inside.weights)
    assert not grid.weights[axis < 0].any()
    for about in (None, [0]):
        found = InformationGain(about=about).scores(Belief(grid), X)
        np.testing.assert_allclose(found, Belief(inside).information_gain(X), atol=1e-14)
    np.testing.assert_allclose(Belief(grid).push(X).mean, Belief(inside).push(X).mean)


def test_axes_of_any_make():
    shapes = [
        Grid(axes, Logistic(), slope).shape
        for axes in ([[0, 1], [0, 1, 2]], ([0.0, 1.0], range(3)), iter([[0, 1], [0, 1, 2]]))
    ]
    assert shapes == [(2, 3)] * 3


@pytest.mark.parametrize("place", [-1, 2, 0.5, True, "a"])
def test_parameters_are_numbers_of_axes(place):
    with pytest.raises(InvalidArgument, match=r"in 0\.\.1"):
        a_grid().marginal(place)


# Copies -------------------------------------------------------------------------------------------


def test_copies_go_on_and_carry_no_tables():
    grid = Grid([AXES[0]], Logistic(), Linear()).update([1.0], 1)
    Belief(grid).information_gain(X)
    for copy in (pickle.loads(pickle.dumps(grid)), deepcopy(grid), grid.restored(grid.state())):
        assert not copy._kept
        np.testing.assert_array_equal(copy.weights, grid.weights)
        np.testing.assert_array_equal(copy.update([2.0], 0).weights, grid.update([2.0], 0).weights)
        assert copy.log_evidence == grid.log_evidence


def test_the_largest_value_of_a_density_is_not_that_of_its_cells():
    axis = np.array([0.0, 1.0, 1.1, 1.2, 5.0])  # the cell of 5 is the widest
    grid = Grid([axis], Logistic(), Linear(), lambda t: np.exp(-np.square(t[:, 0] - 1.1)))
    assert grid.map == pytest.approx([1.1])


def test_spacing_is_the_mean_distance_to_the_neighbours():
    np.testing.assert_allclose(spacing(np.array([0.0, 1.0, 3.0, 10.0])), [1.0, 1.5, 4.5, 7.0])
    np.testing.assert_allclose(spacing(np.array([10.0, 0.0, 3.0, 1.0])), [7.0, 1.0, 4.5, 1.5])
