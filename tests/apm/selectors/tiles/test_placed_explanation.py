"""Explanations from a cluster say what those of a stream say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from apm import APM, Learner, Predictions, Uncertainty, VariationalLogistic
from channelcode.errors import InvalidArgument
from tests.naming import plain

X = np.random.default_rng(0).normal(size=(1300, 3)).astype(np.float32)
X[700:760] = X[:60]  # ties: the chain of equal scores decides the rank


@pytest.mark.parametrize(
    "rule", [APM(), APM(message=Predictions(num_targets=20)), Uncertainty()], ids=plain
)
def test_the_words_of_a_stream(rule, monkeypatch):
    array = pytest.importorskip("dask.array")
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    pools = (lambda: iter(np.array_split(X, 5))), array.from_array(X, chunks=(500, 3))
    stream, placed = (Learner(pool, VariationalLogistic(), rule, seed=0) for pool in pools)
    for learner in (stream, placed):
        learner.tell([0, 9], [0, 1])
    for row in (int(stream.ask()), 5, 704, 1299):
        one, other = stream.explain(row), placed.explain(row)
        assert dataclasses.astuple(other) == dataclasses.astuple(one)
        assert str(other) == str(one)
    with pytest.raises(InvalidArgument, match="index must be one of the candidates"):
        placed.explain(9)
