"""The pictures say what the result says: curve under its bound, touching it at the atoms."""

from typing import Any

import numpy as np
import pytest

from channelcode import (
    Cost,
    DiscreteChannel,
    Link,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Softmax,
    Unconstrained,
    Variance,
)
from channelcode.capacity import capacity, capacity_curve
from channelcode.plot import capacity as draw
from channelcode.plot import capacity_curve as draw_curve
from channelcode.plot import kkt_function
from channelcode.plot.capacities import limit_in_words

pytest.importorskip("matplotlib")

CASES = [
    (Logistic(), Power(4.0)),
    (Ordinal((-1.0, 1.0)), Power(16.0)),
    (Link(lambda l: 1 / (1 + np.exp(-(l**3)))), Power(0.2)),
    (Logistic(), Peak(2.0)),
    (Softmax(3), Power(0.25)),
    (DiscreteChannel([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]), Unconstrained()),
]


@pytest.mark.parametrize(("channel", "constraint"), CASES, ids=lambda x: type(x).__name__)
def test_curve_stays_below_the_bound_and_touches_it_at_the_atoms(channel, constraint, tmp_path):
    result = capacity(channel, constraint)
    figure = draw(result)
    upper, lower = figure.axes
    # the bound holds for every input, so for every plotted point too (rounding of the divergence)
    for line in upper.lines[:-1]:
        assert np.max(line.get_ydata()) <= result.upper + 1e-9
    # KKT: equality on the support, to the certified gap spread over the lightest atom
    slack = result.upper - kkt_function(result, result.input.atoms)
    assert np.max(slack * result.input.weights) < 1e-8
    assert type(channel).__name__[:5] in upper.get_title()
    assert "(" not in upper.get_title().split(",")[-1]  # words, not a repr
    # no half-empty axis: the curves reach into the lowest sixth of it
    low, high = upper.get_ylim()
    heights = np.concatenate([line.get_ydata() for line in upper.lines])
    assert np.nanmin(heights) < low + (high - low) / 6 or np.nanmin(heights) > 0.88 * result.upper
    assert lower.get_ylabel() == "weight"
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_figures_leave_pyplot_alone():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    draw(capacity(Logistic(), Power(1.0)))
    assert plt.get_fignums() == before


def test_softmax_has_one_stick_for_each_atom():
    result = capacity(Softmax(3), Power(0.25))
    drawn: Any = draw(result).axes[1].collections[0]
    sticks = drawn.get_segments()
    places = sorted(float(stick[0, 0]) for stick in sticks)
    assert len(places) == len(result.input) == 4
    assert min(np.diff(places)) > 0


def test_curve_begins_at_zero_and_names_its_channel():
    curve = capacity_curve(Ordinal((-1.0, 1.0)), [4.0, 1.0, 16.0])
    left, right, slope = draw_curve(curve).axes
    x, y = (np.asarray(values) for values in left.lines[0].get_data())
    assert (x[0], y[0]) == (0.0, 0.0)
    assert np.all(np.diff(x) > 0)
    assert left.get_title() == "Ordinal channel (thresholds -1, 1; logistic)"
    assert left.get_xlim()[0] == right.get_xlim()[0] == 0.0
    assert np.all(np.asarray(slope.lines[0].get_ydata()) > 0)


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Power(4.0), "mean power at most 4"),
        (Variance(0.5), "variance at most 0.5"),
        (Peak(2.0), "size at most 2"),
        (Cost(np.abs, 1.0), "mean cost at most 1"),
        (Unconstrained(), "no limit"),
    ],
    ids=lambda value: str(value).split(" ", maxsplit=1)[0].split("(")[0],
)
def test_limits_in_words(constraint, words):
    assert limit_in_words(constraint) == words
