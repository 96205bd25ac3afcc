"""Capacity under a limit on the variance, with a mean of its own choice."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from channelcode import (
    AdditiveGaussian,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Continuous,
    DiscreteChannel,
    InvalidArgument,
    Lapse,
    Logistic,
    Ordinal,
    Peak,
    Poisson,
    Power,
    Probit,
    QuantisedGaussian,
    Recentred,
    Softmax,
    Status,
    Variance,
    ZChannel,
    capacity,
    certify,
)
from channelcode.capacity import Problem
from channelcode.capacity.certify.means import parabolas
from channelcode.capacity.variance.search import _possible_means
from tests.channelcode.capacity.oracles import mutual_information
from tests.naming import plain

GUESS = Lapse(Logistic(), low=0.2)
SKEWED = [Cloglog(), GUESS, Ordinal([-1.0, 3.0]), QuantisedGaussian((9.9, 10.1), noise=0.1)]


def spread(law):
    offsets = law.atoms - law.atoms[0]
    return float(law.weights @ (offsets - law.weights @ offsets) ** 2)


def best_of_few_atoms(channel, variance, *, atoms, starts, seed):
    """The most that `minimize` finds among laws of so many atoms, in bits: a lower bound."""
    rng = np.random.default_rng(seed)

    def law(z):
        weights = np.exp(z[atoms + 1 :] - z[atoms + 1 :].max())
        weights /= weights.sum()
        shape = z[1 : atoms + 1] - weights @ z[1 : atoms + 1]
        return z[0] + shape * np.sqrt(variance / (weights @ shape**2 + 1e-300)), weights

    def lost(z):
        points, weights = law(z)
        return -mutual_information(channel.prob(points), weights)

    found = 0.0
    for _ in range(starts):
        start = np.concatenate([rng.uniform(-3, 3, 1), rng.standard_normal(2 * atoms)])
        found = max(found, -minimize(lost, start, method="Nelder-Mead").fun)
    return found / np.log(2)


@pytest.mark.parametrize("power", [1e-3, 0.03, 1.0, 9.0, 100.0, 1e3])
@pytest.mark.parametrize("channel", [Logistic(), Cauchit(), Binomial(3)], ids=plain)
def test_symmetric_channels_are_best_around_zero(channel, power):
    free, fixed = capacity(channel, Variance(power)), capacity(channel, Power(power))
    assert free.status.ok
    assert free.gap <= 1e-9
    # both intervals hold the truth, and with Power <= Variance the values agree to both gaps
    assert free.lower <= fixed.upper
    assert fixed.lower <= free.upper


@pytest.mark.parametrize("power", [0.03, 1.0, 16.0])
def test_probit_is_best_around_zero_above_a_small_power(power):
    assert capacity(Probit(), Variance(power)).bits == pytest.approx(
        capacity(Probit(), Power(power)).bits, abs=2e-9
    )


def test_probit_prefers_rare_flashes_at_a_small_power():
    """Symmetry is not enough: under Var L <= 1e-3 a mean away from zero carries 2 % more.

    D(W_l || W_m) / (l - m)^2 is 1/pi at l = m = 0 and tends to 1/2 as m goes to infinity.
    """
    free, fixed = capacity(Probit(), Variance(1e-3)), capacity(Probit(), Power(1e-3))
    assert free.lower > 1.02 * fixed.upper
    assert abs(free.input.mean) > 3.0
    assert spread(free.input) <= 1e-3 * (1 + 1e-9)
    value = mutual_information(Probit().prob(free.input.atoms), free.input.weights)
    assert value / np.log(2) == pytest.approx(free.bits, rel=1e-9)
    # so I <= Var L sup J / 2 is a law of exponential families in l, and not of every channel
    assert value > 1e-3 * (2 / np.pi) / 2


def _flashes_in_many_digits(power: float, rest: float, flash: float) -> float:
    """What two atoms of that variance tell through a probit link, in bits, by mpmath."""

    def entropy(p):
        return -p * mpmath.log(p, 2) - (1 - p) * mpmath.log(1 - p, 2)

    with mpmath.workdps(30):
        apart = mpmath.mpf(flash) - mpmath.mpf(rest)
        weight = (1 - mpmath.sqrt(1 - 4 * mpmath.mpf(power) / apart**2)) / 2
        first, second = mpmath.ncdf(rest), mpmath.ncdf(flash)
        whole = entropy((1 - weight) * first + weight * second)
        return float(whole - (1 - weight) * entropy(first) - weight * entropy(second))


@pytest.mark.parametrize(
    ("power", "rest", "flash"),  # by Nelder and Mead on the function above
    [
        (1e-3, 3.36796158, -0.77321942),
        (1e-2, 2.28748768, -0.5754084),
        (0.02, 1.60115383, -0.42453389),
    ],
)
def test_probit_flashes_by_mpmath(power, rest, flash):
    """Nobody's solver: two atoms in many digits carry more than zero's best law, as certified."""
    free, fixed = capacity(Probit(), Variance(power)), capacity(Probit(), Power(power))
    value = _flashes_in_many_digits(power, rest, flash)
    assert fixed.upper < value
    assert free.lower - 1e-12 <= value + 1e-9
    assert value <= free.upper


@pytest.mark.slow
def test_logistic_needs_no_other_mean():
    """C under Var L <= P is C under E L^2 <= P to 1e-9 bits, at 25 powers from 1e-3 to 1e3."""
    for power in np.geomspace(1e-3, 1e3, 25):
        free, fixed = capacity(Logistic(), Variance(power)), capacity(Logistic(), Power(power))
        assert free.status.ok
        assert free.upper - fixed.lower <= 2e-9


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_in_exponential_families_half_the_fisher_information_times_the_variance_is_enough(n, seed):
    """D(W_l || W_m) is the Bregman divergence of A, and A'' = J: n/4 at most, or 1/2 in R^K."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    weights = rng.dirichlet(np.full(count, 0.4))
    atoms = rng.standard_t(2, count) * 10.0 ** rng.uniform(-2, 1)
    limit = n / 8 * (weights @ (atoms - weights @ atoms) ** 2)
    assert mutual_information(Binomial(n).prob(atoms), weights) <= limit * (1 + 1e-9) + 1e-15
    points = rng.standard_t(2, (count, n + 1)) * 10.0 ** rng.uniform(-2, 1)
    limit = 0.25 * (weights @ ((points - weights @ points) ** 2).sum(axis=1))
    value = mutual_information(Softmax(n + 1).prob(points), weights)
    assert value <= limit * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("channel", [Logistic(), Cloglog()], ids=plain)
