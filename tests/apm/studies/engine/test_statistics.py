"""Intervals and ranks against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from apm.studies.engine.statistics import (
    average_ranks,
    bootstrap_interval,
    resampled_means,
    standard_error,
)
from channelcode.errors import InvalidArgument


@pytest.mark.parametrize("count", [6, 20, 150])
def test_interval_is_close_to_students(count: int) -> None:
    """For normal values the interval is Student's, which has the right coverage at any n."""
    rng = np.random.default_rng(count)
    ratios = []
    for _ in range(30):
        values = rng.normal(size=count)
        found = bootstrap_interval(values)
        student = stats.t.interval(
            0.95, count - 1, loc=values.mean(), scale=values.std(ddof=1) / np.sqrt(count)
        )
        ratios.append((found.high - found.low) / (student[1] - student[0]))
    # the bootstrap's tails are lighter than normal ones at n = 6 (a few per cent)
    assert abs(np.mean(ratios) - 1) < 0.06


def test_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).exponential(size=150)
    found = bootstrap_interval(values)
    other = stats.bootstrap((values,), np.mean, method="percentile", rng=2, n_resamples=9999)
    low, high = other.confidence_interval
    # ends vary by 2 % of the width from resampling, and ours is 1 % wider at 150 (Student)
    assert abs(found.low - low) < 0.05 * (high - low)
    assert abs(found.high - high) < 0.05 * (high - low)


def test_coverage_for_few_trials() -> None:
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(300):
        found = bootstrap_interval(rng.normal(size=6), resamples=500)
        inside.append(found.low <= 0 <= found.high)
    # 95 % of 300 with a binomial deviation of 1.3 %; three of those below
    assert np.mean(inside) > 0.90


def test_one_trial_proves_nothing() -> None:
    found = bootstrap_interval([0.3])
    assert (found.estimate, found.low, found.high) == (0.3, -np.inf, np.inf)


def test_resamples_are_paired() -> None:
    values = np.random.default_rng(0).normal(size=20)
    shifted = resampled_means(values + 1.0) - resampled_means(values)
    np.testing.assert_allclose(shifted, 1.0, atol=1e-12)


def test_critical_difference_is_demsars() -> None:
    """Demsar (2006), Table 5: q_0.05 = 2.343, 2.569, 2.850, 3.031 for k = 3, 4, 6, 8."""
    for width, quantile in ((3, 2.343), (4, 2.569), (6, 2.850), (8, 3.031)):
        scores = np.random.default_rng(0).random((14, width))
        found = average_ranks(scores, tuple(str(i) for i in range(width)))
        expected = quantile * np.sqrt(width * (width + 1) / (6 * 14))
        np.testing.assert_allclose(found.critical_difference, expected, rtol=5e-4)  # four digits


def test_ranks_and_ties() -> None:
    found = average_ranks([[3.0, 3.0, 1.0], [5.0, 4.0, 2.0]], ("a", "b", "c"))
    np.testing.assert_allclose(found.average, [1.25, 1.75, 3.0])
    np.testing.assert_allclose(
        found.friedman_p, stats.friedmanchisquare([3, 5], [3, 4], [1, 2]).pvalue
    )


def test_bad_scores_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="column for each"):
        average_ranks([[1.0]], ("a",))
    with pytest.raises(InvalidArgument, match="finite"):
        bootstrap_interval([1.0, np.nan])


def test_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=(10, 3))
    np.testing.assert_allclose(standard_error(values), stats.sem(values, axis=0))
    np.testing.assert_array_equal(standard_error(values[:1]), np.zeros(3))
