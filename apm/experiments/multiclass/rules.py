"""The rules of the study on the state of a run; each is the selector of the same name, made fast.

Those that need no samples agree with the selectors of `apm.selectors` on the same posterior to
rounding (tested); those with samples draw from the same law, in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np

from apm.experiments.multiclass.loop import State
from channelcode._validation import Array

SAMPLES = 100
EPIG_TARGETS = 32  # drawn anew from the pool for every query
TINY = np.float32(1e-30)
CHUNK_ENTRIES = 1 << 18


def random(state: State) -> Array:
    """A free row at random."""
    return state.rng.random(len(state.pool))


def margin(state: State) -> Array:
    """The two likeliest labels at the MAP are nearest: `-(p_1 - p_2)`."""
    return _margin(_softmax(state.logits))


def least_confidence(state: State) -> Array:
    """The likeliest label at the MAP is least likely."""
    return -_softmax(state.logits).max(axis=1)


def entropy(state: State) -> Array:
    """The label's entropy at the MAP, in bits, is largest."""
    prob = _softmax(state.logits)
    return -(prob * np.log2(np.maximum(prob, 1e-300))).sum(axis=1)


def bayesian_margin(state: State) -> Array:
    """Margin of the posterior predictive, by samples."""
    return _margin(_sampled(state).mean(axis=2, dtype=np.float64).T)


def bald(state: State) -> Array:
    """Information between the label and theta, by samples."""
    prob = _sampled(state)
    logs = np.log(prob + TINY)
    logs *= prob
    return _entropies(prob) + logs.sum(axis=0).mean(axis=1)


