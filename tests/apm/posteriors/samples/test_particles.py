"""Particles: moments and evidence of dense grids, streams, invariance, and what is refused."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from apm import Belief, Grid, InformationGain, Learner, Linear, NonLinear, Particles
from apm.posteriors.samples.monte_carlo import systematic
from apm.selectors.default import default_selector
from apm.testing import check_posterior
from channelcode import Gaussian, Logistic, Softmax
from channelcode.errors import InvalidArgument, NotConverged
from tests.apm.posteriors.samples.models import GOLDEN, smc


def sloped(theta: Any, rows: Any) -> Any:
    return np.exp(theta[:, 1]) * (rows[:, :1] - theta[:, 0])


line = NonLinear(sloped, 2)
WIDE = Gaussian([0.0, 0.0], np.diag([4.0, 0.25]))
X = np.linspace(-4.0, 4.0, 12)[:, None]
Y = (X[:, 0] > 0.3).astype(int)


def some(**options: Any) -> Particles:
    return Particles(Logistic(), line, WIDE, **({"samples": 200, "rng": 1} | options))


# Against dense grids ------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [1000, 4000])
@pytest.mark.parametrize("name", ["locate", "item", "weibull"])
def test_moments_and_evidence_within_the_bars(name, samples):
    channel, encoder, prior, rows, labels, figures = smc(name)
    bars = GOLDEN["F_smc"]["smc"][f"{name}/{samples}"]
    found = Particles(channel, encoder, prior, samples=samples, rng=0).update(rows, labels)
    deviations = np.sqrt(np.diag(figures["covariance"]))
    # five of the deviations that ten runs of a prototype had
    assert abs(found.log_evidence - figures["log_evidence"]) < 5 * bars["logz_sd"]
    error = np.abs(found.mean - figures["mean"]) / deviations
    assert (error < 5 * np.array(bars["mean_sd_in_sd"])).all()
    ratio = np.abs(np.diag(found.covariance) / deviations**2 - 1.0)
    assert (ratio < 5 * np.array(bars["variance_ratio_sd"])).all()
    assert found.ess > samples / 2
    assert 0.2 < found.acceptance < 0.95


@pytest.mark.parametrize("name", ["one_mode", "two_modes", "ring"])
def test_a_location_with_one_mode_two_or_a_ring(name):
    figures = GOLDEN["D_locate"][name]
    a, b, deviation = figures["a"], figures["b"], figures["prior_sd"]

    def reached(theta, rows):
        return b - a * np.square(rows[:, None, :] - theta[None]).sum(axis=2)

    prior = Gaussian([0.0, 0.0], deviation**2 * np.eye(2))
    found = Particles(Logistic(), NonLinear(reached, 2), prior, samples=2000, rng=3)
    found = found.update(np.array(figures["X"]), figures["y"])
    bars = figures["smc_2000"]
    # the ring's evidence varies so little that rounding up its bar costs nothing
    allowed = 5 * max(bars["dlogz_sd"], 0.02)
    assert abs(found.log_evidence - figures["log_evidence"]) < allowed
    # mean_error is itself a mean of absolute errors of eight runs: five of it, at least .05
    error = np.abs(found.mean - figures["mean"]).max()
    assert error < max(5 * bars["mean_error"], 0.05)
    if name != "ring":
        side = np.linspace(-4.0, 4.0, 17)
        candidates = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        gain = np.array(figures["gain_nats"])
        pick = int(np.argmax(Belief(found).information_gain(candidates)))
        assert gain.max() - gain[pick] < 0.05 * gain.max()


def test_the_evidence_is_unbiased_on_its_own_scale():
    axes = [np.linspace(-12.0, 12.0, 241), np.linspace(-3.0, 3.0, 61)]
    exact = Grid(axes, Logistic(), line, WIDE).update(X, Y).log_evidence
    ratios = [
        np.exp(some(samples=100, rng=seed).update(X, Y).log_evidence - exact) for seed in range(80)
    ]
    mean, error = np.mean(ratios), np.std(ratios, ddof=1) / np.sqrt(len(ratios))
    assert error < 0.05  # else the next line could not fail
    # fixed seeds: four standard errors leave room for other versions of NumPy's streams
    assert abs(mean - 1.0) < 4 * error


def test_labels_without_noise():
    """A threshold known to lie between two answers: uniform there, and impossible elsewhere."""
    step = NonLinear(lambda theta, rows: rows - theta[:, 0], 1)

    class Uniform:
        def log_density(self, theta):
            inside = (np.abs(theta[:, 0]) <= 1.0) & (theta[:, 0] != 0.0)
            return np.where(inside, np.log(0.5), -np.inf)

        def sample(self, count, rng):
            return rng.uniform(-1.0, 1.0, size=(count, 1))

    prior = Particles(Certain(), step, Uniform(), samples=1000, rng=0)
    found = prior.update([[0.5], [-0.3], [0.1], [0.0]], [1, 0, 1, 0])
    assert found.theta.min() >= -1.0
    inside = found.theta[found.weights > 0, 0]
    assert inside.min() >= 0.0
    assert inside.max() <= 0.1
    assert found.mean == pytest.approx([0.05], abs=0.01)  # 0.029 / sqrt(1000), and moves
    # ln of the prior mass of (0, .1): four labels, each with an error of about 1/sqrt(1000)
    assert found.log_evidence == pytest.approx(np.log(0.05), abs=0.4)
    with pytest.raises(InvalidArgument, match="must be possible"):
        found.update([-0.5], 1)
    assert found.update([0.9], 1).num_observations == 5


class Certain(Logistic):
    """Answers by the sign of l, without noise."""

    def log_prob(self, l):
        yes = l >= 0
        return np.log(np.stack([~yes, yes], axis=-1).astype(float))


# Streams ------------------------------------------------------------------------------------------


def test_one_by_one_is_at_once_and_repeats():
    at_once = some().update(X, Y)
    in_turn = some()
    for row, label in zip(X, Y):
        in_turn = in_turn.update(row, label)
    refitted = in_turn.update([0.0], 1).fit(X, Y)
    for other in (in_turn, refitted, some().update(X, Y)):
        np.testing.assert_array_equal(other.theta, at_once.theta)
        np.testing.assert_array_equal(other.weights, at_once.weights)
        assert other.log_evidence == at_once.log_evidence
    assert not np.array_equal(some(rng=2).update(X, Y).theta, at_once.theta)


def test_copies_and_files_go_on_with_the_same_stream():
    held = some().update(X[:6], Y[:6])
    expected = held.update(X[6:], Y[6:])
    assert expected.resamplings > 0
    copies = (pickle.loads(pickle.dumps(held)), deepcopy(held), held.restored(held.state()))
    for copy in copies:
        after = copy.update(X[6:], Y[6:])
        np.testing.assert_array_equal(after.theta, expected.theta)
        assert (after.log_evidence, after.acceptance) == (
            expected.log_evidence,
            expected.acceptance,
        )
    assert all(array.dtype != object for array in held.state().values())


def test_the_global_random_state_is_left_alone():
    before: Any = np.random.get_state()  # noqa: NPY002
    some().update(X, Y)
    after: Any = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], before[1])


def test_units_and_origin_of_the_parameters_do_not_matter():
    """theta' = scale * theta + shift, with the prior and the encoder that belong to it."""
    scale, shift = np.array([64.0, 2.0**-12]), np.array([640.0, -3.0])
    mapped = Gaussian(
        scale * np.asarray(WIDE.mean) + shift, np.diag(scale) @ WIDE.covariance @ np.diag(scale)
    )
    moved = NonLinear(lambda theta, rows: line.inputs((theta - shift) / scale, rows), 2)
    plain = some().update(X, Y)
    other = Particles(Logistic(), moved, mapped, samples=200, rng=1).update(X, Y)
    assert other.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)
    # shifts round at 1e-16 of 640 and of 3 / 2^-12
    np.testing.assert_allclose((other.theta - shift) / scale, plain.theta, atol=1e-8)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-8)


