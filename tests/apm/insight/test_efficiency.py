# Odd types are what these tests are about.
# pyright: reportOptionalOperand=false
from __future__ import annotations

import numpy as np
import pytest

from apm import APM, Learner, VariationalLogistic
from apm.insight.efficiency import Efficiency, capacity_at
from channelcode import Logistic, Power, capacity


def learner() -> Learner:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    made = Learner(X, VariationalLogistic(0.5), APM(), seed=0)
    made.run((X[:, 0] > 0).astype(int), 8)
    return made


def test_bits_over_capacity_at_the_power_spent(tmp_path):
    made = learner()
    found = made.efficiency
    assert found.per_label.shape == (8,)
    for record, bits, power, best in zip(
        made.history, found.bits, found.power, found.capacity_bits
    ):
        assert record.bits == bits
        assert record.power == power
        assert best == pytest.approx(capacity(Logistic(), Power(power)).bits)
    assert (found.per_label <= 1 + 1e-9).all()
    assert found.total == pytest.approx(found.bits.sum() / found.capacity_bits.sum())
    assert found.running[-1] == pytest.approx(found.total)
    assert float(found) == found.total
    assert "bits from 8 labels" in str(found)
    kept = Learner.load(made.save(tmp_path / "learner.npz"))
    np.testing.assert_allclose(kept.efficiency.per_label, found.per_label)
    assert "power" in made.history.to_frame()


def test_explanations_say_it_too():
    made = learner()
    row = int(made.ask())
    said = made.explain(row)
    assert said.efficiency is not None
    assert said.capacity_bits is not None
    assert said.efficiency == pytest.approx(said.information_gain_bits / said.capacity_bits)
    assert f"({said.efficiency:.1%})" in str(said)


def test_nothing_known():
    empty = Efficiency(np.zeros(0), np.zeros(0), np.zeros(0))
    assert np.isnan(empty.total)
    assert np.isnan(capacity_at(Logistic(), float("nan")))
    still = Efficiency(np.zeros(1), np.zeros(1), np.zeros(1))
    assert np.isnan(still.per_label).all()
