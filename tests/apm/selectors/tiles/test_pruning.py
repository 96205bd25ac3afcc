"""Questions that leave tiles unread: the same row and runner-up as from memory."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import (
    APM,
    InformationGain,
    Learner,
    MaxVariance,
    Predictions,
    Uncertainty,
    VariationalLogistic,
)
from apm.pools.blocks import Sliced
from apm.power import (
    FixedPower,
    MatchedPower,
    PoolMaxPower,
    SharePower,
    SignalPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors.tiles.pruning import reach_of
from channelcode import Logistic
from channelcode.information import mutual_information
from channelcode.measures import ScalarPool
from tests.naming import plain

RULES = [
    APM(), APM(FixedPower(3.0)), APM(SpectralWithMean(), charged=False), MaxVariance(),
    InformationGain(), Uncertainty(),
]  # fmt: skip
OVER_THE_POOL = [
    APM(PoolMaxPower(), message=Predictions(num_targets=30)), APM(PoolMaxPower()),
    APM(SignalPower(), message=Predictions(num_targets=9), charged=False),
    APM(SharePower(), message=Predictions(num_targets=9)), APM(VariancePower()),
    APM(MatchedPower()),
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("small_tiles")


class Counted(Sliced):
    """Counts the tiles that are read, by themselves or in a pass over all."""

    def __init__(self, rows: Any) -> None:
        super().__init__(rows, height=256)
        self.reads = 0

    def read(self, start: int, stop: int) -> Any:
        self.reads += 1
        return super().read(start, stop)

    def blocks(self) -> Any:
        for block in super().blocks():
            self.reads += 1
            yield block


def clustered(rng: Any, rows: int, columns: int, clusters: int, spread: float) -> Any:
    where = np.sort(rng.integers(clusters, size=rows))
    return rng.normal(size=(clusters, columns))[where] + spread * rng.normal(size=(rows, columns))


@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(RULES + OVER_THE_POOL),
    single=st.booleans(),
    intercept=st.booleans(),
    clusters=st.integers(1, 9),
    spread=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
    scale=st.sampled_from([1.0, 1e-4, 30.0]),
    repeats=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_same_questions(seed, rule, single, intercept, clusters, spread, scale, repeats):
    rng = np.random.default_rng(seed)
    X = scale * clustered(rng, 1500, 4, clusters, spread)
    if repeats:
        X = X[np.sort(rng.integers(len(X), size=len(X)))]
    X = X.astype(np.float32 if single else np.float64)
    y = (X @ rng.normal(size=4) > 0).astype(int)
    learners = [
        Learner(pool, VariationalLogistic(0.1, intercept=intercept), rule, seed=1)
        for pool in (X, Counted(X))
    ]
    for learner in learners:
        learner.tell(range(0, 60, 12), y[0:60:12])
    for step in range(7):
        asked = [learner.ask().tolist() for learner in learners]
        assert asked[0] == asked[1]
        for learner in learners:
            if step == 3:
                learner.skip(asked[0])
            elif step == 5:
                learner.undo()  # rows that were closed when tiles were read are open again
                learner.undo()
            else:
                learner.tell(asked[0], y[asked[0]])
        one, other = (learner.history[-1].scores for learner in learners)
        if one is not None and other is not None:
            assert (one.chosen, one.runner_up, one.margin) == (
                other.chosen, other.runner_up, other.margin,
            )  # fmt: skip
            assert one.num_candidates == other.num_candidates
            assert other.mean is None or other.mean == pytest.approx(one.mean, rel=1e-9, abs=1e-9)
    assert learners[0].ask(3).tolist() == learners[1].ask(3).tolist()


@pytest.mark.parametrize("rule", [RULES[0], *RULES[2:]], ids=plain)  # at P = 3 balls help little
def test_tiles_far_from_the_best_are_not_read(rule, monkeypatch):
    monkeypatch.setattr("apm.selectors.tiles.pruning.LITTLE", 0.75)  # by balls, where they help
    rng = np.random.default_rng(5)
    X = clustered(rng, 256 * 60, 6, 60, 0.01)
    y = (X[:, 0] > 0).astype(int)
    source = Counted(X)
    learner = Learner(source, VariationalLogistic(0.1), rule, seed=0)
    learner.tell(range(0, len(X), len(X) // 10), y[:: len(X) // 10])
    shares = []
    for _ in range(4):
        row = learner.ask()
        source.reads = 0
        learner.tell(row, y[row])
        learner.ask()
        shares.append(source.reads / 60)
    assert min(shares) < 0.8  # with the tiles of the rows that were told


def test_what_is_not_known_of_a_partial_reading(tmp_path):
    rng = np.random.default_rng(5)
    X = clustered(rng, 256 * 40, 4, 40, 0.01)
    learner = Learner(Counted(X), VariationalLogistic(0.1), MaxVariance(), seed=0)
    memory = Learner(X, VariationalLogistic(0.1), MaxVariance(), seed=0)
    for each in (learner, memory):
        for _ in range(4):
            row = each.ask()
            each.tell(row, int(X[row[0], 0] > 0))
    found, every = learner.history[-1], memory.history[-1]
    assert found.scores is not None
    assert found.scores.mean is None
    assert found.scores.lowest is None
    assert found.index == every.index
    # a power that no candidate exceeds: perhaps more than the largest, never less
    assert found.bound is not None
    assert every.bound is not None
    assert found.bound >= every.bound - 1e-12
    path = tmp_path / "learner.npz"
    learner.save(path)
    again = Learner.load(path, pool=X).history[-1]
    assert again.scores == found.scores


def test_a_file_that_changes_where_it_is_not_read_is_noticed(tmp_path):
    from channelcode.errors import InvalidArgument

    rng = np.random.default_rng(5)
    X = clustered(rng, 256 * 40, 4, 40, 0.01)
    path = tmp_path / "pool.npy"
    np.save(path, X)
    learner = Learner(path, VariationalLogistic(0.1), MaxVariance(), seed=0)
    for _ in range(3):
        row = learner.ask()
        learner.tell(row, int(X[row[0], 0] > 0))
    before = len(learner.history)
    changed = X.copy()
    changed[-5] = np.nan
    np.save(path, changed)  # by size, inode or time of change
    with pytest.raises(InvalidArgument, match=f"row {len(X) - 5}"):
        learner.ask()
    assert len(learner.history) == before
    np.save(path, X)
    learner.ask()


def test_no_bound_is_invented():
    learner = Learner(np.zeros((10, 2)), VariationalLogistic(), seed=0)
    belief = learner._state.belief.sized(np.zeros((10, 2)))
    X = np.zeros((10, 2))
    for rule in (
        APM(PoolMaxPower(), radius=1.0), APM(radius=1.0, message=Predictions()), APM(),
        InformationGain(samples=10),
    ):  # fmt: skip
        assert reach_of(rule, belief, X) is None

    class Own(MaxVariance):
        pass

    assert reach_of(Own(), belief, X) is None


def test_information_rises_with_the_variance_and_falls_with_the_mean():
    mean, variance = np.meshgrid(np.linspace(0, 40, 201), np.geomspace(1e-6, 1e5, 150))
    laws = ScalarPool(mean.ravel(), variance.ravel())
    bits = np.asarray(mutual_information(Logistic(), laws).bits).reshape(mean.shape)
    assert np.diff(bits, axis=1).max() < 1e-12  # the rounding of bits near one
    assert np.diff(bits, axis=0).min() > -1e-12
