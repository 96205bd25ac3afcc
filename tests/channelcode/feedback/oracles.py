"""Plain arrays and random channels to hold the schemes against."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from channelcode import DiscreteChannel, DiscreteMeasure


def rational(text: str) -> Fraction:
    return Fraction(text)


def golden_channel(figures: Any, name: str) -> DiscreteChannel:
    rows = figures["channels"][name]["matrix"]
    return DiscreteChannel([[float(Fraction(x)) for x in row] for row in rows])


def golden_input(weights: list[str]) -> DiscreteMeasure:
    law = np.array([float(Fraction(x)) for x in weights])
    return DiscreteMeasure(np.arange(len(law)), law)


def random_channel(seed: int) -> tuple[DiscreteChannel, DiscreteMeasure]:
    """A channel of 2 to 4 letters and outputs, zeros allowed, with an input law; both random."""
    rng = np.random.default_rng(seed)
    letters, outputs = rng.integers(2, 5, size=2)
    rows = rng.integers(0, 10, size=(letters, outputs)) * (rng.random((letters, outputs)) < 0.8)
    rows[np.arange(letters), rng.integers(0, outputs, letters)] += 1
    weights = rng.integers(1, 10, size=letters)
    law = DiscreteMeasure(np.arange(letters), weights / weights.sum())
    return DiscreteChannel(rows / rows.sum(axis=1, keepdims=True)), law


def channels() -> Any:
    """Random channels with random inputs."""
    return st.integers(0, 2**32).map(random_channel)


def likely_output(rng: np.random.Generator, law: np.ndarray) -> int:
    """One of the outputs of probability above 1e-6, each as likely as the others."""
    return int(rng.choice(np.flatnonzero(np.asarray(law) > 1e-6)))


class PlainArray:
    """A posterior over M messages as an array: every use touches every message."""

    def __init__(self, matrix: np.ndarray, messages: int) -> None:
        self.matrix, self.law = matrix, np.full(messages, 1.0 / messages)

    def letters(self, cuts: Any) -> np.ndarray:
        return np.searchsorted(np.array(cuts, dtype=float), np.arange(len(self.law)), side="right")

    def predictive(self, letters: np.ndarray) -> np.ndarray:
        return self.law @ self.matrix[letters]

    def update(self, letters: np.ndarray, output: int) -> None:
        after = self.law * self.matrix[letters, output]
        self.law = after / after.sum()


def spread(intervals: Any) -> np.ndarray:
    """The posterior of each message from integer ends and masses."""
    ends, masses = intervals
    widths = np.diff(np.array(ends, dtype=np.int64))
    return np.repeat(masses / widths, widths)


def mutual_information(weights: np.ndarray, matrix: np.ndarray) -> float:
    """I(p, W) in bits, by its definition."""
    joint = np.asarray(weights)[:, None] * matrix
    output = joint.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log2(matrix / output), 0.0)
    return float(terms.sum())
