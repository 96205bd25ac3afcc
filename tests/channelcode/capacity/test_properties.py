"""What theory says of every capacity (theory: sections 1 and 2), as properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    Binomial,
    Channel,
    Cloglog,
    DiscreteChannel,
    Link,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
    Status,
    restrict,
)
from channelcode.capacity import (
    BlahutArimoto,
    ClosedForm,
    Continuous,
    Cost,
    InteriorPoint,
    Peak,
    Power,
    Unconstrained,
    capacity,
    capacity_curve,
)

TOL = 1e-9  # the certified gap; two certified values differ by no more than both gaps
seeds = st.integers(0, 2**32 - 1)
powers = st.floats(-3.0, 3.0).map(lambda e: 10.0**e)


def random_matrix(rng: np.random.Generator, most: int = 8) -> np.ndarray:
    count, size = rng.integers(2, most, 2)
    return rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0])), size=count)


def with_cost(rng: np.random.Generator, matrix: np.ndarray):
    """A channel with random letter costs, and a budget that one letter at least meets."""
    cost = rng.gamma(1.0, 1.0, len(matrix))
    budget = cost.min() + (cost.max() - cost.min()) * rng.uniform(0.02, 1.1)
    return DiscreteChannel(matrix), Cost(lambda l: cost[l.astype(int)], budget)


def proposition_2_1(power: float) -> float:
    """1 - h_b(f(sqrt P)) with the entropy from its tail, in bits."""
    t = np.sqrt(power)
    miss = 1.0 / (1.0 + np.exp(t))
    return 1.0 - (-miss * np.log2(miss) - (1 - miss) * np.log1p(-miss) / np.log(2))


@settings(max_examples=25)
@given(powers)
def test_proposition_2_1_by_every_solver(power):
    exact = proposition_2_1(power)
    assert capacity(Logistic(), Power(power)).bits == pytest.approx(exact, abs=1e-12)
    continuous = capacity(Logistic(), Power(power), solver=Continuous())
    assert continuous.bits == pytest.approx(exact, abs=TOL)
    t = np.sqrt(power)
    grid = np.unique(np.concatenate([np.linspace(-3 * t, 3 * t, 61), [-t, t]]))
    channel = restrict(Logistic(), grid)
    assert capacity(channel, Power(power), solver=InteriorPoint()).bits == pytest.approx(
        exact, abs=TOL
    )


@settings(max_examples=10)
@given(st.floats(-1.0, 2.0).map(lambda e: 10.0**e))
def test_proposition_2_1_by_blahut_arimoto(power):
    t = np.sqrt(power)
    channel = restrict(Logistic(), np.linspace(-3 * t, 3 * t, 13))
    result = capacity(channel, Power(power), solver=BlahutArimoto())
    assert result.bits == pytest.approx(proposition_2_1(power), abs=TOL)


@settings(max_examples=40)
@given(seeds)
def test_solvers_agree_on_random_channels_with_costs(seed):
    rng = np.random.default_rng(seed)
    channel, constraint = with_cost(rng, random_matrix(rng))
    interior = capacity(channel, constraint, solver=InteriorPoint())
    # where two laws are nearly as good Blahut-Arimoto is slower than any geometric rate, and may
    # run out of steps: its interval must then say so, and still hold the answer
    blahut = capacity(channel, constraint, solver=BlahutArimoto(), throw=False)
    assert blahut.gap <= 1e-6
    assert blahut.status.ok == (blahut.gap <= TOL)
    assert interior.bits == pytest.approx(blahut.bits, abs=TOL + blahut.gap)
    for result in (interior, blahut):
        assert result.lower <= result.upper
        assert max(interior.lower, blahut.lower) <= min(interior.upper, blahut.upper)
        spent = result.input.weights @ constraint.function(result.input.atoms)
        assert spent <= constraint.budget * (1 + 1e-12)


@settings(max_examples=30)
@given(seeds)
def test_degrading_a_channel_loses_capacity(seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    noise = rng.dirichlet(np.ones(3), size=matrix.shape[1])
    channel, constraint = with_cost(rng, matrix)
    worse = DiscreteChannel(matrix @ noise)
    assert capacity(worse, constraint).lower <= capacity(channel, constraint).upper


@settings(max_examples=30)
@given(seeds)
def test_relabelling_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
    letters = rng.normal(size=len(matrix))
    budget = Power(float(np.min(letters**2) * 1.1 + 0.1 * np.mean(letters**2)))
    first = capacity(DiscreteChannel(matrix, letters), budget)
    second = capacity(DiscreteChannel(matrix[rows][:, columns], letters[rows]), budget)
    assert first.bits == pytest.approx(second.bits, abs=2 * TOL)


@settings(max_examples=30)
@given(seeds, st.floats(0.0, 1.0))
def test_erasure_scales_capacity(seed, kept):
    # with probability 1 - kept the output says nothing: C falls to kept * C exactly
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    erased = np.column_stack([kept * matrix, np.full(len(matrix), 1.0 - kept)])
    whole = capacity(DiscreteChannel(matrix), Unconstrained())
    part = capacity(DiscreteChannel(erased), Unconstrained())
    assert part.bits == pytest.approx(kept * whole.bits, abs=2 * TOL)


def scalar_channels() -> st.SearchStrategy[Channel]:
    cuts = st.lists(st.integers(-30, 30), min_size=1, max_size=4, unique=True)
    return st.one_of(
        cuts.map(lambda c: Ordinal(np.sort(c) / 10.0)),
        st.integers(1, 5).map(Binomial),
        st.just(Cloglog()),
        st.floats(0.5, 2.0).map(Probit),
        st.just(Link(lambda l: 1 / (1 + np.exp(-(l**3))))),
    )


@settings(max_examples=25)
@given(scalar_channels(), st.floats(-1.5, 1.5).map(lambda e: 10.0**e))
def test_continuous_answers(channel, power):
    result = capacity(channel, Power(power), solver=Continuous())
    assert 0.0 <= result.lower <= result.bits + 1e-14
    assert result.bits <= result.upper
    assert len(result.input) <= channel.num_outputs + 1
    assert result.input.second_moment <= power * (1 + 1e-12)
    # KKT: D - s (l^2 - P) equals C on the support and is below it on a grid of our own
    slope = result.multiplier * np.log(2)
    reach = np.linspace(-20.0, 20.0, 4001)
    for points, equal in ((result.input.atoms, True), (reach, False)):
        kkt = channel.divergence(points, result.output) - slope * (points**2 - power)
        if equal:
            np.testing.assert_allclose(kkt / np.log(2), result.bits, atol=TOL)
        else:
            assert kkt.max() / np.log(2) <= result.upper + 1e-12


@settings(max_examples=8)
@given(scalar_channels())
def test_curve_is_concave_and_its_slope_is_the_multiplier(channel):
    grid = np.geomspace(0.1, 10.0, 12)
    curve = capacity_curve(channel, grid)
    slopes = np.diff(curve.bits) / np.diff(grid)
    assert (slopes >= -TOL).all()
    assert (np.diff(slopes) <= TOL / np.diff(grid).min()).all()
    # concavity places the chord's slope between the multipliers at its ends
    assert (curve.multiplier[:-1] >= slopes - 1e-6).all()
    assert (curve.multiplier[1:] <= slopes + 1e-6).all()
    step = 1e-3
    around = capacity_curve(channel, [2.0 - step, 2.0, 2.0 + step])
    # the central difference is off by C''' step^2 / 6 and by rounding / step
    central = (around.bits[2] - around.bits[0]) / (2 * step)
    assert around.multiplier[1] == pytest.approx(central, abs=1e-5)


@settings(max_examples=10)
@given(st.integers(3, 10), powers)
def test_softmax_formula_meets_kkt(classes, power):
    result = capacity(Softmax(classes), Power(power), solver=ClosedForm())
    rng = np.random.default_rng(classes)
    scale = np.sqrt(power) + 1.0
    points = rng.normal(size=(2000, classes)) * rng.uniform(0, 3 * scale, (2000, 1))
    slope = result.multiplier * np.log(2)
    kkt = Softmax(classes).divergence(points, result.output) - slope * (
        (points**2).sum(axis=1) - power
    )
    assert kkt.max() / np.log(2) <= result.upper + 1e-12
    assert len(result.input) <= classes + 1


@pytest.mark.parametrize(("classes", "power"), [(4, 0.5), (6, 20.0), (10, 5.0)])
def test_softmax_without_its_formula(classes, power):
    formula = capacity(Softmax(classes), Power(power))
    found = capacity(Softmax(classes), Power(power), solver=Continuous())
    assert found.bits == pytest.approx(formula.bits, abs=TOL)
    assert len(found.input) == len(formula.input)
    assert found.multiplier == pytest.approx(formula.multiplier, rel=1e-6)
    assert found.status is Status.OPTIMAL  # by the formula: the search alone proves nothing
    assert "vertex rays" in found.scope  # the judge knows the formula, whoever proposes


@settings(max_examples=15)
@given(st.floats(0.2, 4.0), powers)
def test_a_peak_never_helps(amplitude, power):
    channel = Ordinal([-1.0, 1.0])
    free = capacity(channel, Power(power))
    held = capacity(channel, Power(power) & Peak(amplitude))
    alone = capacity(channel, Peak(amplitude))
    assert held.lower <= min(free.upper, alone.upper)
    assert np.abs(held.input.atoms).max() <= amplitude
