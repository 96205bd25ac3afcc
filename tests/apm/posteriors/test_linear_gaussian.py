"""Linear regression: the exact posterior, and what the rules make of it, against closed forms."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from apm import (
    APM,
    BALD,
    EPIG,
    Belief,
    Entropy,
    FixedPower,
    InformationGain,
    Learner,
    LinearGaussian,
    Margin,
    MaxVariance,
    PoolMaxPower,
    Predictions,
    SignalPower,
    Uncertainty,
)
from apm.selectors.matching.views import as_choice
from apm.testing import check_posterior
from channelcode import AdditiveGaussian, Gaussian
from channelcode.errors import InvalidArgument
from channelcode.transport import w2

seeds = st.integers(0, 2**32 - 1)


def problem(seed, n=12, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.lognormal(size=p)
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    return X, y, float(rng.lognormal()), float(rng.lognormal())


def textbook(X, y, noise, precision):
    """Mean and covariance by the normal equations."""
    covariance = np.linalg.inv(precision * np.eye(X.shape[1]) + X.T @ X / noise**2)
    return covariance @ X.T @ y / noise**2, covariance


@pytest.mark.parametrize("intercept", [False, True])
def test_the_contract_of_a_posterior(intercept):
    check_posterior(LinearGaussian(0.3, 0.5, intercept=intercept))


@given(seed=seeds)
def test_it_is_the_textbook_posterior(seed):
    X, y, noise, precision = problem(seed)
    mean, covariance = textbook(X, y, noise, precision)
    found = LinearGaussian(noise, precision).fit(X, y)
    scale = np.sqrt(np.diag(covariance))
    # rtol: the oracle inverts a matrix whose condition number reaches about 1e6
    np.testing.assert_allclose(found.mean / scale, mean / scale, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        found.covariance, covariance, rtol=1e-7, atol=1e-9 * scale.max() ** 2
    )
    spread: Any = X @ X.T / precision + noise**2 * np.eye(len(X))
    expected = multivariate_normal(cov=spread).logpdf(y)
    assert found.log_evidence == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_its_mean_is_that_of_ridge_regression():
    from sklearn.linear_model import Ridge

    X, y, noise, precision = problem(3)
    ridge = Ridge(alpha=precision * noise**2, fit_intercept=False).fit(X, y)
    found = LinearGaussian(noise, precision).fit(X, y)
    np.testing.assert_allclose(found.mean, ridge.coef_, rtol=1e-9)


@settings(max_examples=20)
@given(seed=seeds, counts=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_weights_count_labels(seed, counts):
    X, y, noise, precision = problem(seed, n=6)
    X, y = X[: len(counts)], y[: len(counts)]
    weighted = LinearGaussian(noise, precision).sized(X.shape[1])
    if sum(counts) == 0:
        return
    weighted = weighted.update(X, y, np.array(counts, dtype=float))
    repeated = LinearGaussian(noise, precision).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-7, atol=1e-12)
    assert weighted.log_evidence == pytest.approx(repeated.log_evidence, rel=1e-9, abs=1e-9)


def test_many_features_live_in_the_span_of_the_examples():
    X, y, noise, precision = problem(5, n=20, p=300)
    mean, covariance = textbook(X, y, noise, precision)
    found = LinearGaussian(noise, precision).fit(X[:7], y[:7])
    for row, label in zip(X[7:], y[7:], strict=True):
        found = found.update(row, label)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6, atol=1e-8)
    again = LinearGaussian.from_state(found.state())
    np.testing.assert_array_equal(again.mean, found.mean)


@pytest.mark.parametrize("size", [1e-16, 1e8, 1e16, 1e60])
def test_units_of_the_features_do_not_matter(size):
    """One feature: 1 / variance = precision + x^2 / noise^2, a formula without cancellation."""
    found = LinearGaussian(0.5, 2.0).fit([[size], [2 * size]], [1.0, 3.0])
    precision = 2.0 + 5 * size**2 / 0.25
    assert found.covariance[0, 0] == pytest.approx(1 / precision, rel=1e-12)
    assert found.mean[0] == pytest.approx(7 * size / 0.25 / precision, rel=1e-12)


@given(seed=seeds)
def test_information_gain_is_the_d_optimal_design(seed):
    X, y, noise, precision = problem(seed)
    belief = Belief(LinearGaussian(noise, precision).fit(X[:3], y[:3]))
    _, before = np.linalg.slogdet(precision * np.eye(4) + X[:3].T @ X[:3] / noise**2)
    after = [
        np.linalg.slogdet(
            precision * np.eye(4) + X[:3].T @ X[:3] / noise**2 + np.outer(x, x) / noise**2
        )[1]
        for x in X
    ]
    expected = 0.5 * (np.array(after) - before) / np.log(2)
    np.testing.assert_allclose(InformationGain().scores(belief, X), expected, atol=1e-8)
    np.testing.assert_allclose(BALD().scores(belief, X, rng=0), expected, atol=1e-8)
    best = int(np.argmax(expected))
    assert MaxVariance().select(belief, X) == [best] or np.isclose(
        expected[MaxVariance().select(belief, X)[0]], expected[best]
    )


def test_a_batch_is_the_greedy_d_optimal_design():
    X, _, noise, precision = problem(11, n=40)
    chosen = InformationGain().select(Belief(LinearGaussian(noise, precision)), X, n=6)
    information, greedy = precision * np.eye(4), []
    for _ in range(6):
        spread = np.einsum("ij,jk,ik->i", X, np.linalg.inv(information), X)
        spread[greedy] = -np.inf
        greedy.append(int(np.argmax(spread)))
        information = information + np.outer(X[greedy[-1]], X[greedy[-1]]) / noise**2
    assert chosen.tolist() == greedy


def average_variance(X, design, noise, precision):
    information = precision * np.eye(X.shape[1]) + design.T @ design / noise**2
    return np.mean(np.einsum("ij,jk,ik->i", X, np.linalg.inv(information), X))


@given(seed=seeds)
def test_the_signal_of_the_effective_channel_is_the_i_optimal_design(seed):
    """s / (s + noise^2), with s the signal's variance, is the share of the average predictive
    variance over the targets that the label takes away."""
    X, y, noise, precision = problem(seed)
    held = X[:3]
    belief = Belief(LinearGaussian(noise, precision).fit(held, y[:3]))
    before = average_variance(X, held, noise, precision)
    taken = [1.0 - average_variance(X, np.vstack((held, x)), noise, precision) / before for x in X]
    message = Predictions(X)
    view = as_choice(None).view(belief, belief.push(X))
    signal = message.effective(None, belief, X, None, view).laws.total_variance
    np.testing.assert_allclose(signal / (signal + noise**2), taken, rtol=1e-6, atol=1e-9)


@given(seed=seeds)
def test_before_labels_the_effective_channel_rule_picks_the_i_optimal_design(seed):
    X, _, noise, precision = problem(seed)
    belief = Belief(LinearGaussian(noise, precision))
    rule = APM(SignalPower(), message=Predictions(X))
    left = [average_variance(X, x[None], noise, precision) for x in X]
    chosen = int(rule.select(belief, X)[0])
    assert left[chosen] == pytest.approx(min(left), rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"pooled": False}, {"exact": True}])
def test_apm_is_the_distance_to_the_gaussian_of_the_power(options):
    X, y, noise, precision = problem(2)
    belief = Belief(LinearGaussian(noise, precision).fit(X, y))
    laws = belief.push(X)
    expected = [-w2(laws[i], Gaussian(0.0, 3.0)).squared for i in range(len(X))]
    np.testing.assert_allclose(APM(FixedPower(3.0)).scores(belief, X), expected, rtol=1e-9)
    # one target that is the candidate itself: all of its input is signal
    message = Predictions(X[:1], weighted=False, **options)
    scores = APM(FixedPower(3.0), message=message).scores(belief, X[:1])
    np.testing.assert_allclose(scores, expected[:1], rtol=1e-7)


@given(seed=seeds)
def test_epig_is_the_information_between_two_labels(seed):
    X, y, noise, precision = problem(seed)
    belief = Belief(LinearGaussian(noise, precision).fit(X[:3], y[:3]))
    _, covariance = textbook(X[:3], y[:3], noise, precision)
    expected = np.zeros(len(X))
    for place, x in enumerate(X):
        for target in X[:5]:
            rows = np.stack((x, target))
            joint = rows @ covariance @ rows.T + noise**2 * np.eye(2)
            expected[place] += np.log(joint[0, 0] * joint[1, 1]) - np.linalg.slogdet(joint)[1]
    expected *= 0.5 / 5 / np.log(2)
    found = EPIG(targets=X[:5]).scores(belief, X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_a_learner_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.7 + 0.1 * rng.normal(size=80)
    model = LinearGaussian(0.1, 1.0, intercept=True)
    learner = Learner(X, model, seed=0)
    assert learner.selector == InformationGain()
    for _ in range(12):
        row = int(learner.ask())
        learner.tell(row, y[row])
    assert np.sqrt(np.mean((learner.predict() - y) ** 2)) < 0.2  # twice the noise
    assert learner.predict(X[:2]).shape == (2,)
    assert 0 < learner.efficiency.total <= 1
    loaded = Learner.load(learner.save(tmp_path / "numbers.npz"))
    np.testing.assert_array_equal(loaded.predict(), learner.predict())
    assert loaded.ask(4).tolist() == learner.ask(4).tolist()
    for again in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        np.testing.assert_array_equal(again.predict(), learner.predict())
    first = int(learner.labelled[0])
    learner.correct(first, y[first] + 3.0)
    learner.undo()
    np.testing.assert_allclose(learner.predict(), loaded.predict(), rtol=1e-12)
    assert "numbers" in learner._repr_html_()


@pytest.mark.parametrize("selector", [Margin(), Entropy(), Uncertainty(), Margin(bayesian=True)])
def test_rules_about_classes_say_that_there_are_none(selector):
    with pytest.raises(InvalidArgument, match="must have classes"):
        Learner(np.eye(3), LinearGaussian(), selector).ask()


def test_what_needs_classes_is_refused():
    learner = Learner(np.eye(3), LinearGaussian(), seed=0)
    learner.tell([0, 1], [1, 2.5])
    for ask in (learner.predict_proba, learner.stop_advice, learner.curve):
        with pytest.raises(InvalidArgument, match="must have classes"):
            ask()
    assert not hasattr(learner, "classes_")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LinearGaussian(0.0), "noise must be positive"),
        (lambda: LinearGaussian(classes=[0, 1]), "classes must be left out"),
        (lambda: LinearGaussian().fit([[1.0]], ["a"]), "y must be numbers"),
        (lambda: LinearGaussian().fit([[1.0]], [np.nan]), "y must be all finite numbers"),
        (lambda: LinearGaussian().update([1.0], "a"), "y must be numbers"),
        (lambda: LinearGaussian(1e-200).fit([[1.0]], [1.0]), "noise must be at least"),
        (lambda: LinearGaussian().mean, "fit returns a new posterior"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidArgument, match=words):
        call()


def test_a_refused_label_changes_nothing():
    learner = Learner(np.eye(3), LinearGaussian(), seed=0)
    learner.tell(0, 1.0)
    before = learner.predict()
    with pytest.raises(InvalidArgument):
        learner.tell(1, "much")
    np.testing.assert_array_equal(learner.predict(), before)
    assert learner.labelled.tolist() == [0]


def test_the_channel_is_the_one_of_the_noise():
    assert LinearGaussian(0.25).channel == AdditiveGaussian(0.25)
    power = PoolMaxPower().power(Belief(LinearGaussian(0.25, 4.0)), [[2.0], [1.0]])
    assert power == pytest.approx(1.0)


@pytest.mark.parametrize(("feature", "label"), [(1e60, 1.0), (1.0, 1e60), (1.0, -1e60)])
def test_labels_and_features_whose_squares_overflow_beside_the_noise_are_refused(feature, label):
    with pytest.raises(InvalidArgument, match="noise must be at least"):
        LinearGaussian(1e-100, 1.0).fit([[feature]], [label])


def test_labels_of_any_size_are_learnt_in_a_list_as_in_an_array():
    listed, given = (
        LinearGaussian(1e30, 1e-60).fit([[1.0]], y) for y in ([3e30], np.array([3e30]))
    )
    assert listed.mean.tolist() == given.mean.tolist()
    assert listed.mean[0] == pytest.approx(1.5e30)
