"""Labels of any values, mapped to channel outputs 0..K-1.

One rule: the labels are all finite numbers or all text. NaN, None, dates, bytes, lists, mixtures
and text that NumPy cannot hold (ending in a NUL character) are refused, with one message.
"""

from __future__ import annotations

import numbers
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from channelcode.errors import InvalidArgument

Labels = NDArray[Any]
Codes = NDArray[np.int64]
RULE = "must be all finite numbers or all text (no NaN, None, dates, bytes, lists or mixtures)"
LARGEST_WHOLE = 1 << 53  # whole numbers beyond this are not told apart as floats


def as_label(value: Any, argument: str = "label") -> Any:
    """One label as a plain Python number or text.

    >>> as_label(np.str_("yes")), as_label(np.int64(3))
    ('yes', 3)
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str):
        if value.endswith("\0"):
            raise InvalidArgument(argument, f"{RULE}; not text that ends in a NUL", value)
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise InvalidArgument(argument, f"{RULE}; whole numbers below 2^63", value)
    if isinstance(value, numbers.Real):
        plain: Any = value
        try:
            size = float(plain)
        except OverflowError:  # a fraction of whole numbers without end
            raise InvalidArgument(argument, RULE, value) from None
        if isfinite(size):
            return plain if isinstance(plain, bool | int | float) else size
    raise InvalidArgument(argument, RULE, value)


def as_labels(y: ArrayLike, argument: str = "y") -> Labels:
    """Return labels as a one-axis array of numbers, booleans or text; all else is refused."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "buif" and y.ndim == 1:
        labels = y  # nothing can hide in it but NaN and infinity
    else:
        labels = _listed_labels(y, argument)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        where = int(np.argmin(np.isfinite(labels)))
        raise InvalidArgument(argument, RULE, f"{labels[where]} in row {where}")
    return labels


def _listed_labels(y: Any, argument: str) -> Labels:
    try:
        shaped = np.atleast_1d(np.asarray(y, dtype=None if hasattr(y, "dtype") else object))
    except ValueError:  # rows of different lengths
        raise InvalidArgument(argument, "must have one axis", y) from None
    if shaped.ndim == 2 and shaped.shape[1] == 1:
        shaped = shaped[:, 0]
    if shaped.ndim != 1:
        raise InvalidArgument(argument, "must have one axis", f"shape {shaped.shape}")
    if shaped.dtype.kind not in "buifUO":
        raise InvalidArgument(argument, RULE, f"dtype {shaped.dtype}")
    if shaped.dtype.kind != "O":
        return shaped
    values = [as_label(value, argument) for value in shaped.tolist()]
    texts = sum(isinstance(value, str) for value in values)
    if 0 < texts < len(values):
        raise InvalidArgument(argument, RULE, y)
    labels = np.array(values) if values else np.empty(0)
    if labels.dtype.kind == "f":
        lost = [v for v in values if isinstance(v, int) and abs(v) > LARGEST_WHOLE]
        if lost:
            rule = "must not mix fractions with whole numbers beyond 2^53"
            raise InvalidArgument(argument, rule, lost[0])
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
    """Return the classes a user names, in the order given: class k is channel output k.

    >>> given_classes(["low", "medium", "high"], 3).tolist()
    ['low', 'medium', 'high']
    """
    if classes is None:
        return None
    if isinstance(classes, range):
        classes = list(classes)
    values = as_labels(classes, "classes").copy()
    if len(values) != num_labels or len(np.unique(values)) != num_labels:
        rule = f"must hold {num_labels} different values"
        raise InvalidArgument("classes", rule, values.tolist())
    values.setflags(write=False)
    return values


def encode(labels: Labels, classes: Labels) -> Codes:
    """Return the place of each label among the classes; an unseen one is an error."""
    if (labels.dtype.kind == "U") != (classes.dtype.kind == "U"):
        rule = f"must be of the same kind as the classes {classes.tolist()}"
        raise InvalidArgument("y", rule, labels.tolist())
    order = np.argsort(classes, kind="stable")
    codes = order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)]
    wrong = classes[codes] != labels
    if wrong.any():
        rule = f"must be one of the classes {classes.tolist()}"
        raise InvalidArgument("y", rule, labels[int(np.argmax(wrong))].item())
    return codes.astype(np.int64)


def lookup(classes: Labels) -> dict[Any, int]:
    """Return the place of each class as a dictionary."""
    return {value: place for place, value in enumerate(classes.tolist())}


def known_codes(y: Any, places: dict[Any, int]) -> Codes | None:
    """The codes of labels of known classes, without ceremony; None if there is more to do."""
    if isinstance(y, np.ndarray) and y.ndim == 1:
        y = y.tolist()
    values = y if isinstance(y, list) else [y]
    try:
        codes = [places[value] for value in values]
    except (KeyError, TypeError):  # a class not seen before, or not a label at all
        return None
    return np.array(codes, dtype=np.int64)


def classes_after(
    y: Any, classes: Labels | None, codes: Codes, *, fixed: bool, num_labels: int
) -> tuple[Labels, Codes, Codes]:
    """The classes, the codes so far and the codes of the new labels y.

    `codes` itself is returned where the new labels have not moved it.
    """
    labels = as_labels(y)
    if classes is not None:
        same_kind = (labels.dtype.kind == "U") == (classes.dtype.kind == "U")
        if fixed or (same_kind and np.isin(labels, classes).all()):
            return classes, codes, encode(labels, classes)
    if classes is None or len(codes) == 0:
        learnt = learn_classes(labels, num_labels)
        return learnt, codes, encode(labels, learnt)
    before = classes[codes]
    if (before.dtype.kind == "U") != (labels.dtype.kind == "U"):
        encode(labels, classes)
    every = np.concatenate((before, labels))
    learnt = learn_classes(every, num_labels)
    moved = encode(every, learnt)
    old = moved[: len(before)]
    if np.array_equal(old, codes):
        old = codes
    return learnt, old, moved[len(before) :]