# The contract -------------------------------------------------------------------------------------


def test_the_contract_of_a_posterior():
    rows = np.random.default_rng(0).normal(size=(12, 3))
    check_posterior(some(), rows, exact=False)
    linear = Particles(Logistic(), Linear(), Gaussian(np.zeros(3), np.eye(3)), samples=100)
    check_posterior(linear, rows, exact=False)
    classes = Particles(Softmax(2), Linear(), Gaussian(np.zeros(6), np.eye(6)), samples=100)
    check_posterior(classes, rows, exact=False)


def test_a_linear_encoder_agrees_with_laplace():
    """Many labels: both are nearly the same Gaussian."""
    from apm import Laplace

    rng = np.random.default_rng(5)
    rows = rng.normal(size=(150, 2))
    labels = (rows @ [1.0, -0.5] + rng.logistic(size=150) > 0).astype(int)
    gaussian = Laplace(Logistic(), 1.0).fit(rows, labels)
    found = Particles(Logistic(), Linear(), Gaussian([0.0, 0.0], np.eye(2)), samples=2000)
    found = found.update(rows, labels)
    deviations = np.sqrt(np.diag(np.asarray(gaussian.covariance)))
    # Laplace sits at the mode; 150 labels leave a skewness of some hundredths of a deviation
    assert (np.abs(found.mean - gaussian.mean) < 0.2 * deviations).all()
    np.testing.assert_allclose(
        found.covariance, gaussian.covariance, atol=0.2 * deviations.max() ** 2
    )


