"""The question: two laws, brought once into the form in which it is solved and judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import frexp, ldexp, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.canonical import flatten, scale_of, span_atoms
from channelcode.transport.target import (
    EPSILON,
    LIGHTEST,
    SUBNORMAL,
    Reduced,
    centre_of,
    power_of_two,
    reduce_target,
)

LARGEST = 2.0**510  # of a coordinate: beyond, squared distances are not finite
SAME = 1e-14  # atoms this near, beside the size of all, are one; what that costs is counted


class Sketch(NamedTuple):
    """A standard normal in R^q against atoms: what a Gaussian and a target come down to.

    `atoms (m, q)` and `weights (m,)`; `unit` is that of rho; `error` bounds what rounding changed
    in rho, in that unit; `groups (m_0,)` has for each given atom of the target its row, or -1.
    """

    atoms: Array
    weights: Array
    unit: float
    error: float
    groups: np.ndarray

    @property
    def dim(self) -> int:
        """The dimension q of the normal law; zero if all atoms are one."""
        return self.atoms.shape[1]


class Points(NamedTuple):
    """Two discrete laws about their means, in units of `unit`.

    `source (n, k)`, `masses (n,)`, `rows (n,)` (where the points stand in the given law) and the
    reduced target with its atoms `(m, k)` in R^k; `shift (k,)` is the difference of the means.
    """

    source: Array
    masses: Array
    rows: np.ndarray
    atoms: Array
    weights: Array
    unit: float
    shift: Array
    power: float  # E|X|^2 about the mean, in units of `unit^2`, as is
    variance: float  # that of the target
    lost: float  # of sqrt(power variance): what directions of the target that are left out change
    grain: float  # what subnormal masses may lose in W2^2, in these units; zero where none are

    @property
    def apart(self) -> float:
        """What a plan costs beside -2 E<X, T>; the means are not quite zero, and count."""
        rest = self.masses @ self.source - self.weights @ self.atoms
        return float(self.shift @ self.shift + 2 * self.shift @ rest) + self.power + self.variance


@dataclass(frozen=True)
class Problem:
    """W2 between two laws of one dimension, `first` and `second`.

    It is solved as `source` against `target`: a Gaussian is the source, and of two discrete laws
    the one with fewer atoms is the target (the second, if it has no more than two); `swapped` says
    whether that exchanged them. The reduced target and everything that follows from it is computed
    once, when first asked for.

    >>> from channelcode.measures import DiscreteMeasure, Gaussian
    >>> problem = Problem(DiscreteMeasure.symmetric(1.0), Gaussian(0.0, 1.0))
    >>> problem.swapped, problem.sketch.dim
    (True, 1)
    """

    first: Measure
    second: Measure
    source: Measure = field(init=False, repr=False)
    target: Measure = field(init=False, repr=False)
    swapped: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_law("mu", self.first)
        check_law("nu", self.second)
        check_dimension("nu", self.second, self.first.dim)
        first, second = self.first, self.second
        if isinstance(first, DiscreteMeasure) and isinstance(second, DiscreteMeasure):
            swapped = len(first) < len(second) and len(second) > 2
        else:
            swapped = isinstance(first, DiscreteMeasure)
        source, target = (second, first) if swapped else (first, second)
        for name, value in (("swapped", swapped), ("source", source), ("target", target)):
            object.__setattr__(self, name, value)

    @property
    def is_semidiscrete(self) -> bool:
        """Whether a Gaussian meets atoms."""
        return isinstance(self.source, Gaussian) and isinstance(self.target, DiscreteMeasure)

    @property
    def is_discrete(self) -> bool:
        """Whether both laws have finitely many atoms."""
        return isinstance(self.source, DiscreteMeasure)

    @cached_property
    def reduced(self) -> Reduced:
        """The target in its own span."""
        if not isinstance(self.target, DiscreteMeasure):
            raise InvalidArgument("nu", "must be discrete", self.target)
        return reduce_target(self.target, to_gaussian=isinstance(self.source, Gaussian))

    @cached_property
    def shift(self) -> Array:
        """The difference of the means, source less target, `(k,)`."""
        if isinstance(self.target, DiscreteMeasure):
            if isinstance(self.source, DiscreteMeasure):
                return self.points.shift * self.points.unit
            return self.reduced.shift_from(np.atleast_1d(self.source.mean))
        return np.atleast_1d(self.source.mean) - np.atleast_1d(self.target.mean)

    @cached_property
    def covariance(self) -> tuple[Array, float]:
        """The covariance of a Gaussian source `(k, k)` in units of the second number, squared."""
        given = self.source.covariance
        if self.source.dim == 1:
            unit = ldexp(1.0, frexp(given)[1] >> 1) if given > 0 else 1.0
            return np.full((1, 1), given / unit / unit), unit
        unit = float(scale_of(given[None])[0])
        return given / unit / unit, unit

    @cached_property
    def covariances(self) -> tuple[Array, Array, float]:
        """Both covariances of two Gaussians, in units of the last number, squared."""
        first, second = np.atleast_2d(self.source.covariance), np.atleast_2d(self.target.covariance)
        unit = float(scale_of(np.stack((first, second))).max())
        return first / unit / unit, second / unit / unit, unit

    @cached_property
    def sketch(self) -> Sketch:
        """The canonical form of a Gaussian against atoms."""
        covariance, unit = self.covariance
        target = self.reduced
        if self.source.dim == 1 and target.rank == 1 and covariance[0, 0] > 0:
            return _line_sketch(sqrt(covariance[0, 0]), unit, target)
        stack, error = span_atoms(covariance[None], target)
        atoms, weights, groups, merged = _merge(stack[0], target.weights)
        size = float(np.sqrt(weights @ (atoms**2).sum(axis=1)))
        inner = power_of_two(size)
        trace = float(np.sqrt(max(np.trace(covariance), 0.0)))
        slack = target.deviation * (float(error[0]) + (target.lost + 4 * EPSILON) * trace) + merged
        rows = np.where(target.groups >= 0, groups[target.groups], -1)
        return Sketch(atoms / inner, weights, unit * target.unit * inner, slack / inner, rows)

    @cached_property
    def points(self) -> Points:
        """The canonical form of two discrete laws."""
        if not isinstance(self.source, DiscreteMeasure):
            raise InvalidArgument("mu", "must be discrete", self.source)
        target = self.reduced
        carried = self.source.weights > 0
        rows = np.flatnonzero(carried)
        given, masses = self.source.points, self.source.weights
        if len(rows) < len(given):
            given, masses = given[rows], masses[rows] / masses[rows].sum()
        away, centre, offset = centre_of(given, masses)
        shift = (centre - target.centre) + (offset - target.offset)
        size = max(float(np.abs(away).max()), float(np.abs(shift).max()), target.unit)
        unit = power_of_two(size)
        scaled = np.ascontiguousarray(away / unit)
        ratio = target.unit / unit
        dim, least = given.shape[1], min(float(masses.min()), float(target.weights.min()))
        return Points(
            scaled,
            np.ascontiguousarray(masses),
            rows,
            np.ascontiguousarray(ratio * (target.points @ target.basis.T)),
            target.weights,
            unit,
            shift / unit,
            float(masses @ np.einsum("ij,ij->i", scaled, scaled)),
            target.variance * ratio**2,
            target.lost,
            0.0 if least > LIGHTEST else SUBNORMAL * (len(masses) + len(target.weights)) * dim,
        )

    @property
    def grain(self) -> float:
        """What subnormal masses may lose in W2^2: below, it is zero to double precision."""
        return self.points.grain * self.points.unit**2 if self.is_discrete else 0.0

    @cached_property
    def scale(self) -> float:
        """|m - m_T|^2 and both total variances together: the size against which gaps are judged."""
        shift = self.shift
        parts = [float(shift @ shift)]
        if self.is_discrete:
            points = self.points
            parts.append((points.power + points.variance) * points.unit * points.unit)
        else:
            given = self.source.covariance
            parts.append(float(given if self.source.dim == 1 else np.trace(given)))
            if self.is_semidiscrete:
                parts.append(self.reduced.variance * self.reduced.unit * self.reduced.unit)
            else:
                parts.append(float(np.trace(np.atleast_2d(self.target.covariance))))
        return sum(parts)


@dataclass(frozen=True)
class Proposal:
    """A solver's suggestion, which `certify` judges.

    - `potential (m,)`: a dual variable v of <L, T> on the atoms of `problem.sketch` (a Gaussian
      source) or `problem.points`, in their units;
    - `plan`: rows, columns and masses of a coupling of `problem.points` (two discrete laws);
    - `rotation (k, k)`: couples two Gaussians as A^1/2 Z and B^1/2 U Z.

    `exhausted` says that the solver ran out of steps.
    """

    method: str
    potential: Array | None = None
    plan: tuple[np.ndarray, np.ndarray, Array] | None = None
    rotation: Array | None = None
    steps: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    exhausted: bool = False


class Solver(Protocol):
    """A method that proposes a coupling or potentials; `certify` alone says what they prove.

    A solver is any object with `propose`. It refuses a pair of laws that it does not take with
    `InvalidArgument`.
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """A proposal whose certified gap should be within `tol`, in squared units."""
        ...


