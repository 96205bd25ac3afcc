"""Certificates on channels that try to deceive them: none may be false."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import (
    Cost,
    Features,
    InteriorPoint,
    Link,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Probit,
    QuantisedGaussian,
    Status,
    Unconstrained,
    capacity,
    capacity_curve,
    restrict,
)
from channelcode.errors import InvalidArgument
from tests.channelcode.capacity.hostile import Black, best_known, bump, hostile_problem
from tests.channelcode.capacity.oracles import mutual_information

BUMP = bump(12.41, 0.05, 0.9, Logistic())
TOL = 1e-9


def test_an_output_that_only_a_far_bump_has():
    """A feasible law at P = 20 carries 1.02789 bits; the certificate said 0.91075."""
    low, high = capacity(BUMP, Power(16.0)), capacity(BUMP, Power(20.0))
    assert high.bits > 1.02789
    assert high.bits > low.bits
    atoms = np.array([-3.0, 3.0, 12.41])
    weights = np.array([0.465, 0.465, 0.07])
    assert weights @ atoms**2 <= 20.0
    assert mutual_information(BUMP.prob(atoms), weights) / np.log(2) <= high.upper
    curve = capacity_curve(BUMP, [16.0, 20.0])
    np.testing.assert_allclose(curve.bits, [low.bits, high.bits], atol=TOL)
    assert "every 0." in high.scope


@pytest.mark.parametrize("ratio", [2.0, 3.7, 5.5, 8.0])
@pytest.mark.parametrize("power", [1.0, 25.0])
def test_bumps_up_to_eight_times_the_root_of_the_power(power, ratio):
    centre = ratio * np.sqrt(power)
    channel = bump(centre, 0.05, 0.9, Logistic())
    for constraint in (Power(power), Power(power) & Peak(1.4 * centre)):
        result = capacity(channel, constraint, throw=False)
        grid = np.concatenate([np.linspace(-centre, centre, 801), result.input.atoms])
        held = capacity(restrict(channel, np.unique(grid)), Power(power), solver=InteriorPoint())
        assert held.lower <= result.upper + TOL


@pytest.mark.parametrize(
    ("channel", "constraint", "bits"),
    [
        (QuantisedGaussian((9.9, 10.1), noise=0.01), Unconstrained(), np.log2(3)),
        (Ordinal((5000.0, 5060.0, 5120.0)), Unconstrained(), 2.0),
        (Ordinal((44.661, 44.848), link=Probit(0.01)), Peak(100.0), np.log2(3)),
        (QuantisedGaussian((97.0, 98.0, 99.0), noise=0.1), Peak(100.0), 1.9999934),
    ],
)
def test_narrow_and_far_thresholds(channel, constraint, bits):
    result = capacity(channel, constraint)
    assert result.status is Status.OPTIMAL
    assert result.bits == pytest.approx(bits, abs=1e-6)


def test_cell_midpoints_are_within_the_bounds():
    channel = QuantisedGaussian((97.0, 98.0, 99.0), noise=0.1)
    midpoints = np.array([96.0, 97.5, 98.5, 100.0])
    found = mutual_information(channel.prob(midpoints), np.full(4, 0.25)) / np.log(2)
    assert found <= capacity(channel, Peak(100.0)).upper


@pytest.mark.parametrize(
    ("channel", "cost", "law"),
    [
        # zero cost at +-20: one bit, nearly
        (
            Logistic(),
            Cost(lambda l: np.minimum(l**2, (np.abs(l) - 20.0) ** 2), 1.0),
            ([-20.0, 20.0], [0.5, 0.5]),
        ),
        (
            Ordinal((99.0, 101.0)),
            Cost(lambda l: (l - 100.0) ** 2, 1.0),
            ([99.0, 101.0], [0.5, 0.5]),
        ),
        (Logistic(), Cost(lambda l: (l**2 - 4.0) ** 2, 0.05), ([-2.0, 2.0], [0.5, 0.5])),
        (Logistic(), Cost(lambda l: (l - 0.37) ** 2, 1e-4), ([0.36, 0.38], [0.5, 0.5])),
    ],
)
def test_costs_that_are_small_elsewhere(channel, cost, law):
    atoms, weights = np.array(law[0]), np.array(law[1])
    assert weights @ cost.function(atoms) <= cost.budget + 1e-12
    result = capacity(channel, cost)
    assert result.gap <= TOL
    assert mutual_information(channel.prob(atoms), weights) / np.log(2) <= result.upper


def test_a_cost_that_forbids_inputs():
    result = capacity(Logistic(), Cost(lambda l: np.where(np.abs(l) > 2, np.inf, np.abs(l)), 1.0))
    assert np.abs(result.input.atoms).max() <= 2.0
    assert result.bits > 0.2
    with pytest.raises(InvalidArgument, match="least cost"):
        capacity(Logistic(), Cost(lambda l: np.full(len(l), np.inf), 1.0))


def test_a_black_box_without_a_limit_gets_the_honest_wording():
    result = capacity(Link(lambda l: 0.1 + 0.8 / (1 + np.exp(-l))), Unconstrained())
    assert result.status is Status.WITHIN_SCOPE
    assert result.scope.startswith("inputs within [")
    assert result.gap <= TOL
    limited = capacity(Link(lambda l: 0.1 + 0.8 / (1 + np.exp(-l))), Power(4.0))
    assert limited.status is Status.OPTIMAL
    assert "every 0." in limited.scope


def attack(seed: int) -> None:
    problem = hostile_problem(np.random.default_rng(seed))
    if isinstance(problem.constraint, Cost):
        inputs = np.concatenate([problem.secrets, np.linspace(-60.0, 60.0, 12_001)])
        if problem.constraint.function(inputs).min() > problem.constraint.budget:
            with pytest.raises(InvalidArgument, match="least cost"):
                capacity(problem.channel, problem.constraint)
            return
    result = capacity(problem.channel, problem.constraint, throw=False)
    found = best_known(problem, np.asarray(result.input.atoms))
    # the oracle's law is feasible to rounding; its information is good to 1e-13
    assert found <= result.upper + 1e-12, (seed, problem.name)
    assert len(result.input) <= problem.channel.num_outputs + 1


@pytest.mark.parametrize("seed", range(6))
def test_no_certificate_is_false(seed):
    attack(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 400, 20))
def test_no_certificate_is_false_at_length(start):
    for seed in range(start, start + 20):
        attack(seed)


def _triangle(centre: float, width: float, height: float, steep: float) -> Black:
    """A logistic response and a third output that is a triangle, with a kink at its top."""

    def rows(l):
        top = height * np.maximum(1.0 - np.abs(l - centre) / width, 0.0)
        up = 1.0 / (1.0 + np.exp(-np.clip(steep * l, -700.0, 700.0)))
        return np.stack([(1.0 - top) * (1.0 - up), (1.0 - top) * up, top], axis=-1)

    return Black(rows, 3)


def test_a_response_whose_foot_alone_is_seen():
    """Half-width 0.05, probes every 0.1: OPTIMAL at 0.96283, where 0.96443 is feasible."""
    centre = 217.15614475330767
    channel = _triangle(centre, 0.05076005659314303, 0.7075217418773059, 0.1928221475738595)
    power = 823.0526788752051
    share = 1e-3
    rest = np.sqrt((power - share * centre**2) / (1.0 - share))
    atoms = np.array([-rest, rest, centre])
    weights = np.array([0.5 * (1.0 - share), 0.5 * (1.0 - share), share])
    assert weights @ atoms**2 <= power * (1.0 + 1e-14)
    carried = mutual_information(channel.prob(atoms), weights) / np.log(2)
    assert carried > 0.9638
    result = capacity(channel, Power(power))
    assert carried <= result.upper
    assert result.gap <= TOL


def test_kinks_do_not_multiply_the_inputs_of_the_solver(monkeypatch):
    """Each round tripled the finite problem: 1,565 letters after ten rounds, and minutes."""
    from channelcode.capacity.solvers.continuous import exchange

    sizes, plain = [], exchange.maximise

    def counted(letters, **options):
        sizes.append(len(letters.matrix))
        return plain(letters, **options)

    monkeypatch.setattr(exchange, "maximise", counted)
    channel = _triangle(22.204122134836073, 0.053032864768162734, 0.8521793095450059, 0.41)
    result = capacity(channel, Power(86.29060891520533))
    assert result.gap <= TOL
    assert len(result.input) <= 4
    assert max(sizes) < 600  # the first one has some 250


@pytest.mark.parametrize(("centre", "width"), [(79.13, 6.36), (154.94, 9.0), (-76.89, 7.0)])
def test_the_solver_sees_what_the_certificate_sees(centre, width):
    """A wide response far out and no limit: [1, 1.585] and STALLED before."""
    channel = _triangle(centre, width, 0.82, 0.88)
    result = capacity(channel, Unconstrained())
    law = np.array([-60.0 * np.sign(centre), centre])
    rows = channel.prob(np.append(law, 2.0 * centre))
    weights = np.array([0.36, 0.28, 0.36])
    assert mutual_information(rows, weights) / np.log(2) <= result.upper
    assert result.gap <= TOL
    assert result.status is Status.WITHIN_SCOPE
    assert result.scope.startswith("inputs within [-64, 64], and only those looked at further out")


@pytest.mark.parametrize(
    ("centre", "width", "height", "steep", "power", "found"),
    [
        (-63.58316004092498, 0.072, 0.632, 3.684, 6.315364852118573, True),
        (34.9628816649754, 0.446, 0.926, 0.1954, 1.8559335666542984, True),
        (-57.486461897764556, 0.1085, 0.248, 9.2235, 3.291308306588527, False),
    ],
)
def test_responses_farther_out_than_eight_times_the_root(
    centre, width, height, steep, power, found
):
    """Steps of 3 % of |l| were called a proof for the real line; a feasible law carries more."""
    channel = _triangle(centre, width, height, steep)
    grid = np.unique([*np.linspace(-8.0, 8.0, 321) * np.sqrt(power), centre])
    held = capacity(restrict(channel, grid), Power(power), solver=InteriorPoint())
    result = capacity(channel, Power(power))
    assert result.gap <= TOL
    if found:
        assert result.status is Status.OPTIMAL
        assert held.lower <= result.upper + TOL
        assert np.abs(result.input.atoms - centre).min() < width
    else:  # the multiplier reaches to 4,000: too far for even probes
        assert result.status is Status.WITHIN_SCOPE
        assert result.scope.startswith("inputs within [-16, 16], and only those looked at further")


@pytest.mark.parametrize(("low", "high"), [(1.411, 1.43), (-0.61, -0.595), (0.2005, 0.2095)])
@pytest.mark.parametrize("shift", [-0.3, 0.3])
def test_rows_are_checked_at_the_probes(low, high, shift):
    """A response that forgets to be a law on an interval of 0.01 to 0.02 passed."""

    def rows(l):
        up = 1.0 / (1.0 + np.exp(-l))
        wrong = ((l > low) & (l < high))[..., None]
        return np.stack([1.0 - up, up], axis=-1) * np.where(wrong, np.exp(shift), 1.0)

    with pytest.raises(InvalidArgument, match="log_prob must give"):
        capacity(Black(rows, 2), Power(2.0))


class Lettered(Black):
    """A finite alphabet of one's own; `matrix` is its author's, and no transition matrix."""

    matrix = np.array([[0.6, 0.4], [0.4, 0.6]])

    def __init__(self, rows):
        super().__init__(lambda l: np.array(rows)[l.astype(int)], 2)
        self.count = len(rows)

    @property
    def inputs(self):
        return np.arange(float(self.count))


def test_letters_of_a_channel_of_ones_own():
    """Idle letters that were no laws passed; an attribute `matrix` was read instead of log_prob."""
    plain = capacity(Lettered([[0.9, 0.1], [0.1, 0.9]]), Unconstrained())
    assert plain.bits == pytest.approx(1.0 + 0.9 * np.log2(0.9) + 0.1 * np.log2(0.1), abs=1e-12)
    with pytest.raises(InvalidArgument, match="a sum of"):
        capacity(Lettered([[0.9, 0.1], [0.1, 0.9], [0.2, 0.3]]), Unconstrained())


def test_a_subclass_of_features_is_no_link_behind_a_row():
    class Turned(Features):
        def log_prob(self, l):
            return Logistic().log_prob(l[..., 0] + 3.0 * l[..., 1])

    result = capacity(Turned(Logistic(), [[1.0, 0.0]]), Power(1.0))
    assert result.status is Status.WITHIN_SCOPE
    expected = capacity(Features(Logistic(), [[1.0, 3.0]]), Power(1.0))
    assert result.bits == pytest.approx(expected.bits, abs=1e-9)


def test_a_huge_power_sees_what_a_small_one_does():
    """Even probes out to 8e6 were 16 apart: less was proved at P = 1e12 than is feasible at 1e4."""
    channel = bump(12.41, 0.3, 0.9, Logistic())
    small, huge = capacity(channel, Power(1e4)), capacity(channel, Power(1e12))
    assert huge.upper >= small.lower
    assert huge.bits >= small.bits - TOL
