"""C/P and dC/dP keep their digits down to the smallest powers."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import (
    Cauchit,
    Cloglog,
    Features,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Probit,
    Softmax,
    Status,
    ZChannel,
    capacity,
    capacity_curve,
)
from channelcode.capacity import Problem
from channelcode.capacity.low_power import best_rate, log_ratios
from tests.channelcode.capacity.hostile import Black
from tests.channelcode.capacity.oracles import kkt, mutual_information

SHIFTED = Link(lambda l: 1 / (1 + np.exp(-(l - 3.0))))
TINY = [1e-8, 1e-14, 1e-16, 1e-20, 1e-100, 1e-300]


def half_fisher(channel) -> float:
    """Half the Fisher information at zero, in bits."""
    law, slope = channel.prob(0.0), channel.derivatives(np.array([0.0])).gradient[0]
    return 0.5 * float(law @ slope**2) / np.log(2)


@pytest.mark.parametrize("power", TINY)
@pytest.mark.parametrize(
    "channel", [Ordinal((-1.0, 1.0)), Logistic(), Probit(3.0), Cauchit()], ids=repr
)
def test_where_the_fisher_information_is_the_limit(channel, power):
    result = capacity(channel, Power(power))
    expected = half_fisher(channel)
    # the next term of the series is of relative size P
    assert result.bits / power == pytest.approx(expected, rel=1e-6)
    assert result.multiplier == pytest.approx(expected, rel=1e-6)
    assert result.lower <= result.bits <= result.upper
    assert result.upper <= result.lower * (1 + 1e-6)


def test_the_issues_figures():
    for power in (1e-14, 1e-16, 1e-20):
        assert capacity(Ordinal((-1, 1)), Power(power)).multiplier == pytest.approx(
            0.2074, abs=1e-4
        )
    assert capacity(Ordinal((-1, 1)), Power(1e-320)).multiplier == pytest.approx(0.2074, abs=1e-4)


@pytest.mark.parametrize("power", TINY)
@pytest.mark.parametrize(
    "channel",
    [Cloglog(), Link(lambda l: 1 / (1 + np.exp(-(l - 3.0)))), Ordinal((2.0, 4.0))],
    ids=repr,
)
def test_where_a_far_input_is_worth_more(channel, power):
    """On-off: S = max_l D(W_l || W_0) / l^2, here by a dense grid."""
    grid = np.concatenate([np.linspace(-30.0, 30.0, 600_001), [1e-3, -1e-3]])
    grid = grid[np.abs(grid) > 5e-4]
    slope = (kkt(channel.prob(grid), channel.prob(0.0), 0.0, 0.0) / grid**2).max() / np.log(2)
    result = capacity(channel, Power(power))
    # the grid misses the top by less than (1e-4)^2; the first order is good to 1e-7
    assert result.bits / power == pytest.approx(slope, rel=3e-6)
    assert result.multiplier == pytest.approx(slope, rel=3e-6)
    assert len(result.input) == 2
    assert result.input.weights @ result.input.atoms**2 <= power * (1 + 1e-12)


@pytest.mark.parametrize("channel", [Ordinal((-1.0, 1.0)), Cloglog(), Cauchit()], ids=repr)
def test_the_series_meets_the_ordinary_solver(channel):
    """C/P falls as P grows, smoothly through the place where the method changes."""
    powers = np.geomspace(1e-9, 1e-5, 9)
    rates = np.array([capacity(channel, Power(p)).bits / p for p in powers])
    slopes = np.array([capacity(channel, Power(p)).multiplier for p in powers])
    assert (np.diff(rates) <= 1e-7 * rates[0]).all()
    np.testing.assert_allclose(slopes, rates, rtol=2e-4)


def test_a_curve_of_tiny_powers():
    powers = [1e-300, 1e-20, 1e-8]
    for channel in (Logistic(), Ordinal((-1.0, 1.0)), Lapse(Logistic(), low=0.1, high=0.1)):
        curve = capacity_curve(channel, powers)
        single = [capacity(channel, Power(p)) for p in powers]
        np.testing.assert_allclose(curve.bits, [r.bits for r in single], rtol=1e-9)
        np.testing.assert_allclose(curve.bits / powers, half_fisher(channel), rtol=1e-6)
        np.testing.assert_allclose(curve.multiplier, half_fisher(channel), rtol=1e-6)


@pytest.mark.parametrize("l", [1e-300, 1e-12, 3e-6, 1e-4, 0.5])
def test_log_ratios_keep_their_digits(l):
    with mpmath.workdps(400):
        x = mpmath.mpf(l)
        exact = mpmath.log(1 / (1 + mpmath.exp(-x))) - mpmath.log(mpmath.mpf(1) / 2)
    assert log_ratios(Logistic(), np.array([l]))[0, 1] == pytest.approx(float(exact), rel=1e-9)
    head = Features(Logistic(), [[0.6, 0.8]])
    in_plane = log_ratios(head, np.array([[0.6 * l, 0.8 * l]]))[0, 1]
    assert in_plane == pytest.approx(float(exact), rel=1e-9)


def test_where_there_is_no_first_order():
    assert best_rate(Problem(Link(lambda l: np.minimum(l**2, 1.0)), Power(1e-9))) is None
    rate = best_rate(Problem(Ordinal((-1.0, 1.0)), Power(1e-9) & Peak(0.5)))
    assert rate is not None
    assert rate.radius <= 0.5


def test_finite_alphabets_and_softmax_at_tiny_powers():
    for power in (1e-9, 1e-20):
        result = capacity(Softmax(3), Power(power))
        assert result.bits / power == pytest.approx(capacity(Softmax(3), Power(1e-3)).bits / 1e-3)
    assert capacity(ZChannel(0.5), Power(1e-6)).bits > 0.0


def test_a_black_box_with_a_far_response_in_the_rate():
    """The rate is largest in a bump at 50.3 that no wide step saw: "every input" was said."""

    def response(l):
        return 0.5 + 0.01 * np.tanh(l) + 0.45 * np.exp(-0.5 * ((l - 50.3) / 0.06) ** 2)

    channel, power = Link(response), 1e-4
    share = power / 50.3**2
    rows = channel.prob(np.array([0.0, 50.3]))
    carried = mutual_information(rows, np.array([1.0 - share, share])) / np.log(2)
    result = capacity(channel, Power(power))
    assert carried <= result.upper
    assert result.bits >= carried * (1.0 - 1e-9)
    assert result.status is Status.OPTIMAL
    assert "every 0.1 up to 58.88" in result.scope


def test_a_rate_beyond_even_probes_is_proved_for_what_was_looked_at():
    faint = Link(lambda l: 0.5 + 1e-4 * np.tanh(l))
    result = capacity(faint, Power(1e-6))
    assert result.status is Status.WITHIN_SCOPE
    assert result.scope.startswith("inputs within [-8, 8], and only those looked at further out")
    slow = Link(lambda l: 1.0 / (1.0 + np.exp(-1e-3 * l)))  # matters as far as 2355
    result = capacity(slow, Power(1e-6))
    assert result.status is Status.WITHIN_SCOPE
    assert "C <= S P" in result.scope
    assert result.bits == pytest.approx(1e-12 / 8 / np.log(2), rel=1e-6)


@pytest.mark.parametrize("steepness", [0.1, 10.0])
def test_formulas_of_a_parent_say_nothing_of_another_log_prob(steepness):
    """With the derivatives of `Logistic` itself `lower` lay above the capacity."""

    class Other(Logistic):
        def log_prob(self, l):
            return Logistic().log_prob(steepness * l)

    result = capacity(Other(), Power(1e-12))
    exact = steepness**2 * 0.125e-12 / np.log(2)
    assert result.bits == pytest.approx(exact, rel=1e-6)
    assert result.lower <= exact * (1.0 + 1e-9)
    assert exact <= result.upper * (1.0 + 1e-9)


@pytest.mark.parametrize("power", [5e-324, 1e-320, 1e-300, 1e-100, 1e-30])
@pytest.mark.parametrize("width", [0.05, 0.5])
def test_an_output_that_zero_never_gives(power, width):
    """One rare letter, as D(W_l || W_0) is infinite: dC/dP = 1e121, or "l must not be empty"."""

    def rows(l):
        top = 0.9 * np.exp(-0.5 * ((l - 12.41) / width) ** 2)
        up = 1.0 / (1.0 + np.exp(-l))
        return np.stack([(1.0 - top) * (1.0 - up), (1.0 - top) * up, top], axis=-1)

    result = capacity(Black(rows, 3), Power(power))
    assert result.status is Status.OPTIMAL
    letters = np.linspace(12.41 - 20.0 * width, 12.41, 4001)
    law, share = rows(letters), power / letters**2
    zero = rows(np.zeros(1))[0]
    assert zero[2] == 0.0 or width > 0.3
    logs = np.log(zero[:2])
    # D(W_l || (1 - w) W_0 + w W_l), w next to nothing
    apart = (law[:, :2] * (np.log(law[:, :2]) - logs)).sum(axis=1)
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp(np.log(zero[2]), np.log(np.maximum(share, 1e-300)) + np.log(law[:, 2]))
    slopes = (apart + law[:, 2] * (np.log(law[:, 2]) - mixed)) / letters**2 / np.log(2)
    assert result.multiplier == pytest.approx(slopes.max(), rel=2e-3)
    if power > 1e-310:
        assert result.bits / power == pytest.approx(slopes.max(), rel=2e-2)
