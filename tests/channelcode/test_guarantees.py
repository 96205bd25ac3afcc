"""Bounds on what an input law lacks to capacity: Theorem 3.1 and the KKT bound."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from channelcode import (
    BinarySymmetric,
    Cauchit,
    Certificate,
    Cloglog,
    DiscreteMeasure,
    Empirical,
    Gaussian,
    InvalidArgument,
    Lapse,
    Link,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
    Status,
    information_gap_bound,
    kl_divergence,
    mutual_information,
)
from channelcode.testing import channels, gaussians, measures

LOG2E = 1 / np.log(2)
B = DiscreteMeasure.symmetric


def _gap(channel, law, target):
    return mutual_information(channel, target).bits - mutual_information(channel, law).bits


@pytest.mark.parametrize("power", [0.25, 1.0, 16.0, 100.0])
def test_the_papers_constant(power):
    """K_P = 0.25 log2(e) sqrt P + 0.3230: K_1 = 0.25 and K_2 = max |d h_b(f(l)) / dl|."""
    bound = information_gap_bound(Logistic(), Gaussian(0.1, 0.2), B(np.sqrt(power)))
    assert bound.constant == pytest.approx(0.25 * LOG2E * np.sqrt(power) + 0.3230, abs=5e-5)
    assert bound.theorem_31 == pytest.approx(bound.constant * bound.w2)


@pytest.mark.parametrize("power", [0.25, 1.0, 16.0, 100.0])
def test_the_kkt_constants_do_not_grow_with_power(power):
    """C - I(p) <= 0.3230 W1 + 0.25 W1^2 for the logistic channel; here D(q_p || q*) is exact."""
    law = Gaussian(0.3, 0.5 * power)
    bound = information_gap_bound(Logistic(), law, B(np.sqrt(power)))
    assert bound.lipschitz == pytest.approx(0.3230, abs=5e-5)
    assert bound.kkt <= 0.3230 * bound.w1 * 1.001 + 0.25 * bound.w1**2
    output = mutual_information(Logistic(), law).output
    assert bound.divergence == pytest.approx(kl_divergence(output, [0.5, 0.5]).bits, abs=1e-14)


@settings(max_examples=40)
@given(gaussians(largest_mean=8.0, sigma=(0.01, 8.0)), st.floats(0.1, 8.0))
def test_logistic_bounds_hold(law, radius):
    bound = information_gap_bound(Logistic(), law, B(radius))
    gap = _gap(Logistic(), law, B(radius))
    assert gap <= bound.bits + 1e-12
    assert gap <= bound.theorem_31 + 1e-12
    assert gap <= bound.kkt + 1e-12
    assert bound.bits == min(bound.theorem_31, bound.kkt, bound.capacity)


@settings(max_examples=40)
@given(channels(dim=1, finite=False), measures(dim=1, largest=6.0), st.floats(0.2, 4.0))
def test_bounds_hold_for_every_scalar_channel(channel, law, radius):
    target = DiscreteMeasure([-radius, 0.3, radius], [0.4, 0.2, 0.4])
    bound = information_gap_bound(channel, law, target)
    gap = _gap(channel, law, target)
    assert gap <= bound.kkt + 1e-12
    assert gap <= bound.theorem_31 + 1e-12
    assert bound.nats == pytest.approx(bound.bits * np.log(2))


@settings(max_examples=8)
@given(gaussians(dim=3, largest_mean=3.0, sigma=(0.1, 3.0)))
def test_bounds_hold_for_softmax(law):
    target = DiscreteMeasure.uniform(4 * (np.eye(3) - 1 / 3))
    bound = information_gap_bound(Softmax(3), law, target)
    error = mutual_information(Softmax(3), law).error
    assert _gap(Softmax(3), law, target) <= bound.bits + error


@pytest.mark.parametrize(
    "channel", [Logistic(), Probit(0.5), Cauchit(), Cloglog(), Ordinal([-1.0, 1.0])], ids=repr
)
def test_lipschitz_constant_against_derivatives(channel):
    """The search by secants meets max |sum_y W_y g_y ln(W_y / q_y)| from the derivatives."""
    target = B(1.5)
    q = mutual_information(channel, target).output
    l = np.linspace(-40, 40, 400_001)
    p, log_p = channel.prob(l), channel.log_prob(l)
    slope = (p * channel.derivatives(l).gradient * (log_p - np.log(q))).sum(axis=1)
    found = information_gap_bound(channel, Gaussian(0.0, 1.0), target).lipschitz
    # never below the truth, and above by the margin of the search only
    assert np.abs(slope).max() * LOG2E <= found * (1 + 1e-9)
    assert found == pytest.approx(np.abs(slope).max() * LOG2E, rel=1e-5)


def test_a_jump_has_no_constant():
    step = Link(lambda l: np.where(l > 0.3, 0.9, 0.2))
    bound = information_gap_bound(step, Gaussian(0.0, 1.0), B(2.0))
    assert bound.lipschitz == np.inf
    assert bound.bits == bound.capacity


def test_an_output_the_target_never_shows():
    response = Link(lambda l: np.where(l > 0, expit(l) - 0.5, 0.0))
    bound = information_gap_bound(response, Gaussian(3.0, 1.0), DiscreteMeasure([-1.0], [1.0]))
    assert bound.divergence == np.inf
    assert bound.bits == bound.capacity == 0.0


def test_at_the_target_nothing_is_missing():
    bound = information_gap_bound(Logistic(), B(2.0), B(2.0))
    assert bound.bits == 0.0
    assert bound.w1 == bound.w2 == 0.0


def test_distances_on_the_line_against_pot():
    import ot

    law, target = Empirical([0.0, 1.0, 4.0, -2.0]), DiscreteMeasure([-1.0, 3.0], [0.3, 0.7])
    bound = information_gap_bound(Logistic(), law, target)
    for p, found in ((1, bound.w1), (2, bound.w2)):
        wanted = ot.wasserstein_1d(law.atoms, target.atoms, law.weights, target.weights, p=p)
        assert found == pytest.approx(np.asarray(wanted).item() ** (1 / p), rel=1e-12)


def test_a_capacity_result_brings_its_upper_bound():
    achieved = mutual_information(Logistic(), B(2.0)).bits
    result = SimpleNamespace(
        input=B(2.0), bits=achieved, certificate=Certificate(achieved, achieved + 0.01)
    )
    plain = information_gap_bound(Logistic(), Gaussian(0.0, 3.0), B(2.0))
    proved = information_gap_bound(Logistic(), Gaussian(0.0, 3.0), result)
    assert proved.capacity == pytest.approx(achieved + 0.01)
    assert proved.kkt == pytest.approx(plain.kkt + 0.01)


def test_with_capacity_itself():
    from channelcode import Power, capacity

    result = capacity(Logistic(), Power(4.0))
    bound = information_gap_bound(Logistic(), Gaussian(0.0, 4.0), result)
    lacking = result.bits - mutual_information(Logistic(), Gaussian(0.0, 4.0)).bits
    assert lacking <= bound.bits < result.bits


def test_a_law_beyond_the_budget_is_measured_by_its_own_power():
    wide = information_gap_bound(Logistic(), Gaussian(0.0, 100.0), B(1.0))
    assert wide.constant == pytest.approx(0.25 * LOG2E * 10 + 0.3230, abs=5e-5)
    given_power = information_gap_bound(Logistic(), Gaussian(0.0, 0.5), B(1.0), power=64.0)
    assert given_power.constant == pytest.approx(0.25 * LOG2E * 8 + 0.3230, abs=5e-5)


def test_a_known_distance_is_used():
    target = DiscreteMeasure.uniform(4 * (np.eye(3) - 1 / 3))
    law = Gaussian(np.zeros(3), np.eye(3))
    loose = information_gap_bound(Softmax(3), law, target)
    tight = information_gap_bound(Softmax(3), law, target, distance=0.5 * loose.w2)
    assert tight.w2 == 0.5 * loose.w2
    assert tight.kkt < loose.kkt


def test_the_bound_is_a_result_with_its_proof_and_its_scope():
    bound = information_gap_bound(Logistic(), Gaussian(0.0, 4.0), B(2.0))
    assert bound.certificate.upper == bound.bits
    assert bound.certificate.lower == pytest.approx(_gap(Logistic(), Gaussian(0.0, 4.0), B(2.0)))
    assert bound.status is Status.BOUND_ONLY
    assert "landmarks" in bound.scope
    black = Link(lambda l: expit(l))
    assert information_gap_bound(black, Gaussian(0.0, 4.0), B(2.0)).status is Status.WITHIN_SCOPE


def test_the_distance_in_the_plane_is_the_distance():
    """Three classes: W2 by the library's transport, exact in the plane, against a fine sample."""
    import ot

    target = DiscreteMeasure.uniform(4 * (np.eye(3) - 1 / 3))
    law = Gaussian([0.3, 0.0, -0.3], np.eye(3) - 1 / 3)
    bound = information_gap_bound(Softmax(3), law, target)
    points = law.sample(4000, rng=0)
    cost = ot.dist(points, target.points)
    sampled = np.sqrt(ot.emd2(np.full(4000, 1 / 4000), target.weights, cost))
    # 4000 points: the sampled distance is within a few percent
    assert bound.w2 == pytest.approx(float(sampled), rel=0.05)


