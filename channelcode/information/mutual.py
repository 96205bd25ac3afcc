"""Mutual information between a channel's input and its output."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._numerics.divergence import pointwise_divergence, shannon
from channelcode._numerics.logspace import LOG_TWO
from channelcode._numerics.quadrature import AveragedDivergence
from channelcode._validation import Array, Seed, integer
from channelcode.channels import Channel, Softmax
from channelcode.channels.densities.range import has_density
from channelcode.channels.row_check import checked_log_prob
from channelcode.errors import InvalidArgument
from channelcode.information.densities import density_information
from channelcode.information.line import directed_information, scalar_information
from channelcode.information.pool import scalar_pool_information
from channelcode.information.reduction import reduced
from channelcode.information.space import normal_points, pool_information
from channelcode.information.value import Information
from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    Gaussian,
    GaussianPool,
    Measure,
    Pool,
    ScaledPool,
)
from channelcode.measures.gaussian import factor_of

_CHUNK = 2_000_000
_POINTS_ALONE = 2**16
_POINTS_EACH = 2**12


def mutual_information(
    channel: Channel,
    measure: Measure | Pool,
    *,
    num_points: int | None = None,
    rng: Seed = 0,
) -> Information:
    """I(L; Y) = E D(W(.|L) || q), q = E W(.|L), for an input law or every law of a pool.

    - `DiscreteMeasure`, `Empirical`, `EmpiricalPool`: the finite sum, exact to rounding.
    - `Gaussian` on the line, `ScalarPool`: deterministic quadrature; the error is estimated and
      below 1e-10 bits for standard deviations from 1e-6 to 1e3. The estimate is about what the
      nodes have seen. A channel that declares its bends (`Channel.tails`, as all of the library's
      do) is seen whole and `.resolution` is zero; in a black box, features narrower than
      `.resolution` may be missed.
    - `Gaussian` in R^k, `ScaledPool`, `FullPool`: `num_points` quasi-Monte Carlo points (by default
      65536 for one law, 4096 shared by a pool's), drawn with `rng`; the error is four standard
      errors of 16 replicates. A law of rank one is a line and needs no sampling, nor do two
      softmax classes or a linear feature map to the line. `.resolution` is infinite: features
      of any width may lie between the points, and then the error knows nothing of them.

    Rows of a user's channel that are not laws are refused, with the input and the sum.

    The value is an average of divergences from the output law that belongs to it: never negative,
    and never above min(H(Y), log |Y|) (rounding beyond those two ends is cut off, nothing else).

    >>> from channelcode import DiscreteMeasure, Gaussian, Logistic
    >>> round(mutual_information(Logistic(), DiscreteMeasure.symmetric(2.0)).bits, 6)
    0.472935
    >>> info = mutual_information(Logistic(), Gaussian(0.0, 4900.0))
    >>> round(info.bits, 9), info.error < 1e-10
    (0.972962839, True)
    """
    if not isinstance(channel, Channel):
        raise InvalidArgument("channel", "must be a channel", channel)
    if not isinstance(measure, Measure | Pool):
        raise InvalidArgument("measure", "must be a measure or a pool of measures", measure)
    if measure.dim != channel.dim:
        rule = f"must live in the channel's input space, R^{channel.dim}"
        raise InvalidArgument("measure", rule, f"dimension {measure.dim}")
    if num_points is not None:
        integer("num_points", num_points, least=1)
    if has_density(channel):
        return density_information(channel, measure)
    if isinstance(measure, DiscreteMeasure):
        return _single(_discrete(channel, measure.points[None], measure.weights))
    if isinstance(measure, EmpiricalPool):
        return _empirical_pool(channel, measure)
    if channel.inputs is not None:
        rule = "must be discrete, on the letters of a finite channel"
        raise InvalidArgument("measure", rule, measure)
    channel, measure = reduced(channel, measure)
    if isinstance(measure, Gaussian):
        return _gaussian(channel, measure, num_points or _POINTS_ALONE, rng)
    if isinstance(measure, GaussianPool):
        return _gaussian_pool(channel, measure, num_points or _POINTS_EACH, rng)
    raise InvalidArgument("measure", "must be discrete, empirical or Gaussian", measure)


def _single(found: Any, resolution: float = 0.0) -> Information:
    nats, error, output = (np.ravel(part) for part in found[:3])
    if isinstance(found, AveragedDivergence):
        resolution = found.resolution
    ceiling = min(max(float(shannon(output)), 0.0), float(np.log(len(output))))
    value = min(max(float(nats[0]), 0.0), ceiling)
    return Information(value, float(error[0]) / LOG_TWO, output, resolution)


def _several(found: tuple[Array, Array, Array], resolution: Any = 0.0) -> Information:
    nats, error, output = found
    seen = np.broadcast_to(np.asarray(resolution, dtype=np.float64), nats.shape)
    return Information(np.maximum(nats, 0.0), error / LOG_TWO, output, seen)


def _discrete(channel: Channel, points: Array, weights: Array) -> tuple[Array, Array, Array]:
    """The finite sum for `(n, m, k)` points with common weights `(m,)`."""
    used = weights > 0
    points, weights = points[:, used], weights[used]
    inputs = points[..., 0] if channel.dim == 1 else points
    with np.errstate(under="ignore"):
        rows = np.exp(checked_log_prob(channel, inputs))
    law = np.einsum("m,nmy->ny", weights, rows)
    law = law / law.sum(axis=-1, keepdims=True)
    value = pointwise_divergence(rows, law[:, None, :]) @ weights
    value = np.minimum(value, np.minimum(shannon(law), np.log(channel.num_outputs)))
    return value, np.full(len(points), 1e-15), law


def _empirical_pool(channel: Channel, pool: EmpiricalPool) -> Information:
    samples = pool.samples.reshape(len(pool), -1, pool.dim)
    weights = pool.weights
    step = max(1, _CHUNK // (samples.shape[1] * max(channel.num_outputs, channel.dim)))
    parts = [
        _discrete(channel, samples[start : start + step], weights)
        for start in range(0, len(pool), step)
    ]
    value, error, law = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _several((value, error, law))


def _gaussian(channel: Channel, measure: Gaussian, count: int, rng: Seed) -> Information:
    if measure.dim == 1:
        return _single(scalar_information(channel, measure.mean, measure.covariance))
    factor = _trimmed(factor_of(_seen(channel, measure.covariance)))
    if factor.shape[1] == 0:
        return _single((0.0, 0.0, np.exp(checked_log_prob(channel, measure.mean))))
    if factor.shape[1] == 1:
        return _single(directed_information(channel, measure.mean, factor[:, 0]))
    normal = normal_points(count, factor.shape[1], rng)
    return _single(pool_information(channel, measure.mean[None], factor[None], normal), np.inf)


def _gaussian_pool(channel: Channel, pool: GaussianPool, count: int, rng: Seed) -> Information:
    if pool.dim == 1:
        found = scalar_pool_information(channel, pool.mean, np.sqrt(pool.covariance))
        return _several(found[:3], found.resolution)
    if isinstance(pool, ScaledPool):
        shape = _trimmed(factor_of(_seen(channel, pool.shape)))
        factors = np.sqrt(pool.scale)[:, None, None] * shape
    else:
        factors = factor_of(_seen(channel, pool.covariance))
    normal = normal_points(count, max(factors.shape[2], 1), rng)[..., : factors.shape[2]]
    return _several(pool_information(channel, pool.mean, factors, normal), np.inf)


def _seen(channel: Channel, covariance: Array) -> Array:
    """The covariance of what the channel sees: softmax is blind to a shift of all logits."""
    if type(channel) is not Softmax:
        return covariance
    centred = covariance - covariance.mean(axis=-1, keepdims=True)
    return centred - centred.mean(axis=-2, keepdims=True)


def _trimmed(factor: Array) -> Array:
    """Drop columns that are zero to rounding: directions in which the law does not move."""
    size = np.linalg.norm(factor, axis=0)
    return factor[:, size > 1e-8 * size.max()] if size.max() > 0 else factor[:, :0]
