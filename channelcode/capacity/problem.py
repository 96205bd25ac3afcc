"""The question, a solver's proposal, and the answer.

Which input law of a channel carries the most information within a constraint? A solver proposes
one, `channelcode.capacity.certify` bounds it, and the result holds both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.certificate import Certificate, Certified, SolveStats, Status, conclude
from channelcode.channels import Channel, DiscreteChannel, Tails
from channelcode.channels.row_check import is_builtin
from channelcode.constraints import Constraint, Limits, costs_of, limits, squared_norm
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure

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

    @property
    def tails(self) -> Tails | None:
        """What the channel promises about every input, asked once."""
        if "tails" not in self.cache:
            self.cache["tails"] = self.channel.tails()
        return self.cache["tails"]

    @property
    def has_own_cost(self) -> bool:
        """Whether the mean cost is a user's function, and not the power."""
        return self.limits.cost is not None and not self.limits.is_power

    @property
    def has_black_box(self) -> bool:
        """Whether something of a user's is known where it is probed alone: the channel, a cost."""
        return self.tails is None or (self.has_own_cost and self.limits.rises > 0.0)

    def cost(self, points: Array) -> Array:
        """The cost of each input, `(n,)`; zero when there is no mean cost."""
        if self.limits.cost is None:
            return np.zeros(len(points))
        if self.limits.is_power:
            return squared_norm(points)
        return costs_of(self.limits.cost, points)

    def mean_cost(self, points: Array, weights: Array, *, absolute: bool = False) -> float:
        """The mean cost of a law, or of |cost|; a forbidden input without weight costs nothing."""
        cost, used = self.cost(points), weights > 0
        cost = np.abs(cost) if absolute else cost
        return float(weights @ cost) if used.all() else float(weights[used] @ cost[used])

    def norm(self, points: Array) -> Array:
        """|l| of inputs `(n,)` or `(n, dim)`."""
        return np.abs(points) if points.ndim == 1 else np.linalg.norm(points, axis=1)

    def letters(self) -> tuple[Array, Array, Array]:
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
        own = isinstance(self.channel, DiscreteChannel) and is_builtin(self.channel)
        matrix = getattr(self.channel, "matrix", None) if own else None
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


class Solver(Protocol):
    """Anything that proposes an input law and a multiplier; `certify` judges the proposal."""

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """An input law within the constraint whose certified gap should be within `tol` nats."""
        ...


@dataclass(frozen=True, eq=False)
class CapacityResult(Certified):
    """A capacity with proof: it lies between `lower` and `upper`, both in bits.

    `bits` is the information of `input`, a law within the constraint. `deficit_bits` is
    log2|Y| - bits, exact even where `bits` rounds to log2|Y|. `multiplier` is dC/dP in bits per
    unit cost. `scope` says what the upper bound was proved over. `certificate` holds the bounds.

    >>> from channelcode.capacity import capacity, Power
    >>> from channelcode.channels import Logistic
    >>> result = capacity(Logistic(), Power(4.0))
    >>> round(result.bits, 12), result.input.atoms
    (0.472934658997, array([-2.,  2.]))
    """

    problem: Problem
    input: Any  # a DiscreteMeasure; a Gaussian for Gaussian noise under power alone
    output: Array
    nats: float
    deficit_nats: float
    certificate: Certificate
    multiplier: float
    scope: str
    status: Status
    stats: SolveStats

    @property
    def bits(self) -> float:
        """The information that `input` carries, in bits."""
        return self.nats / LOG_TWO

    @property
    def deficit_bits(self) -> float:
        """log2 of the number of outputs minus `bits`, without cancellation."""
        return self.deficit_nats / LOG_TWO

    def _identity(self) -> tuple[Any, ...]:
        """What was asked and what came out; seconds and steps do not count."""
        law = self.input.fingerprint()
        return self.problem, law, self.multiplier, self.certificate, self.scope, self.status

    def __repr__(self) -> str:
        return (
            f"CapacityResult(bits={self.bits!r}, gap={self.gap:.2g}, {_size_of(self.input)}, "
            f"multiplier={self.multiplier:.6g}, method={self.stats.method!r}, "
            f"scope={self.scope!r}, status={self.status.name})"
        )


def answer(
    problem: Problem,
    law: Any,
    certificate: Certificate,
    stats: SolveStats,
    *,
    nats: float,
    multiplier: float,
    scope: str,
    tol: float,
    throw: bool,
    output: Array | None = None,
    deficit: float = np.inf,
    exhausted: bool = False,
    complete: bool = True,
) -> CapacityResult:
    """The result for a law that was judged; `multiplier` in nats per unit cost.

    `complete` says that the upper bound holds for every input, and not only within `scope`;
    `output` and `deficit` are those of finitely many outputs.
    """
    return conclude(
        lambda status: CapacityResult(
            problem=problem,
            input=law,
            output=np.empty(0) if output is None else output,
            nats=nats,
            deficit_nats=deficit,
            certificate=certificate,
            multiplier=multiplier / LOG_TWO,
            scope=scope,
            status=status,
            stats=stats,
        ),
        certificate,
        tol=tol,
        throw=throw,
        exhausted=exhausted,
        best=Status.OPTIMAL if complete else Status.WITHIN_SCOPE,
    )


def _size_of(law: Any) -> str:
    return f"atoms={len(law)}" if isinstance(law, DiscreteMeasure) else f"input={law!r}"
