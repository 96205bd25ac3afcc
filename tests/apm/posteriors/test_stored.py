"""The fields of a posterior; the round trip through plain arrays is in the family's contract."""

from __future__ import annotations

import numpy as np

from apm.posteriors import Bohning
from apm.posteriors.stored import fields


def test_every_slot_is_a_field_and_is_carried_on(rng: np.random.Generator) -> None:
    names = [name for name, *_ in fields(Bohning)]
    assert len(set(names)) == len(names)
    assert {"_codes", "_design", "_num_classes", "_solution"} <= set(names)
    before = Bohning(3).fit(rng.normal(size=(4, 2)), [0, 1, 2, 0])
    after = before._evolve(_codes=np.array([1, 1, 1, 1]))
    assert after.codes.tolist() == [1, 1, 1, 1]
    assert after._cache == {}
    same = [name for name in names if name not in ("_codes", "_cache")]
    assert all(getattr(after, name) is getattr(before, name) for name in same)


def test_a_state_holds_arrays_only(rng: np.random.Generator) -> None:
    state = Bohning(3, classes=["c", "a", "b"]).fit(rng.normal(size=(2, 2)), ["a", "c"]).state()
    assert all(isinstance(value, np.ndarray) for value in state.values())
    assert Bohning.from_state(state).classes_.tolist() == ["c", "a", "b"]
