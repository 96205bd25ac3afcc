"""One yardstick for learning and coding: bits gathered over the capacity at the power spent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from apm.journal import Journal
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.errors import ChannelCodeError


@dataclass(frozen=True)
class Efficiency:
    """What the labels told, against what the channel could have carried at the same power.

    For each label in force, `(n,)`: `bits` I(theta; Y) just before it, `power` E|L|^2 of its
    candidate then, `capacity_bits` C(power). `per_label` is their ratio, at most one up to the
    errors of the two numbers; `total` the ratio of the sums, which posterior matching with a free
    encoder would bring to one. NaN where a capacity is not proved or no power is known.
    """

    bits: Array
    power: Array
    capacity_bits: Array

    @property
    def per_label(self) -> Array:
        """`bits / capacity_bits`, `(n,)`; NaN where nothing could be told."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.capacity_bits > 0, self.bits / self.capacity_bits, np.nan)

    @property
    def total(self) -> float:
        """The sum of the bits over the sum of the capacities, of the labels that have both."""
        known = np.isfinite(self.capacity_bits) & (self.capacity_bits > 0)
        if not known.any():
            return float("nan")
        return float(self.bits[known].sum() / self.capacity_bits[known].sum())

    @property
    def running(self) -> Array:
        """`total` after each label, `(n,)`."""
        known = np.isfinite(self.capacity_bits) & (self.capacity_bits > 0)
        gathered = np.cumsum(np.where(known, self.bits, 0.0))
        could = np.cumsum(np.where(known, self.capacity_bits, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(could > 0, gathered / could, np.nan)

    def __float__(self) -> float:
        return self.total

    def __str__(self) -> str:
        known = int(np.isfinite(self.per_label).sum())
        return (
            f"{np.nansum(self.bits):.4g} bits from {len(self.bits)} labels, {self.total:.1%} of "
            f"the capacity at the power spent ({known} labels)"
        )


def efficiency(journal: Journal) -> Efficiency:
    """The efficiency of the labels of a journal that told something about the parameters."""
    told = [record for record in journal.records() if record.bits is not None]
    bits = np.array([record.bits for record in told], dtype=np.float64)
    power = np.array(
        [np.nan if record.power is None else record.power for record in told], dtype=np.float64
    )
    best = np.array([capacity_at(journal.channel, value) for value in power], dtype=np.float64)
    return Efficiency(bits, power, best)


def capacity_at(channel: Channel, power: float) -> float:
    """C(power) in bits, or NaN where it is not proved."""
    if not np.isfinite(power) or not channel.same_units:
        return float("nan")
    return _capacity(channel, power)


@lru_cache(maxsize=4096)
def _capacity(channel: Any, power: float) -> float:
    from channelcode.capacity import Power, capacity

    try:
        found = capacity(channel, Power(power), throw=False)
    except ChannelCodeError:
        return float("nan")
    return found.bits if found.status.ok else float("nan")
