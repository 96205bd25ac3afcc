"""Capacity per unit cost: eleven reference values, closed forms, channels without a free input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    BinarySymmetric,
    Cloglog,
    Cost,
    DiscreteChannel,
    Exponential,
    InvalidArgument,
    Lapse,
    Link,
    Logistic,
    NotConverged,
    Ordinal,
    Poisson,
    Power,
    Probit,
    QuantisedGaussian,
    Softmax,
    Status,
    ZChannel,
    capacity,
    capacity_per_unit_cost,
    kl_divergence,
)

REFERENCE = {
    "logistic": Logistic(),
    "probit": Probit(),
    "lapse_logistic_0.05_0.05": Lapse(Logistic(), low=0.05, high=0.05),
    "lapse_logistic_0.2_0.2": Lapse(Logistic(), low=0.2, high=0.2),
    "cloglog": Cloglog(),
    "ordinal_-1_1": Ordinal([-1.0, 1.0]),
    "ordinal_-2_2": Ordinal([-2.0, 2.0]),
    "lapse_logistic_low0.2": Lapse(Logistic(), low=0.2),
    "lapse_cloglog_0.5_0.02": Lapse(Cloglog(), low=0.5, high=0.02),
    "softmax_3": Softmax(3),
    "softmax_10": Softmax(10),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_values(name, reference):
    record = reference("unit_cost")[name]
    found = capacity_per_unit_cost(REFERENCE[name])
    wanted = float(record["nats_per_unit"])
    assert found.nats == pytest.approx(wanted, rel=1e-12)
    assert found.bits == pytest.approx(float(record["bits_per_unit"]), rel=1e-12)
    assert found.lower <= float(record["bits_per_unit"]) <= found.upper
    place = float(record["attained_at_l"])
    if place == 0.0:
        assert found.letter is None
    else:
        # at a maximum an error of 1e-15 in the value is one of 1e-7 in its place
        assert np.linalg.norm(np.atleast_1d(found.letter)) == pytest.approx(place, abs=1e-6)
    assert found.status is (Status.WITHIN_SCOPE if "softmax" in name else Status.OPTIMAL)


@pytest.mark.parametrize("name", ["logistic", "cloglog", "ordinal_-2_2"])
def test_the_capacity_approaches_it_from_below(name):
    """C(P)/P rises to it as P falls (Verdu, Theorem 2)."""
    channel = REFERENCE[name]
    limit = capacity_per_unit_cost(channel).bits
    ratios = [capacity(channel, Power(p)).bits / p for p in (1.0, 0.1, 1e-3)]
    assert ratios == sorted(ratios)
    assert 0.99 * limit < ratios[-1] <= limit * (1 + 1e-9)


def test_densities():
    for noise in (0.1, 2.0):  # every input attains it: D = l^2 / (2 noise^2)
        found = capacity_per_unit_cost(AdditiveGaussian(noise))
        assert found.nats == pytest.approx(0.5 / noise**2, rel=1e-12)
    # half the Fisher information at zero, 1 / (2 scale^2), approached from below
    assert capacity_per_unit_cost(AdditiveLaplace(2.0)).nats == pytest.approx(0.125, rel=1e-8)
    assert capacity_per_unit_cost(Poisson(0.5)).nats == pytest.approx(1.0, rel=1e-8)
    endless = capacity_per_unit_cost(Exponential())  # e^l grows faster than any power
    assert (endless.bits, endless.letter) == (np.inf, None)  # no input attains it
    assert capacity_per_unit_cost(Poisson(0.0)).bits == np.inf  # one photon is no mistake


def test_a_ratio_that_rises_without_end_is_not_called_a_maximum():
    with pytest.raises(NotConverged) as caught:
        capacity_per_unit_cost(Poisson(0.5), abs)
    assert caught.value.result.upper == np.inf
    assert "still rises" in caught.value.result.scope


def test_letters():
    p = 0.1
    found = capacity_per_unit_cost(BinarySymmetric(p))
    assert found.bits == pytest.approx(kl_divergence([p, 1 - p], [1 - p, p]).bits, rel=1e-12)
    assert found.letter == 1.0
    assert found.free == 0.0
    assert capacity_per_unit_cost(ZChannel(0.3)).bits == np.inf
    same = DiscreteChannel([[0.5, 0.5], [0.5, 0.5]])
    assert capacity_per_unit_cost(same).bits == 0.0
    two_free = DiscreteChannel(np.eye(3), inputs=[-1.0, 1.0, 2.0])
    assert capacity_per_unit_cost(two_free, lambda l: np.maximum(l - 1, 0)).bits == np.inf


@settings(max_examples=15)
@given(st.floats(0.05, 0.45), st.floats(0.5, 3.0), st.floats(1.0, 4.0))
def test_without_a_free_letter_no_power_does_better(p, low, more):
    """sup C(P)/P for two letters that both cost, against a search over all laws."""
    channel = DiscreteChannel([[1 - p, p], [0.3 * p, 1 - 0.3 * p]], inputs=[low, low + more])
    found = capacity_per_unit_cost(channel, abs)
    w = np.linspace(1e-6, 1 - 1e-6, 20001)[:, None]
    rows = channel.matrix
    q = (1 - w) * rows[0] + w * rows[1]
    entropy = -(q * np.log2(q)).sum(axis=1)
    inner = -(rows * np.log2(rows)).sum(axis=1)
    information = entropy - (1 - w[:, 0]) * inner[0] - w[:, 0] * inner[1]
    brute = (information / (low + w[:, 0] * more)).max()
    assert found.free is None
    assert found.bits == pytest.approx(brute, rel=1e-6)  # the spacing of the laws tried
    assert brute <= found.upper * (1 + 1e-12)


def test_continuous_without_a_free_input():
    """Logistic with cost 1 + l^2: the best P makes P dC/dP = C."""
    found = capacity_per_unit_cost(Logistic(), lambda l: 1.0 + l * l, tol=1e-4)
    tried = [
        capacity(Logistic(), Cost(lambda l: 1.0 + l * l, 1.0 + p)).bits / (1.0 + p)
        for p in (3.0, 6.0)
    ]
    assert max(tried) <= found.upper
    assert found.bits >= max(tried) * (1 - 1e-4)


def test_a_free_input_elsewhere():
    """Cost (l - 1)^2: the free input is found, and small inputs about it are worth J(1)/2."""
    found = capacity_per_unit_cost(Logistic(), lambda l: (l - 1.0) ** 2)
    assert found.free == pytest.approx(1.0, abs=1e-6)
    p = 1 / (1 + np.exp(-1.0))
    assert found.nats >= 0.5 * p * (1 - p) * (1 - 1e-9)
    with pytest.raises(InvalidArgument, match="must not be negative"):
        capacity_per_unit_cost(Logistic(), lambda l: l)


def test_a_black_box_is_within_scope():
    found = capacity_per_unit_cost(Link(lambda l: 1 / (1 + np.exp(-l))))
    assert found.nats == pytest.approx(0.125, rel=1e-6)
    assert found.status is Status.WITHIN_SCOPE


@pytest.mark.parametrize("bad", [Logistic, None, 3])
def test_bad_channels(bad):
    with pytest.raises(InvalidArgument, match="channel must be"):
        capacity_per_unit_cost(bad)


@pytest.mark.parametrize("bad", [3.0, "cost", Power(1.0)])
def test_bad_costs(bad):
    with pytest.raises(InvalidArgument, match="cost must be a function"):
        capacity_per_unit_cost(Logistic(), bad)


def test_the_scope_says_what_is_proved_and_what_is_searched():
    proved = capacity_per_unit_cost(Ordinal([-2.0, 2.0]))
    assert proved.status is Status.OPTIMAL
    assert "bounded between" in proved.scope
    l = np.concatenate([np.geomspace(1e-3, 1e3, 4001), -np.geomspace(1e-3, 1e3, 4001)])
    ratios = Ordinal([-2.0, 2.0]).divergence(l, Ordinal([-2.0, 2.0]).prob(0.0)) / l**2
    assert ratios.max() / np.log(2) <= proved.upper
    assert capacity_per_unit_cost(AdditiveLaplace(2.0)).status is Status.OPTIMAL
    searched = capacity_per_unit_cost(Logistic(), lambda l: np.abs(l) ** 1.5)
    assert searched.status is Status.WITHIN_SCOPE
    assert "a search, not a proof" in searched.scope


@pytest.mark.parametrize("channel", [Logistic(), Softmax(3)], ids=["line", "space"])
def test_free_inputs_that_can_be_told_apart_make_it_infinite(channel):
    def size(l):
        return np.linalg.norm(l, axis=-1) if channel.dim > 1 else np.abs(l)

    for cost in (lambda l: 0.0 * size(l), lambda l: np.maximum(size(l) - 1.0, 0.0) ** 2):
        found = capacity_per_unit_cost(channel, cost)
        assert found.bits == found.lower == found.upper == np.inf


@pytest.mark.parametrize("factor", [1e-9, 4.0, 1e9])
def test_small_costs_are_not_free(factor):
    """Around its only zero a square is small, and nothing there is free."""
    found = capacity_per_unit_cost(Cloglog(), lambda l: factor * l * l)
    assert found.bits * factor == pytest.approx(capacity_per_unit_cost(Cloglog()).bits, rel=1e-6)


def test_two_dips_of_the_cost_are_both_free():
    found = capacity_per_unit_cost(Logistic(), lambda l: (l * l - 400.0) ** 2)
    assert found.bits == np.inf
    assert sorted([abs(found.letter), abs(found.free)]) == pytest.approx([20.0, 20.0])


def test_inputs_that_nobody_can_pay_for():
    letters = DiscreteChannel([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    priced = capacity_per_unit_cost(letters, lambda l: np.where(l == 2, np.inf, l))
    assert priced == capacity_per_unit_cost(
        DiscreteChannel([[0.9, 0.1], [0.2, 0.8]]), lambda l: 1.0 * l
    )
    for channel in (letters, Logistic()):
        only_zero = capacity_per_unit_cost(channel, lambda l: np.where(l == 0, 0.0, np.inf))
        assert only_zero.bits == 0.0
    for channel in (letters, Logistic(), Softmax(3)):
        with pytest.raises(InvalidArgument, match="cost must be finite for some input"):
            capacity_per_unit_cost(channel, lambda l: np.full(len(l), np.inf))


def test_outputs_too_rare_for_a_double_are_not_impossible():
    """ln P(Z > 990) is -490,058: the rate is large, not infinite."""
    mpmath = pytest.importorskip("mpmath")
    found = capacity_per_unit_cost(QuantisedGaussian((9.9, 10.1), noise=0.01))
    cells = [mpmath.ncdf(-mpmath.mpf(x)) for x in (990, 1010)]
    base = [1 - cells[0], cells[0] - cells[1], cells[1]]
    low, high = ((found.letter - edge) / 0.01 for edge in (9.9, 10.1))
    tails = [mpmath.ncdf(-low), mpmath.ncdf(-high)]
    row = [tails[0], tails[1] - tails[0], 1 - tails[1]]
    gain = sum(p * mpmath.log(p / q) for p, q in zip(row, base) if p > 0)
    assert found.nats == pytest.approx(float(gain) / found.letter**2, rel=1e-9)


@pytest.mark.parametrize("exponent", [-400, -100, 25, 100, 400])
def test_units(exponent):
    unit = 2.0**exponent
    for make in (
        lambda u: QuantisedGaussian((-u, u), noise=u),
        lambda u: Ordinal((-u, 2 * u), link=Probit(u)),
    ):
        plain, moved = (capacity_per_unit_cost(make(u)) for u in (1.0, unit))
        assert moved.status is plain.status
        assert moved.bits * unit * unit == pytest.approx(plain.bits, rel=1e-9)


def test_a_constant_cost_asks_for_the_capacity_alone():
    found = capacity_per_unit_cost(Logistic(), lambda l: 2.0 + 0.0 * l)
    assert found.lower <= 0.5 <= found.upper
    assert found.bits == pytest.approx(0.5, rel=1e-8)


def test_a_free_input_far_out_in_space():
    """Only zero was tried."""
    far = np.array([20.0, 5.0, -25.0])
    found = capacity_per_unit_cost(Softmax(3), lambda l: ((l - far) ** 2).sum(axis=1))
    np.testing.assert_allclose(found.free, far, atol=1e-6)
    letter = np.array(found.letter)
    gain = Softmax(3).divergence(letter, Softmax(3).prob(far))
    assert found.nats == pytest.approx(gain / ((letter - far) ** 2).sum(), rel=1e-9)
    rng = np.random.default_rng(0)
    others = far + rng.normal(0.0, 10.0, (2_000, 3))
    ratio = Softmax(3).divergence(others, Softmax(3).prob(far)) / ((others - far) ** 2).sum(axis=1)
    assert ratio.max() <= found.nats


@pytest.mark.parametrize("channel", [Logistic(), Softmax(3)], ids=["line", "space"])
def test_a_constant_cost_takes_one_capacity(channel):
    found = capacity_per_unit_cost(channel, lambda l: np.full(len(l), 2.0))
    assert found.bits == pytest.approx(0.5 * np.log2(channel.num_outputs), rel=1e-9)
    assert found.stats.steps == 1


@pytest.mark.parametrize("usual", [lambda l: 1.0 + 0.0 * l, lambda l: 1.0 + np.abs(l)])
def test_a_cost_below_the_least_one_found_is_not_excluded(usual):
    """A constant cost was OPTIMAL for "every input": 1 bit, where cheap far letters carry 1.9."""
    far = 1000.0317

    def cost(l):
        return np.where(np.abs(l - far) < 0.004, 0.01, usual(l))

    found = capacity_per_unit_cost(Logistic(), cost)
    share = 0.05  # of zero, which is a coin; the other letter says 1
    one = 1.0 - 0.5 * share
    carried = -one * np.log2(one) - (1.0 - one) * np.log2(1.0 - one) - share
    spent = share * float(cost(np.array([0.0]))[0]) + (1.0 - share) * 0.01
    assert found.upper < carried / spent
    assert found.status is Status.WITHIN_SCOPE
    assert "the least cost, 1, by a search, not a proof" in found.scope


def test_a_ratio_beyond_the_doubles_is_not_proved_to_be_infinite():
    found = capacity_per_unit_cost(Logistic(), lambda l: 1e-310 * np.abs(l))
    assert found.bits == np.inf
    assert found.status is Status.WITHIN_SCOPE
    assert "outgrows every double" in found.scope
