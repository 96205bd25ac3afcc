"""Learners in files: the same picks after loading, and nothing read that was not written."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm import archive
from apm.belief import Belief
from apm.encoders import Affine, FeatureMap
from apm.learner import Learner
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.power import FixedPower, PoolMaxPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    APMExplore,
    ContestedPair,
    Entropy,
    InformationGain,
    Margin,
    MaxVariance,
    Predictions,
    Random,
    Selector,
    Uncertainty,
)
from channelcode.channels import Lapse, Link, Logistic, Ordinal, Probit, Softmax
from channelcode.errors import InvalidArgument
from tests.apm.loops import MODELS, data, labels_for, run

SELECTORS: list[Selector] = [
    APM(),
    APM(FixedPower(3.0)),
    APMExplore(PoolMaxPower(), radius=2.0),
    Random(),
    Uncertainty(),
    InformationGain(),
    InformationGain(samples=30),
    BALD(),
    Margin(bayesian=True),
    Entropy(),
    EPIG(samples=20, targets=np.eye(3)),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("told", [0, 1, 6])
def test_a_saved_learner_goes_on_with_the_same_picks(selector, told, tmp_path):
    X, y = data()
    learner = Learner(X, VariationalLogistic(0.05), selector, seed=11)
    run(learner, y, told)
    path = learner.save(tmp_path / "learner.npz")
    again = Learner.load(path)
    assert again.history == learner.history
    np.testing.assert_array_equal(again.pool, learner.pool)
    assert run(again, y, 6) == run(learner, y, 6)
    assert again.labelled.tolist() == learner.labelled.tolist()
    np.testing.assert_array_equal(again.predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("model, classes", MODELS)
def test_every_model_is_saved(model, classes, tmp_path):
    X, _ = data()
    names = np.array(["ant", "bee", "cat"])[labels_for(X, classes)]
    learner = Learner(X, model, seed=1)
    run(learner, names, 5)
    again = Learner.load(learner.save(tmp_path / "learner.npz"))
    assert run(again, names, 4) == run(learner, names, 4)
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))
    assert again.classes_.tolist() == learner.classes_.tolist()


def test_a_seed_from_entropy_is_saved_too(tmp_path):
    X, y = data()
    learner = Learner(X, VariationalLogistic(), Random())
    again = Learner.load(learner.save(tmp_path / "learner.npz"))
    assert run(again, y, 5) == run(learner, y, 5)


def test_what_a_file_cannot_hold_is_asked_for(tmp_path):
    class Own(Selector):
        def scores(self, belief: Belief, X: Any, *, rng: Any = None) -> np.ndarray:
            return -np.abs(np.asarray(X)[:, 0])

    X, y = data()
    model = Belief(VariationalLogistic(0.1), FeatureMap(lambda Z: np.hstack([Z, Z**2])))
    learner = Learner(X, model, Own(), seed=0)
    run(learner, y, 4)
    path = learner.save(tmp_path / "learner.npz")
    with pytest.raises(InvalidArgument, match="model must be given to load"):
        Learner.load(path, selector=Own())
    with pytest.raises(InvalidArgument, match="selector must be given to load"):
        Learner.load(path, model=model)
    again = Learner.load(path, model=model, selector=Own())
    assert run(again, y, 4) == run(learner, y, 4)
    own = Link(lambda l: 1 / (1 + np.exp(-l)))
    other = Learner(X, Laplace(own, 0.5), seed=0)
    path = other.save(tmp_path / "other.npz")
    with pytest.raises(InvalidArgument, match="model must be given to load"):
        Learner.load(path)
    assert len(Learner.load(path, model=Laplace(own, 0.5)).remaining) == len(X)


def test_another_encoded_pool_is_refused_even_if_its_columns_have_the_same_sums(tmp_path):
    X, _ = data()
    model = Belief(VariationalLogistic(0.1), FeatureMap(lambda Z: np.asarray(Z)))
    path = Learner(X, model, APM(FixedPower(3.0)), seed=0).save(tmp_path / "learner.npz")
    Learner.load(path, model=model)
    turned = Belief(VariationalLogistic(0.1), FeatureMap(lambda Z: np.asarray(Z)[::-1]))
    with pytest.raises(InvalidArgument, match="must encode the pool as the file's encoder did"):
        Learner.load(path, model=turned)


def test_the_file_holds_no_pickle_and_is_replaced_at_once(tmp_path, monkeypatch):
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    path = learner.save(tmp_path / "learner.npz")
    first = path.read_bytes()
    with np.load(path, allow_pickle=False) as content:
        assert all(content[name].dtype != object for name in content.files)
    run(learner, y, 2)

    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk is full"):
            learner.save(path)
    assert path.read_bytes() == first
    assert os.listdir(tmp_path) == ["learner.npz"]
    learner.save(str(path))
    assert len(Learner.load(str(path)).history) == 2


@pytest.mark.parametrize("content", [b"", b"not a file of ours", b"PK\x03\x04 broken"])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument, match="path must be"):
        Learner.load(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Learner.load(tmp_path / "nothing.npz")


def test_files_of_another_version_and_of_unknown_classes(tmp_path):
    X, _ = data()
    path = Learner(X, VariationalLogistic(), seed=0).save(tmp_path / "learner.npz")
    header, arrays = archive.read(path)
    for version in (99, archive.VERSION + 1, archive.VERSION - 1, 1, 0, None, "2"):
        archive.write(path, {**header, "version": version}, arrays)
        with pytest.raises(InvalidArgument, match="version"):
            Learner.load(path)
    evil = {**header, "version": archive.VERSION, "selector": {"type": "system", "fields": {}}}
    archive.write(path, evil, arrays)
    with pytest.raises(InvalidArgument, match="classes of this library"):
        Learner.load(path)
    evil = {**header, "version": archive.VERSION, "posterior": "system"}
    archive.write(path, evil, arrays)
    with pytest.raises(InvalidArgument, match="model must be given"):
        Learner.load(path)
    archive.write(path, {**header, "encoder": header["channel"]}, arrays)
    with pytest.raises(InvalidArgument, match=r"path must be .* \(its encoder is none\)"):
        Learner.load(path)
    with pytest.raises(InvalidArgument, match="objects"):
        archive.write(path, {}, {"a": np.array([object()])})
    assert Path(path).exists()


# Descriptions ------------------------------------------------------------------------------------

DESCRIBED: list[Any] = [
    None,
    True,
    3,
    2.5,
    "text",
    Logistic(),
    Probit(2.0),
    Lapse(Probit(), low=0.1),
    Softmax(4),
    Affine(),
    APM(FixedPower(3.0), radius=2.0),
    APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(num_targets=3)),
    InformationGain(samples=30),
]


@pytest.mark.parametrize("value", DESCRIBED, ids=repr)
def test_a_description_is_plain_and_gives_the_object_back(value):
    arrays: dict[str, Any] = {}
    text = json.dumps(archive.describe(value, arrays, "part"))  # plain, or json would refuse
    again = archive.restore(json.loads(text), arrays, "part")
    assert again == value
    assert type(again) is type(value)


def test_arrays_inside_an_object_are_kept_beside_the_description():
    arrays: dict[str, Any] = {}
    channel = Ordinal([-1.0, 0.5])
    told = archive.describe(channel, arrays, "channel")
    again = archive.restore(json.loads(json.dumps(told)), arrays, "channel")
    l = np.linspace(-3, 3, 7)
    np.testing.assert_array_equal(again.prob(l), channel.prob(l))
    selector = EPIG(targets=np.eye(3))
    told = archive.describe(selector, arrays, "selector")
    assert any(np.array_equal(array, np.eye(3)) for array in arrays.values())
    np.testing.assert_array_equal(
        archive.restore(told, arrays, "selector").targets, selector.targets
    )


def test_classes_of_others_are_opaque_even_if_they_borrow_a_name():
    class APM(MaxVariance):  # not the library's
        pass

    for foreign in (APM(), lambda l: l, object(), dataclasses.make_dataclass("Own", [])()):
        told = archive.describe(foreign, {}, "selector")
        assert set(told) == {"opaque"}
        with pytest.raises(InvalidArgument, match="selector must be given to load"):
            archive.restore(told, {}, "selector")


# Files -------------------------------------------------------------------------------------------


def saved(folder: Path) -> Path:
    X, y = data()
    learner = Learner(X, VariationalLogistic(), seed=0)
    run(learner, y, 3)
    return learner.save(folder / "learner.npz")


def test_a_lone_array_and_other_archives_are_refused(tmp_path):
    np.save(tmp_path / "array.npy", np.eye(3))
    np.savez(tmp_path / "arrays.npz", X=np.eye(3))
    for place, text in enumerate((b"[1]", b"{", b"7")):
        header = np.frombuffer(text, dtype=np.uint8)
        np.savez(tmp_path / f"header{place}.npz", header=header)
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(InvalidArgument, match="path must be a learner's file"):
            Learner.load(path)


@pytest.mark.parametrize("name", archive.PARTS)
def test_a_file_without_one_of_its_parts_is_refused(name, tmp_path):
    path = saved(tmp_path)
    header, arrays = archive.read(path)
    del header[name]
    archive.write(path, header, arrays)
    with pytest.raises(InvalidArgument, match=f"every part of a learner, got .*{name}"):
        Learner.load(path)


def test_damage_is_noticed(tmp_path):
    content = saved(tmp_path).read_bytes()
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidArgument, match="learner's file"):
        Learner.load(damaged)
    middle = content.index(b"array/pool.npy") + 400  # within the pool: only the checksum knows
    damaged.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
    with pytest.raises(InvalidArgument, match="learner's file"):
        Learner.load(damaged)


def test_a_model_that_is_not_the_files_is_refused(tmp_path):
    path = saved(tmp_path)
    for other in (Bohning(3), Laplace(Logistic())):
        with pytest.raises(InvalidArgument, match="posterior of the file, VariationalLogistic"):
            Learner.load(path, model=other)
    with pytest.raises(InvalidArgument, match="model must be a posterior or a Belief"):
        Learner.load(path, model="logistic")  # type: ignore[arg-type]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_bytes(b"")
    assert saved(tmp_path).stat().st_mode == ordinary.stat().st_mode


def test_labels_that_json_cannot_hold_are_refused_and_leave_no_file(tmp_path):
    with pytest.raises(InvalidArgument, match="number or text"):
        archive.write(tmp_path / "file.npz", {"label": object()}, {})
    assert os.listdir(tmp_path) == []
    path = archive.write(tmp_path / "file.npz", {"label": np.int64(3)}, {"a": np.arange(3)})
    assert path == tmp_path / "file.npz"
