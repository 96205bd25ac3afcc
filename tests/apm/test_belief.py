"""The belief: induced laws, predictions and information of whole pools."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from apm.belief import Belief
from apm.encoders import Affine, FeatureMap, Linear
from apm.posteriors import Bohning, Laplace, Sampled, VariationalLogistic
from channelcode.channels import Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information
from channelcode.measures import EmpiricalPool, FullPool, ScalarPool, ScaledPool


@pytest.fixture
def belief(rng: np.random.Generator) -> Belief:
    X = rng.standard_normal((9, 4))
    return Belief(VariationalLogistic(0.1)).fit(X, (X[:, 0] > 0).astype(int))


@given(st.integers(1, 40), st.integers(1, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_moments(n: int, d: int, intercept: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, pool = rng.standard_normal((5, d)), 3 * rng.standard_normal((n, d))
    belief = Belief(VariationalLogistic(0.1, intercept=intercept)).fit(X, [0, 1, 1, 0, 1])
    laws = belief.push(pool)
    assert isinstance(laws, ScalarPool)
    rows = np.hstack([pool, np.ones((n, 1))]) if intercept else pool
    posterior = belief.posterior
    np.testing.assert_allclose(laws.mean, rows @ posterior.mean, rtol=1e-9, atol=1e-11)
    variance = np.einsum("ij,jk,ik->i", rows, posterior.covariance, rows)
    np.testing.assert_allclose(laws.variance, variance, rtol=1e-8, atol=1e-11)
    assert belief.radius(pool) == pytest.approx(np.linalg.norm(rows, axis=1).max())


def test_pieces_join(belief: Belief, rng: np.random.Generator) -> None:
    pool = rng.standard_normal((50_000, 4))
    laws = belief.push(pool)
    parts = [belief.push(pool[i : i + 999]) for i in range(0, 50_000, 999)]
    np.testing.assert_allclose(laws.mean, np.concatenate([p.mean for p in parts]), rtol=1e-12)
    np.testing.assert_allclose(
        laws.total_variance, np.concatenate([p.total_variance for p in parts]), rtol=1e-12
    )


@pytest.mark.parametrize("encoder", [Affine(), FeatureMap(lambda Z: np.hstack([Z, Z**2]))])
def test_encoders(encoder: Any, rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((8, 3)), np.array([0, 1] * 4)
    pool = rng.standard_normal((3000, 3))
    encoded = Belief(VariationalLogistic(), encoder).fit(X, y)
    plain = Belief(VariationalLogistic()).fit(encoder.encode(X), y)
    np.testing.assert_allclose(encoded.push(pool).mean, plain.push(encoder.encode(pool)).mean)
    assert encoded.radius(pool) == pytest.approx(plain.radius(encoder.encode(pool)))
    step = encoded.update(pool[0], 1)
    np.testing.assert_allclose(
        step.posterior.mean, plain.update(encoder.encode(pool[:1]), 1).posterior.mean
    )


def test_structure_is_kept(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((9, 2)), np.arange(9) % 3
    assert isinstance(Belief(Bohning(3)).fit(X, y).push(X), ScaledPool)
    assert isinstance(Belief(Laplace(Softmax(3))).fit(X, y).push(X), FullPool)
    sampled = Belief(Sampled(samples=9, burn_in=0)).fit(X, y % 2)
    assert isinstance(sampled.push(X), EmpiricalPool)


def test_prior_belief_takes_its_size_from_the_pool() -> None:
    belief = Belief(VariationalLogistic(0.5))
    laws = belief.push([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(laws.total_variance, [50.0, 0.0])
    assert belief.posterior.num_features is None
    assert belief.sized([[1.0, 2.0]]).posterior.num_features == 2


def test_float32_stays_float32(belief: Belief, rng: np.random.Generator) -> None:
    pool = rng.standard_normal((300, 4)).astype(np.float32)
    single, double = belief.push(pool), belief.push(pool.astype(np.float64))
    # sums of four products in single precision
    np.testing.assert_allclose(single.mean, double.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(single.total_variance, double.total_variance, rtol=1e-5)
    assert belief.posterior.project(pool)[0].dtype == np.float32
    assert not np.array_equal(single.mean, double.mean)


def test_memory_of_a_large_pool() -> None:
    """100,000 x 64: the pool is 51 MB, what push adds stays far under 64 MB."""
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((100_000, 64))
    belief = Belief(VariationalLogistic()).fit(pool[:4], [0, 1, 0, 1])
    belief.push(pool[:10])
    tracemalloc.start()
    belief.push(pool)
    belief.radius(pool)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_not_finite_is_named(belief: Belief, value: float, dtype: Any) -> None:
    pool = np.zeros((30_000, 4), dtype=dtype)
    pool[20_007, 2] = value
    for call in (belief.push, belief.radius, belief.predict_proba, belief.information_gain):
        with pytest.raises(InvalidArgument, match="row 20007, column 2"):
            call(pool)


def test_not_finite_features_and_overflow_are_named(belief: Belief) -> None:
    with np.errstate(divide="ignore"):
        odd = Belief(VariationalLogistic().sized(1), FeatureMap(lambda Z: 1.0 / Z))
        with pytest.raises(InvalidArgument, match=r"encoder\(X\).*row 1, column 0"):
            odd.push([[1.0], [0.0]])
    with pytest.raises(InvalidArgument, match="floating-point range"):
        belief.push(np.full((2, 4), 1e200))


@pytest.mark.parametrize(
    "bad, message",
    [
        (np.zeros(4), r"X\.reshape\(-1, 1\)"),
        (np.zeros((0, 4)), "at least one row"),
        (np.zeros((2, 5)), "must have 4"),
        (np.zeros((2, 4), dtype=complex), "real numbers"),
        (np.zeros((2, 4), dtype=object), "real numbers"),
    ],
)
def test_bad_pools(belief: Belief, bad: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        belief.push(bad)


def test_any_container(belief: Belief, rng: np.random.Generator, tmp_path: Path) -> None:
    import pandas as pd

    pool = rng.standard_normal((20, 4))
    expected = belief.push(pool).mean
    kept = np.memmap(tmp_path / "pool", dtype=np.float64, mode="w+", shape=(20, 4))
    kept[:] = pool
    kept.flush()
    mapped = np.memmap(tmp_path / "pool", dtype=np.float64, mode="r", shape=(20, 4))
    frame = pd.DataFrame(pool, index=range(100, 120))
    for same in (
        np.asfortranarray(pool),
        mapped,
        frame,
        pool.tolist(),
        np.repeat(pool, 2, axis=0)[::2],
    ):
        np.testing.assert_allclose(belief.push(same).mean, expected, rtol=1e-13)
    whole = (10 * pool).astype(np.int32)
    np.testing.assert_array_equal(belief.push(whole).mean, belief.push(whole.astype(float)).mean)


def test_channel_must_fit_the_posterior() -> None:
    assert Belief(VariationalLogistic(), Linear(), Probit()).channel == Probit()
    with pytest.raises(InvalidArgument, match="channel must have dim 1 and 2 outputs"):
        Belief(VariationalLogistic(), Linear(), Softmax(3))


@pytest.mark.parametrize("channel", [Logistic(), Probit()])
def test_predictions_against_integration(channel: Any) -> None:
    posterior = Laplace(channel, 0.05).fit([[1.0, 0.2], [-0.5, 1.0], [0.3, 0.3]], [1, 0, 1])
    belief = Belief(posterior)
    pool = np.array([[0.1, 0.0], [3.0, -1.0], [20.0, 30.0], [0.0, 0.0]])
    laws = belief.push(pool)
    found = belief.predict_proba(pool)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for law, row in zip(laws, found, strict=True):
        deviation = np.sqrt(law.covariance)
        edges = sorted(
            {-9.0, 9.0, *np.clip(-law.mean / max(deviation, 1e-9) + np.linspace(-1, 1, 21), -9, 9)}
        )
        expected = sum(
            quad(
                lambda z, law=law, s=deviation: norm.pdf(z) * channel.prob(law.mean + s * z)[1],
                a, b, epsabs=1e-13,
            )[0]
            for a, b in itertools.pairwise(edges)
        )  # fmt: skip
        assert row[1] == pytest.approx(expected, abs=1e-9)


def test_vector_predictions_against_sampling(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 3
    belief = Belief(Laplace(Softmax(3), 0.5)).fit(X, y)
    found = belief.output_proba(X[:3])
    for law, row in zip(belief.push(X[:3]), found, strict=True):
        draws = Softmax(3).prob(law.sample(200_000, rng=rng))
        # four standard errors of the comparison sample, and the net's own error
        np.testing.assert_allclose(row, draws.mean(axis=0), atol=4 * 0.5 / np.sqrt(200_000) + 2e-3)


def test_sampled_predictions_are_averages_of_draws(rng: np.random.Generator) -> None:
    X, y = rng.standard_normal((6, 2)), np.array([0, 1] * 3)
    belief = Belief(Sampled(samples=50, burn_in=5)).fit(X, y)
    draws = expit(X @ belief.posterior.samples.T)  # type: ignore[attr-defined]
    np.testing.assert_allclose(belief.predict_proba(X)[:, 1], draws.mean(axis=1), rtol=1e-12)
    gain = belief.information_gain(X)
    assert (gain >= 0).all()
    assert (gain <= 1).all()


def test_information_gain_reference(reference: Callable[[str], Any]) -> None:
    """tests/data/scores.json: exact information gain in bits, 40 candidates of four pools."""
    for record in reference("scores")["records"]:
        belief = Belief(_given(record["mean"], record["covariance"]))
        found = belief.information_gain(record["pool"])
        np.testing.assert_allclose(found, record["utilities"]["INFOGAIN"], rtol=1e-8, atol=1e-9)


def _given(mean: Any, covariance: Any) -> VariationalLogistic:
    """A posterior with prescribed moments, through the saved form."""
    mean, covariance = np.asarray(mean), np.asarray(covariance)
    values, vectors = np.linalg.eigh(covariance)
    state = VariationalLogistic().sized(len(mean)).state()
    state |= {"mean": mean, "factor": vectors * np.sqrt(values)}
    return VariationalLogistic.from_state(state)


def test_wrong_parts_are_refused_by_name() -> None:
    posterior: Any = VariationalLogistic()
    with pytest.raises(InvalidArgument, match="posterior must be"):
        Belief("logistic")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"FeatureMap\(function\)"):
        Belief(posterior, lambda X: X)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="channel must be a channel"):
        Belief(posterior, channel="logistic")  # type: ignore[arg-type]


def test_predictions_of_a_bohning_belief_agree_with_quasi_monte_carlo():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    belief = Belief(Bohning(5, 0.3).fit(X[:20], np.arange(20) % 5))
    laws = belief.push(X)
    slow = mutual_information(belief.channel, laws)
    # its error bar is for the information, a fraction of a per cent of a bit here
    np.testing.assert_allclose(belief.output_proba(X), slow.output, atol=2e-3)


@pytest.mark.parametrize("posterior", [Bohning(3, 0.5), Laplace(Softmax(3), 0.5)], ids=repr)
def test_users_are_given_the_probabilities_of_the_map(posterior, rng):
    """In R^k: softmax regression's own probabilities, as scikit-learn's with C = 1 / precision."""
    from sklearn.linear_model import LogisticRegression

    X, y = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    belief = Belief(posterior).fit(X, y)
    other = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(belief.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(belief.likeliest(X), other.predict(X))
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InvalidArgument, match="row 3, column 1"):
        belief.predict_proba(broken)
    with pytest.raises(InvalidArgument, match="2 features"):
        belief.predict_proba(X[:, :1])


def test_likeliest_is_the_argument_of_the_largest_probability(rng):
    X = rng.standard_normal((50, 3))
    for posterior in (VariationalLogistic(), Laplace(Probit()), Laplace(Ordinal([-1.0, 1.0]))):
        codes = np.arange(12) % posterior.num_labels
        belief = Belief(posterior).fit(X[:12], codes)
        expected = np.argmax(belief.predict_proba(X), axis=1)
        np.testing.assert_array_equal(belief.likeliest(X), expected)
    one = Belief(Bohning(3)).fit(X[:2], [1, 1])
    assert set(one.likeliest(X).tolist()) == {1}
