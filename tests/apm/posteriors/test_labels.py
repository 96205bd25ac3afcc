"""Labels of any values become channel outputs by sorted order."""

from __future__ import annotations

import numpy as np
import pytest

from apm.posteriors import Bohning, VariationalLogistic
from apm.posteriors.labels import as_labels, learn_classes
from channelcode.errors import InvalidArgument

X = np.array([[1.0, 0.5], [-1.0, 0.3], [0.2, -2.0]])


@pytest.mark.parametrize(
    "labels, classes, codes",
    [
        ([1, 0, 1], [0, 1], [1, 0, 1]),
        ([1, 1, 1], [0, 1], [1, 1, 1]),
        ([0, 0, 0], [0, 1], [0, 0, 0]),
        ([-1, -1, -1], [-1, 1], [0, 0, 0]),
        ([1, -1, 1], [-1, 1], [1, 0, 1]),
        ([True, True, False], [False, True], [1, 1, 0]),
        ([7, 7, 3], [3, 7], [1, 1, 0]),
        ([2.5, 2.5, 1.5], [1.5, 2.5], [1, 1, 0]),
        (["no", "yes", "no"], ["no", "yes"], [0, 1, 0]),
        (["only", "only", "only"], ["only"], [0, 0, 0]),
    ],
)
def test_two_labels(labels: list, classes: list, codes: list) -> None:
    fitted = VariationalLogistic().fit(X, labels)
    assert fitted.classes_.tolist() == classes
    assert fitted.codes.tolist() == codes


def test_late_class_reorders_the_codes() -> None:
    """A first label stands alone; when a smaller one appears, the codes and the mean follow."""
    start = VariationalLogistic().fit(X[:1], ["yes"]).update(X[1], "yes")
    assert start.codes.tolist() == [0, 0]
    after = start.update(X[2], "no")
    assert after.classes_.tolist() == ["no", "yes"]
    direct = VariationalLogistic().fit(X, ["yes", "yes", "no"])
    np.testing.assert_allclose(after.mean, direct.mean, rtol=1e-9)


def test_lone_one_meets_minus_one() -> None:
    after = VariationalLogistic().fit(X[:2], [1, 1]).update(X[2], -1)
    assert after.classes_.tolist() == [-1, 1]
    np.testing.assert_allclose(after.mean, VariationalLogistic().fit(X, [1, 1, -1]).mean, rtol=1e-9)


def test_many_classes_learnt_one_by_one() -> None:
    posterior = Bohning(3, 0.1)
    for row, label in zip(X, ["b", "c", "a"], strict=True):
        posterior = posterior.update(row, label)
    assert posterior.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        posterior.mean, Bohning(3, 0.1).fit(X, ["b", "c", "a"]).mean, atol=1e-9
    )


def test_whole_numbers_stand_for_themselves_while_classes_are_missing() -> None:
    assert learn_classes(np.array([2]), 4).tolist() == [0, 1, 2, 3]
    assert learn_classes(np.array([7]), 4).tolist() == [7]


def test_refused() -> None:
    with pytest.raises(InvalidArgument, match="finite"):
        as_labels([1.0, np.nan])
    with pytest.raises(InvalidArgument, match="one axis"):
        as_labels(np.zeros((2, 2)))
    with pytest.raises(InvalidArgument, match="numbers or text"):
        as_labels([1 + 2j])
    with pytest.raises(InvalidArgument, match="one axis"):
        as_labels([0, [1]])
    for mixed in (["a", 1], (2.0, "b"), ["a", True]):  # numpy would make text of the numbers
        with pytest.raises(InvalidArgument, match="all numbers or all text"):
            as_labels(mixed)
    with pytest.raises(InvalidArgument, match="2 different"):
        VariationalLogistic(classes=[1, 1])
    with pytest.raises(InvalidArgument, match="one of the classes"):
        VariationalLogistic(classes=[0, 1]).fit(X, [0, 1, 2])
    with pytest.raises(InvalidArgument, match="same kind"):
        VariationalLogistic(classes=[0, 1]).fit(X, ["0", "1", "1"])


def test_column_of_labels_and_object_text() -> None:
    for column in (np.array([["a"], ["b"]]), [["a"], ["b"]]):
        assert as_labels(column).tolist() == ["a", "b"]
    assert as_labels(np.array(["a", "b"], dtype=object)).dtype.kind == "U"
