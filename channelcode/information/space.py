"""Information of Gaussian laws in R^k by randomised quasi-Monte Carlo, with an error bar."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from channelcode._numerics.divergence import pointwise_divergence, shannon
from channelcode._numerics.sobol import scrambled_normals
from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import Channel
from channelcode.channels.row_check import checked_log_prob

REPLICATES = 16
BAR = 4.0  # standard errors in the error bar: 0.1 % of cases lie outside with 16 replicates
_CHUNK = 400_000  # channel outputs evaluated at a time
_CANCELS = 1e-5  # nats: below, H(Y) - H(Y|L) would lose digits


def normal_points(count: int, dim: int, rng: Seed) -> Array:
    """`(REPLICATES, m, dim)` standard normal points: independent scramblings of a Sobol net.

    m is the power of two nearest above `count / REPLICATES`. Beyond the table of Sobol directions
    the points are plainly random.
    """
    generator = as_generator(rng)
    size = 2 ** max(3, int(np.ceil(np.log2(max(1, count) / REPLICATES))))
    children = generator.spawn(REPLICATES)
    return np.stack([scrambled_normals(size, dim, child) for child in children])


def net_information(channel: Channel, inputs: Array) -> tuple[Array, Array, Array]:
    """Information, error bar (nats) and output law of the laws sampled by `(n, R, m, k)` points.

    The value is the mutual information of all R m points taken as one law, so it is never
    negative. The bar adds the spread of the replicates' averages and the second-order bias.
    """
    log_rows = checked_log_prob(channel, inputs if channel.dim > 1 else inputs[..., 0])
    with np.errstate(under="ignore"):
        rows = np.exp(log_rows)
    by_replicate = rows.mean(axis=2)  # (n, R, Y)
    law = by_replicate.mean(axis=1)
    law = law / law.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        cross = xlogy(by_replicate, law[:, None, :]).sum(axis=-1)
    averages = _mean_plogp(rows, log_rows) - cross
    small = averages.mean(axis=1) < _CANCELS
    if small.any():  # narrow laws: sum the divergences term by term, where nothing cancels
        averages[small] = pointwise_divergence(rows[small], law[small, None, None, :]).mean(axis=2)
    value = averages.mean(axis=1)
    spread = averages.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
    bias = pointwise_divergence(by_replicate, law[:, None, :]).mean(axis=1) / REPLICATES
    ceiling = np.minimum(shannon(law), np.log(channel.num_outputs))
    value = np.clip(value, 0.0, np.maximum(ceiling, 0.0))  # differs by rounding only
    return value, BAR * (spread + bias) + 1e-15, law


def _mean_plogp(rows: Array, log_rows: Array) -> Array:
    """Averages of sum_y p ln p over each replicate's points, `(n, R, m, Y)` to `(n, R)`."""
    finite = np.where(rows > 0, log_rows, 0.0)
    return np.einsum("nrmy,nrmy->nr", rows, finite) / rows.shape[2]


def pool_information(
    channel: Channel, means: Array, factors: Array, normal: Array
) -> tuple[Array, Array, Array]:
    """`net_information` of N(mean, F F') for every candidate, on one shared set of points.

    `means (n, k)`, `factors (n, k, r)`, `normal (R, m, r)`.
    """
    n = len(means)
    per_candidate = normal.shape[0] * normal.shape[1] * max(channel.num_outputs, channel.dim)
    step = max(1, _CHUNK // per_candidate)
    values, errors = np.empty(n), np.empty(n)
    laws = np.empty((n, channel.num_outputs))
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        inputs = means[part, None, None, :] + normal @ np.swapaxes(factors[part], 1, 2)[:, None]
        values[part], errors[part], laws[part] = net_information(channel, inputs)
    return values, errors, laws
