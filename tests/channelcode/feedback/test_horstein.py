from __future__ import annotations

from math import log2

import numpy as np
import pytest
from scipy.special import expit

from channelcode import BinarySymmetric, InvalidArgument
from channelcode.feedback import Horstein, Uses, transmit


@pytest.mark.parametrize("crossover", [0.0, 0.5, 0.7, 1.0, -0.1, float("nan"), "x", None])
def test_crossover_out_of_range(crossover):
    with pytest.raises(InvalidArgument, match="crossover"):
        Horstein(crossover)


def test_law_of_the_log_density_at_the_truth():
    """On a BSC it is n + K log2 e + (n - K) log2(1 - e), K the number of flips: exactly."""
    e = 0.11
    run = transmit(Horstein(e), 2**199 + 12345, messages=2**200, stop=Uses(150), rng=4)
    flips = np.cumsum(np.array(run.letters) != np.array(run.outputs))
    uses = np.arange(1, 151)
    exact = uses + flips * log2(e) + (uses - flips) * log2(1 - e)
    np.testing.assert_allclose(run.truth_bits, exact, atol=1e-9)


def test_mismatch_drifts_as_predicted():
    """Built for e, true crossover e': 1 - h(e') - D(e'||e) bits a use, on average."""
    e, true = 0.05, 0.15
    cross = -(true * log2(e) + (1 - true) * log2(1 - e))  # h(e') + D(e' || e)
    steps = []
    for seed in range(30):
        run = transmit(
            Horstein(e), 9**60, messages=2**200, stop=Uses(100), rng=seed,
            channel=BinarySymmetric(true),
        )  # fmt: skip
        steps.append(run.truth_bits[-1] / 100)
    deviation = np.sqrt(true * (1 - true) / 3000) * log2((1 - e) / e)
    assert abs(np.mean(steps) - (1 - cross)) < 5 * deviation


def test_logistic_labels_at_a_power():
    assert Horstein.at_power(4.0).crossover == pytest.approx(float(expit(-2.0)), rel=1e-14)
    with pytest.raises(InvalidArgument, match="crossover"):
        Horstein.at_power(0.0)
    with pytest.raises(InvalidArgument, match="cuts"):
        Horstein(0.1, cuts=3)  # type: ignore[arg-type]
