"""The softmax code: where it switches on, its slope, and that no input does better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from channelcode.capacity.simplex import SATURATED, _gain, _onset, _slope, simplex_code
from tests.channelcode.capacity.oracles import central, entropy, kkt, mutual_information

ONSETS = {3: 0.566788965, 4: 1.591194661, 5: 2.685961, 10: 7.426705}


def vertex(classes, power):
    """Class probabilities at a vertex of power u."""
    point = np.eye(classes)[0] - 1.0 / classes
    return softmax(point * np.sqrt(power / (1 - 1 / classes)))


@pytest.mark.parametrize(("classes", "onset"), ONSETS.items())
def test_onsets(classes, onset):
    # the theory gives nine digits for 3 and 4 classes, six for the others
    assert _onset(classes) == pytest.approx(onset, abs=6e-10 if classes < 5 else 6e-7)


@pytest.mark.parametrize("classes", [3, 4, 7, 10, 50])
def test_the_onset_maximises_the_gain_per_power(classes):
    u = np.linspace(0.02, 4.0, 4001) * _onset(classes)
    ratio = [(np.log(classes) - entropy(vertex(classes, x))) / x for x in u]
    assert u[np.argmax(ratio)] == pytest.approx(_onset(classes), rel=2e-3)
    best = (np.log(classes) - entropy(vertex(classes, _onset(classes)))) / _onset(classes)
    assert best >= max(ratio) - 1e-15


@pytest.mark.parametrize("classes", [2, 3, 6, 10])
@pytest.mark.parametrize("power", [0.05, 1.0, 9.0, 100.0])
def test_gain_and_slope(classes, power):
    gain = lambda u: np.log(classes) - entropy(vertex(classes, u))  # noqa: E731
    assert _gain(classes, power) == pytest.approx(gain(power), abs=1e-14)
    # fourth-order differences in u, relative step 1e-3
    first, _ = central(lambda t: gain(power * (1 + t)) / power, 1e-3)
    assert _slope(classes, power) == pytest.approx(float(first), rel=1e-6, abs=1e-12)


def test_two_classes_never_switch_off():
    assert _onset(2) == 0.0
    assert len(simplex_code(2, 1e-8).weights) == 2


@settings(max_examples=60)
@given(st.integers(2, 12), st.floats(-2.5, 2.0).map(lambda e: 10.0**e), st.integers(0, 2**32 - 1))
def test_no_input_beats_the_code(classes, power, seed):
    """F = D - s (|l|^2 - P) is at most its value on the atoms, for random inputs of every size."""
    code = simplex_code(classes, power)
    rows = softmax(code.points, axis=1)
    value = mutual_information(rows, code.weights)
    assert code.weights.sum() == pytest.approx(1.0, abs=1e-14)
    spent = code.weights @ (code.points**2).sum(axis=1)
    assert spent == pytest.approx(power, rel=1e-13)
    uniform = np.full(classes, 1.0 / classes)
    np.testing.assert_allclose(code.weights @ rows, uniform, atol=1e-15)
    np.testing.assert_allclose(code.points.sum(axis=1), 0.0, atol=1e-13)
    on = kkt(rows, uniform, (code.points**2).sum(axis=1) - power, code.multiplier)
    np.testing.assert_allclose(on, value, atol=1e-13)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(max(power, _onset(classes)))
    near = code.points[rng.integers(len(code.points), size=500)]
    points = np.vstack(
        [
            rng.normal(size=(1000, classes)) * rng.uniform(0.0, 3.0 * scale, (1000, 1)),
            near + rng.normal(size=near.shape) * scale * 10.0 ** rng.uniform(-4, 0, (500, 1)),
            np.sort(rng.uniform(-2 * scale, 2 * scale, (500, classes))) ** 3 / scale**2,
        ]
    )
    heights = kkt(
        np.exp(log_softmax(points, axis=1)),
        uniform,
        (points**2).sum(axis=1) - power,
        code.multiplier,
    )
    assert heights.max() <= value + 1e-12


def test_regimes():
    low, high = simplex_code(3, 0.25), simplex_code(3, 4.0)
    np.testing.assert_array_equal(low.points[0], 0.0)
    assert low.weights[0] == pytest.approx(1 - 0.25 / ONSETS[3], abs=1e-8)
    np.testing.assert_allclose((low.points[1:] ** 2).sum(axis=1), ONSETS[3], atol=1e-8)
    np.testing.assert_allclose((high.points**2).sum(axis=1), 4.0, rtol=1e-14)
    assert simplex_code(3, 0.0).points.shape == (1, 3)
    far = simplex_code(3, np.inf)
    assert far.multiplier == 0.0
    np.testing.assert_allclose((far.points**2).sum(axis=1), SATURATED**2, rtol=1e-12)


def test_a_peak_below_the_onset():
    # with |l| <= 0.5 the envelope is a line to the peak: on-off at the peak's radius
    code = simplex_code(3, 0.1, peak=0.5)
    np.testing.assert_allclose(np.linalg.norm(code.points[1:], axis=1), 0.5, rtol=1e-14)
    assert code.weights[0] == pytest.approx(1 - 0.1 / 0.25, abs=1e-14)
    full = simplex_code(3, 9.0, peak=0.5)
    assert full.multiplier == 0.0
    np.testing.assert_allclose(np.linalg.norm(full.points, axis=1), 0.5, rtol=1e-14)
