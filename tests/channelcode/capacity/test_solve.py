"""The front door: what it refuses, what it says when it fails, and that no solver grades itself."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

from channelcode import Cauchit, Continuous, Link, Logistic, Ordinal, Softmax, restrict
from channelcode.capacity import Power, Proposal, Unconstrained, capacity
from channelcode.certificate import Status
from channelcode.errors import InvalidArgument, NotConverged

EXACT = 0.472934658996838  # Prop. 2.1 at P = 4, in bits


class Fixed:
    """A solver that always says the same."""

    def __init__(self, points, weights, multiplier, exhausted=False):
        self.proposal = Proposal(
            points, weights, multiplier, "Fixed", 3, {"mood": "sure"}, exhausted
        )

    def propose(self, problem, *, tol):
        return self.proposal


HALVES = np.array([0.5, 0.5])


def test_a_users_solver_is_judged_like_any_other():
    right = Fixed(np.array([-2.0, 2.0]), HALVES, 0.0757368619 * np.log(2))
    result = capacity(Logistic(), Power(4.0), solver=right)
    assert result.bits == pytest.approx(EXACT, abs=1e-14)
    assert result.stats.method == "Fixed"
    assert result.stats.steps == 3
    assert result.stats.details == {"mood": "sure"}
    assert result.stats.seconds > 0


@pytest.mark.parametrize(
    ("points", "weights", "multiplier"),
    [
        ([-1.0, 1.0], [0.5, 0.5], 0.05),  # too little power
        ([-2.0, 2.0], [0.4, 0.6], 0.05),  # unbalanced
    ],
)
def test_a_solver_that_is_wrong_is_found_out(points, weights, multiplier):
    wrong = Fixed(np.array(points), np.array(weights), multiplier)
    with pytest.raises(NotConverged) as caught:
        capacity(Logistic(), Power(4.0), solver=wrong)
    result = caught.value.result
    assert result.lower < EXACT < result.upper
    assert result.status is Status.STALLED
    assert "above tol" in str(caught.value)
    tired = Fixed(np.array(points), np.array(weights), multiplier, exhausted=True)
    quiet = capacity(Logistic(), Power(4.0), solver=tired, throw=False)
    assert quiet.status is Status.MAX_STEPS


def test_the_tolerance_is_in_bits():
    close = Fixed(np.array([-2.0, 2.0]), np.array([0.501, 0.499]), 0.0757368619 * np.log(2))
    gap = capacity(Logistic(), Power(4.0), solver=close, throw=False).gap
    assert capacity(Logistic(), Power(4.0), solver=close, tol=1.01 * gap).status is Status.OPTIMAL
    with pytest.raises(NotConverged):
        capacity(Logistic(), Power(4.0), solver=close, tol=0.99 * gap)


def test_more_digits_than_there_are():
    with pytest.raises(NotConverged) as caught:
        capacity(Ordinal([-1.0, 1.0]), Power(4.0), tol=1e-17)
    assert caught.value.result.gap < 1e-10


def test_unlimited_power_reaches_the_limit():
    assert capacity(Logistic(), Power(np.inf)).bits == 1.0
    assert capacity(Softmax(4), Unconstrained()).bits == pytest.approx(2.0, abs=1e-12)
    assert capacity(Cauchit(), Power(np.inf)).bits == pytest.approx(1.0, abs=1e-9)
    far = capacity(Ordinal([-1.0, 1.0]), Power(np.inf))
    assert far.bits == pytest.approx(capacity(Ordinal([-1.0, 1.0]), Power(1e4)).bits, abs=1e-9)


def test_constant_response():
    assert capacity(Link(lambda l: 0.3), Power(3.0)).bits == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("constraint", lambda: capacity(Logistic(), 4.0)),  # type: ignore[arg-type]
        ("channel", lambda: capacity("logistic", Power(4.0))),  # type: ignore[arg-type]
        ("solver", lambda: capacity(Logistic(), Power(4.0), solver="auto")),  # type: ignore[arg-type]
        ("tol", lambda: capacity(Logistic(), Power(4.0), tol=0.0)),
        ("tol", lambda: capacity(Logistic(), Power(4.0), tol=np.nan)),
    ],
)
def test_misuse_is_refused(argument, call):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "lines",
    [
        "from channelcode import capacity, Logistic, Power; r = capacity(Logistic(), Power(4))",
        "import channelcode as c; r = c.capacity(c.Logistic(), c.Power(4))",
        "import channelcode.capacity; from channelcode import capacity, Logistic, Power; "
        "r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity import capacity, Power; from channelcode import Logistic; "
        "r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity.solvers.continuous import Continuous; "
        "from channelcode import capacity; "
        "from channelcode import Logistic, Power; r = capacity(Logistic(), Power(4))",
        "from channelcode.capacity import Continuous; import channelcode; "
        "from channelcode import capacity; from channelcode.capacity import capacity as other; "
        "from channelcode import Logistic, Power; r = capacity(Logistic(), Power(4)); "
        "r = other(Logistic(), Power(4))",
        "import channelcode.capacity.curve; import channelcode; from channelcode.capacity.solvers "
        "import auto; import channelcode.capacity.solvers.continuous.newton; c = channelcode; "
        "r = c.capacity(c.Logistic(), c.Power(4))",
        "import importlib; importlib.import_module('channelcode.capacity'); "
        "import channelcode as c; "
        "from channelcode.capacity import Power; r = c.capacity(c.Logistic(), Power(4))",
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


def test_capacity_is_a_plain_function():
    import channelcode

    assert inspect.isfunction(channelcode.capacity)
    assert channelcode.capacity is capacity
    names = list(inspect.signature(capacity).parameters)
    assert names == ["channel", "constraint", "solver", "tol", "throw"]
    assert pickle.loads(pickle.dumps(capacity)) is capacity


class Saying:
    """A solver that proposes whatever it was told."""

    def __init__(self, answer):
        self.answer = answer

    def propose(self, problem, *, tol):
        del problem, tol
        return self.answer


def saying(points, weights, multiplier=0.05):
    return Saying(Proposal(np.asarray(points), np.asarray(weights), multiplier, "Liar"))


LIARS = {
    "says nothing": Saying(None),
    "says a number": Saying(1.0),
    "too little": saying([-1.0, 1.0], [0.5, 0.5]),
    "overspends": saying([-3.0, 3.0], [0.5, 0.5]),
    "overspends, no price": saying([-2.5, 2.5], [0.5, 0.5], 0.0),
    "one wild atom": saying([0.0, 1e160], [1 - 1e-9, 1e-9]),
    "price far too high": saying([-2.0, 2.0], [0.5, 0.5], 5.0),
    "no price": saying([-2.0, 2.0], [0.5, 0.5], 0.0),
    "negative price": saying([-2.0, 2.0], [0.5, 0.5], -0.05),
    "price not a number": saying([-2.0, 2.0], [0.5, 0.5], np.nan),
    "infinite price": saying([-2.0, 2.0], [0.5, 0.5], np.inf),
    "price is text": saying([-2.0, 2.0], [0.5, 0.5], "0.05"),
    "price is a list": saying([-2.0, 2.0], [0.5, 0.5], [0.05, 0.05]),
    "price is missing": saying([-2.0, 2.0], [0.5, 0.5], None),
    "NaN atom": saying([-2.0, np.nan], [0.5, 0.5]),
    "infinite atom": saying([-2.0, np.inf], [0.5, 0.5]),
    "NaN weight": saying([-2.0, 2.0], [0.5, np.nan]),
    "negative weight": saying([-2.0, 0.0, 2.0], [0.7, -0.4, 0.7]),
    "weights sum to two": saying([-2.0, 2.0], [1.0, 1.0]),
    "one weight short": saying([-2.0, 2.0], [1.0]),
    "wrong dimension": saying([[-2.0, 0.0], [2.0, 0.0]], [0.5, 0.5]),
    "no atoms": saying([], []),
    "complex": saying([-2.0 + 1j, 2.0], [0.5, 0.5]),
    "text": saying(["a", "b"], [0.5, 0.5]),
}


@pytest.mark.parametrize("name", LIARS)
@pytest.mark.parametrize("channel", [Logistic(), Ordinal([0.0])], ids=repr)
def test_no_liar_is_believed(name, channel):
    with pytest.raises((NotConverged, InvalidArgument)):
        capacity(channel, Power(4.0), solver=LIARS[name])
    try:
        quiet = capacity(channel, Power(4.0), solver=LIARS[name], throw=False)
    except InvalidArgument:
        return
    assert not quiet.status.ok
    assert quiet.lower < EXACT < quiet.upper


def test_a_class_is_not_a_solver():
    with pytest.raises(InvalidArgument, match="not the class"):
        capacity(Logistic(), Power(4.0), solver=Continuous)  # type: ignore[arg-type]


def test_a_liar_about_a_finite_alphabet():
    channel = restrict(Logistic(), np.linspace(-3.0, 3.0, 7))
    with pytest.raises(InvalidArgument):  # 0.5 is no letter
        capacity(channel, Power(4.0), solver=saying([-0.5, 0.5], [0.5, 0.5]))
