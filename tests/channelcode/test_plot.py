"""The pictures say what the result says: curve under its bound, touching it at the atoms."""

import numpy as np
import pytest

from channelcode import (
    DiscreteChannel,
    Link,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Softmax,
    Unconstrained,
)
from channelcode.capacity import capacity
from channelcode.plot import capacity as draw
from channelcode.plot import kkt_function

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
    assert str(result.problem.channel)[:5] in upper.get_title()
    assert lower.get_ylabel() == "weight"
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_figures_leave_pyplot_alone():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    draw(capacity(Logistic(), Power(1.0)))
    assert plt.get_fignums() == before
