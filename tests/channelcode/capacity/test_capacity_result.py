"""The answer in its units, as text, and through a pickle."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from channelcode import (
    Cloglog,
    DiscreteMeasure,
    Gaussian,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
    capacity_curve,
    capacity_per_unit_cost,
    w2,
)
from channelcode.capacity import Continuous, Power, capacity

RESULTS = [
    capacity(Logistic(), Power(4.0)),
    capacity(Ordinal([-1.0, 1.0]), Power(16.0), solver=Continuous()),
    capacity(Probit(), Power(0.0)),
]


@pytest.mark.parametrize("result", RESULTS)
def test_units_and_bounds(result):
    assert result.bits == pytest.approx(result.nats / np.log(2), rel=1e-15)
    assert result.deficit_bits == pytest.approx(result.deficit_nats / np.log(2), rel=1e-15)
    outputs = result.problem.channel.num_outputs
    assert result.bits + result.deficit_bits == pytest.approx(np.log2(outputs), abs=1e-14)
    assert result.lower <= result.bits + 1e-15
    assert result.bits <= result.upper
    assert result.gap == result.upper - result.lower == result.certificate.gap
    assert result.output.shape == (outputs,)
    assert result.output.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(
        result.output, result.input.weights @ result.problem.channel.prob(result.input.atoms)
    )


def test_the_multiplier_is_in_bits_per_unit_power():
    step = 1e-4
    above, below = (capacity(Logistic(), Power(4.0 + d)).bits for d in (step, -step))
    assert RESULTS[0].multiplier == pytest.approx((above - below) / (2 * step), rel=1e-8)


@pytest.mark.parametrize("result", RESULTS)
def test_pickle(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.bits == result.bits
    assert again.certificate == result.certificate
    np.testing.assert_array_equal(again.input.atoms, result.input.atoms)


def test_repr_says_what_one_wants_to_know():
    text = repr(RESULTS[1])
    for part in ("bits=0.92731", "atoms=3", "Continuous", "the real line", "OPTIMAL"):
        assert part in text


def test_nothing_can_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RESULTS[0].nats = 1.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        RESULTS[0].output[0] = 1.0


def test_results_can_be_compared_and_hashed():
    again = capacity(Logistic(), Power(4.0))
    assert again == RESULTS[0]
    assert hash(again) == hash(RESULTS[0])
    assert again != capacity(Logistic(), Power(4.5))
    assert again != "a result"
    assert len({again, *RESULTS}) == 3


def test_other_results_can_be_compared_and_hashed_too():
    def asked(power):
        return [
            capacity_curve(Ordinal([-1.0, 1.0]), [1.0, power]),
            capacity_per_unit_cost(Cloglog(), lambda l: power * l * l),
            capacity_per_unit_cost(Softmax(3), lambda l: power * (l * l).sum(-1)),
            w2(DiscreteMeasure([0.0, power], [0.5, 0.5]), Gaussian(0.0, 1.0)),
        ]

    for one, same, other in zip(asked(4.0), asked(4.0), asked(5.0), strict=True):
        assert one == same
        assert hash(one) == hash(same)
        assert one != other
        assert one != "a result"
        assert len({one, same, other}) == 2
