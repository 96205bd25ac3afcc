"""What a transport solve returns: the value, its proof, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from channelcode._validation import Array
from channelcode.certificate import Certificate, SolveStats, Status


class Potentials(NamedTuple):
    """Dual potentials in units of the cost: `source(x) + target(y) <= |x - y|^2`.

    Each side is an array with one entry for each atom, or None for a Gaussian, whose potential is
    a function: `min_j (|x - y_j|^2 - target_j)` against a discrete law.
    """

    source: Array | None
    target: Array | None


@dataclass(frozen=True)
class TransportResult:
    """W2^2 between two laws with a proved interval, `lower <= W2^2 <= upper`.

    `plan` is a SciPy sparse array: rows are the atoms of the first law, columns those of the
    second; a Gaussian counts as one row (or column), so that the entries are the masses of its
    cells. `potentials` are the dual variables that give `lower`. Where the bounds are statistical
    (Gaussians of rank three and more) the status is `Status.BOUND_ONLY` and
    `stats.details["error"]` is the standard error.
    """

    squared: float
    lower: float
    upper: float
    plan: Any
    potentials: Potentials
    method: str
    status: Status
    stats: SolveStats

    @property
    def distance(self) -> float:
        """W2 itself, the square root of `squared`."""
        return self.squared**0.5

    @property
    def certificate(self) -> Certificate:
        """The interval [lower, upper] as a `Certificate`."""
        return Certificate(self.lower, self.upper)

    @property
    def gap(self) -> float:
        """upper - lower, never negative."""
        return self.upper - self.lower

    def swapped(self) -> TransportResult:
        """The same solve with the two laws exchanged."""
        return replace(
            self,
            plan=self.plan.T.tocsr(),
            potentials=Potentials(self.potentials.target, self.potentials.source),
        )


def sparse_plan(mass: Array, row: Any, column: Any, shape: tuple[int, int]) -> Any:
    """A plan as a SciPy CSR array from its non-zero entries."""
    from scipy.sparse import coo_array

    plan = coo_array((mass, (row, column)), shape=shape).tocsr()
    plan.eliminate_zeros()
    return plan


def cell_plan(masses: Array) -> Any:
    """The plan of a Gaussian source, `(1, m)`: the masses of its cells."""
    from scipy.sparse import csr_array

    return csr_array(masses.reshape(1, -1))
