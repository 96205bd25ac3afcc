"""Integrals against the normal law on the line, to rounding, for integrands known by values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from channelcode._numerics.divergence import pointwise_divergence
from channelcode._validation import Array

HALF_RANGE = 9.5  # the normal law holds 2e-21 of its mass beyond
EPSILON = float(np.finfo(np.float64).eps)
ROUNDS = 60  # a jump is bracketed to rounding after about 50 halvings
MOST_PANELS = 20_000
OFF_MIDDLE = 0.47  # where panels are split: a jump in the middle of one must not become an edge
TARGET = 1e-13  # nats, and a hundred times smaller relative to a small value
NEGLIGIBLE = 1e-26  # nats
_INV_SQRT_TWO_PI = 1.0 / np.sqrt(2.0 * np.pi)

# The eleven nodes in [0, 1) that Kronrod adds to, and shares with, the ten-point Gauss rule.
_KRONROD_NODES = (
    0.995657163025808080735527280689003,
    0.973906528517171720077964012084452,
    0.930157491355708226001207180059508,
    0.865063366688984510732096688423493,
    0.780817726586416897063717578345042,
    0.679409568299024406234327365114874,
    0.562757134668604683339000099272694,
    0.433395394129247190799265943165784,
    0.294392862701460198131126603103866,
    0.148874338981631210884826001129720,
    0.0,
)


class Rule(NamedTuple):
    """Nodes and weights on [-1, 1] of a rule and of the coarser one it contains.

    The ends are nodes of weight zero. Rows of `ends` give the difference between an end's value
    and the polynomial through the others, times the length beyond the outermost node: a jump
    there is seen by no rule.
    """

    nodes: Array
    fine: Array
    coarse: Array
    ends: Array

    def disagreement(self, values: Array, half: Array) -> Array:
        """Error estimates `(panels, F)` of integrals over panels, from values `(panels, 23, F)`."""
        inside = np.abs(np.einsum("j,pjf->pf", self.fine - self.coarse, values))
        beyond = np.abs(np.einsum("ej,pjf->epf", self.ends, values)).sum(axis=0)
        return (inside + beyond) * half[:, None]


@cache
def gauss_kronrod() -> Rule:
    """The 21-point Gauss-Kronrod rule; the embedded 10-point rule gives the error estimate."""
    half = np.array(_KRONROD_NODES)
    nodes = np.concatenate([-half, half[-2::-1]])
    # interpolatory weights: exact on the Legendre polynomials of degree 0 .. 20
    basis = np.polynomial.legendre.legvander(nodes, 20)
    moments = np.zeros(21)
    moments[0] = 2.0
    fine = np.linalg.solve(basis.T, moments)
    fine = 0.5 * (fine + fine[::-1])
    coarse = np.zeros(21)
    coarse[1::2] = np.polynomial.legendre.leggauss(10)[1]
    at_ends = np.linalg.solve(basis.T, np.polynomial.legendre.legvander([-1.0, 1.0], 20).T).T
    blind = 1.0 - half[0]
    ends = blind * np.column_stack([[1.0, 0.0], -at_ends, [0.0, 1.0]])
    return Rule(np.concatenate([[-1.0], nodes, [1.0]]), np.pad(fine, 1), np.pad(coarse, 1), ends)


@cache
def gauss_hermite(count: int) -> tuple[Array, Array]:
    """Nodes and weights that integrate against the standard normal law."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum()


class AveragedDivergence(NamedTuple):
    """E D(W || q) in nats with q = E W, its estimated error, and q.

    The error is that of the rule for what its nodes have seen; features of W narrower than
    `resolution` may have been missed (zero: W declared where it bends).
    """

    nats: float
    error: float
    output: Array
    resolution: float = 0.0


def averaged_divergence(log_rows: Callable[[Array], Array], edges: Array) -> AveragedDivergence:
    """E D(W(.|Z) || q), q = E W(.|Z), for standard normal Z, by adaptive Gauss-Kronrod panels.

    `log_rows` maps z of shape `(m,)` to ln W of shape `(m, Y)`; `edges` is the first partition of
    [-HALF_RANGE, HALF_RANGE]. Panels whose two rules disagree are split, until the disagreement
    is below the target or below what rounding in W allows; both go into the error. The value is
    the mutual information of the law that sits on the nodes, so it is never negative.
    """
    rule = gauss_kronrod()
    left, right = edges[:-1], edges[1:]
    logs, normal = _evaluate(log_rows, left, right, rule)
    for step in range(ROUNDS + 1):
        rows = np.exp(logs)
        half = 0.5 * (right - left)
        weights = normal * rule.fine * half[:, None]
        total = np.einsum("pj,pjy->y", weights, rows)
        law = total / total.sum()
        density = pointwise_divergence(rows, law)
        value = float((weights * density).sum())
        gap_value = rule.disagreement((normal * density)[..., None], half)[:, 0]
        gap_law = rule.disagreement(normal[..., None] * rows, half).max(axis=1)
        noise = _rounding(weights, rows, logs, law)
        # an error in q enters in second order only, and is not to be told from rounding below this
        gap_law = np.maximum(gap_law - 4.0 * EPSILON, 0.0)
        error = gap_value + gap_law * np.sqrt(gap_law)
        target = max(TARGET * min(1.0, 10.0 * value), NEGLIGIBLE) / max(len(left), 64)
        split = error > np.maximum(target, noise)
        if step == ROUNDS or not split.any() or len(left) + split.sum() > MOST_PANELS:
            break
        middle = left[split] + OFF_MIDDLE * (right[split] - left[split])
        new_left = np.concatenate([left[split], middle])
        new_right = np.concatenate([middle, right[split]])
        parts = _evaluate(log_rows, new_left, new_right, rule)
        keep = ~split
        left = np.concatenate([left[keep], new_left])
        right = np.concatenate([right[keep], new_right])
        logs, normal = (
            np.concatenate([old[keep], new]) for old, new in zip((logs, normal), parts, strict=True)
        )
    return AveragedDivergence(value, float(error.sum() + noise.sum()) + EPSILON * value, law)


def _evaluate(
    log_rows: Callable[[Array], Array], left: Array, right: Array, rule: Rule
) -> tuple[Array, Array]:
    """ln W and the normal density at the nodes of every panel."""
    half, centre = 0.5 * (right - left), 0.5 * (right + left)
    z = centre[:, None] + half[:, None] * rule.nodes
    logs = log_rows(z.ravel()).reshape(*z.shape, -1)
    return logs, _INV_SQRT_TWO_PI * np.exp(-0.5 * z * z)


def _rounding(weights: Array, rows: Array, logs: Array, law: Array) -> Array:
    """What rounding in ln W can do to each panel's average: W errs by about eps |ln W| W."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        slope = np.abs(logs - np.log(law))
        size = rows * (4.0 + np.abs(logs)) + law
        terms = np.where((rows > 0) & (law > 0), slope * size, law)
    return EPSILON * (weights * terms.sum(axis=-1)).sum(axis=1)
