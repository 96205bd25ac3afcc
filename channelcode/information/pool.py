"""Information of a pool of Gaussian laws on the line, each a function of (mean, sigma) alone.

Narrow laws are integrated where they stand, by Gauss-Hermite rules of two orders on values of the
channel. Wide laws share tables of the channel smoothed by Gaussians of widths s, sqrt(2) s, ... on
grids of half their width: N(mu, sigma^2) = N(mu, sigma^2 - s^2) * N(0, s^2), and on a smoothed
table the trapezoid rule with step s/2 errs by about exp(-39). For the logistic channel, whose
poles are known, the tables are fixed. What none of these settles to 1e-11 nats is left to the
adaptive rule of `channelcode.information.line`, one law at a time.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, xlogy

from channelcode._numerics.divergence import pointwise_divergence, shannon
from channelcode._numerics.logspace import plogp
from channelcode._numerics.quadrature import OFF_MIDDLE, gauss_hermite, gauss_kronrod
from channelcode._numerics.scan import scan_points, sharp_edges
from channelcode._validation import Array
from channelcode.channels import Channel, Logistic
from channelcode.channels.row_check import checked_log_prob
from channelcode.information.line import about_zero, bends, scalar_information

WIDE = 0.15  # standard deviations from here on use tables, which see more of the channel
WIDE_LOGISTIC = 0.7  # its poles are known: they lie at odd multiples of i pi
FEW = 64  # so few laws are not worth tables
ACCEPTED = 1e-11  # nats
TABLE_ERROR = 1e-12  # nats: levels of the tables, each to rounding
_REACH = 8.5
_SMOOTHING = 1.6  # c: a normal law about as wide as the logistic one
_MOST_NODES = 3_000_000
_CHUNK = 400_000
_SCANNED_POINTS = 2**17
HERMITE_GAP = (
    1.0  # standard deviations: neighbours among the twenty nodes are no further apart within six
)

Index = NDArray[np.intp]


class PoolInformation(NamedTuple):
    """Values, errors (nats) and resolutions `(n,)`, output laws `(n, Y)`, filled in place."""

    nats: Array
    error: Array
    output: Array
    resolution: Array


def scalar_pool_information(channel: Channel, mean: Array, sigma: Array) -> PoolInformation:
    """The information of N(mean, sigma^2), `(n,)` each, through a scalar channel."""
    n = len(mean)
    value, error = np.full(n, np.nan), np.full(n, np.inf)
    output = np.empty((n, channel.num_outputs))
    result = PoolInformation(value, error, output, np.zeros(n))
    if type(channel) is Logistic:
        _logistic(mean, sigma, np.flatnonzero(sigma < WIDE_LOGISTIC), result)
        _logistic_wide(mean, sigma, np.flatnonzero(sigma >= WIDE_LOGISTIC), result)
    elif n > FEW:
        _direct(channel, mean, sigma, np.flatnonzero(sigma < WIDE), result)
        left = np.flatnonzero(~(error <= ACCEPTED) & (sigma > 0))
        # laws of like width share tables, so that fine tables span no more than they must
        octave = np.floor(np.log2(sigma[left]) / 4.0)
        for group in np.unique(octave):
            members = left[octave == group]
            if len(members) > FEW:
                _tables(channel, mean, sigma, members, result)
    for i in np.flatnonzero(~(error <= ACCEPTED)):
        alone = scalar_information(channel, mean[i], sigma[i] ** 2)
        value[i], error[i], output[i], result.resolution[i] = alone
    value[sigma == 0] = 0.0
    ceiling = np.minimum(shannon(output), np.log(channel.num_outputs))
    value[:] = np.clip(value, 0.0, np.maximum(ceiling, 0.0))  # rounding only
    return result


def _logistic(mean: Array, sigma: Array, chosen: Index, result: PoolInformation) -> None:
    """Narrow laws through the logistic channel, compiled."""
    from channelcode._kernels.information_pool import logistic_narrow

    value, error, output, _ = result
    for low, high, count in ((-1.0, 0.05, 6), (0.05, 0.25, 10), (0.25, WIDE_LOGISTIC, 20)):
        part = chosen[(sigma[chosen] >= low) & (sigma[chosen] < high)]
        if not len(part):
            continue
        nats, ones = np.empty(len(part)), np.empty(len(part))
        nodes, weights = gauss_hermite(count)
        logistic_narrow(mean[part], sigma[part], nodes, weights, nats, ones)
        value[part], error[part] = nats, TABLE_ERROR * np.minimum(1.0, sigma[part] ** 2)
        output[part] = np.stack([1.0 - ones, ones], axis=-1)


def _logistic_wide(mean: Array, sigma: Array, chosen: Index, result: PoolInformation) -> None:
    """Wide laws through the logistic channel f: two fixed tables and the trapezoid rule.

    H(Y | l) and f(l) - Phi(l / c) vanish like exp(-|l|), and E Phi(L / c) is known. With step h the
    rule errs by about exp(-2 pi^2 / h + pi^2 / (2 sigma^2)): the poles of f lie at i pi.
    """
    from channelcode._kernels.information_pool import smooth_grid

    value, error, output, _ = result
    for low, high, step in ((0.0, 2.0, 0.4), (2.0, np.inf, 0.6)):
        part = chosen[(sigma[chosen] >= low) & (sigma[chosen] < high)]
        if not len(part):
            continue
        table, start = _logistic_table(step)
        mixed = np.empty((len(part), 2))
        smooth_grid(table, start, step, mean[part], sigma[part], mixed)
        smoothed = ndtr(mean[part] / np.sqrt(sigma[part] ** 2 + _SMOOTHING**2))
        ones = np.clip(smoothed + mixed[:, 1], 0.0, 1.0)  # rounding only
        output[part] = np.stack([1.0 - ones, ones], axis=-1)
        value[part] = shannon(output[part]) - mixed[:, 0]
        error[part] = TABLE_ERROR


@cache
def _logistic_table(step: float) -> tuple[Array, float]:
    """H(Y | l) in nats and f(l) - Phi(l / c) on an even grid, `(m, 2)`, and where it starts."""
    reach = step * np.ceil(40.0 / step)  # what lies beyond is below exp(-40) (1 + 40)
    l = np.arange(-reach, reach + step / 2, step)
    entropy = Logistic().conditional_entropy(l)
    return np.stack([entropy, expit(l) - ndtr(l / _SMOOTHING)], axis=-1), -reach


def _direct(
    channel: Channel, mean: Array, sigma: Array, chosen: Index, result: PoolInformation
) -> None:
    """Narrow laws through any channel; the error is the difference of two orders."""
    value, error, output, resolution = result
    # one odd, one even: a step at the mean itself must not look alike to both
    rules = gauss_hermite(15), gauss_hermite(20)
    step = max(1, _CHUNK // (20 * channel.num_outputs))
    for start in range(0, len(chosen), step):
        part = chosen[start : start + step]
        found, laws = [], []
        for nodes, weights in rules:
            rows = np.exp(checked_log_prob(channel, mean[part, None] + sigma[part, None] * nodes))
            law = np.einsum("j,njy->ny", weights, rows)
            law = law / law.sum(axis=-1, keepdims=True)
            found.append(pointwise_divergence(rows, law[:, None, :]) @ weights)
            laws.append(law)
        value[part], output[part] = found[1], laws[1]
        shift = np.maximum(np.abs(laws[1] - laws[0]).max(axis=-1) - 1e-14, 0.0)
        error[part] = np.abs(found[1] - found[0]) + shift + 1e-15 * sigma[part]
    promise = channel.tails()
    if promise is None:
        resolution[chosen] = HERMITE_GAP * sigma[chosen]
        return
    for centre, width in promise.landmarks:  # bends too sharp for the nodes, and within reach
        near = (sigma[chosen] > 4.0 * width) & (
            np.abs(mean[chosen] - centre) < _REACH * sigma[chosen]
        )
        error[chosen[near]] = np.inf


def _tables(
    channel: Channel, mean: Array, sigma: Array, chosen: Index, result: PoolInformation
) -> None:
    """Wide laws through any channel, from tables of the smoothed channel."""
    from channelcode._kernels.information_pool import smooth_grid

    value, error, output, resolution = result
    low = float((mean[chosen] - _REACH * sigma[chosen]).min())
    high = float((mean[chosen] + _REACH * sigma[chosen]).max())
    columns = channel.num_outputs + 1
    width = float(sigma[chosen].min()) / np.sqrt(2.0)
    width = max(width, (high - low) * columns * 21 / _MOST_NODES, 1e-300)
    if width < 1e-9 * max(abs(low), abs(high)):
        return  # so far out that the inputs themselves are rounded
    table, start, table_error, spacing = _first_table(channel, low, high, width)
    order = chosen[np.argsort(sigma[chosen], kind="stable")]
    wide = order[sigma[order] >= np.sqrt(2.0) * width * (1.0 - 1e-12)]
    place = 0
    while place < len(wide):
        stop = int(np.searchsorted(sigma[wide], 2.0 * width, side="right"))
        part = wide[place:stop]
        if len(part):
            mixed = np.empty((len(part), columns))
            rest = np.sqrt(sigma[part] ** 2 - width**2)
            smooth_grid(table, start, 0.5 * width, mean[part], rest, mixed)
            law = np.maximum(mixed[:, :-1], 0.0)
            law = law / law.sum(axis=-1, keepdims=True)
            value[part] = mixed[:, -1] - xlogy(law, law).sum(axis=-1)
            error[part] = table_error
            output[part] = law
            resolution[part] = spacing
        place = max(place, stop)
        if place < len(wide):
            table, start = _next_table(table, start, width, low, high)
            width *= np.sqrt(2.0)


def _first_table(
    channel: Channel, low: float, high: float, width: float
) -> tuple[Array, float, float, float]:
    """W(y|l) and sum_y W ln W, smoothed by N(0, width^2), on a grid of step width / 2.

    Panels one width wide are halved where the two Gauss-Kronrod rules disagree on either. Beside
    the table: where its grid starts, its error, and the resolution with which the channel was seen.
    """
    from channelcode._kernels.information_pool import smooth_panels

    rule = gauss_kronrod()
    margin = 2.0 * _REACH * width
    count = int(np.ceil((high - low + 2.0 * margin) / width))
    marks, resolution = bends(channel, low - margin, high + margin), 0.0
    if marks is None:
        marks, resolution = sharp_edges(
            lambda l: np.exp(checked_log_prob(channel, l)),
            low,
            high,
            seen=0.1 * width,  # nodes of a panel are at most 0.075 of its width apart
            count=scan_points(channel.num_outputs, _SCANNED_POINTS),
        )
        marks = np.concatenate([marks, about_zero()])
        marks = marks[(marks > low - margin) & (marks < high + margin)]
    edges = np.union1d(low - margin + width * np.arange(count + 1), marks)
    edges = edges[np.concatenate([[True], np.diff(edges) > 1e-9 * width])]
    left, right = edges[:-1], edges[1:]
    parts: list[tuple[Array, Array, Array]] = []
    leftover, size = 0.0, 0
    for halvings in range(50):
        half = 0.5 * (right - left)
        nodes = (left + half)[:, None] + half[:, None] * rule.nodes
        log_rows = checked_log_prob(channel, nodes)
        values = np.concatenate(
            [np.exp(log_rows), plogp(log_rows).sum(axis=-1, keepdims=True)], axis=-1
        )
        gap = rule.disagreement(values, half).max(axis=1)
        split = gap > 1e-14 * width
        size += 21 * len(left)
        if halvings == 49 or size > 2 * _MOST_NODES:
            leftover, split = float(gap[split].sum()), np.zeros(len(gap), dtype=bool)
        keep = ~split
        weights = half[keep, None] * rule.fine
        parts.append(
            (nodes[keep].ravel(), weights.ravel(), values[keep].reshape(-1, values.shape[-1]))
        )
        if not split.any():
            break
        middle = (left + 2.0 * OFF_MIDDLE * half)[split]
        left, right = np.concatenate([left[split], middle]), np.concatenate([middle, right[split]])
    nodes = np.concatenate([p[0] for p in parts])
    order = np.argsort(nodes, kind="stable")
    weights = np.concatenate([p[1] for p in parts])[order]
    values = np.concatenate([p[2] for p in parts])[order]
    start = low - _REACH * width
    grid = start + 0.5 * width * np.arange(int(np.ceil((high - low + margin) / (0.5 * width))) + 1)
    table = smooth_panels(nodes[order], weights, np.ascontiguousarray(values), width, grid)
    return table, start, TABLE_ERROR + leftover / width, resolution


def _next_table(
    table: Array, start: float, width: float, low: float, high: float
) -> tuple[Array, float]:
    """The table smoothed to sqrt(2) times its width, on its own grid over [low, high]."""
    from channelcode._kernels.information_pool import smooth_grid

    wider = np.sqrt(2.0) * width
    grid = low + 0.5 * wider * np.arange(int(np.ceil((high - low) / (0.5 * wider))) + 1)
    result = np.empty((len(grid), table.shape[1]))
    smooth_grid(table, start, 0.5 * width, grid, np.full(len(grid), width), result)
    return result, low
