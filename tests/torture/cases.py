"""Small learners that the torture tests damage, interrupt and race."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from apm.selectors import Random


def pool(rows: int = 4, features: int = 2) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(rows, features))


def learner(rows: int = 4, **options: Any) -> Learner:
    return Learner(pool(rows), VariationalLogistic(1.0), Random(), seed=5, **options)


def archive(folder: Path) -> Path:
    """A file of a few thousand bytes with two labels inside."""
    small = learner()
    small.tell([0, 2], ["no", "yes"])
    return small.save(folder / "small.npz")


def snapshot(held: Learner) -> dict[str, Any]:
    """Everything that a call may change, in plain values."""
    return {
        "labelled": held.labelled.tolist(),
        "remaining": held.remaining.tolist(),
        "skipped": held.skipped.tolist(),
        "events": [(r.event, r.index, r.label, r.sample_weight) for r in held.history],
        "seen": held.belief.posterior.num_observations,
        "mean": np.asarray(held.belief.posterior.mean).tolist(),
        "asks": int(held.ask()[0]) if len(held.remaining) else None,
    }