def refuse(solver: object) -> InvalidArgument:
    """The error for a pair of laws that a solver does not take."""
    return InvalidArgument("solver", "must accept the pair of laws", type(solver).__name__)


def check_law(argument: str, law: Any) -> None:
    """Refuse anything but the laws that transport knows, of a size whose square is finite."""
    if not isinstance(law, DiscreteMeasure | Gaussian):
        raise InvalidArgument(argument, "must be a discrete, empirical or Gaussian law", law)
    if isinstance(law, DiscreteMeasure):
        largest = float(np.abs(law.points).max())
    elif law.dim == 1:
        largest = max(abs(law.mean), sqrt(law.covariance))
    else:
        largest = max(float(np.abs(law.mean).max()), sqrt(np.abs(law.covariance).max()))
    if largest > LARGEST:
        raise InvalidArgument(argument, "must have squared distances that are finite", largest)


def check_dimension(argument: str, law: Any, dim: int) -> None:
    """Refuse a law of another dimension."""
    if law.dim != dim:
        raise InvalidArgument(argument, f"must have dimension {dim}", f"dimension {law.dim}")


def _line_sketch(deviation: float, unit: float, target: Reduced) -> Sketch:
    """The sketch of N(0, deviation^2) against atoms on the line: `span_atoms` without matrices."""
    atoms = target.points * deviation
    inner = power_of_two(sqrt(target.weights @ atoms[:, 0] ** 2))
    slack = target.deviation * deviation * (target.lost + 8 * EPSILON)
    return Sketch(
        atoms / inner, target.weights, unit * target.unit * inner, slack / inner, target.groups
    )


