"""Power budgets: the paper's figure, validity, and the K-class forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import (
    FixedPower,
    MatchedPower,
    PoolMaxPower,
    PowerPolicy,
    SharePower,
    SignalPower,
    SpectralPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors import APM, AllClasses, ContestedPair, Predictions
from apm.selectors.matching.target import match
from channelcode.channels import Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information
from channelcode.measures import DiscreteMeasure, Gaussian, ScalarPool
from channelcode.transport import w2
from tests.apm.given import given_belief

FAMILY: list[PowerPolicy] = [SpectralPower(), SpectralWithMean(), PoolMaxPower(), FixedPower(3.0)]


def believed(kind: str, seed: int, intercept: bool = False) -> tuple[Belief, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, pool = rng.standard_normal((8, 3)), 2 * rng.standard_normal((30, 3))
    if kind == "binary":
        posterior: Any = VariationalLogistic(0.1, intercept=intercept)
    elif kind == "bohning":
        posterior = Bohning(3, 0.1, intercept=intercept)
    else:
        posterior = Laplace(Softmax(3), 0.1, intercept=intercept)
    return Belief(posterior).fit(X, np.arange(8) % posterior.num_labels), pool


@given(st.sampled_from(["binary", "bohning", "full"]), st.integers(0, 2**32 - 1), st.booleans())
def test_valid_budgets_bound_every_candidate(kind: str, seed: int, intercept: bool) -> None:
    belief, pool = believed(kind, seed, intercept)
    moments = belief.push(pool).second_moment
    tight = PoolMaxPower().power(belief, pool)
    assert tight == pytest.approx(moments.max())
    assert SpectralWithMean().power(belief, pool) >= moments.max() * (1 - 1e-9)
    # the paper's budget bounds the candidates whose mean is zero: the variance alone
    variance = belief.push(pool).total_variance.max()
    assert SpectralPower().power(belief, pool) >= variance * (1 - 1e-9)


def test_who_is_valid() -> None:
    assert [policy.valid for policy in FAMILY] == [False, True, True, False]
    # the paper's budget is beaten by a candidate far from the hyperplane
    belief = Belief(VariationalLogistic(0.01)).fit([[1.0], [-1.0], [2.0], [1.5]], [1, 0, 1, 1])
    assert SpectralPower().power(belief, [[5.0]]) < belief.push([[5.0]]).second_moment[0]


def test_formulas() -> None:
    belief, pool = believed("binary", 4)
    posterior = belief.posterior
    B = np.linalg.norm(pool, axis=1).max()
    top = np.linalg.eigvalsh(posterior.covariance)[-1]
    assert SpectralPower().power(belief, pool) == pytest.approx(B**2 * top)
    assert SpectralPower().power(belief, pool[:1], radius=B) == pytest.approx(B**2 * top)
    second = posterior.covariance + np.outer(posterior.mean, posterior.mean)
    expected = B**2 * np.linalg.eigvalsh(second)[-1]
    assert SpectralWithMean().power(belief, pool) == pytest.approx(expected)
    laws = belief.push(pool)
    assert PoolMaxPower().power(belief, pool, pool=laws) == PoolMaxPower().power(belief, pool)
    assert FixedPower(7).power(belief, pool) == 7.0


def test_several_classes_sum_the_blocks() -> None:
    belief, pool = believed("full", 5)
    blocks = np.asarray(belief.posterior.covariance).reshape(3, 3, 3, 3)
    summed = sum(blocks[a, :, a, :] for a in range(3))
    B = np.linalg.norm(pool, axis=1).max()
    assert SpectralPower().power(belief, pool) == pytest.approx(
        B**2 * np.linalg.eigvalsh(summed)[-1]
    )


@pytest.mark.parametrize("policy", FAMILY, ids=lambda p: type(p).__name__)
def test_before_any_label(policy: PowerPolicy) -> None:
    power = policy.power(Belief(VariationalLogistic(0.5)), [[3.0, 4.0], [1.0, 0.0]])
    assert power == pytest.approx(3.0 if isinstance(policy, FixedPower) else 50.0)


def test_reference(reference: Callable[[str], Any]) -> None:
    """tests/data/scores.json: power = max_norm^2 * max_eigenvalue."""
    for record in reference("scores")["records"]:
        mean = np.asarray(record["mean"])
        values, vectors = np.linalg.eigh(np.asarray(record["covariance"]))
        state = VariationalLogistic().sized(len(mean)).state()
        state |= {"mean": mean, "factor": vectors * np.sqrt(values)}
        belief = Belief(VariationalLogistic.from_state(state))
        found = SpectralPower().power(belief, record["pool"], radius=record["max_norm"])
        assert found == pytest.approx(record["power"], rel=1e-9)


def test_refused() -> None:
    for bad in (-1.0, np.nan):
        with pytest.raises(InvalidArgument, match="budget"):
            FixedPower(bad)
    belief, pool = believed("binary", 1)
    with pytest.raises(InvalidArgument, match="radius"):
        SpectralPower().power(belief, pool, radius=-1.0)


# Budgets on the variance ---------------------------------------------------------------------


def two_beliefs() -> list[tuple[Belief, np.ndarray]]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 3)) * [1.0, 3.0, 0.2]
    line = Belief(VariationalLogistic(0.5).fit(X[:8], X[:8, 0] > 0))
    classes = Belief(Bohning(3, 0.5).fit(X[:8], np.arange(8) % 3))
    return [(line, X), (classes, X)]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("pooled", [True, False])
def test_budgets_are_maxima_of_variances(place, pooled):
    """max k^2 sigma^2 R^2, max sigma^2 R^2, max sigma^2, by their definitions."""
    belief, X = two_beliefs()[place]
    targets = X[:5]
    message = Predictions(targets, weighted=False, pooled=pooled)
    view = ContestedPair().view(belief, belief.push(X))
    variance = view.laws.total_variance
    form = belief.posterior.covariance
    matrix = np.asarray(form.inner if place else form)
    cross = X @ matrix @ targets.T
    own, other = (np.einsum("ni,ij,nj->n", rows, matrix, rows) for rows in (X, targets))
    share = cross**2 / np.outer(own, other)
    if pooled:
        share = share.mean(axis=1, keepdims=True)
    k2 = 1 / (1 + np.pi / 8 * variance[:, None] * (1 - share))
    expected = {
        SignalPower(): (k2 * share).mean(axis=1) * variance,
        SharePower(): share.mean(axis=1) * variance,
        VariancePower(): variance,
    }
    for policy, values in expected.items():
        rule = APM(policy, channel=ContestedPair(), message=message)
        found = rule.match(belief, X, None, belief.push(X)).power
        assert found == pytest.approx(values.max(), rel=1e-9)
    rule = APM(MatchedPower(), channel=ContestedPair(), message=message)
    found = rule.match(belief, X, None, belief.push(X)).power
    signal = expected[SignalPower()].max()
    assert found == pytest.approx(8 * np.pi / signal, rel=1e-9)  # (pi/2) (2 / (1/2))^2


@pytest.mark.parametrize("policy", [SignalPower(), SharePower(), VariancePower()])
def test_with_all_parameters_they_are_one(policy):
    for belief, X in two_beliefs():
        assert policy.power(belief, X) == pytest.approx(belief.push(X).total_variance.max())
        assert not policy.valid


def test_the_matched_budget_grows_as_the_posterior_shrinks():
    belief, X = two_beliefs()[0]
    before = MatchedPower().power(belief, X)
    after = MatchedPower().power(belief.update(X[:8], X[:8, 0] > 0), X)
    assert after > before


def test_the_matched_budget_ranks_like_information_gain_to_first_order():
    """Around (0, sigma_0) both trade sigma for m^2 at the same rate."""
    for channel, kappa in ((Logistic(), 0.5), (Probit(), 2 - 4 / np.pi)):
        sigma = 0.05
        belief = given_belief([0.0], [[sigma**2]], channel=channel)
        power = MatchedPower().power(belief, [[1.0]])
        assert power == pytest.approx(np.pi / 2 * (2 / kappa) ** 2 / sigma**2, rel=1e-6)
        wide, off = 1e-3 * sigma, 1e-3
        laws = ScalarPool([0.0, 0.0, off], [sigma**2, (sigma + wide) ** 2, sigma**2])
        gains = np.asarray(mutual_information(channel, laws).bits)
        values = match(channel, laws, power).values
        rate = (gains[1] - gains[0]) / (gains[0] - gains[2])
        # J is not quite a parabola, nor sigma quite small: a few percent
        assert (values[1] - values[0]) / (values[0] - values[2]) == pytest.approx(rate, rel=0.03)


def test_candidates_without_variance_have_nothing_to_match():
    belief = given_belief([1.0, 0.0], np.zeros((2, 2)))
    assert MatchedPower().power(belief, np.eye(2)) == 0.0
    tiny = given_belief([1.0, 0.0], 1e-310 * np.eye(2))
    assert MatchedPower().power(tiny, np.eye(2)) == 0.0
    assert int(APM(MatchedPower()).select(belief, np.eye(2))[0]) == 1


def test_a_matched_budget_needs_a_scalar_channel():
    belief, X = two_beliefs()[1]
    with pytest.raises(InvalidArgument, match="ContestedPair"):
        APM(MatchedPower(), channel=AllClasses()).scores(belief, X)


@settings(max_examples=60)
@given(st.floats(-30, 30), st.floats(0, 1), st.floats(1e-3, 1e3))
def test_a_signal_within_the_budget_costs_no_more_than_the_uncharged_score(m, part, power):
    """W2^2 <= m^2 + 2 P - 2 s sqrt(2P/pi) for s <= sqrt P, tight at s = sqrt P (theory 8b)."""
    s = part * np.sqrt(power)
    belief = given_belief([m, 0.0], [[s**2, 0.0], [0.0, 0.0]])
    X = np.array([[1.0, 0.0]])
    exact = w2(Gaussian(m, s**2), DiscreteMeasure.symmetric(np.sqrt(power))).squared
    bound = -APM(FixedPower(power), charged=False).scores(belief, X)[0]
    assert bound == pytest.approx(m**2 + 2 * power - 2 * s * np.sqrt(2 * power / np.pi), rel=1e-9)
    assert exact <= bound * (1 + 1e-9)
    if part == 1.0:
        assert exact == pytest.approx(bound, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_uncharged_scores_are_lower_bounds_of_the_charged(seed, pooled, three):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * np.exp(rng.normal(size=3))
    if three:
        belief = Belief(Bohning(3, 0.5).fit(X[:6], np.arange(6) % 3))
    else:
        belief = Belief(VariationalLogistic(0.5).fit(X[:6], X[:6, 0] > 0))
    for policy in (SignalPower(), SharePower(), VariancePower(), PoolMaxPower()):
        options = {"channel": ContestedPair(), "message": Predictions(X[:4], pooled=pooled)}
        charged = APM(policy, **options).scores(belief, X)
        free = APM(policy, charged=False, **options).scores(belief, X)
        assert (free <= charged + 1e-9 * np.abs(charged)).all()


@settings(max_examples=60)
@given(st.floats(-20, 20), st.floats(1e-6, 400))
def test_a_label_tells_at_most_an_eighth_of_the_variance(m, variance):
    """I(L; Y) <= Var(L) / 8 nats for the logistic channel, and J_max Var / 2 for the probit."""
    for channel, sharpest in ((Logistic(), 0.25), (Probit(), 2 / np.pi)):
        information = mutual_information(channel, Gaussian(m, variance)).nats
        assert information <= 0.5 * sharpest * variance + 1e-12