def epig(state: State) -> Array:
    """Information between the label and those of targets drawn from the pool, by samples."""
    prob = _sampled(state)
    classes, rows, samples = prob.shape
    targets = state.rng.choice(rows, min(EPIG_TARGETS, rows), replace=False)
    there = np.ascontiguousarray(prob[:, targets].reshape(-1, samples).T) / np.float32(samples)
    own = _entropies(prob)
    joint = np.zeros(rows)
    step = max(1, CHUNK_ENTRIES // there.shape[1])
    for label in range(classes):
        for start in range(0, rows, step):
            both = prob[label, start : start + step] @ there
            both += TINY
            joint[start : start + step] += (both * np.log(both)).sum(axis=1)
    return own + own[targets].mean() + joint / len(targets)


def apm_all_classes(state: State) -> Array:
    """`APM(channel=AllClasses())`: the paper's recipe with the simplex target."""
    from channelcode.capacity import Power, capacity
    from channelcode.channels import Softmax
    from channelcode.measures import ScaledPool
    from channelcode.transport import w2_squared

    classes = state.num_classes
    power = (classes - 1) * _spectral(state)
    target = capacity(Softmax(classes), Power(power)).input
    centred = state.logits - state.logits.mean(axis=1, keepdims=True)
    shape = np.eye(classes) - 1.0 / classes
    return -w2_squared(ScaledPool(centred, state.leverage, shape), target)


def apm_pair(state: State) -> Array:
    """`APM(channel=ContestedPair())`: the paper's recipe on the contested pair."""
    power = 2.0 * (state.num_classes - 1) * _spectral(state)
    deviation = np.sqrt(2.0 * state.leverage)
    return -(_gap(state) ** 2) - (deviation - np.sqrt(2.0 * power / pi)) ** 2


def apm_predictions_64(state: State) -> Array:
    """Where the search began: targets alike and one by one, and a guessed budget.

    `message=Predictions(weighted=False, pooled=False)` with `FixedPower(64)` on the pair.
    """
    count = len(state.targets)
    return _effective(state, np.full(count, 1.0 / count), 64.0, pooled=False)


def apm_predictions_each(state: State) -> Array:
    """`APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(pooled=False))`."""
    return _effective(state, _stakes(state), None, pooled=False)


def apm_predictions(state: State) -> Array:
    """`APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions())`."""
    return _effective(state, _stakes(state), None, pooled=True)


def apm_exploit(state: State) -> Array:
    """The first term alone, in the channel's own units: `-(k m)^2`, all variance as noise."""
    return -((_gap(state) / _blunting(state)) ** 2)


DEFAULT = "APM pair, predictions"

METHODS: dict[str, Callable[[State], Array]] = {
    "random": random,
    "margin": margin,
    "least confidence": least_confidence,
    "entropy": entropy,
    "BALD": bald,
    "EPIG": epig,
    "Bayesian margin": bayesian_margin,
    "APM all classes": apm_all_classes,
    "APM pair": apm_pair,
    "APM pair, predictions, P = 64": apm_predictions_64,
    "APM pair, predictions, each": apm_predictions_each,
    "APM pair, predictions": apm_predictions,
    "APM pair, exploit": apm_exploit,
}


def _softmax(logits: Array) -> Array:
    prob = np.exp(logits - logits.max(axis=1, keepdims=True))
    return prob / prob.sum(axis=1, keepdims=True)


def _margin(prob: Array) -> Array:
    two = np.partition(prob, prob.shape[1] - 2, axis=1)[:, -2:]
    return two[:, 0] - two[:, 1]


def _gap(state: State) -> Array:
    """m: the difference of the two largest mean logits, `(n,)`."""
    two = np.partition(state.logits, state.num_classes - 2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def _blunting(state: State) -> Array:
    """1 / k with all of the input's variance, 2 x'Bx, as noise."""
    return np.sqrt(1.0 + (pi / 8.0) * 2.0 * state.leverage)


def _spectral(state: State) -> float:
    """B^2 lambda_1 of the feature factor of the covariance (Algorithm 1)."""
    radius = np.einsum("ij,ij->i", state.pool, state.pool).max()
    return float(radius * np.linalg.eigvalsh(state.inverse)[-1])


def _stakes(state: State) -> Array:
    """Weights of the targets: the entropy of each one's contested label, normalised."""
    gap = _gap(state)[state.targets] / _blunting(state)[state.targets]
    up = 1.0 / (1.0 + np.exp(-gap))
    stakes = -up * np.log(up) - (1.0 - up) * np.log(np.maximum(1.0 - up, 1e-300))
    total, count = stakes.sum(), len(stakes)
    return stakes / total if total > 0 else np.full(count, 1.0 / count)


def _effective(state: State, weights: Array, power: float | None, *, pooled: bool) -> Array:
    """Less W2^2 in the effective channel, up to a constant; power None is the pool's maximum."""
    variance = 2.0 * np.maximum(state.leverage, 0.0)
    own = np.maximum(state.leverage, 1e-300)
    share = state.cross**2
    share /= own[state.targets]
    if pooled:
        part = np.minimum(share @ weights / own, 1.0)
        square = 1.0 / (1.0 + (pi / 8.0) * variance * (1.0 - part))
        shared, linear = square * part, np.sqrt(square * part)
    else:
        from apm._kernels.multiclass_effective import slope_moments

        share /= own[:, None]
        np.minimum(share, 1.0, out=share)
        square, shared, linear, _ = slope_moments(share, weights, variance, pi / 8.0)
    cost = square * _gap(state) ** 2 + shared * variance
    budget = float(cost[state.free].max()) if power is None else power
    return 2.0 * np.sqrt(2.0 * budget / pi) * linear * np.sqrt(variance) - cost


def _entropies(prob: Array) -> Array:
    mean = prob.mean(axis=2, dtype=np.float64)
    return -(mean * np.log(mean + 1e-30)).sum(axis=0)


def _sampled(state: State) -> Array:
    """Label probabilities under posterior draws, class-major: `(K, n, s)` in single precision."""
    values, vectors = np.linalg.eigh(state.inverse)
    factor = (state.pool @ (vectors * np.sqrt(np.maximum(values, 0.0)))).astype(np.float32)
    shape = (state.num_classes, factor.shape[1], SAMPLES)
    noise = state.rng.standard_normal(shape, dtype=np.float32)
    prob = np.matmul(factor, noise)
    prob += state.logits.T.astype(np.float32)[:, :, None]
    prob -= prob.max(axis=0)
    np.exp(prob, out=prob)
    prob /= prob.sum(axis=0)
    return prob