def test_parabolas_alone_prove_the_same(channel, monkeypatch):
    """Without the bends of U(m), which are estimates, every mean is bounded by proof."""
    from channelcode.capacity.variance import search

    found = capacity(channel, Variance(1.0))
    monkeypatch.setattr(
        search,
        "bound_between",
        lambda places, upper, price, smooth: parabolas(places, upper, price),
    )
    proved = capacity(channel, Variance(1.0))
    assert proved.gap <= 1e-9
    assert proved.lower <= found.upper
    assert found.lower <= proved.upper


@pytest.mark.parametrize(
    ("channel", "variance", "bits", "mean"),
    # certified capacities under (l - c)^2, c free, from a grid of centres: theory 8b
    [(Cloglog(), 0.1, 0.0568, 1.6), (Cloglog(), 1.0, 0.3572, 0.75), (GUESS, 1.0, 0.11036, 0.92)],
    ids=plain,
)
def test_skewed_channels_choose_their_mean(channel, variance, bits, mean):
    found = capacity(channel, Variance(variance))
    assert found.bits == pytest.approx(bits, rel=5e-4)
    assert float(found.input.mean) == pytest.approx(mean, abs=0.02)
    assert found.bits > 1.03 * capacity(channel, Power(variance)).bits


@pytest.mark.parametrize("channel", SKEWED, ids=plain)
@pytest.mark.parametrize("variance", [0.01, 1.0, 30.0])
def test_no_law_that_a_search_finds_carries_more(channel, variance):
    found = capacity(channel, Variance(variance))
    assert found.status.ok
    assert spread(found.input) <= variance * (1 + 1e-9)
    seen = Recentred(channel, 10.0) if isinstance(channel, QuantisedGaussian) else channel
    best = best_of_few_atoms(seen, variance, atoms=3, starts=4, seed=int(100 * variance))
    assert best <= found.upper + 1e-12
    assert best >= 0.9 * found.lower  # the search would notice a wrong scale


