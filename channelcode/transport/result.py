"""What a transport solve returns: the value, its proof, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.certificate import Certificate, Certified, SolveStats, Status
from channelcode.measures import DiscreteMeasure
from channelcode.transport.problem import Problem, Proposal

BEYOND = 40.0  # deviations: no event there has a probability in double precision


class Potentials(NamedTuple):
    """Dual potentials in units of the cost: `source(x) + target(y) <= |x - y|^2`.

    Each side is an array with one entry for each atom, or None for a Gaussian, whose potential is
    a function: `min_j (|x - y_j|^2 - target_j)` against a discrete law.
    """

    source: Array | None
    target: Array | None


@dataclass(frozen=True, eq=False)
class TransportResult(Certified):
    """W2^2 between two laws with a proved interval, `lower <= W2^2 <= upper`.

    `plan` is a SciPy sparse array: rows are the atoms of the first law, columns those of the
    second; a Gaussian counts as one row (or column), so that the entries are the masses of its
    cells. `potentials` are the dual variables that give `lower`. Where the bounds are statistical
    (Gaussians of rank three and more) the status is `Status.BOUND_ONLY` and
    `stats.details["error"]` is the standard error. Plan and potentials are built when asked for.

    >>> from channelcode import DiscreteMeasure, Empirical, w2
    >>> w2(Empirical([0.0, 4.0]), DiscreteMeasure.symmetric(1.0)).plan.toarray()
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    problem: Problem
    squared: float
    certificate: Certificate
    status: Status
    stats: SolveStats
    proposal: Proposal = field(repr=False)

    def _identity(self) -> tuple[Any, ...]:
        laws = (self.problem.first.fingerprint(), self.problem.second.fingerprint())
        return *laws, self.squared, self.certificate, self.status, self.method

    @property
    def method(self) -> str:
        """How the value was found."""
        return self.proposal.method

    @property
    def distance(self) -> float:
        """W2 itself, the square root of `squared`."""
        return float(np.sqrt(self.squared))

    @cached_property
    def plan(self) -> Any:
        """The coupling behind `upper`, a SciPy CSR array."""
        from scipy.sparse import coo_array, csr_array

        problem = self.problem
        if isinstance(problem.source, DiscreteMeasure) and self.proposal.plan is not None:
            row, column, mass = self.proposal.plan
            shape = (len(problem.points.source), len(problem.points.atoms))
            inner = coo_array((mass, (row, column)), shape=shape).tocsr()
            shares = _shares(problem.reduced.groups, _weights(problem.target), shape[1])
            rows = problem.points.rows
            if len(rows) < len(problem.source):
                ones = np.ones(len(rows))
                spread = csr_array(
                    (ones, (rows, np.arange(len(rows)))), shape=(len(problem.source), len(rows))
                )
                inner = spread @ inner
            plan = csr_array(inner @ shares)
            plan.eliminate_zeros()
        elif isinstance(problem.target, DiscreteMeasure):
            plan = csr_array(_weights(problem.target).reshape(1, -1))
        else:
            plan = csr_array(np.ones((1, 1)))
        return plan.T.tocsr() if problem.swapped else plan

    @cached_property
    def potentials(self) -> Potentials:
        """The dual variables behind `lower`, for the laws as given."""
        source, target = _cost_potentials(self.problem, self.proposal)
        return Potentials(target, source) if self.problem.swapped else Potentials(source, target)


def _weights(law: Any) -> Array:
    return np.array(law.weights)


def _shares(groups: np.ndarray, weights: Array, size: int) -> Any:
    """`(size, n)`: the part of each group's mass that each of its members carries."""
    from scipy.sparse import csr_array

    member = np.flatnonzero(groups >= 0)
    total = np.bincount(groups[member], weights=weights[member], minlength=size)
    share = weights[member] / total[groups[member]]
    return csr_array((share, (groups[member], member)), shape=(size, len(groups)))


def _cost_potentials(problem: Problem, proposal: Proposal) -> tuple[Array | None, Array | None]:
    """Potentials of |x - y|^2 at the given atoms from those of <L, T>."""
    if proposal.potential is None or not isinstance(problem.target, DiscreteMeasure):
        return None, None
    target = problem.reduced
    centred = (problem.target.points - target.centre) - target.offset
    squares = (centred**2).sum(axis=1)
    if not isinstance(problem.source, DiscreteMeasure):
        sketch = problem.sketch
        inside = sketch.groups >= 0
        # An atom without mass gets a potential so low that no point of any mass prefers it.
        reach = sketch.unit / target.unit * BEYOND * np.sqrt(squares.max())
        highest = sketch.unit * proposal.potential.max()
        inner = np.full(len(centred), highest + reach + squares.max())
        inner[inside] = sketch.unit * proposal.potential[sketch.groups[inside]]
        return None, squares - 2 * inner - 2 * centred @ problem.shift
    points = problem.points
    inside = target.groups >= 0
    second = np.empty(len(centred))
    inner = proposal.potential[target.groups[inside]] * points.unit * points.unit
    second[inside] = squares[inside] - 2 * inner
    given = problem.source.points
    x = (given - given[points.rows[0]]) + points.source[0] * points.unit
    first = np.full(len(x), np.inf)
    for j in np.flatnonzero(inside):
        np.minimum(first, ((x - centred[j]) ** 2).sum(axis=1) - second[j], out=first)
    for j in np.flatnonzero(~inside):
        second[j] = (((x - centred[j]) ** 2).sum(axis=1) - first).min()
    shift = problem.shift
    return first + 2 * x @ shift + shift @ shift, second - 2 * centred @ shift
