"""Blahut-Arimoto against the textbook algorithm run at a fixed price."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import DiscreteChannel, Logistic, restrict
from channelcode.capacity import BlahutArimoto, Cost, Power, Unconstrained, capacity
from channelcode.certificate import Status
from channelcode.errors import InvalidArgument, NotConverged
from tests.channelcode.capacity.oracles import priced_blahut_arimoto


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("price", [0.0, 0.05, 0.2])
def test_against_the_textbook(seed, price):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(5, 0.5), size=6)
    cost = rng.uniform(0.0, 2.0, 6)
    weights, nats, spent = priced_blahut_arimoto(matrix, cost, price)
    constraint = Cost(lambda l: cost[l.astype(int)], spent) if price > 0 else Unconstrained()
    result = capacity(DiscreteChannel(matrix), constraint, solver=BlahutArimoto())
    assert result.stats.method == "BlahutArimoto"
    assert result.nats == pytest.approx(nats, abs=1e-9)  # both gaps are below this
    assert result.lower <= nats / np.log(2) + 1e-11
    assert result.upper >= nats / np.log(2) - 1e-11
    # the value is flat in s near the optimum: a gap of 1e-9 fixes it to about its root
    assert result.multiplier * np.log(2) == pytest.approx(price, abs=1e-4)
    np.testing.assert_allclose(result.output, weights @ matrix, atol=1e-4)


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0]] * 5, [[0.2, 0.3, 0.5]], [[0.5, 0.5]] * 4])
def test_channels_that_carry_nothing(matrix):
    result = capacity(DiscreteChannel(matrix), Power(3.0), solver=BlahutArimoto())
    assert result.bits == pytest.approx(0.0, abs=1e-15)
    assert result.gap <= 1e-9


def test_running_out_of_steps_is_told():
    channel = restrict(Logistic(), np.linspace(-10.0, 10.0, 401))
    with pytest.raises(NotConverged) as caught:
        capacity(channel, Power(4.0), solver=BlahutArimoto(max_steps=4))
    result = caught.value.result
    assert result.lower <= 0.472934658996838 <= result.upper  # Prop. 2.1; the atoms are letters
    assert result.status is Status.MAX_STEPS
    quiet = capacity(channel, Power(4.0), solver=BlahutArimoto(max_steps=4), throw=False)
    assert not quiet.status.ok


def test_misuse():
    with pytest.raises(InvalidArgument, match="max_steps"):
        BlahutArimoto(max_steps=0)
    with pytest.raises(InvalidArgument, match="finite"):
        capacity(Logistic(), Power(4.0), solver=BlahutArimoto())
