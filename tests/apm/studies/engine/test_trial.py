"""One trial: splits by the pool, seed labels, and a run through the loop."""

from __future__ import annotations

import numpy as np
import pytest

from apm.learner import Learner
from apm.posteriors import Bohning, VariationalLogistic
from apm.rounds import Round
from apm.selectors import APM, Margin, Random
from apm.studies.data.catalogue import Dataset
from apm.studies.engine.trial import accuracy, area_under_curve, make_split, run_method, started
from apm.studies.streams import stream
from channelcode.errors import InvalidArgument
from tests.apm.studies.conftest import small_dataset


def three_classes(rows: int = 90) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 3
    X = rng.normal(size=(rows, 4)) + np.eye(3, 4)[y]
    return Dataset("three", X, y.astype(np.int64), ("a", "b", "c"), "made for the tests")


def test_a_split_is_half_and_half_and_standardised_by_the_pool() -> None:
    data = small_dataset(rows=61)
    split = make_split(data, 4, seed=1)
    assert (len(split.pool), len(split.test)) == (30, 31)
    np.testing.assert_allclose(split.pool.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.pool.std(axis=0), 1, rtol=1e-12)
    assert sorted(split.labels[split.seeds].tolist()) == [0, 1]
    together = np.concatenate([split.labels, split.test_labels])
    assert np.bincount(together).tolist() == np.bincount(data.y).tolist()


def test_a_constant_column_stays_zero() -> None:
    data = small_dataset()
    flat = Dataset("flat", np.column_stack([data.X, np.full(60, 3.0)]), data.y, ("0", "1"), "test")
    split = make_split(flat, 0, seed=0)
    assert (split.pool[:, 3] == 0).all()
    assert (split.test[:, 3] == 0).all()


def test_capped_pools_and_rows_of_norm_one() -> None:
    data = three_classes()
    whole, capped = make_split(data, 2, seed=0), make_split(data, 2, seed=0, cap=20)
    assert (len(whole.pool), len(capped.pool)) == (45, 20)
    np.testing.assert_array_equal(whole.test_labels, capped.test_labels)
    unit = make_split(data, 2, seed=0, cap=20, unit_norm=True)
    np.testing.assert_array_equal(unit.labels, capped.labels)
    np.testing.assert_array_equal(unit.seeds, capped.seeds)
    norms = np.linalg.norm(capped.pool, axis=1, keepdims=True)
    np.testing.assert_allclose(unit.pool, capped.pool / norms, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(unit.test, axis=1), 1.0, rtol=1e-12)


def test_a_pool_without_one_of_the_classes_is_refused() -> None:
    rare = Dataset("rare", np.ones((8, 1)), np.array([0] * 7 + [1]), ("0", "1"), "test")
    inside = [
        7 in stream(0, "rare", trial, "split").permutation(8)[:4] for trial in range(9)
    ]  # whether the lone example of class 1 falls into the pool
    assert len(make_split(rare, inside.index(True), seed=0).pool) == 4
    with pytest.raises(InvalidArgument, match="every class of 'rare'"):
        make_split(rare, inside.index(False), seed=0)


@pytest.mark.parametrize("queries", [0, 29])
def test_more_queries_than_the_pool_has(queries: int) -> None:
    split = make_split(small_dataset(), 0, seed=0)
    with pytest.raises(InvalidArgument, match="between 1 and 28"):
        run_method(
            split, "Random", model=VariationalLogistic(), selector=Random(), queries=queries, rng=0
        )


@pytest.mark.parametrize(
    ("data", "model", "selector"),
    [
        (small_dataset(), VariationalLogistic(0.05), APM()),
        (three_classes(), Bohning(3, 1.0), Margin()),
        (three_classes(), Bohning(3, 1.0), None),
    ],
)
def test_a_run_is_asking_and_telling(data, model, selector) -> None:
    split = make_split(data, 0, seed=0)
    rounds: list[Round] = []
    chosen = Learner(split.pool, model, selector).selector
    run = run_method(
        split, "x", model=model, selector=chosen, queries=8, rng=5, observe=rounds.append
    )
    learner = started(split, model, chosen, 5)
    right = [accuracy(split.test, split.test_labels, learner.belief.posterior.map)]
    for pick in run.arrays["picks"]:
        assert int(learner.ask()) == pick
        learner.tell(pick, split.labels[pick])
        right.append(float(np.mean(learner.predict(split.test) == split.test_labels)))
    assert [seen.index for seen in rounds] == run.arrays["picks"].tolist()
    curve = run.arrays["accuracy"]
    assert curve[0] == right[0]
    rows = np.concatenate([split.seeds, run.arrays["picks"]])
    last = type(model).from_state(model.state()).fit(split.pool[rows], split.labels[rows]).map
    assert curve[-1] == accuracy(split.test, split.test_labels, last)
    for kind in ("select", "posterior", "retrain"):
        assert run.arrays[f"{kind}_seconds"].shape == (8,)
        assert (run.arrays[f"{kind}_seconds"] >= 0).all()


def test_accuracy_of_two_and_of_many_classes() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    y = np.array([0, 1, 2])
    assert accuracy(X, y, np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])) == 1.0
    assert accuracy(X, np.array([0, 1, 0]), np.array([0.0, 1.0])) == 1.0
    assert accuracy(X, np.array([1, 1, 1]), np.array([1.0, 0.5])) == pytest.approx(2 / 3)


def test_an_area_leaves_the_start_out() -> None:
    curves = np.array([[0.0, 0.5, 1.0], [1.0, 0.2, 0.4]])
    np.testing.assert_allclose(area_under_curve(curves), [0.75, 0.3])
