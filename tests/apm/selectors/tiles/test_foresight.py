"""Batches that are foretold and then proved are those of memory, by few passes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import APM, Learner, MaxVariance, PoolMaxPower, Predictions, VariationalLogistic
from apm.pools import StreamedRows
from apm.selectors.tiles import foresight, scanning
from apm.selectors.tiles.foresight import Lines
from tests.apm.selectors.tiles.test_pruning import Counted, clustered
from tests.naming import plain

pytestmark = pytest.mark.usefixtures("small_tiles")


def pair(X, **options):
    """A learner on the rows in memory, and one that reads them."""
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    both = [Learner(pool, VariationalLogistic(0.1, **options), seed=0) for pool in (X, Counted(X))]
    for learner in both:
        learner.tell(range(10), y[:10])
    return both, y


@given(
    seed=st.integers(0, 10**6),
    clusters=st.integers(1, 6),
    spread=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    single=st.booleans(),
    count=st.sampled_from([2, 3, 11]),
    misled=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_the_same_batches(seed, clusters, spread, single, count, misled):
    rng = np.random.default_rng(seed)
    X = clustered(rng, 1100, 4, clusters, spread).astype(np.float32 if single else np.float64)
    (one, other), y = pair(X)
    for _ in range(3):
        if misled and other.pool.kept is not None:  # rows that foretell nothing of use
            held = other.pool.kept.foremost
            for each in (held.best, held.strongest):
                each.rows[:] = rng.choice(len(X), len(each.rows), replace=False)
                each.features[:] = X[each.rows]
        rows = one.ask(count)
        assert other.ask(count).tolist() == rows.tolist()
        for learner in (one, other):
            learner.tell(rows[:2], y[rows[:2]])


def test_a_batch_takes_few_passes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(256 * 60, 12)).astype(np.float32)
    (memory, learner), y = pair(X)
    source = learner.pool.source
    for _ in range(2):
        row = learner.ask()
        memory.tell(row, y[row])
        learner.tell(row, y[row])
    source.reads = 0
    for _ in range(3):
        rows = learner.ask(3)
        assert rows.tolist() == memory.ask(3).tolist()
        for each in (memory, learner):
            each.tell(rows[0], y[rows[0]])
    assert source.reads < 0.9 * 9 * learner.pool.num_tiles  # with what is scored and told


def test_too_many_rows_set_aside_end_in_a_whole_pass(monkeypatch):
    monkeypatch.setattr(scanning, "MOST", 0.0)
    monkeypatch.setattr(scanning, "TOGETHER", 0)
    X = np.random.default_rng(0).normal(size=(256 * 12, 4))
    (one, other), y = pair(X)
    for _ in range(6):
        rows = [int(learner.ask()) for learner in (one, other)]
        assert rows[0] == rows[1]
        for learner in (one, other):
            learner.tell(rows[0], y[rows[0]])


def test_bounds_that_do_not_help_end_in_whole_passes(monkeypatch):
    monkeypatch.setattr(foresight, "_decided", lambda *arguments: None)
    X = np.random.default_rng(0).normal(size=(256 * 12, 4))
    (one, other), y = pair(X)
    for _ in range(7):
        rows = [learner.ask(2).tolist() for learner in (one, other)]
        assert rows[0] == rows[1]
        for learner in (one, other):
            learner.tell(rows[0], y[rows[0]])
    assert other.pool.misses >= 3


def test_what_has_no_lines():
    X = np.random.default_rng(0).normal(size=(600, 3))
    learner = Learner(Counted(X), VariationalLogistic(), seed=0)
    belief, pool = learner._state.belief, learner._state.features

    class Own(APM):
        pass

    for rule in (
        APM(), Own(PoolMaxPower()), APM(PoolMaxPower(), message=Predictions(pooled=False)),
    ):  # fmt: skip
        assert Lines.of(rule, belief, pool) is None
    assert Lines.of(APM(PoolMaxPower()), belief, pool) is not None


@pytest.mark.parametrize("rule", [None, APM(), MaxVariance()], ids=plain)
def test_learners_of_other_models_share_a_pool(rule):
    X = np.random.default_rng(2).normal(size=(256 * 8, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    pool = StreamedRows(Counted(X))
    kinds = [(rule, {}), (rule, {"intercept": True}), (APM(), {}), (None, {})]
    learners = [
        [Learner(rows, VariationalLogistic(0.1, **options), own, seed=0) for rows in (X, pool)]
        for own, options in kinds
    ]
    for one, other in learners:
        for learner in (one, other):
            learner.tell(range(6), y[:6])
    for _ in range(3):
        for one, other in learners:
            rows = one.ask(2)
            assert other.ask(2).tolist() == rows.tolist()
            for learner in (one, other):
                learner.tell(rows[0], y[rows[0]])


def test_an_interrupted_pass_leaves_nothing_behind(monkeypatch):
    X = np.random.default_rng(0).normal(size=(256 * 12, 4)).astype(np.float32)
    (one, other), y = pair(X)
    whole = foresight.LineSight._take
    for stop in (0, 3, 11, 14):
        seen = []

        def interrupted(self, numbers, values, seen=seen, stop=stop):
            seen.append(numbers)
            if len(seen) > stop:
                raise KeyboardInterrupt
            whole(self, numbers, values)

        with monkeypatch.context() as patch:
            patch.setattr(foresight.LineSight, "_take", interrupted)
            if other.pool.kept is not None:
                with pytest.raises(KeyboardInterrupt):
                    other.ask(2)
        rows = one.ask(2)
        assert other.ask(2).tolist() == rows.tolist()
        for learner in (one, other):
            learner.tell(rows[0], y[rows[0]])


def test_a_belief_that_was_foretold_wrongly_decides_nothing(monkeypatch):
    monkeypatch.setattr(foresight, "condition", lambda belief, x, rng=None: belief)
    X = np.random.default_rng(1).normal(size=(256 * 12, 4))
    (one, other), y = pair(X)
    for _ in range(4):
        rows = one.ask(3)
        assert other.ask(3).tolist() == rows.tolist()
        for learner in (one, other):
            learner.tell(rows[0], y[rows[0]])


@pytest.mark.parametrize("later", [True, False])
def test_forms_are_found_anew_if_the_first_row_of_a_batch_asks_for_it(monkeypatch, later):
    X = np.random.default_rng(1).normal(size=(256 * 12, 4)).astype(np.float32)
    (_, learner), y = pair(X)
    learner.tell(rows := learner.ask(), y[rows])
    held = learner.pool.kept
    assert held is not None
    stale = property(lambda self: (self.after is not None) is later)
    monkeypatch.setattr(foresight.LineSight, "stale", stale)
    learner.ask(3)
    assert (learner.pool.kept is held) is later


@pytest.mark.parametrize("count", [1, 2])
def test_a_batch_begins_with_forms_of_late(count):
    X = np.random.default_rng(1).normal(size=(256 * 12, 4)).astype(np.float32)
    (memory, learner), y = pair(X)
    learner.ask()
    held = learner.pool.kept
    assert held is not None
    for each in (memory, learner):
        each.tell(range(20, 27), y[20:27])
    assert learner.ask(count).tolist() == memory.ask(count).tolist()
    labels = {1: held.labels, 2: held.labels + 7}
    assert learner.pool.kept is None or learner.pool.kept.labels == labels[count]
