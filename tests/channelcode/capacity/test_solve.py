"""The front door: what it refuses, what it says when it fails, and that no solver grades itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from channelcode import Cauchit, Link, Logistic, Ordinal, Softmax
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
        ([-3.0, 3.0], [0.5, 0.5], 0.05),  # too much
        ([-2.0, 2.0], [0.4, 0.6], 0.05),  # unbalanced
        ([-2.5, 2.5], [0.5, 0.5], 0.0),  # too much, and no price
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