def _merge(atoms: Array, weights: Array) -> tuple[Array, Array, np.ndarray, float]:
    """Atoms without idle directions, those that coincide merged, and what that may change."""
    atoms = atoms[:, np.abs(atoms).max(axis=0) > 0]
    m, dim = atoms.shape
    everyone = np.arange(m)
    if dim == 0 or m == 1:
        return np.zeros((1, 0)), np.ones(1), np.zeros(m, dtype=np.int64), 0.0
    flat = 0.0
    if dim > 1:
        atoms, flat = flatten(atoms, weights)
        dim = atoms.shape[1]
    if dim == 1:
        return atoms, weights, everyone, flat  # the line takes atoms as they come
    near = SAME * float(np.sqrt(weights @ (atoms**2).sum(axis=1)))
    order = np.argsort(atoms[:, 0], kind="stable")
    close = np.diff(atoms[order, 0]) <= near
    if not close.any():
        return atoms, weights, everyone, flat
    groups = everyone.copy()
    for place in np.flatnonzero(close):
        k = order[place + 1]
        for j in order[place::-1]:
            if atoms[k, 0] - atoms[j, 0] > near:
                break
            if np.abs(atoms[k] - atoms[j]).max() <= near:
                groups[k] = groups[j]
                break
    kept, groups = np.unique(groups, return_inverse=True)
    if len(kept) == m:
        return atoms, weights, everyone, flat
    total = np.zeros(len(kept))
    np.add.at(total, groups, weights)
    if len(kept) == 1:
        return np.zeros((1, 0)), total, groups, flat + near * m
    centres = np.zeros((len(kept), dim))
    np.add.at(centres, groups, (weights / total[groups])[:, None] * atoms)
    # |E<Z, T> - E<Z, T'>|^2 <= E|Z|^2 E|T - T'|^2: of a long row of near atoms some move far.
    moved = weights @ ((atoms - centres[groups]) ** 2).sum(axis=1)
    return centres, total, groups, flat + float(np.sqrt(dim * moved))