@settings(max_examples=25)
@given(
    st.sampled_from([Logistic(), Probit(), Cloglog(), GUESS, Ordinal([-1.0, 3.0])]),
    st.sampled_from([1e-2, 1.0, 20.0]),
    st.integers(0, 10**6),
)
def test_no_random_law_beats_the_upper_bound(channel, variance, seed):
    rng = np.random.default_rng(seed)
    upper = known(channel, variance)
    for _ in range(40):
        count = int(rng.integers(2, 6))
        weights = rng.dirichlet(np.full(count, 0.5)) + 1e-12
        weights /= weights.sum()
        atoms = rng.standard_t(2, count)
        atoms -= weights @ atoms
        atoms *= np.sqrt(variance / (weights @ atoms**2))
        law = atoms + 3.0 * rng.standard_normal()
        assert mutual_information(channel.prob(law), weights) / np.log(2) <= upper + 1e-12


_KNOWN: dict = {}


def known(channel, variance):
    if (channel, variance) not in _KNOWN:
        _KNOWN[channel, variance] = capacity(channel, Variance(variance)).upper
    return _KNOWN[channel, variance]


@pytest.mark.parametrize("origin", [-20.0, 0.3, 4990.0])
def test_the_origin_does_not_matter(origin):
    here = capacity(Cloglog(), Variance(0.5))
    there = capacity(Recentred(Cloglog(), origin), Variance(0.5))
    assert there.bits == pytest.approx(here.bits, abs=2e-9)
    assert float(there.input.mean) + origin == pytest.approx(float(here.input.mean), abs=1e-3)


def test_a_channel_that_bends_far_out_is_found():
    found = capacity(Ordinal([5000.0, 5060.0, 5120.0]), Variance(1000.0))
    assert found.status.ok
    near = capacity(Ordinal([-60.0, 0.0, 60.0]), Variance(1000.0))
    assert found.bits == pytest.approx(near.bits, abs=2e-9)


def test_it_grows_with_the_variance_and_is_never_below_power():
    variances = [0.0, 1e-300, 1e-12, 1e-3, 0.1, 2.0, 50.0, 1e300, np.inf]
    found = [capacity(Cloglog(), Variance(v)) for v in variances]
    assert found[0].bits == 0.0
    assert found[-1].bits == pytest.approx(1.0)
    assert all(a.lower <= b.upper for a, b in itertools.pairwise(found))
    for variance, each in zip(variances, found):
        assert each.status.ok
        assert each.upper >= capacity(Cloglog(), Power(variance)).lower


def test_the_multiplier_is_the_slope():
    step = 1e-4
    up, down = (capacity(GUESS, Variance(2.0 + s), tol=1e-11).bits for s in (step, -step))
    assert capacity(GUESS, Variance(2.0)).multiplier == pytest.approx(
        (up - down) / (2 * step), rel=1e-4
    )


@pytest.mark.parametrize("amplitude", [0.5, 1.0, 4.0])
def test_with_a_peak(amplitude):
    found = capacity(Cloglog(), Variance(1.0) & Peak(amplitude))
    assert found.status.ok
    assert np.abs(found.input.atoms).max() <= amplitude * (1 + 1e-12)
    assert found.bits <= capacity(Cloglog(), Peak(amplitude)).upper
    assert found.bits <= capacity(Cloglog(), Variance(1.0)).upper
    assert found.bits >= capacity(Cloglog(), Power(1.0) & Peak(amplitude)).lower


