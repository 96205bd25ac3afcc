"""What channels promise about inputs nobody looked at, and that the promises are kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import (
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Features,
    InvalidArgument,
    Landmark,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    Tails,
)
from channelcode.channels.tails import broken_promise, cells, links
from channelcode.testing import channels

MEMBERS = [
    Logistic(),
    Probit(0.01),
    Probit(300.0),
    Cauchit(),
    Cloglog(),
    Lapse(Probit(0.1), low=0.1, high=0.2),
    Ordinal((5000.0, 5060.0, 5120.0)),
    Ordinal((44.661, 44.848), link=Probit(0.01)),
    Ordinal((-3.0, 0.0, 7.0), link=Cauchit()),
    Ordinal((-3.0, 0.5), link=Lapse(Cloglog(), low=0.1, high=0.05)),
    QuantisedGaussian((97.0, 98.0, 99.0), noise=0.1),
    QuantisedGaussian(np.linspace(-4, 4, 40), noise=0.05),
    Binomial(1),
    Binomial(400, Probit(3.0)),
    Binomial(60, Lapse(Cauchit(), low=0.1)),
    Binomial(30, Cloglog()),
    Features(Ordinal((1.0, 40.0)), [[-0.01]]),
    Features(Softmax(3), [[1.0], [-1.0], [0.5]]),
    Features(Logistic(), [[0.0]]),
    Features(Logistic(), [[1.0, -2.0]]),
    Features(Ordinal((1.0, 2.0)), [[1.0, -2.0]]),
    Softmax(4),
]


@pytest.mark.parametrize("channel", MEMBERS, ids=repr)
def test_built_in_channels_keep_what_they_promise(channel):
    assert isinstance(channel.tails(), Tails)
    assert broken_promise(channel) is None


@given(channels(finite=False), st.integers(0, 1000))
def test_every_family_keeps_its_promise(channel, seed):
    assert broken_promise(channel, rng=seed) is None


def test_black_boxes_promise_nothing():
    bump = Link(lambda l: 1 / (1 + np.exp(-l)))
    assert bump.tails() is None
    assert Features(Logistic(), np.tanh).tails() is None
    assert Ordinal((0.0, 1.0), link=bump).tails() is None
    assert Lapse(bump, low=0.1).tails() is None
    assert Binomial(3, bump).tails() is None
    assert broken_promise(bump) is None


def test_a_subclass_that_rewrites_log_prob_loses_its_parents_promise():
    class Bumpy(Logistic):
        def log_prob(self, l):
            up = 0.5 + 0.4 * np.exp(-((l - 30.0) ** 2))
            return np.log(np.stack([1 - up, up], axis=-1))

    class Renamed(Logistic):
        pass

    assert Bumpy().tails() is None
    assert Renamed().tails() == Logistic().tails()


class Bump(Channel):
    dim, num_outputs = 1, 2

    def __init__(self, tails):
        self._tails = tails

    def tails(self):
        return self._tails

    def log_prob(self, l):
        up = 0.05 + 0.9 * np.exp(-0.5 * ((l - 12.41) / 0.05) ** 2)
        return np.log(np.stack([1 - up, up], axis=-1))


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (Tails((Landmark(0.0, 1.0),), turns_once=True), "no landmark near l = 12"),
        (Tails((Landmark(12.41, 0.05),), radius=5.0), "monotone beyond 5"),
        (Tails((Landmark(12.41, 0.05),), limits=((0.5, 0.5), (0.95, 0.05))), "limit law"),
        (Tails((Landmark(12.41, 0.05),), limits=((1.0,), (1.0,))), "1 outputs, not 2"),
        (Tails((Landmark((0.0, 1.0), 0.05),)), "R^1"),
        ("monotone", "Tails or None"),
    ],
)
def test_a_false_promise_is_found(promise, words):
    assert words in str(broken_promise(Bump(promise)))


def test_a_second_turn_is_found():
    class Wave(Bump):
        tails = Bump.tails

        def log_prob(self, l):
            up = 0.5 + 0.4 * np.sin(l) * np.exp(-(l**2) / 200)
            return np.log(np.stack([1 - up, up], axis=-1))

    places = tuple(Landmark(float(c), 1.0) for c in range(-50, 51, 2))
    assert broken_promise(Wave(Tails(places))) is None
    assert "turns again" in str(broken_promise(Wave(Tails(places, turns_once=True))))


def test_a_true_promise_stands():
    kept = Tails((Landmark(12.41, 0.05),), 13.0, ((0.95, 0.05), (0.95, 0.05)), True)
    assert broken_promise(Bump(kept)) is None


def test_resolving_inputs_are_fine_at_each_landmark_and_end_where_told():
    tails = Tails((Landmark(9.9, 0.01), Landmark(10.1, 0.01), Landmark(-700.0, 3.0)))
    grid = tails.resolving_inputs(1e5)
    assert grid[0] == -1e5
    assert grid[-1] == 1e5
    assert (np.diff(grid) > 0).all()
    for centre, width in tails.landmarks:
        near = grid[np.abs(grid - centre) <= width]
        assert np.diff(near).max() <= 0.18 * width
    assert len(grid) < 1000
    assert len(tails.resolving_inputs()) < 2500


def test_moved_is_the_promise_of_the_scaled_channel():
    inner = Ordinal((1.0, 40.0)).tails()
    assert inner is not None
    turned = inner.moved(2.0, -0.5)
    assert turned.landmarks == (Landmark(2.0, 2.0), Landmark(-76.0, 2.0))
    assert turned.radius == 84.0
    assert turned.limits == ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "arguments",
    [
        {"landmarks": ((0.0, 0.0),)},
        {"landmarks": ((np.inf, 1.0),)},
        {"radius": -1.0},
        {"radius": np.nan},
        {"limits": ((0.5, 0.6), (1.0, 0.0))},
        {"limits": ((1.0, 0.0),)},
    ],
)
def test_bad_promises_are_refused(arguments):
    with pytest.raises(InvalidArgument):
        Tails(**arguments)


@pytest.mark.parametrize("link", [Cloglog(), Lapse(Cloglog(), low=0.1, high=0.05), Probit(0.3)])
def test_landmarks_of_an_ordinal_channel_are_where_its_link_turns(link):
    """P(y <= k | l) = F(t_k - l) is at l = t_k - c what F is at its own landmark c."""
    own, cuts = link.tails(), (-3.0, 0.5)
    ordinal = Ordinal(cuts, link=link)
    tails = ordinal.tails()
    assert tails is not None
    below = np.cumsum(np.exp(ordinal.log_prob([place for place, _ in tails.landmarks])), 1)
    expected = np.exp(link.log_prob([place for place, _ in own.landmarks]))[:, 1]
    turns = [below[k * len(expected) : (k + 1) * len(expected), k] for k in range(len(cuts))]
    np.testing.assert_allclose(np.array(turns), np.tile(expected, (len(cuts), 1)), rtol=1e-12)


def test_landmarks_of_a_link_that_turns_elsewhere():
    """F(t - l) turns where t - l = 2, at l = t - 2."""
    promise = cells(links(2.0, 0.5), (-1.0, 4.0), peaked=True)
    assert promise is not None
    assert promise.landmarks == (Landmark(-3.0, 0.5), Landmark(2.0, 0.5))
    assert promise.radius == 3.0


@pytest.mark.parametrize("step", [0.125, 0.5])
@pytest.mark.parametrize("channel", MEMBERS[:10], ids=repr)
def test_resolving_inputs_leave_no_gap(channel, step):
    """Between landmarks, in arcsinh of the distance in widths, no step is longer than `step`."""
    promise = channel.tails()
    narrowest: dict[float, float] = {}
    for centre, width in promise.landmarks:
        narrowest[centre] = min(width, narrowest.get(centre, np.inf))
    centres = sorted(narrowest)
    points = promise.resolving_inputs(1e9, step=step)
    middles = [0.5 * (a + b) for a, b in pairwise(centres)]
    ends = [-1e9, *middles, 1e9]
    for centre, low, high in zip(centres, ends[:-1], ends[1:], strict=True):
        own = np.concatenate([[low], points[(points > low) & (points < high)], [high]])
        steps = np.diff(np.arcsinh((own - centre) / narrowest[centre]))
        assert steps.max() <= step * (1 + 1e-6)  # at 1e9 widths an input is rounded to 1e-7 of it


def test_an_input_that_never_moves_never_turns():
    moved = Logistic().tails().moved(3.0, 0.0)
    assert moved.turns_once
    assert moved.radius == 0.0


def test_a_lie_about_a_far_landmark_is_found():
    """Two humps beside a bend at a million: it is looked at there, not about zero only."""

    class Humps(Channel):
        dim, num_outputs = 1, 2

        def log_prob(self, l):
            d = np.asarray(l) - 1e6
            p = 0.5 + 0.4 * np.exp(-((d - 2) ** 2)) - 0.4 * np.exp(-((d + 2) ** 2))
            return np.log(np.stack([1 - p, p], axis=-1))

        def tails(self):
            return Tails((Landmark(1e6, 1.0),), turns_once=True)

    message = broken_promise(Humps())
    assert message is not None
    assert "turn" in message
