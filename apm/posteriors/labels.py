"""Labels of any values, mapped to channel outputs 0..K-1 by sorted order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from channelcode.errors import InvalidArgument

Labels = NDArray[Any]
Codes = NDArray[np.int64]


def as_labels(y: ArrayLike, argument: str = "y") -> Labels:
    """Return labels as a one-axis array of numbers, booleans or text; NaN is refused."""
    try:
        labels = np.atleast_1d(np.asarray(y))
    except ValueError:  # rows of different lengths
        raise InvalidArgument(argument, "must have one axis", y) from None
    listed = y if isinstance(y, list | tuple) and labels.ndim == 1 else ()
    if labels.dtype.kind in "US" and not all(isinstance(value, str | bytes) for value in listed):
        raise InvalidArgument(argument, "must be all numbers or all text", y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidArgument(argument, "must have one axis", f"shape {labels.shape}")
    if labels.dtype == object:
        values = labels.tolist()
        if all(isinstance(v, str) for v in values) or not any(isinstance(v, str) for v in values):
            labels = np.asarray(values)
    if labels.dtype.kind not in "buifUS":
        raise InvalidArgument(argument, "must hold numbers or text", f"dtype {labels.dtype}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        where = int(np.argmin(np.isfinite(labels)))
        raise InvalidArgument(argument, "must be finite", f"{labels[where]} in row {where}")
    return labels


def learn_classes(labels: Labels, num_labels: int) -> Labels:
    """Return the sorted classes behind the labels seen so far, at most `num_labels` of them.

    While some classes are unseen, whole numbers within 0..K-1 stand for themselves, and a lone -1
    has 1 as its partner; other labels take the first places until the rest appear.

    >>> learn_classes(np.array([1, 1]), 2), learn_classes(np.array(["yes", "no"]), 2)
    (array([0, 1]), array(['no', 'yes'], dtype='<U3'))
    """
    seen = np.unique(labels)
    if len(seen) > num_labels:
        raise InvalidArgument("y", f"must have at most {num_labels} classes", seen.tolist())
    if len(seen) == num_labels or seen.dtype.kind not in "buif":
        return seen
    if np.isin(seen, np.arange(num_labels)).all():
        return np.arange(num_labels).astype(seen.dtype)
    if num_labels == 2 and seen.tolist() == [-1]:
        return np.array([-1, 1]).astype(seen.dtype)
    return seen


def given_classes(classes: ArrayLike | None, num_labels: int) -> Labels | None:
    """Return the classes a user names, sorted; there must be `num_labels` different ones."""
    if classes is None:
        return None
    values = np.unique(as_labels(classes, "classes"))
    if len(values) != num_labels:
        rule = f"must hold {num_labels} different values"
        raise InvalidArgument("classes", rule, values.tolist())
    values.setflags(write=False)
    return values


def encode(labels: Labels, classes: Labels) -> Codes:
    """Return the place of each label among the sorted classes; an unseen one is an error."""
    if (labels.dtype.kind in "US") != (classes.dtype.kind in "US"):
        rule = f"must be of the same kind as the classes {classes.tolist()}"
        raise InvalidArgument("y", rule, labels.tolist())
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    wrong = classes[codes] != labels
    if wrong.any():
        rule = f"must be one of the classes {classes.tolist()}"
        raise InvalidArgument("y", rule, labels[int(np.argmax(wrong))].item())
    return codes.astype(np.int64)


def lookup(classes: Labels) -> dict[Any, int]:
    """Return the place of each class as a dictionary."""
    return {value: place for place, value in enumerate(classes.tolist())}