@pytest.mark.parametrize(
    ("channel", "variance"),
    [
        (BinarySymmetric(0.1), 0.2),
        (ZChannel(0.3), 0.1),
        (ZChannel(0.3), 0.24),
        (ZChannel(0.3), 9.0),
    ],
    ids=plain,
)
def test_two_letters_by_a_scan(channel, variance):
    share = np.linspace(0.0, 1.0, 200_001)
    share = share[share * (1 - share) <= variance]
    matrix = channel.matrix
    output = np.outer(1 - share, matrix[0]) + np.outer(share, matrix[1])
    each = -(matrix * np.log(matrix, where=matrix > 0, out=np.zeros_like(matrix))).sum(axis=1)
    entropy = -(output * np.log(output, where=output > 0, out=np.zeros_like(output))).sum(axis=1)
    best = (entropy - (1 - share) * each[0] - share * each[1]).max() / np.log(2)
    found = capacity(channel, Variance(variance))
    assert found.status.ok
    # the scan ends within 5e-6 of the edge of what is allowed, where I rises by a few bits a unit
    assert best <= found.upper + 1e-12
    assert found.lower <= best + 3e-5


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_random_letters_never_beat_the_upper_bound(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    letters = np.sort(rng.normal(0, 2, count))
    channel = DiscreteChannel(rng.dirichlet(np.ones(3), count), inputs=letters)
    variance = 10.0 ** rng.uniform(-2, 1)
    found = capacity(channel, Variance(variance), throw=False)
    assert found.gap <= 1e-6
    assert spread(found.input) <= variance * (1 + 1e-9)
    for _ in range(300):
        weights = rng.dirichlet(np.full(count, rng.choice([0.1, 1.0])))
        offsets = letters - weights @ letters
        if weights @ offsets**2 <= variance:
            value = mutual_information(channel.prob(letters), weights) / np.log(2)
            assert value <= found.upper + 1e-12


def test_means_that_letters_far_apart_cannot_have():
    channel = DiscreteChannel(np.eye(3), inputs=[0.0, 1.0, 10.0])
    intervals = _possible_means(Problem(channel, Variance(0.5)))
    assert intervals.shape == (2, 2)  # 0 to 1 hang together, 10 stands alone
    (left, right) = intervals[0]
    assert left == 0.0
    assert (right - 1.0) * (10.0 - right) == pytest.approx(0.5)
    assert capacity(channel, Variance(0.25)).bits == pytest.approx(1.0, abs=1e-8)


def test_additive_noise_has_no_origin():
    assert capacity(AdditiveGaussian(1.0), Variance(3.0)).bits == pytest.approx(1.0)


class Unpromising(Channel):
    """A logistic channel as a user would write it."""

    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return Logistic().log_prob(l)


def test_a_black_box_is_proved_for_the_means_that_were_looked_at():
    found = capacity(Unpromising(), Variance(1.0), throw=False)
    assert found.status is Status.WITHIN_SCOPE
    assert "means within" in found.scope
    assert found.bits == pytest.approx(capacity(Logistic(), Power(1.0)).bits, abs=1e-9)


@pytest.mark.parametrize("value", [-1.0, np.nan, None, True, "1"])
def test_a_variance_is_a_number(value):
    with pytest.raises(InvalidArgument, match="variance"):
        Variance(value)


@pytest.mark.parametrize("channel", [Softmax(3), Poisson(1.0)], ids=plain)
def test_what_it_cannot_do_is_refused_in_words(channel):
    with pytest.raises(InvalidArgument, match="channel"):
        capacity(channel, Variance(1.0))


def test_a_variance_and_a_mean_cost_exclude_each_other():
    with pytest.raises(InvalidArgument, match="both the variance and a mean cost"):
        capacity(Logistic(), Variance(1.0) & Power(1.0))


def test_a_solver_alone_does_not_take_it_for_no_limit():
    problem = Problem(Logistic(), Variance(1.0))
    with pytest.raises(InvalidArgument, match="origin"):
        certify(problem, np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 0.1, tol=1e-9)


def test_a_solver_of_ones_own_is_asked_at_each_centre():
    assert capacity(Cloglog(), Variance(1.0), solver=Continuous()).bits == pytest.approx(
        capacity(Cloglog(), Variance(1.0)).bits, abs=2e-9
    )


class Liar:
    """Claims that nothing can be sent, or all of it."""

    def __init__(self, points, weights):
        self.points, self.weights = points, weights

    def propose(self, problem, *, tol):
        from channelcode.capacity import Proposal

        return Proposal(np.array(self.points), np.array(self.weights), 0.0, "Liar")


def test_a_lying_solver_is_not_believed():
    low = capacity(Cloglog(), Variance(1.0), solver=Liar([0.0], [1.0]), throw=False)
    assert not low.status.ok
    assert low.lower <= 0.35 <= low.upper
    with pytest.raises(InvalidArgument, match="within the constraint"):
        capacity(Cloglog(), Variance(1.0), solver=Liar([-9.0, 9.0], [0.5, 0.5]))
