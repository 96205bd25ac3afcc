"""Bad input, degenerate problems, and answers that did not converge."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    Cauchit,
    Channel,
    DiscreteChannel,
    Features,
    Link,
    Logistic,
    Ordinal,
    Softmax,
    ZChannel,
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
from channelcode.certificate import Status
from channelcode.errors import InvalidArgument, NotConverged


class Poisson(Channel):
    """A count that stops at twenty, as a user would write it."""

    dim, num_outputs = 1, 21

    def log_prob(self, l):
        count = np.arange(20.0)
        below = count * l[..., None] - np.exp(l)[..., None] - gammaln(count + 1)
        above = np.log(-np.expm1(np.minimum(logsumexp(below, axis=-1), -1e-300)))
        return np.concatenate([below, above[..., None]], axis=-1)


@pytest.mark.parametrize(
    ("channel", "bits"),
    [
        (BinarySymmetric(0.11), 1 + 0.11 * np.log2(0.11) + 0.89 * np.log2(0.89)),
        (BinaryErasure(0.3), 0.7),
        (ZChannel(0.5), np.log2(1.25)),
        (ZChannel(0.0), 1.0),
        (ZChannel(1.0), 0.0),
    ],
)
def test_textbook_channels(channel, bits):
    for solver in (ClosedForm(), InteriorPoint(), BlahutArimoto()):
        result = capacity(channel, Unconstrained(), solver=solver)
        assert result.bits == pytest.approx(bits, abs=1e-9)


@pytest.mark.parametrize("channel", [Logistic(), Ordinal([-1.0, 1.0]), Softmax(4)])
@pytest.mark.parametrize("solver", [None, Continuous()])
def test_no_power_carries_nothing(channel, solver):
    result = capacity(channel, Power(0.0), solver=solver)
    assert result.bits == pytest.approx(0.0, abs=1e-15)
    assert len(result.input) == 1
    assert not result.input.points.any()


def test_unlimited_power_reaches_the_limit():
    assert capacity(Logistic(), Power(np.inf)).bits == 1.0
    assert capacity(Softmax(4), Unconstrained()).bits == pytest.approx(2.0, abs=1e-12)
    assert capacity(Cauchit(), Power(np.inf)).bits == pytest.approx(1.0, abs=1e-9)
    far = capacity(Ordinal([-1.0, 1.0]), Power(np.inf))
    assert far.bits == pytest.approx(capacity(Ordinal([-1.0, 1.0]), Power(1e4)).bits, abs=1e-9)


def test_a_cost_that_is_never_met():
    with pytest.raises(InvalidArgument, match="least cost"):
        capacity(Ordinal([-1.0, 1.0]), Cost(lambda l: l**2 + 5.0, 2.0))
    with pytest.raises(InvalidArgument, match="least cost"):
        capacity(DiscreteChannel(np.eye(2), [2.0, 3.0]), Power(1.0))
    with pytest.raises(InvalidArgument, match="at least one input letter"):
        capacity(DiscreteChannel(np.eye(2), [2.0, 3.0]), Peak(1.0))


def test_a_cost_of_the_wrong_shape():
    with pytest.raises(InvalidArgument, match="one cost for each input"):
        capacity(Logistic(), Cost(lambda l: 3.0, 4.0))


def test_idle_outputs_and_twin_letters_change_nothing():
    plain = capacity(DiscreteChannel([[0.9, 0.1], [0.2, 0.8]]), Unconstrained())
    idle = capacity(DiscreteChannel([[0.9, 0.0, 0.1], [0.2, 0.0, 0.8]]), Unconstrained())
    twins = capacity(DiscreteChannel([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]), Unconstrained())
    assert idle.bits == pytest.approx(plain.bits, abs=1e-12)
    assert twins.bits == pytest.approx(plain.bits, abs=1e-12)
    assert idle.output[1] == 0.0


def test_the_cheaper_twin_is_used():
    channel = DiscreteChannel([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]], [5.0, 1.0, 2.0])
    result = capacity(channel, Power(2.0))
    assert 5.0 not in result.input.atoms


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0]] * 5, [[0.2, 0.3, 0.5]], [[0.5, 0.5]] * 4])
@pytest.mark.parametrize("solver", [InteriorPoint(), BlahutArimoto()])
def test_channels_that_carry_nothing(matrix, solver):
    result = capacity(DiscreteChannel(matrix), Power(3.0), solver=solver)
    assert result.bits == pytest.approx(0.0, abs=1e-15)
    assert result.gap <= 1e-9


def test_constant_response():
    assert capacity(Link(lambda l: 0.3), Power(3.0)).bits == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    "call",
    [
        lambda: capacity(Logistic(), 4.0),  # type: ignore[arg-type]
        lambda: capacity("logistic", Power(4.0)),  # type: ignore[arg-type]
        lambda: capacity(Logistic(), Power(4.0), solver="auto"),  # type: ignore[arg-type]
        lambda: capacity(Logistic(), Power(4.0), tol=0.0),
        lambda: capacity(Logistic(), Power(4.0), solver=BlahutArimoto()),
        lambda: capacity(BinarySymmetric(0.1), Power(4.0), solver=Continuous()),
        lambda: capacity(Ordinal([-1.0, 1.0]), Power(4.0), solver=ClosedForm()),
        lambda: BlahutArimoto(max_steps=0),
        lambda: capacity_curve(Logistic(), []),
        lambda: capacity_curve(Logistic(), [1.0, -1.0]),
    ],
)
def test_misuse_is_refused(call):
    with pytest.raises(InvalidArgument):
        call()


def test_not_converged_carries_a_certified_result():
    channel = restrict(Logistic(), np.linspace(-10.0, 10.0, 401))
    with pytest.raises(NotConverged) as caught:
        capacity(channel, Power(4.0), solver=BlahutArimoto(max_steps=4))
    result = caught.value.result
    assert result.lower <= 0.472934658996838 <= result.upper
    assert result.status is Status.MAX_STEPS
    quiet = capacity(channel, Power(4.0), solver=BlahutArimoto(max_steps=4), throw=False)
    assert not quiet.status.ok
    with pytest.raises(NotConverged) as caught:
        capacity(Ordinal([-1.0, 1.0]), Power(4.0), tol=1e-17)
    assert caught.value.result.gap < 1e-10


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
    capacity(Logistic(), Cost(np.exp, 2.0))  # one tail is free and overflows


def test_symmetric_envelope_agrees_with_continuous():
    two_steps = Link(lambda l: 0.5 + 0.2 * np.tanh(3 * l) + 0.25 * np.tanh((l / 3) ** 5))
    for power in (0.5, 2.0):
        formula = capacity(two_steps, Power(power))
        found = capacity(two_steps, Power(power), solver=Continuous())
        assert formula.stats.method.startswith("ClosedForm")
        assert formula.bits == pytest.approx(found.bits, abs=1e-9)
        assert len(formula.input) <= 3


def test_curve_fields_and_order():
    powers = [4.0, 1.0, 16.0]
    curve = capacity_curve(Ordinal([-1.0, 1.0]), powers)
    singles = [capacity(Ordinal([-1.0, 1.0]), Power(p)) for p in powers]
    for name in ("bits", "nats", "lower", "upper", "gap", "multiplier", "deficit_bits"):
        assert getattr(curve, name).shape == (3,)
    np.testing.assert_allclose(curve.bits, [r.bits for r in singles], atol=1e-9)
    assert [len(m) for m in curve.inputs] == [2, 2, 3]
    assert len(curve) == 3
    assert curve.output.shape == (3, 3)


@pytest.mark.parametrize(
    ("channel", "solver"),
    [
        (Ordinal([-1.0, 1.0]), None),
        (Logistic(), Continuous()),
        (Logistic(), None),
        (Link(lambda l: (1 / (1 + np.exp(-l))) ** 3), None),
        pytest.param(Poisson(), None, marks=pytest.mark.slow),
    ],
)
def test_a_long_curve_is_the_same_as_single_calls(channel, solver):
    powers = np.geomspace(0.05, 200.0, 41)[::-1]
    curve = capacity_curve(channel, powers, solver=solver)
    assert (curve.gap <= 1e-9).all()
    for place in range(0, 41, 5):
        single = capacity(channel, Power(powers[place]), solver=solver)
        assert curve.bits[place] == pytest.approx(single.bits, abs=1e-9)
        if single.multiplier > 1e-6:
            assert curve.multiplier[place] == pytest.approx(single.multiplier, rel=1e-5)
            assert len(curve.inputs[place]) == len(single.input)
            np.testing.assert_allclose(curve.inputs[place].atoms, single.input.atoms, atol=1e-5)
    for result in curve.results:
        assert result.input.second_moment <= result.problem.limits.budget * (1 + 1e-12)


def test_curve_through_zero_and_infinity():
    curve = capacity_curve(Ordinal([-1.0, 1.0]), [np.inf, 0.0, 1.0])
    assert curve.bits[1] == pytest.approx(0.0, abs=1e-15)
    assert curve.bits[0] > 1.0 > curve.bits[2]


def test_results_pickle():
    result = capacity(Logistic(), Power(4.0))
    again = pickle.loads(pickle.dumps(result))
    assert again.bits == result.bits
    np.testing.assert_array_equal(again.input.atoms, result.input.atoms)


@pytest.mark.parametrize(
    "lines",
    [
        "from channelcode import capacity, Logistic, Power; r = capacity(Logistic(), Power(4))",
        "import channelcode as c; r = c.capacity(c.Logistic(), c.Power(4))",
        "import channelcode.capacity; from channelcode import capacity, Logistic, Power; "
        "r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity import capacity, Power; from channelcode import Logistic; "
        "r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity.continuous import Continuous; from channelcode import capacity; "
        "from channelcode import Logistic, Power; r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity import Continuous; import channelcode; "
        "from channelcode import capacity; from channelcode.capacity import capacity as other; "
        "from channelcode import Logistic, Power; r = capacity(Logistic(), Power(4)); "
        "r = other(Logistic(), Power(4))",
        "from channelcode import capacity; from channelcode.capacity import Continuous, Power; "
        "from channelcode import Logistic; r = capacity(Logistic(), Power(4))",
    ],
)
def test_the_name_is_function_and_package_in_any_order(lines):
    done = subprocess.run(
        [sys.executable, "-c", lines + "; print(round(r.bits, 6))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "0.472935", done.stderr
