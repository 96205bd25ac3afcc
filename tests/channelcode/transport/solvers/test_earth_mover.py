"""POT's network simplex behind the same interface."""

from __future__ import annotations

import pytest

from channelcode.errors import NotConverged
from channelcode.measures import (
    Empirical,
)
from channelcode.transport import (
    EarthMover,
    w2,
)
from tests.channelcode.transport.oracles import emd_squared


def test_many_points_to_many_atoms_use_network_simplex(rng):
    mu, nu = Empirical(rng.standard_normal((280, 2))), Empirical(rng.standard_normal((270, 2)))
    result = w2(mu, nu)
    assert result.method.startswith("discrete")
    assert result.squared == pytest.approx(emd_squared(mu, nu), rel=1e-12)
    assert result.gap <= 1e-12


def test_an_unfinished_solve_is_an_error(rng):
    mu, nu = Empirical(rng.standard_normal((100, 2))), Empirical(rng.standard_normal((100, 2)))
    with pytest.raises(NotConverged) as caught:
        w2(mu, nu, solver=EarthMover(max_steps=3))
    assert not caught.value.result.status.ok
    truth = w2(mu, nu, solver=EarthMover()).squared
    assert caught.value.result.lower <= truth + 1e-12


def test_network_simplex_agrees_with_the_line(rng):
    mu, nu = Empirical(rng.standard_normal(40)), Empirical(rng.standard_normal(9))
    assert w2(mu, nu).squared == pytest.approx(w2(mu, nu, solver=EarthMover()).squared, rel=1e-13)
