"""Capacity curves of many channels, by workers or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from apm.studies.engine.execution import values_of
from channelcode._validation import integer
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from channelcode import CapacityCurve


def capacity_sweep(
    channels: Mapping[str, Channel],
    powers: ArrayLike,
    *,
    peak: float | None = None,
    tol: float = 1e-9,
    throw: bool = True,
    workers: int = 1,
    dask: Any = None,
) -> dict[str, CapacityCurve]:
    """`capacity_curve(channel, powers)` of every channel by its name, one task for each.

    `workers` processes share the curves, or the Dask cluster `dask` (an address, a scheduler file,
    a cluster or a client). A curve is found by one task, each power from its neighbour, so that the
    numbers are those of one process; a long curve is shared out by naming pieces of it.

    >>> from channelcode import Logistic, Probit
    >>> found = capacity_sweep({"logit": Logistic(), "probit": Probit()}, [1.0, 4.0])
    >>> {name: curve.bits.round(4).tolist() for name, curve in found.items()}
    {'logit': [0.1601, 0.4729], 'probit': [0.3689, 0.8434]}
    """
    if not isinstance(channels, Mapping) or not channels:
        raise InvalidArgument("channels", "must be one or more channels by name", channels)
    for name, channel in channels.items():
        if not isinstance(name, str) or not isinstance(channel, Channel):
            raise InvalidArgument("channels", "must be channels by name", {name: channel})
    count = integer("workers", workers, least=1)
    options = {"peak": peak, "tol": tol, "throw": throw}
    tasks = ((name, channel, powers, options) for name, channel in channels.items())
    found = dict(values_of(_curve, tasks, count, dask))
    return {name: found[name] for name in channels}


def _curve(task: tuple[str, Channel, ArrayLike, dict[str, Any]]) -> tuple[str, CapacityCurve]:
    from threadpoolctl import threadpool_limits

    from channelcode import capacity_curve

    name, channel, powers, options = task
    with threadpool_limits(1):  # one thread: the same rounding whoever finds the curve
        return name, capacity_curve(channel, powers, **options)
