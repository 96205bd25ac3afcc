"""The channel choices: moments of the contested pair, the reductions at K = 2, the symmetries."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower, SpectralPower, SpectralWithMean
from apm.selectors import APM, AllClasses, ContestedPair, Parameters, Predictions
from apm.selectors.matching.views import Through, contested, pair_laws
from channelcode.channels import Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, FullPool, Gaussian, ScaledPool

SEEDS = st.integers(0, 2**32 - 1)
POLICIES = [SpectralPower(), SpectralWithMean(), PoolMaxPower()]
MESSAGES = [Parameters(), Predictions(num_targets=7), Predictions(num_targets=7, weighted=False)]


def random_pool(seed: int, classes: int, rows: int = 5) -> FullPool:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(rows, classes, classes))
    return FullPool(
        2 * rng.normal(size=(rows, classes)), factor @ factor.transpose(0, 2, 1) / classes
    )


def labelled(seed: int, classes: int, rows: int = 30, features: int = 3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    return X, np.concatenate((np.arange(classes), rng.integers(0, classes, size=6)))


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(3, 6))
def test_pair_moments_agree_with_sampling(seed: int, classes: int) -> None:
    pool = random_pool(seed, classes, rows=2)
    pairs = contested(pool.mean)
    laws = pair_laws(pool, pairs)
    count = 40_000
    for row, (first, second) in enumerate(pairs):
        draws = np.asarray(Gaussian(pool.mean[row], pool.covariance[row]).sample(count, rng=seed))
        difference = draws[:, first] - draws[:, second]
        variance = laws.total_variance[row]
        # six standard errors of the sample mean and of the sample variance
        assert abs(difference.mean() - laws.mean[row]) < 6 * np.sqrt(variance / count) + 1e-12
        assert abs(difference.var() - variance) < 6 * variance * np.sqrt(2 / count) + 1e-12


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 6))
def test_pair_is_the_two_largest_means(seed: int, classes: int) -> None:
    mean = np.random.default_rng(seed).normal(size=(9, classes))
    pairs = contested(mean)
    np.testing.assert_array_equal(pairs, np.argsort(-mean, axis=1)[:, :2])


def test_pair_of_scaled_full_and_empirical_pools_agree() -> None:
    rng = np.random.default_rng(3)
    mean, scale = rng.normal(size=(6, 4)), rng.uniform(0.5, 2.0, size=6)
    shape = np.eye(4) - 0.25
    scaled = ScaledPool(mean, scale, shape)
    full = FullPool(mean, scaled.covariance)
    pairs = contested(mean)
    first, second = pair_laws(scaled, pairs), pair_laws(full, pairs)
    np.testing.assert_allclose(first.total_variance, second.total_variance, rtol=1e-12)
    np.testing.assert_allclose(first.total_variance, 2 * scale, rtol=1e-12)
    draws = rng.normal(size=(6, 11, 4))
    samples = pair_laws(EmpiricalPool(draws), pairs)
    assert isinstance(samples, EmpiricalPool)
    np.testing.assert_array_equal(
        samples.samples[2], draws[2][:, pairs[2, 0]] - draws[2][:, pairs[2, 1]]
    )


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from(POLICIES))
def test_two_classes_with_parameters_is_the_papers_rule(seed: int, policy) -> None:
    """theta_1 - theta_2 has twice the prior variance of each, so precision 2 stands for 1."""
    X, y = labelled(seed, 2)
    paper = Belief(Laplace(Logistic(), 0.5).fit(X[: len(y)], y))
    softmax = Belief(Laplace(Softmax(2), 1.0).fit(X[: len(y)], y))
    expected = APM(policy).scores(paper, X)
    pair = APM(policy, channel=ContestedPair()).scores(softmax, X)
    # the two maxima are solved to 1e-9 each
    np.testing.assert_allclose(pair, expected, rtol=1e-7, atol=1e-9)
    every = APM(policy, channel=AllClasses()).scores(softmax, X)
    np.testing.assert_allclose(2 * every, expected, rtol=1e-7, atol=1e-7)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from(POLICIES), st.sampled_from(MESSAGES))
def test_channels_agree_for_two_classes(seed: int, policy, message) -> None:
    """|centred|^2 is half of (l_1 - l_2)^2, and so is every distance."""
    X, y = labelled(seed, 2)
    belief = Belief(Bohning(2, 0.3).fit(X[: len(y)], y))
    every = APM(policy, channel=AllClasses(), message=message).scores(belief, X)
    pair = APM(policy, channel=ContestedPair(), message=message).scores(belief, X)
    np.testing.assert_allclose(2 * every, pair, rtol=1e-9, atol=1e-9)


def test_fixed_budget_is_in_the_units_of_the_channel() -> None:
    X, y = labelled(1, 2)
    belief = Belief(Bohning(2, 0.3).fit(X[: len(y)], y))
    every = APM(FixedPower(3.0), channel=AllClasses()).scores(belief, X)
    pair = APM(FixedPower(6.0), channel=ContestedPair()).scores(belief, X)
    np.testing.assert_allclose(2 * every, pair, rtol=1e-9)


def test_binary_scalar_belief_is_left_as_it_is() -> None:
    X, y = labelled(2, 2)
    belief = Belief(VariationalLogistic(0.1).fit(X[: len(y)], y))
    expected = APM().scores(belief, X)
    for channel in (AllClasses(), ContestedPair(), Logistic()):
        np.testing.assert_array_equal(APM(channel=channel).scores(belief, X), expected)


def test_any_channel_of_the_same_input() -> None:
    X, y = labelled(2, 2)
    belief = Belief(VariationalLogistic(0.1).fit(X[: len(y)], y))
    probit = Belief(belief.posterior, channel=Probit())
    np.testing.assert_array_equal(APM(channel=Probit()).scores(belief, X), APM().scores(probit, X))


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
@pytest.mark.parametrize("channel", [AllClasses(), ContestedPair()], ids=repr)
@settings(max_examples=5, deadline=None)
@given(seed=SEEDS)
def test_class_permutation_changes_nothing(channel, message, seed: int) -> None:
    X, y = labelled(seed, 4)
    order = np.random.default_rng(seed + 1).permutation(4)
    plain = Belief(Bohning(4, 0.5).fit(X[: len(y)], y))
    renamed = Belief(Bohning(4, 0.5).fit(X[: len(y)], order[y]))
    selector = APM(channel=channel, message=message)
    first, second = selector.scores(plain, X), selector.scores(renamed, X)
    # the simplex target's correlation is quasi-Monte Carlo below u*, to three digits or more
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(3, 5))
def test_shift_of_all_logits_changes_nothing(seed: int, classes: int) -> None:
    pool = random_pool(seed, classes)
    shift = np.random.default_rng(seed + 1).normal(scale=5.0, size=(len(pool), 1))
    common = 3.0 * np.ones((classes, classes))  # a common shift that is itself uncertain
    moved = FullPool(pool.mean + shift, pool.covariance + common)
    belief = Belief(Bohning(classes, 1.0))
    first = ContestedPair().view(belief, pool).laws
    second = ContestedPair().view(belief, moved).laws
    np.testing.assert_allclose(first.mean, second.mean, atol=1e-12)
    np.testing.assert_allclose(first.total_variance, second.total_variance, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_posterior_means_carry_no_common_shift(seed: int) -> None:
    """So that `AllClasses`, whose power counts a shift, never sees one."""
    X, y = labelled(seed, 3)
    for posterior in (Bohning(3, 0.5), Laplace(Softmax(3), 0.5)):
        belief = Belief(posterior.fit(X[: len(y)], y))
        np.testing.assert_allclose(belief.push(X).mean.sum(axis=1), 0.0, atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(2, 8), st.floats(0.1, 30.0))
def test_bohning_dominates_the_hessian(seed: int, classes: int, scale: float) -> None:
    l = scale * np.random.default_rng(seed).normal(size=(6, classes))
    hessian = -Softmax(classes).derivatives(l).hessian[:, 0]
    bound = 0.5 * (np.eye(classes) - 1.0 / classes)
    assert np.linalg.eigvalsh(bound - hessian).min() > -1e-12  # rounding


@settings(max_examples=8, deadline=None)
@given(SEEDS)
def test_bohning_covariance_is_below_laplace(seed: int) -> None:
    X, y = labelled(seed, 3)
    bohning = np.asarray(Bohning(3, 0.7).fit(X[: len(y)], y).covariance)
    laplace = np.asarray(Laplace(Softmax(3), 0.7).fit(X[: len(y)], y).covariance)
    assert np.linalg.eigvalsh(laplace - bohning).min() > -1e-9


def test_isotropic_distance_agrees_with_pot() -> None:
    import ot

    classes, rng = 4, np.random.default_rng(0)
    belief = Belief(Bohning(classes, 1.0))
    X = np.array([[0.8], [1.5]])
    scores = APM(FixedPower(6.0), channel=AllClasses()).scores(belief, X)
    radius = np.sqrt(6.0 / (1 - 1 / classes))
    atoms = radius * (np.eye(classes) - 1.0 / classes)
    centre = np.eye(classes) - 1.0 / classes
    for x, score in zip(X[:, 0], scores, strict=True):
        draws = x * rng.normal(size=(4000, classes)) @ centre
        cost = ot.dist(draws, atoms, metric="sqeuclidean")
        sampled = ot.emd2(np.full(4000, 1 / 4000), np.full(classes, 1 / classes), cost)
        # the standard error of the mean cost of 4000 draws, five times
        assert abs(sampled + score) < 5 * 6.0 / np.sqrt(4000)


def test_full_covariances_in_single_precision() -> None:
    """Singular along the common shift, so that rounding must not make them indefinite."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 20)), rng.integers(0, 5, size=30)
    belief = Belief(Laplace(Softmax(5), 0.1).fit(X[:30], y))
    double, single = belief.push(X), belief.push(X.astype(np.float32))
    assert isinstance(double, FullPool)
    assert isinstance(single, FullPool)
    scale = np.abs(double.covariance).max()
    # quadratic forms of 20 terms in single precision, and the slack of a few parts in 1e7
    np.testing.assert_allclose(single.covariance, double.covariance, atol=3e-5 * scale)
    pair = APM(channel=ContestedPair()).scores(belief, X.astype(np.float32))
    np.testing.assert_allclose(pair, APM(channel=ContestedPair()).scores(belief, X), rtol=1e-3)


def test_bad_choices_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="channel"):
        APM(channel="pair")
    with pytest.raises(InvalidArgument, match="message"):
        APM(message="theta")  # type: ignore[arg-type]
    X, y = labelled(0, 3)
    ordinal = Belief(Laplace(Ordinal([-1.0, 1.0]), 1.0).fit(X[: len(y)], y))
    with pytest.raises(InvalidArgument, match="softmax"):
        APM(channel=ContestedPair()).scores(ordinal, X)
    with pytest.raises(InvalidArgument, match="dim"):
        APM(channel=Softmax(3)).scores(ordinal, X)


def test_a_channel_of_the_users_own_stays_the_one_that_was_given():
    through = Through(Logistic())
    with pytest.raises(FrozenInstanceError):
        through.channel = Probit()  # type: ignore[misc]
    assert hash(through) == hash(Through(Logistic()))
