"""Selectors on data of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.comparison import compare
from apm.posteriors import VariationalLogistic
from apm.selectors import Margin, MaxVariance, Random
from channelcode.errors import InvalidArgument
from tests.apm.loops import data, labels_for


def test_all_selectors_start_from_the_same_place():
    X, y = data(80)
    found = compare(X, np.array(["no", "yes"])[y], [Margin(), Random()], labels=8, trials=4)
    assert found.accuracy.shape == (2, 4, 9)
    np.testing.assert_array_equal(found.accuracy[0, :, 0], found.accuracy[1, :, 0])
    assert len(np.unique(found.accuracy[0, :, 0])) > 1  # trials differ
    np.testing.assert_allclose(found.areas, found.accuracy[:, :, 1:].mean(axis=2))
    names = found.names
    gap = found.difference(names[0], names[1])
    assert gap.estimate == pytest.approx(np.mean(found.areas[0] - found.areas[1]))
    assert gap.low <= gap.estimate <= gap.high
    assert found.difference(names[0], names[0]).high == 0
    assert names[0] in str(found)
    frame = found.to_frame()
    assert frame.shape == (2 * 4 * 9, 4)
    mean = frame[frame.selector == names[1]].groupby("asked").accuracy.mean().to_numpy()
    np.testing.assert_allclose(mean, found.mean(names[1]))


def test_the_same_for_any_number_of_workers():
    X, y = data(60)
    options: dict[str, Any] = {"labels": 4, "trials": 2, "rng": 3}
    one = compare(X, y, {"a": Random(), "b": MaxVariance()}, **options)
    two = compare(X, y, {"a": Random(), "b": MaxVariance()}, workers=2, **options)
    np.testing.assert_array_equal(one.accuracy, two.accuracy)


def test_k_classes_and_the_default_rules():
    X, _ = data(60)
    found = compare(X, labels_for(X, 3), labels=3, trials=1)
    assert found.names == ("default", "random")
    assert found.accuracy.shape == (2, 1, 4)


def test_a_pool_that_runs_out_keeps_its_last_accuracy():
    X, y = data(12)
    found = compare(X, y, [Random()], labels=10, trials=1, model=VariationalLogistic(1.0))
    assert found.accuracy.shape == (1, 1, 11)
    assert np.isfinite(found.accuracy).all()


def test_bad_arguments():
    X, y = data(20)
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((X, y[:3]), "one label for each"),
        ((X, np.zeros(20)), "two classes"),
        ((X, y, []), "one or more"),
        ((X, y, [Random(), Random()]), "differ"),
        ((X, y, ["margin"]), "selectors"),
        ((X, y, {1: Random()}), "names"),
    ]
    for arguments, rule in wrong:
        with pytest.raises(InvalidArgument, match=rule):
            compare(*arguments)
    with pytest.raises(InvalidArgument, match="labels"):
        compare(X, y, labels=0)
    with pytest.raises(InvalidArgument, match="name must be one of"):
        compare(X, y, [Random()], labels=1, trials=1).mean("other")


def test_progress_is_shown_if_wanted(monkeypatch, capsys):
    from apm.studies.engine import progress

    monkeypatch.setattr(progress, "_QUIET_SECONDS", -1.0)
    X = np.random.default_rng(0).normal(size=(40, 2))
    quiet = compare(X, X[:, 0] > 0, labels=2, trials=2)
    assert capsys.readouterr().err == ""
    shown = compare(X, X[:, 0] > 0, labels=2, trials=2, progress=True)
    assert "1 of 2 trials, about" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.accuracy, shown.accuracy)
