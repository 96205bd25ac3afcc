"""Explanations of streamed rows are those of memory."""

import numpy as np
import pytest

from apm import APM, EPIG, InformationGain, Learner, Margin, Predictions, VariationalLogistic
from apm.power import PoolMaxPower, SharePower
from apm.selectors.tiled_explanation import Near
from tests.naming import plain

NUMBERS = ("score", "margin", "power", "capacity_bits", "information_gain_bits", "lost_bits",
           "bound_bits", "transport_bound_bits")  # fmt: skip


@pytest.mark.parametrize(
    "rule",
    [APM(), APM(PoolMaxPower()), APM(message=Predictions()), InformationGain(), Margin(),
     EPIG(samples=20, num_targets=5), APM(message=Predictions(pooled=False))],
    ids=plain,
)  # fmt: skip
def test_the_same_explanation(monkeypatch, rule):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    X[800] = X[3]
    one, other = (
        Learner(pool, VariationalLogistic(0.1), rule, seed=1)
        for pool in (X, lambda: iter(np.array_split(X, 7)))
    )
    for learner in (one, other):
        learner.tell(range(10, 20), (X[10:20, 0] > 0).astype(int))
    for row in (int(one.ask()), 3, 800, 899):
        a, b = one.explain(row), other.explain(row)
        for name in (
            "index",
            "rank",
            "num_candidates",
            "runner_up",
            "message",
            "channel",
            "budget",
        ):
            assert getattr(a, name) == getattr(b, name), name
        for name in NUMBERS:
            if getattr(a, name) is None:
                assert getattr(b, name) is None, name
            else:  # products of other heights, and one pass over float64 for budgets in memory
                assert getattr(b, name) == pytest.approx(getattr(a, name), rel=1e-7, abs=1e-9), name
        assert b.terms == pytest.approx(a.terms, rel=1e-7, abs=1e-9)


def test_a_chain_of_ties_beyond_the_window_asks_for_a_wider_one():
    values = 1.0 - 0.9e-3 * np.arange(50)
    near = Near(float(values[20]), 5e-3, 20)
    near.add(np.arange(50), values)
    assert near.rank(1e-3) is None
    wide = Near(float(values[20]), 1.0, 20)
    wide.add(np.arange(50), values)
    assert wide.rank(1e-3) == 20  # one chain: in the order of the rows
    assert wide.rank(1e-4) == 20
    turned = Near(float(values[20]), 1.0, 29)
    turned.add(np.arange(50)[::-1], values)
    assert turned.rank(1e-3) == 29
    assert turned.rank(1e-4) == 20


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "rule",
    [None, APM(PoolMaxPower()), APM(SharePower(), message=Predictions(num_targets=9)), APM()],
    ids=plain,
)
def test_memory_explains_the_score_that_it_gave(monkeypatch, rule, seed):
    """Rows of very different lengths in single precision: products of other heights differ."""
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 4)) * 10.0 ** rng.uniform(-30, 2, size=(3000, 1))
    X = X.astype(np.float32)
    found = []
    for pool in (X, lambda: iter([X])):
        learner = Learner(pool, VariationalLogistic(0.1), rule, seed=0)
        learner.tell(range(10), (X[:10, 0] > 0).astype(int))
        found.append(learner.explain(2023))
    memory, stream = found
    assert sum(memory.terms.values()) == pytest.approx(memory.score, rel=1e-9)
    assert memory.terms == stream.terms
    assert (memory.score, memory.power, memory.rank) == (stream.score, stream.power, stream.rank)
    assert (memory.runner_up, memory.margin) == (stream.runner_up, stream.margin)
