"""Inputs anywhere: against fine grids, other solvers, and bounds of our own over many channels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit, log_ndtr, ndtr
from scipy.stats import binom

from channelcode import (
    BinarySymmetric,
    Binomial,
    Features,
    Link,
    Logistic,
    Ordinal,
    Softmax,
    restrict,
)
from channelcode.capacity import Continuous, Cost, InteriorPoint, Peak, Power, capacity
from channelcode.capacity.solvers.continuous import exchange as exchange_module
from channelcode.errors import InvalidArgument
from tests.channelcode.capacity.oracles import Poisson, kkt, mutual_information


def test_a_users_poisson_channel():
    # certified bounds must hold a fine-grid optimum by another solver between them
    for power in (1e-3, 0.3, 20.0):
        result = capacity(Poisson(), Power(power))
        assert result.gap <= 1e-9
        grid = np.unique(np.concatenate([np.linspace(-8.0, 5.0, 1301), result.input.atoms]))
        held = capacity(restrict(Poisson(), grid), Power(power), solver=InteriorPoint())
        assert held.bits == pytest.approx(result.bits, abs=1e-9)


@pytest.mark.parametrize("power", [1e-6, 1e-3, 0.1, 3.0, 1e3, 1e4])
@pytest.mark.parametrize(
    "channel",
    [
        Link(lambda l: 1 / (1 + np.exp(-(l**3)))),
        Link(lambda l: (1 / (1 + np.exp(-l))) ** 3),
        Ordinal([-2.0, 0.3, 1.5]),
        Link(lambda l: 0.5 + 0.3 * np.sin(2 * l) * np.exp(-(l**2) / 20)),
        Link(lambda l: np.minimum(1.0, np.abs(l)) ** 2 * 0.9 + 0.05),  # kinks at -1 and 1
    ],
)
def test_many_channels_and_powers(channel, power):
    result = capacity(channel, Power(power), solver=Continuous())
    assert result.gap <= 1e-9
    reach = 8.0 + 4.0 * min(np.sqrt(power), 10.0)
    grid = np.unique(np.concatenate([np.linspace(-reach, reach, 801), result.input.atoms]))
    held = capacity(restrict(channel, grid), Power(power), solver=InteriorPoint())
    assert held.bits <= result.upper + 1e-9
    assert held.bits == pytest.approx(result.bits, abs=2e-9)


def test_vector_features():
    head = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    result = capacity(head, Power(4.0))
    line = np.linspace(-4.0, 4.0, 81)
    grid = np.vstack([[(x, y) for x in line for y in line], result.input.atoms])
    held = capacity(restrict(head, np.unique(grid, axis=0)), Power(4.0), solver=InteriorPoint())
    assert held.bits == pytest.approx(result.bits, abs=2e-9)
    assert len(result.input) <= 4


def test_costs_of_ones_own():
    quadratic = capacity(Logistic(), Cost(lambda l: l**2, 4.0))
    assert quadratic.bits == pytest.approx(0.472934658996838, abs=1e-9)
    absolute = capacity(Logistic(), Cost(np.abs, 1.0))
    assert absolute.multiplier == pytest.approx(absolute.bits, abs=1e-9)  # on-off: linear in P
    free_tail = capacity(Logistic(), Cost(np.exp, 2.0))  # one tail is free, the other overflows
    assert free_tail.gap <= 1e-9
    assert free_tail.input.weights @ np.exp(free_tail.input.atoms) <= 2.0 * (1 + 1e-12)


@pytest.mark.parametrize("solver", [None, Continuous()])
@pytest.mark.parametrize("channel", [Logistic(), Ordinal([-1.0, 1.0]), Softmax(4)])
def test_no_power_carries_nothing(channel, solver):
    result = capacity(channel, Power(0.0), solver=solver)
    assert result.bits == pytest.approx(0.0, abs=1e-15)
    assert len(result.input) == 1
    assert not result.input.points.any()


def test_a_peak_at_which_both_limits_bind():
    result = capacity(Ordinal([-1.0, 1.0]), Power(2.0) & Peak(1.6), solver=Continuous())
    assert np.abs(result.input.atoms).max() <= 1.6
    grid = np.unique(np.concatenate([np.linspace(-1.6, 1.6, 641), result.input.atoms]))
    held = capacity(restrict(Ordinal([-1.0, 1.0]), grid), Power(2.0), solver=InteriorPoint())
    assert held.bits == pytest.approx(result.bits, abs=2e-9)


def test_the_seed_does_not_matter():
    first = capacity(Softmax(3), Power(2.0), solver=Continuous(rng=0))
    second = capacity(Softmax(3), Power(2.0), solver=Continuous(rng=11))
    assert first.bits == pytest.approx(second.bits, abs=1e-9)


def test_misuse():
    with pytest.raises(InvalidArgument, match="continuous input"):
        capacity(BinarySymmetric(0.1), Power(4.0), solver=Continuous())
    with pytest.raises(InvalidArgument, match="max_steps"):
        Continuous(max_steps=0)
    with pytest.raises(InvalidArgument, match="rng"):
        Continuous(rng=-1)


# --- a wide sweep ---------------------------------------------------------------------------------


def power_link(rng):
    """((1 + e^-(a l + b))^-c, with lapses: a steeper foot than head, off centre."""
    a, b, c = rng.uniform(0.3, 3.0), rng.uniform(-2.0, 2.0), rng.uniform(0.3, 4.0)
    low, high = rng.uniform(0.0, 0.1, 2) * rng.integers(0, 2, 2)

    def response(l):
        return low + (1.0 - low - high) * np.exp(c * log_expit(a * l + b))

    return Link(response), lambda l: np.stack([1.0 - response(l), response(l)], axis=-1)


def probit_mixture(rng):
    """A mixture of two probits: two steps of different height."""
    share, shift, width = rng.uniform(0.1, 0.9), rng.uniform(-3.0, 3.0), rng.uniform(0.2, 2.0)

    def both(l):
        up = share * ndtr(l) + (1 - share) * ndtr((l - shift) / width)
        down = share * ndtr(-l) + (1 - share) * ndtr((shift - l) / width)
        return np.stack([down, up], axis=-1)

    return Link(lambda l: both(l)[..., 1]), both


def ordinal(rng):
    cuts = np.sort(rng.uniform(-3.0, 3.0, rng.integers(1, 5)))
    cuts = np.cumsum(np.maximum(np.diff(cuts, prepend=cuts[0] - 1.0), 0.05)) - 2.0

    def cells(l):
        edges = np.concatenate([[-np.inf], cuts, [np.inf]])
        above, below = l[:, None] - edges[:-1], l[:, None] - edges[1:]
        # from whichever tail is the smaller, so that no cell is lost to cancellation
        return np.where(below > 0, expit(-below) - expit(-above), expit(above) - expit(below))

    return Ordinal(cuts), cells


def binomial(rng):
    trials = int(rng.integers(2, 8))
    return Binomial(trials), lambda l: binom.pmf(np.arange(trials + 1), trials, expit(l)[:, None])


def steep_probit(rng):
    """Phi(a l^3 + b l): flat in the middle, symmetric, so that `Continuous` has to find zero."""
    a, b = rng.uniform(0.05, 2.0), rng.uniform(0.0, 0.5)

    def both(l):
        u = np.exp(log_ndtr(a * l**3 + b * l))
        return np.stack([np.exp(log_ndtr(-a * l**3 - b * l)), u], axis=-1)

    return Link(lambda l: both(l)[..., 1]), both


FAMILIES = [power_link, probit_mixture, ordinal, binomial, steep_probit]


def check(family, seed):
    """Value, feasibility and both bounds from probabilities that the test computes itself."""
    rng = np.random.default_rng(seed)
    channel, prob = family(rng)
    power = float(10.0 ** rng.uniform(-2.0, 2.0))
    result = capacity(channel, Power(power), solver=Continuous())
    atoms, weights = result.input.atoms, result.input.weights
    rows = prob(np.asarray(atoms))
    nats = mutual_information(rows, weights)
    assert result.nats == pytest.approx(nats, abs=1e-11)
    assert weights @ atoms**2 <= power * (1 + 1e-12)
    assert len(atoms) <= channel.num_outputs + 1
    s = result.multiplier * np.log(2)
    assert s >= 0
    output = weights @ rows
    # beyond this radius s (l^2 - P) is above -ln min q, and D never is
    far = np.sqrt(power - np.log(output.min()) / s) if s > 1e-12 else 1e3
    near = min(far, 12.0 + 3.0 * np.sqrt(power))
    grid = [np.linspace(-near, near, 20_001), atoms]
    if far > near:
        tail = np.geomspace(near, min(far, 1e6), 1001)
        grid += [tail, -tail]
    points = np.concatenate(grid)
    # q = W'p misses an output only where no law can use it: there D is 0 for it as well
    heights = kkt(prob(points), np.maximum(output, 1e-300), points**2 - power, s)
    assert heights.max() <= nats + 1.05e-9 * np.log(2)  # the promised gap, and rounding
    assert result.upper * np.log(2) >= min(heights.max(), np.log(channel.num_outputs)) - 1e-12


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(4))
def test_random_channels(family, seed):
    check(family, seed)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_wide_sweep_of_random_channels(family):
    for seed in range(100, 180):
        check(family, seed)


@pytest.mark.parametrize(("trials", "power"), [(100, 4.0), (100, 25.0), (60, 1.0)])
def test_many_outputs_need_no_thousands_of_inputs(trials, power, monkeypatch):
    """Rounds with up to 2,900 letters took more than a minute; the answer has 17 atoms or fewer."""
    sizes, plain = [], exchange_module.maximise

    def counted(letters, **options):
        sizes.append(len(letters.matrix))
        return plain(letters, **options)

    monkeypatch.setattr(exchange_module, "maximise", counted)
    result = capacity(Binomial(trials), Power(power))
    assert result.gap <= 1e-9
    assert len(result.input) <= 20
    assert max(sizes) < 600