def test_in_a_learner(tmp_path):
    model = some(samples=100)
    assert default_selector(Belief(model)) == InformationGain()
    learner = Learner(X, model, seed=4)
    for _ in range(4):
        row = int(learner.ask())
        learner.tell(row, int(Y[row]))
    picks = learner.ask(4)
    assert len(set(picks.tolist())) == 4
    before = learner.belief.posterior.mean
    learner.tell(int(picks[0]), 1)
    learner.undo()
    np.testing.assert_array_equal(learner.belief.posterior.mean, before)
    first = int(learner.labelled[0])
    learner.correct(first, 1 - int(Y[first]))
    learner.correct(first, int(Y[first]))
    np.testing.assert_array_equal(learner.belief.posterior.mean, before)
    path = learner.save(tmp_path / "learner.npz")
    with pytest.raises(InvalidArgument, match="must be given to load"):
        Learner.load(path)
    with pytest.raises(InvalidArgument, match="plan"):
        Learner.load(path, model=some(samples=101))
    again = Learner.load(path, model=model)
    assert again.ask(4).tolist() == learner.ask(4).tolist()
    linear = Learner(
        X, Particles(Logistic(), Linear(), Gaussian([0.0], [[1.0]]), samples=50), seed=0
    )
    linear.tell([0, 11], [0, 1])
    whole = Learner.load(linear.save(tmp_path / "linear.npz"))
    assert whole.ask(3).tolist() == linear.ask(3).tolist()


def test_priors_of_other_makes():
    frozen: Any = multivariate_normal([0.0, 0.0], np.diag([4.0, 0.25]))  # type: ignore[arg-type]
    found = Particles(Logistic(), line, frozen, samples=2000, rng=0).update(X, Y)
    plain = some(samples=2000).update(X, Y)
    deviations = np.sqrt(np.diag(plain.covariance))
    # two independent runs, each good to about .03 deviations
    assert (np.abs(found.mean - plain.mean) < 0.25 * deviations).all()
    state = found.state()
    again = Particles.from_state(state, found.channel, encoder=line, prior=frozen)
    np.testing.assert_array_equal(again.theta, found.theta)
    assert Particles(Logistic(), line).theta.shape == (1000, 2)
    larger = some().update(X, Y).with_samples(500)
    assert larger.theta.shape == (500, 2)
    assert larger.num_observations == len(Y)
    assert larger.sample(7, rng=0).shape == (7, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior": Gaussian([0.0], [[1.0]])}, "law of 2 parameters"),
        ({"prior": Gaussian([0.0, 0.0], np.ones((2, 2)))}, "singular"),
        ({"prior": Gaussian([0.0, 0.0], np.zeros((2, 2)))}, "variance may be zero"),
        ({"prior": lambda theta: np.ones(len(theta))}, "sample"),
        ({"prior": None, "encoder": Linear()}, "must be given with a linear encoder"),
        ({"samples": 1}, "samples"),
        ({"moves": 0}, "moves"),
        ({"rng": -1}, "rng"),
        ({"channel": None}, "channel"),
    ],
)
def test_bad_arguments(arguments, message):
    good = {"channel": Logistic(), "encoder": line, "prior": WIDE}
    with pytest.raises(InvalidArgument, match=message):
        Particles(**(good | arguments))


def test_an_encoder_that_is_not_finite_is_named_and_nothing_changes():
    root = NonLinear(lambda theta, rows: np.sqrt(theta[:, 0]) * rows, 1)
    posterior = Particles(Logistic(), root, Gaussian([0.0], [[1.0]]), samples=50)
    with pytest.raises(InvalidArgument, match=r"nan at theta = \[-"):
        posterior.update([1.0], 1)
    assert posterior.num_observations == 0


def test_likelihoods_steeper_than_numbers_are_refused_at_once():
    """1e6 is learnt in steps; with 1e300 no step in [0, 1] would be small enough."""
    for steepness in (1e6, 1e300):
        cliff = NonLinear(lambda theta, rows, a=steepness: a * (rows - theta[:, 0]), 1)
        posterior = Particles(Logistic(), cliff, Gaussian([0.0], [[1.0]]), samples=200)
        if steepness == 1e6:
            found = posterior.update([[0.1], [-0.1]], [1, 0])
            assert found.mean == pytest.approx([0.0], abs=0.02)  # uniform on .2, 200 draws
            assert found.log_evidence == pytest.approx(np.log(0.0797), abs=0.5)
            continue
        with pytest.raises(NotConverged, match="too steep"):
            posterior.update([[0.1], [-0.1]], [1, 0])


@pytest.mark.parametrize("seed", range(5))
def test_systematic_resampling_is_fair(seed):
    rng = np.random.default_rng(seed)
    weights = rng.random(50) * (rng.random(50) > 0.4)
    weights /= weights.sum()
    counts = np.bincount(systematic(weights, rng), minlength=50)
    assert (np.abs(counts - 50 * weights) < 1.0).all()
    assert not counts[weights == 0].any()