def test_bad_arguments():
    law = Gaussian(0.0, 1.0)
    with pytest.raises(InvalidArgument, match="target must be a discrete measure"):
        information_gap_bound(Logistic(), law, 0.5)
    with pytest.raises(InvalidArgument, match="target must have an input"):
        information_gap_bound(Softmax(3), Gaussian(np.zeros(3), np.eye(3)), B(1.0))
    with pytest.raises(InvalidArgument, match="power must be non-negative"):
        information_gap_bound(Logistic(), law, B(1.0), power=-1.0)
    with pytest.raises(InvalidArgument, match="distance must be non-negative"):
        information_gap_bound(Logistic(), law, B(1.0), distance=-1.0)
    with pytest.raises(InvalidArgument, match="channel must have a continuous input"):
        information_gap_bound(BinarySymmetric(0.1), DiscreteMeasure([0, 1], [0.5, 0.5]), B(1.0))
    with pytest.raises(InvalidArgument, match="measure must be Gaussian or discrete"):
        information_gap_bound(Lapse(Logistic()), 1.0, B(1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [0.9, 0.99])
def test_the_kkt_bound_is_the_sum_of_its_terms(weight):
    """Lip W1 + D(q_p || q*): without the divergence it would be no bound for a law on the target's
    own atoms, where the divergence is the whole gap.
    """
    target = B(3.0)
    law = DiscreteMeasure([-3.0, 3.0], [1 - weight, weight])
    bound = information_gap_bound(Logistic(), law, target)
    one = (1 - weight) * expit(-3.0) + weight * expit(3.0)
    divergence = 1 + one * np.log2(one) + (1 - one) * np.log2(1 - one)
    assert bound.divergence == pytest.approx(divergence)
    assert _gap(Logistic(), law, target) == pytest.approx(divergence)
    assert bound.kkt == pytest.approx(bound.lipschitz * 6.0 * (weight - 0.5) + divergence)
