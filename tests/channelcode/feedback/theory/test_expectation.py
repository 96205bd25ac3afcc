from __future__ import annotations

import numpy as np
import pytest

from channelcode import InvalidArgument
from channelcode.feedback import (
    Confidence,
    Horstein,
    OrderedPartition,
    SchalkwijkKailath,
    SmallestDifference,
    Uses,
    bounds,
    expected_uses,
)

RULES = {"top": OrderedPartition, "sed": SmallestDifference}


@pytest.fixture(scope="module")
def figures(reference):
    return reference("feedback")


def check(golden):
    scheme = RULES[golden["rule"]](golden["p"], systematic=golden["systematic"])
    found = expected_uses(scheme, 2 ** golden["k"], stop=Confidence(golden["eps"]))
    assert found.exact
    assert found.standard_error == 0.0
    # the stored law was pruned: about 100 uses a dropped mass; `sed` is stated to 1e-9
    tolerance = golden.get("accuracy", 100 * golden.get("dropped_mass", 0.0) + 1e-12)
    assert found.mean == pytest.approx(golden["expected_tau"], abs=tolerance)
    assert found.error == pytest.approx(golden["error_probability"], abs=1e-11)


def test_exact_means_for_few_messages(figures):
    for golden in figures["stopping_exact"]:
        if golden["k"] <= 3 and (golden["rule"], golden["k"]) != ("sed", 3):
            check(golden)


@pytest.mark.slow
def test_exact_means_for_more_messages(figures):
    for golden in figures["stopping_exact"]:
        if golden["k"] > 3 or (golden["rule"], golden["k"]) == ("sed", 3):
            check(golden)


def test_two_messages_have_a_closed_form():
    for e, error in ((0.05, 1e-3), (0.2, 1e-6), (0.4, 0.05)):
        r = e / (1 - e)
        steps = int(np.ceil(np.log((1 - error) / error) / np.log(1 / r)))
        exact = steps * (1 - r**steps) / ((1 + r**steps) * (1 - 2 * e))
        for scheme in (OrderedPartition(e), SmallestDifference(e), Horstein(e)):
            found = expected_uses(scheme, 2, stop=Confidence(error))
            assert found.mean == pytest.approx(exact, abs=1e-9)


def test_simulated_means_agree(figures):
    for golden in figures["stopping_simulated"]:
        scheme = OrderedPartition(golden["p"])
        found = expected_uses(
            scheme, 2 ** golden["k"], stop=Confidence(golden["eps"]), runs=20_000, rng=7
        )
        error = np.hypot(found.standard_error, golden["standard_error"])
        assert abs(found.mean - golden["mean"]) < 4 * error
        assert found.error <= golden["eps"]
        limits = bounds(scheme, 2 ** golden["k"], stop=Confidence(golden["eps"]))
        assert limits.fano == pytest.approx(golden["lower_bound_fano"], abs=1e-9)
        assert limits.two_phase == pytest.approx(golden["upper_bound_two_phase"], abs=1e-9)
        assert limits.lower <= found.mean


def test_the_published_anchor(figures):
    golden = figures["published_anchor"]["ours"][2]
    found = expected_uses(
        OrderedPartition(0.11), 2 ** golden["k"], stop=Confidence(1e-3), runs=4000, rng=1
    )
    error = np.hypot(found.standard_error, golden["standard_error"])
    assert abs(found.mean - golden["mean"]) < 4 * error


def test_simulated_and_exact_agree():
    for scheme, messages in ((SmallestDifference(0.11), 4), (OrderedPartition(0.11), 8)):
        exact = expected_uses(scheme, messages, stop=Confidence(1e-2))
        found = expected_uses(scheme, messages, stop=Confidence(1e-2), runs=20_000)
        assert exact.exact
        assert not found.exact
        assert abs(found.mean - exact.mean) < 4 * found.standard_error
        assert found.error < 0.01
    plain = Horstein(0.2)
    exact = expected_uses(plain, 3, stop=Confidence(0.05))
    found = expected_uses(plain, 3, stop=Confidence(0.05), runs=400)
    assert abs(found.mean - exact.mean) < 4 * found.standard_error


def test_the_proved_bound_holds_for_sed():
    for e, bits in ((0.05, 10), (0.2, 12), (0.4, 5)):
        scheme = SmallestDifference(e)
        found = expected_uses(scheme, 2**bits, stop=Confidence(1e-3), runs=4000)
        limits = bounds(scheme, 2**bits, stop=Confidence(1e-3))
        assert limits.upper is not None
        assert limits.lower - 3 * found.standard_error <= found.mean
        assert found.mean <= limits.upper + 3 * found.standard_error


def test_an_error_so_large_that_the_bits_are_not_all_sent():
    found = expected_uses(OrderedPartition(0.1), 64, stop=Confidence(0.97), runs=50)
    assert found.mean < 6
    assert expected_uses(OrderedPartition(0.1), 4, stop=Confidence(0.9)).mean == 0.0


def test_bad_arguments():
    assert expected_uses(Horstein(0.1), 4, stop=Uses(9)).mean == 9.0
    for messages in (1, 2.5, None):
        with pytest.raises(InvalidArgument, match="messages"):
            expected_uses(Horstein(0.1), messages, stop=Uses(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="power of two"):
        expected_uses(OrderedPartition(0.1), 12, stop=Confidence(0.1))
    with pytest.raises(InvalidArgument, match="stop"):
        expected_uses(Horstein(0.1), 4, stop=0.1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="runs"):
        expected_uses(Horstein(0.1), 4, stop=Confidence(0.1), runs=1)
    found = expected_uses(SchalkwijkKailath(1.0), 8, stop=Confidence(1e-3), runs=20)
    assert found.runs == 20


@pytest.mark.parametrize("crossover", [0.05, 0.1])
@pytest.mark.parametrize("scheme", [SmallestDifference, OrderedPartition])
def test_burnashevs_slope(scheme, crossover):
    """Every further factor of the error costs log2(factor) / C1 uses, exactly for small M."""
    few, many = 1e-6, 1e-20
    means = [expected_uses(scheme(crossover), 4, stop=Confidence(e)).mean for e in (few, many)]
    c1 = bounds(scheme(crossover), 4, stop=Confidence(few)).c1_bits
    slope = (means[1] - means[0]) / np.log2(few / many)
    # the walk has levels: either mean is off by at most one of them, 1 / (1 - 2e) uses
    assert abs(slope - 1 / c1) < 1 / (1 - 2 * crossover) / np.log2(few / many)
