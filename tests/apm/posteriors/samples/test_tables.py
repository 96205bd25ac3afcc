"""Tables of a pool's labels: gains against sums over all labels, batches, and what is kept."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

import apm.posteriors.samples.tables as tables
import apm.posteriors.samples.weighted as weighted
from apm import Belief, Grid, InformationGain, NonLinear
from apm.selectors.batch import condition
from channelcode import Logistic, Ordinal, mutual_information

slope = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X[:, :1] - theta[:, 0]), 2)
AXES = [np.linspace(-2.0, 2.0, 5), np.linspace(-1.0, 1.0, 3)]
CHANNELS = [Logistic(), Ordinal([-0.5, 1.0])]
X = np.linspace(-3.0, 3.0, 6)[:, None]


def a_belief(channel, seed):
    rng = np.random.default_rng(seed)
    return Belief(Grid(AXES, channel, slope, rng.random((5, 3)) ** 4))


def labels_of(belief, rows):
    """p(y | x, theta), `(n, s, K)`, and the weights."""
    posterior = belief.posterior
    return belief.channel.prob(slope.inputs(posterior.theta, rows)), posterior.weights


def information(joint):
    """I between the two axes of a joint law, in bits, by scipy."""
    joint = joint / joint.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(entropy(joint.ravel(), apart.ravel(), base=2))


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_gains_are_those_of_the_joint_law(channel, seed):
    belief = a_belief(channel, seed)
    prob, weights = labels_of(belief, X)
    found = belief.information_gain(X)
    about = {place: InformationGain(about=[place]).scores(belief, X) for place in range(len(AXES))}
    both = InformationGain(about=[1, 0]).scores(belief, X)
    for row in range(len(X)):
        joint = weights[:, None] * prob[row]
        assert found[row] == pytest.approx(information(joint), abs=1e-12)
        assert both[row] == pytest.approx(found[row], abs=1e-12)
        cube = joint.reshape(5, 3, -1)
        assert about[0][row] == pytest.approx(information(cube.sum(axis=1)), abs=1e-12)
        assert about[1][row] == pytest.approx(information(cube.sum(axis=0)), abs=1e-12)
        assert about[0][row] <= found[row] + 1e-12  # what is left out cannot add
    by_laws = mutual_information(channel, belief.push(X)).bits
    np.testing.assert_allclose(found, by_laws, atol=1e-12)


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_a_batch_is_chosen_for_what_its_labels_tell_together(channel, seed):
    """After k picks the gain of x is I(theta; Y_x | labels of the picks), over all labels."""
    belief = a_belief(channel, seed)
    prob, weights = labels_of(belief, X)
    asked: list[int] = []
    held = belief
    for row in (2, 4, 2):
        held = condition(held, X[row])
        asked.append(row)
        found = held.information_gain(X)
        for place in range(len(X)):
            conditional = 0.0
            for told in product(range(channel.num_outputs), repeat=len(asked)):
                chance = weights * np.prod([prob[i, :, y] for i, y in zip(asked, told)], axis=0)
                conditional += chance.sum() * information(chance[:, None] * prob[place])
            assert found[place] == pytest.approx(conditional, abs=1e-12)
    picks = InformationGain().select(belief, X, n=4)
    assert len(set(picks.tolist())) == 4


def test_a_label_that_came_is_no_longer_awaited():
    belief = condition(a_belief(Logistic(), 1), X[2])
    after, plain = belief.update(X[0], 1), a_belief(Logistic(), 1).update(X[0], 1)
    np.testing.assert_array_equal(after.information_gain(X), plain.information_gain(X))


def test_large_batches_look_at_the_likeliest_labels():
    belief = a_belief(Logistic(), 3)
    rows = np.linspace(-3, 3, 14)[:, None]
    picks = InformationGain().select(belief, rows, n=14)
    assert sorted(picks.tolist()) == list(range(14))
    outcomes = tables.labels_to_come(Logistic(), np.zeros((12, 15)))
    assert outcomes.shape == (tables.MOST_OUTCOMES, 15)


def test_a_table_is_known_by_its_numbers():
    belief = a_belief(Logistic(), 0)
    rows = X.copy()
    first = belief.information_gain(rows)
    rows[0] = 9.0  # the same array with other numbers is another pool
    fresh = a_belief(Logistic(), 0).information_gain(rows)
    np.testing.assert_allclose(belief.information_gain(rows), fresh, atol=1e-15)
    np.testing.assert_allclose(belief.information_gain(X), first, atol=1e-15)
    later = belief.update(X[1], 1)
    alone = Belief(later.posterior.restored(later.posterior.state()))
    np.testing.assert_allclose(later.information_gain(X), alone.information_gain(X), atol=1e-15)


def test_labels_of_a_kept_pool_are_read_from_its_table():
    calls = []

    def counted(theta, rows):
        calls.append(len(rows))
        return np.exp(theta[:, 1]) * (rows - theta[:, 0])

    belief = Belief(Grid(AXES, Logistic(), NonLinear(counted, 2)))
    for row, label in ((1, 0), (4, 1), (2, 0)):
        belief.information_gain(X)
        belief = belief.update(X[row], label)
    assert calls == [len(X)]
    belief.update([0.123], 1)
    assert calls == [len(X), 1]


def test_large_pools_are_read_in_pieces(monkeypatch):
    whole = a_belief(Logistic(), 5).information_gain(X)
    about = InformationGain(about=0).scores(a_belief(Logistic(), 5), X)
    monkeypatch.setattr(weighted, "MOST_ENTRIES", 1)
    monkeypatch.setattr(weighted, "PIECE_ENTRIES", 100)
    belief = a_belief(Logistic(), 5)
    np.testing.assert_allclose(belief.information_gain(X), whole, atol=1e-14)
    np.testing.assert_allclose(InformationGain(about=0).scores(belief, X), about, atol=1e-14)
    assert not belief.posterior._kept  # type: ignore[attr-defined]


def test_rows_are_found_by_all_their_columns():
    pool = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    table = tables.LabelTable(Logistic(), np.zeros((3, 4)), pool)
    assert table.rows_of(pool[[1, 2, 0]]) == [1, 2, 0]
    assert table.rows_of(np.array([[1.0, 2.0]])) is None
    line = tables.LabelTable(Logistic(), np.zeros((3, 4)), np.array([[3.0], [1.0], [2.0]]))
    assert line.rows_of(np.array([[2.0], [3.0]])) == [2, 0]
    assert line.rows_of(np.array([[0.0]])) is None
