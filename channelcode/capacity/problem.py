"""The question: which input law of a channel carries the most information within a constraint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.constraints import Constraint, Limits, limits
from channelcode.errors import InvalidArgument

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Problem:
    """Maximise I(L; Y) over input laws that meet the constraint (theory: section 1).

    `cache` keeps the channel's probabilities at probe points; problems on one curve share it.

    >>> from channelcode.channels import Logistic
    >>> from channelcode.constraints import Power
    >>> Problem(Logistic(), Power(4.0)).limits.budget
    4.0
    """

    channel: Channel
    constraint: Constraint
    limits: Limits = field(init=False, repr=False, compare=False)
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.channel, Channel):
            raise InvalidArgument("channel", "must be a Channel", self.channel)
        object.__setattr__(self, "limits", limits(self.constraint))

    @property
    def is_finite(self) -> bool:
        """Whether the input alphabet is finite."""
        return self.channel.inputs is not None

    def cost(self, points: Array) -> Array:
        """The cost of each input, `(n,)`; zero when there is no mean cost."""
        if self.limits.cost is None:
            return np.zeros(len(points))
        with np.errstate(over="ignore", under="ignore"):
            values = np.asarray(self.limits.cost(points), dtype=np.float64)
        if self.limits.is_power:
            return values
        if values.shape != (len(points),):
            rule = f"must return shape {(len(points),)}, one cost for each input"
            raise InvalidArgument("function", rule, f"shape {values.shape}")
        if np.isnan(values).any():
            bad = points[np.isnan(values)][0]
            raise InvalidArgument("function", "must return numbers", f"nan at l = {bad}")
        return values

    def norm(self, points: Array) -> Array:
        """|l| of inputs `(n,)` or `(n, dim)`."""
        return np.abs(points) if points.ndim == 1 else np.linalg.norm(points, axis=1)

    def alphabet(self) -> tuple[Array, Array, Array]:
        """Letters, matrix `(n, Y)` and costs of a finite channel; letters beyond the peak left out.

        A budget below every letter's cost, or a peak below every letter, is refused.
        """
        letters = self.channel.inputs
        if letters is None:
            raise InvalidArgument("channel", "must have a finite input alphabet", self.channel)
        cost = self.cost(letters)
        keep = (self.norm(letters) <= self.limits.peak) & np.isfinite(cost)
        if not keep.any():
            raise InvalidArgument(
                "constraint", "must allow at least one input letter", self.constraint
            )
        if self.limits.cost is not None and cost[keep].min() > self.limits.budget:
            rule = f"must be at least the least cost of a letter, {cost[keep].min()}"
            raise InvalidArgument("budget", rule, self.limits.budget)
        matrix = getattr(self.channel, "matrix", None)
        rows = self.channel.prob(letters[keep]) if matrix is None else matrix[keep]
        return letters[keep], np.asarray(rows), cost[keep]


@dataclass(frozen=True)
class Proposal:
    """A solver's suggestion: atoms `(m,)` or `(m, dim)`, weights, multiplier in nats per cost.

    `exhausted` says that the solver ran out of steps.
    """

    points: Array
    weights: Array
    multiplier: float
    method: str
    steps: int = 0
    details: dict[str, object] = field(default_factory=dict)
    exhausted: bool = False
