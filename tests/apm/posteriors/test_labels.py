"""Labels of any values become channel outputs by sorted order."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.posteriors.labels import as_label, as_labels, learn_classes
from channelcode.errors import InvalidArgument
from tests.naming import plain

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
    with pytest.raises(InvalidArgument, match="fractions with whole numbers"):
        as_labels([2**53 + 1, 0.5])
    with pytest.raises(InvalidArgument, match="2 different"):
        VariationalLogistic(classes=[1, 1])
    with pytest.raises(InvalidArgument, match="one of the classes"):
        VariationalLogistic(classes=[0, 1]).fit(X, [0, 1, 2])
    with pytest.raises(InvalidArgument, match="same kind"):
        VariationalLogistic(classes=[0, 1]).fit(X, ["0", "1", "1"])


NOT_LABELS: list[Any] = [
    [1 + 2j], [0, [1]], ["a", 1], (2.0, "b"), ["a", True], [None], ["a", None], [1, None], None,
    [float("nan")], [float("inf"), 1.0], [b"a"], np.array([b"a", b"b"]), ["a\0", "a"], [2**70],
    [np.datetime64("2020-01-01")], np.array(["2020-01-01"], dtype="datetime64[D]"), [object()],
    pd.Series([1, pd.NA], dtype="Int64"), pd.Series(["a", None]), [pd.NA], [pd.NaT], [{}],
    pd.to_datetime(["2020-01-01"]),
]  # fmt: skip


@pytest.mark.parametrize(
    "label", [10**400, -(10**400), 1 << 63, float("inf"), float("nan")], ids=range(5)
)
def test_numbers_that_no_float_holds_are_no_labels(label: Any) -> None:
    with pytest.raises(InvalidArgument, match="finite numbers"):
        as_label(label)


@pytest.mark.parametrize("labels", NOT_LABELS, ids=plain)
def test_one_rule_and_one_message(labels: Any) -> None:
    with pytest.raises(InvalidArgument, match="y must be all finite numbers or all text"):
        as_labels(labels)
    with pytest.raises(InvalidArgument, match="all finite numbers or all text"):
        Bohning(3).update(X[0], labels)


def test_labels_of_every_container() -> None:
    for text in (["a", "b"], ("a", "b"), pd.Series(["a", "b"]), pd.Categorical(["a", "b"]),
                 pd.array(["a", "b"], dtype="string"), np.array(["a", "b"])):  # fmt: skip
        assert as_labels(text).tolist() == ["a", "b"]
    for whole in (
        [3, 1],
        (3, 1),
        pd.Series([3, 1]),
        pd.Series([3, 1], dtype="Int64"),
        np.uint8([3, 1]),
    ):
        assert as_labels(whole).tolist() == [3, 1]
    assert as_label(np.array(2)) == 2
    assert as_label(Fraction(1, 2)) == 0.5


def test_given_classes_keep_their_order(rng: np.random.Generator) -> None:
    """`classes=["low", "medium", "high"]` is an order, and an ordinal channel learns it."""
    from channelcode.channels import Ordinal

    names = ["low", "medium", "high"]
    rows = rng.standard_normal((60, 2))
    level = np.digitize(rows[:, 0], [-0.5, 0.5])
    posterior = Laplace(Ordinal([-1.0, 1.0]), 0.1, classes=names)
    fitted = posterior.fit(rows, np.array(names)[level])
    assert fitted.classes_.tolist() == names
    assert fitted.codes.tolist() == level.tolist()
    plain = Laplace(Ordinal([-1.0, 1.0]), 0.1).fit(rows, level)
    np.testing.assert_array_equal(fitted.mean, plain.mean)
    assert posterior.update(rows[0], "high").codes.tolist() == [2]
    again = type(fitted).from_state(fitted.state(), fitted.channel)
    assert again.classes_.tolist() == names


def test_only_named_classes_have_columns() -> None:
    start = Bohning(3)
    uniform = np.full((2, 3), 1 / 3)
    assert start.classes_.tolist() == [0, 1, 2]
    assert start.named_columns(uniform).shape == (2, 3)
    one = start.update(X[0], "b")
    assert (one.classes_.tolist(), one.named_columns(uniform).tolist()) == (["b"], [[1.0], [1.0]])
    two = one.update(X[1], "a")
    assert two.named_columns(uniform).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert two.certain_outputs.tolist() == [0, 1]
    guessed = start.update(X[0], 1)
    assert (guessed.classes_.tolist(), guessed.certain_outputs.tolist()) == ([0, 1, 2], [1])


def test_column_of_labels_and_object_text() -> None:
    for column in (np.array([["a"], ["b"]]), [["a"], ["b"]]):
        assert as_labels(column).tolist() == ["a", "b"]
    assert as_labels(np.array(["a", "b"], dtype=object)).dtype.kind == "U"


def test_numbers_of_any_size_are_labels_and_numbers_without_one_are_not() -> None:
    for value in (1e300, -1e19, 2**63 - 1, Fraction(1, 3)):
        assert as_label(value) == float(value) or as_label(value) == value
    for value in (10**400, -(2**63), Fraction(10**400), float("nan")):
        with pytest.raises(InvalidArgument, match="all finite numbers or all text"):
            as_label(value)
    assert as_labels([1e200, 2.0]).tolist() == as_labels(np.array([1e200, 2.0])).tolist()
