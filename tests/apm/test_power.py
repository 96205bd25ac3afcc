"""Power budgets: the paper's figure, validity, and the K-class forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.belief import Belief
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower, PowerPolicy, SpectralPower, SpectralWithMean
from channelcode.channels import Softmax
from channelcode.errors import InvalidArgument

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
