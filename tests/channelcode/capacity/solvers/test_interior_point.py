"""The interior point against the textbook algorithm and against laws made to be optimal."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from channelcode import DiscreteChannel, Logistic
from channelcode.capacity import Cost, InteriorPoint, Power, Unconstrained, capacity
from channelcode.capacity.solvers import interior_point
from channelcode.capacity.solvers.interior_point import finish, maximise
from channelcode.capacity.solvers.letters import prepare
from channelcode.errors import InvalidArgument
from tests.channelcode.capacity.oracles import mutual_information, priced_blahut_arimoto


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("price", [0.0, 0.05, 0.2])
def test_against_the_textbook(seed, price):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(5, 0.5), size=6)
    cost = rng.uniform(0.0, 2.0, 6)
    weights, nats, spent = priced_blahut_arimoto(matrix, cost, price)
    constraint = Cost(lambda l: cost[l.astype(int)], spent) if price > 0 else Unconstrained()
    result = capacity(DiscreteChannel(matrix), constraint, solver=InteriorPoint())
    assert result.nats == pytest.approx(nats, abs=1e-9)  # both gaps are below this
    # the value is flat in s near the optimum: a gap of 1e-9 fixes it to about its root
    assert result.multiplier * np.log(2) == pytest.approx(price, abs=1e-4)
    np.testing.assert_allclose(result.output, weights @ matrix, atol=1e-4)


@pytest.mark.parametrize("size", [2, 5, 40, 150])
def test_symmetric_channels(size):
    # a circulant matrix: the uniform law is optimal, C = log n - H(row)
    row = np.random.default_rng(size).dirichlet(np.ones(size))
    matrix = np.array([np.roll(row, k) for k in range(size)])
    result = capacity(DiscreteChannel(matrix), Unconstrained(), solver=InteriorPoint())
    assert result.bits == pytest.approx(np.log2(size) + row @ np.log2(row), abs=1e-9)
    assert result.stats.steps <= 20


@pytest.mark.parametrize("seed", range(4))
def test_few_steps(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(30), size=60)
    result = capacity(DiscreteChannel(matrix), Unconstrained(), solver=InteriorPoint())
    assert result.gap <= 1e-9
    assert result.stats.steps <= 30
    assert len(result.input) <= 30  # as many letters as outputs suffice


@pytest.mark.parametrize("limited", [False, True])
def test_maximise_reports_its_gap(limited):
    rng = np.random.default_rng(8)
    matrix, cost = rng.dirichlet(np.ones(6), size=9), rng.uniform(0.0, 1.0, 9)
    alphabet = prepare(np.arange(9.0), np.log(matrix), cost, 0.3 if limited else np.inf)
    weights, s, steps, gap = maximise(alphabet, tol=1e-10)
    assert abs(gap) <= 1e-10
    assert 0 < steps <= 100
    assert weights.sum() == pytest.approx(1.0, abs=1e-10)  # as near as the gap; a law is scaled
    assert (s > 0) == limited
    top = alphabet.kkt(weights, s).max() + (s if limited else 0.0)
    assert top - mutual_information(matrix, weights) == pytest.approx(0.0, abs=2e-10)


@pytest.mark.parametrize("price", [0.0, 0.1])
def test_finish_recovers_lost_digits(price):
    rng = np.random.default_rng(3)
    matrix, cost = rng.dirichlet(np.full(5, 0.5), size=6), rng.uniform(0.0, 2.0, 6)
    best, nats, spent = priced_blahut_arimoto(matrix, cost, price)
    alphabet = prepare(np.arange(6.0), np.log(matrix), cost, spent if price > 0 else np.inf)
    blurred = (1 - 1e-5) * best + 1e-5 / 6
    s = price / alphabet.scale if price > 0 else 0.0
    weights, multiplier = finish(alphabet, blurred, 1.001 * s, tol=1e-13)
    assert mutual_information(matrix, weights) == pytest.approx(nats, abs=1e-11)
    assert abs(alphabet.gap(weights, multiplier)) <= 1e-12
    assert multiplier == pytest.approx(s, abs=1e-5)


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0]] * 5, [[0.2, 0.3, 0.5]], [[0.5, 0.5]] * 4])
def test_channels_that_carry_nothing(matrix):
    result = capacity(DiscreteChannel(matrix), Power(3.0), solver=InteriorPoint())
    assert result.bits == pytest.approx(0.0, abs=1e-15)
    assert result.gap <= 1e-9


def test_misuse():
    with pytest.raises(InvalidArgument, match="max_steps"):
        InteriorPoint(max_steps=0)
    with pytest.raises(InvalidArgument, match="finite"):
        capacity(Logistic(), Power(4.0), solver=InteriorPoint())


def test_the_last_steps_run_on_few_letters(monkeypatch):
    """Thousands of letters may be as good as each other; a dense system of all took minutes."""
    sizes, plain = [], interior_point._newton_step

    def counted(alphabet, weights, s, used):
        sizes.append(int(used.sum()))
        return plain(alphabet, weights, s, used)

    monkeypatch.setattr(interior_point, "_newton_step", counted)
    row = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    rows = np.array(list(permutations(row)))  # all optimal: 120 letters, five are enough
    letters = prepare(np.arange(120.0), np.log(rows), np.zeros(120), np.inf)
    near = np.random.default_rng(5).dirichlet(np.full(120, 1e4))
    weights, multiplier = finish(letters, near, 0.0, tol=1e-12)
    assert 0 < max(sizes) <= 6
    assert letters.gap(weights, multiplier) <= 1e-12
    exact = np.log(5.0) + row @ np.log(row)
    assert mutual_information(rows, weights) == pytest.approx(exact, abs=1e-12)
