"""Files of every kind of posterior, edited under a right checksum: what was learnt is not taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm import (
    Bohning,
    Draws,
    Grid,
    Inputs,
    Laplace,
    LinearGaussian,
    NonLinear,
    Particles,
    Thresholds,
    VariationalLogistic,
    archive,
)
from apm.encoders import Linear
from apm.learner import Learner
from apm.selectors import Random
from channelcode.channels import Logistic, Probit, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian

RNG = np.random.default_rng(3)
X = RNG.normal(size=(5, 2))
BENT = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X - theta[:, 0]), 2)
MODELS: dict[str, tuple[np.ndarray, Any]] = {
    "variational": (X, VariationalLogistic(1.0, intercept=True)),
    "laplace": (X, Laplace(Probit(), 1.0)),
    "softmax": (X, Laplace(Softmax(3), 1.0)),
    "bohning": (X, Bohning(3, 1.0)),
    "regression": (X, LinearGaussian(0.5, 1.0)),
    "thresholds": (X[:, :1], Thresholds([-1.0, 0.0, 1.0])),
    "grid": (X, Grid([np.linspace(-2, 2, 4)] * 2, Logistic(), Linear())),
    "draws": (X, Draws(RNG.normal(size=(6, 2)))),
    "inputs": (np.arange(5)[:, None], Inputs(RNG.normal(size=(5, 4)))),
    "particles": (X, Particles(Logistic(), Linear(), Gaussian(np.zeros(2), np.eye(2)), samples=8)),
    "bent": (X[:, :1], Laplace(Logistic(), 1.0, encoder=BENT, restarts=0)),
    "bent draws": (
        X[:, :1],
        Laplace(Logistic(), 1.0, encoder=BENT, restarts=0, push="draws", samples=64),
    ),
}
# What the posterior is made with and no label has touched: the file's word is all there is.
GIVEN = {
    "thresholds": ("values",),
    "grid": ("density",),
    "inputs": ("l",),
    "bent draws": ("draws",),
}


def written(kind: str, folder: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file with two labels, and what `load` needs beside it."""
    pool, model = MODELS[kind]
    held = Learner(pool, model, Random(), seed=5)
    held.tell([0, 2], [0.5, -1.0] if kind == "regression" else [0, 1])
    path = held.save(folder / "whole.npz")
    options = {"model": model} if kind.startswith("bent") else {}
    assert len(Learner.load(path, **options).labelled) == 2
    header, arrays = archive.read(path)
    return {name: header[name] for name in header if name != "version"}, arrays, options


def edited(array: np.ndarray) -> dict[str, np.ndarray]:
    """An array changed in one entry, in its type, and in its shape."""
    found = {"one axis more": array[None]}
    if array.dtype.kind == "f":
        found["another type"] = array.astype(np.float32)
        if array.size:
            last = array.size - 1
            found |= {f"{value}": _with(array, 0, value) for value in (np.nan, np.inf, 1e200)}
            found["moved"] = _with(array, last, array.flat[last] * 1.01 + 0.01)
    if array.dtype.kind == "b":
        found["not"] = ~array
    if array.ndim:
        found["cut"] = array[:-1]
    return found


def _with(array: np.ndarray, place: int, value: float) -> np.ndarray:
    changed = array.copy()
    changed.flat[place] = value
    return changed


def learnt(held: Learner) -> str:
    """What the file says about the labels and the pool, up to the tolerance of the check."""
    posterior = held.belief.posterior
    peak = None if isinstance(posterior, Inputs) else np.asarray(posterior.map).round(4).tolist()
    laws = posterior.pool(posterior.project(np.asarray(held.pool, dtype=float)))
    moments = [np.asarray(laws.mean).round(4), np.asarray(laws.total_variance).round(4)]
    return repr((peak, [part.tolist() for part in moments], posterior.labels.tolist()))


@pytest.mark.parametrize("kind", MODELS)
def test_an_edited_solution_is_refused_or_changes_nothing(kind, tmp_path):
    header, arrays, options = written(kind, tmp_path)
    expected = learnt(Learner.load(tmp_path / "whole.npz", **options))
    taken, count = [], 0
    for name in [name for name in arrays if name.startswith("posterior/")]:
        if name.removeprefix("posterior/") in GIVEN.get(kind, ()):
            continue
        for change, array in edited(arrays[name]).items():
            archive.write(tmp_path / "edited.npz", header, arrays | {name: array})
            count += 1
            try:
                held = Learner.load(tmp_path / "edited.npz", **options)
            except InvalidArgument:
                continue
            if learnt(held) != expected:
                taken.append((name, change))
    assert taken == []
    assert count > 20


@pytest.mark.parametrize("kind", MODELS)
def test_arrays_that_are_missing_or_too_many_are_refused(kind, tmp_path):
    header, arrays, options = written(kind, tmp_path)
    files = [arrays | {"posterior/more": np.zeros(2)}]
    files += [
        {other: array for other, array in arrays.items() if other != name}
        for name in arrays
        if name.startswith("posterior/")
    ]
    expected, taken = learnt(Learner.load(tmp_path / "whole.npz", **options)), 0
    for changed in files:
        archive.write(tmp_path / "edited.npz", header, changed)
        try:
            held = Learner.load(tmp_path / "edited.npz", **options)
        except InvalidArgument:
            continue
        taken += 1
        assert learnt(held) == expected
    assert taken <= 1  # the names of classes that are numbered as they would be anyway


def test_draws_are_compared_as_draws_where_a_chain_took_another_turn(tmp_path):
    """Other draws of the same law are taken, since rounding may turn a step; far ones are not."""
    header, arrays, _ = written("particles", tmp_path)
    pool, model = MODELS["particles"]
    other = Particles(Logistic(), Linear(), Gaussian(np.zeros(2), np.eye(2)), samples=8, rng=1)
    turned = other.update(pool[[0, 2]], [0, 1]).state()
    names = ("theta", "log_weights", "log_prior", "log_likelihood")
    archive.write(
        tmp_path / "a.npz", header, arrays | {f"posterior/{name}": turned[name] for name in names}
    )
    assert len(Learner.load(tmp_path / "a.npz").labelled) == 2
    far = arrays | {"posterior/theta": arrays["posterior/theta"] + 100.0}
    archive.write(tmp_path / "b.npz", header, far)
    with pytest.raises(InvalidArgument, match="must follow from the journal"):
        Learner.load(tmp_path / "b.npz")
    assert model.num_observations == 0
