"""The search over pairs against looking at every pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.pairs import search
from apm.pairs.scores import Gain, Spread, Transport
from apm.pairs.search import best_pairs, distances
from channelcode import Logistic
from tests.naming import plain

SCORES = [Spread(), Transport(0.0), Transport(1.0), Transport(40.0), Gain(Logistic())]


def every_pair(points, values, score, excluded=()):
    """All pairs i < j with their scores, best first."""
    i, j = np.triu_indices(len(values), 1)
    kept = np.array([(a, b) not in excluded for a, b in zip(i.tolist(), j.tolist())])
    i, j = i[kept], j[kept]
    distance = np.linalg.norm(points[i] - points[j], axis=1)
    scores = score.values(np.abs(values[i] - values[j]), distance)
    order = np.lexsort((j, i, -scores))
    return np.column_stack([i, j])[order], scores[order]


@pytest.mark.parametrize("score", SCORES, ids=plain)
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 90),
    r=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    count=st.integers(1, 5),
    ties=st.booleans(),
)
def test_the_best_are_those_of_looking_at_every_pair(score, seed, n, r, scale, count, ties):
    rng = np.random.default_rng(seed)
    points, values = scale * rng.standard_t(2, (n, r)), scale * rng.standard_normal(n)
    if ties:
        points, values = np.round(points / scale) * scale, np.round(values / scale) * scale
    excluded = np.array([[0, 1]]) if n > 4 else np.empty((0, 2), dtype=np.intp)
    pairs, scores = every_pair(points, values, score, {tuple(p) for p in excluded.tolist()})
    wanted = min(count, len(pairs))
    found = best_pairs(points, values, score, count=wanted, excluded=excluded, leaf=4)
    # equal scores may come in another order: distances by a matrix product are rounded otherwise
    room = 1e-9 * (1.0 + np.abs(scores[:wanted]) + scale**2)
    assert (np.abs(found.scores - scores[:wanted]) <= room).all()
    assert len({tuple(p) for p in found.pairs.tolist()}) == wanted
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    assert not any(tuple(p) in {(0, 1)} for p in found.pairs.tolist() if n > 4)


@pytest.mark.parametrize(
    ("score", "r", "method"),
    [
        (Transport(1.0), 3, "means"),
        (Transport(1e4), 3, "leaves"),
        (Spread(), 3, "leaves"),
        (Gain(Logistic()), 3, "leaves"),
        (Spread(), 40, "blocks"),
        (Gain(Logistic()), 40, "blocks"),
    ],
    ids=plain,
)
def test_each_way_is_taken_where_it_pays_and_gives_the_same(score, r, method):
    rng = np.random.default_rng(1)
    points, values = rng.standard_normal((1500, r)), rng.standard_normal(1500)
    found = best_pairs(points, values, score, count=3, leaf=4)
    assert found.method == method
    pairs, scores = every_pair(points, values, score)
    assert found.pairs.tolist() == pairs[:3].tolist()
    np.testing.assert_allclose(found.scores, scores[:3], rtol=1e-9)
    if method != "blocks":
        assert found.looked_at < 0.1 * len(pairs)


def test_blocks_are_looked_at_once_each(monkeypatch):
    monkeypatch.setattr(search, "BLOCK", 16)
    monkeypatch.setattr(search, "HELPFUL", 0.0)
    rng = np.random.default_rng(2)
    points, values = rng.standard_normal((150, 3)), rng.standard_normal(150)
    for score in SCORES:
        found = best_pairs(points, values, score, leaf=4)
        assert found.pairs.tolist() == every_pair(points, values, score)[0][:1].tolist()


def test_near_points_far_from_the_centre_keep_their_distance():
    """A matrix product alone errs by 1e-8 of the lengths, 1e-2 here, and ranks pairs wrongly."""
    rng = np.random.default_rng(3)
    points = 1e6 + rng.standard_normal((40, 3)) * np.geomspace(1e-6, 1e3, 40)[:, None]
    points[7] = points[3]
    expected = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances(points, points), expected, rtol=1e-9)
    values = np.zeros(40)
    found = best_pairs(points, values, Transport(0.0), leaf=4)  # wants the nearest pair
    assert found.pairs.tolist() == [[3, 7]]
    assert found.scores[0] == 0.0
