"""The answer: a value with its proof, the input law that achieves it, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.certificate import Certificate, SolveStats, Status
from channelcode.measures import DiscreteMeasure


@dataclass(frozen=True)
class CapacityResult:
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
    input: DiscreteMeasure
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

    @property
    def lower(self) -> float:
        """A proved lower bound in bits."""
        return self.certificate.lower

    @property
    def upper(self) -> float:
        """A proved upper bound in bits, over `scope`."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """`upper - lower` in bits."""
        return self.certificate.gap

    def __repr__(self) -> str:
        return (
            f"CapacityResult(bits={self.bits!r}, gap={self.gap:.2g}, atoms={len(self.input)}, "
            f"multiplier={self.multiplier:.6g}, method={self.stats.method!r}, "
            f"scope={self.scope!r}, status={self.status.name})"
        )
