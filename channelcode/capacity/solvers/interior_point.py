"""Interior point on a finite alphabet: O(n |Y|^2) a step, a dozen steps or so.

With fewer letters than outputs `few_letters` takes O(n^2 |Y|) instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array, integer
from channelcode.capacity.few_atoms import fewer_weights
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.few_letters import maximise_few
from channelcode.capacity.solvers.letters import Letters, letters_of

RESCUE_STEPS = 40_000  # Blahut-Arimoto updates when rounding stops the Newton steps
MOST_IN_USE = 64  # letters, where the answer is one of many on the way
RESCUE_WORK = 1e7  # updates times entries, where the answer is one of many on the way


@dataclass(frozen=True)
class InteriorPoint:
    """Primal-dual Newton steps for max I(p) over weights on a finite alphabet.

    The Hessian W diag(1/q) W' has rank |Y|, so that a step costs O(n |Y|^2). A channel with a
    continuous input has to be held to points first, with `channelcode.restrict`.

    >>> from channelcode.capacity import capacity, Unconstrained
    >>> from channelcode.channels import DiscreteChannel
    >>> channel = DiscreteChannel([[0.9, 0.1], [0.1, 0.9]])
    >>> round(capacity(channel, Unconstrained(), solver=InteriorPoint()).bits, 9)
    0.531004406
    """

    max_steps: int = 100

    def __post_init__(self) -> None:
        integer("max_steps", self.max_steps, least=1)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """Weights on the letters; letters without mass are left out."""
        alphabet = letters_of(problem)
        weights, multiplier, steps, gap = maximise(alphabet, tol=tol, max_steps=self.max_steps)
        points, masses = alphabet.expand(weights, multiplier, tol=tol)
        price = multiplier * alphabet.scale
        return Proposal(
            points,
            masses,
            price,
            "InteriorPoint",
            steps,
            {"interior_gap_nats": gap},
            exhausted=steps >= self.max_steps,
        )


def maximise(
    alphabet: Letters, *, tol: float, max_steps: int = 100, rescue_above: float | None = None
) -> tuple[Array, float, int, float]:
    """Weights `(n,)`, multiplier, steps and gap (nats) on an alphabet.

    The steps aim at a tenth of `tol`, so that what is lost in dropping letters stays within it.
    Newton on the letters in use, then Blahut-Arimoto, go on from a gap above 0.2 and 0.4 `tol`, or
    above `rescue_above`, where the answer is one of many on the way, and then not for long.
    """
    if len(alphabet.matrix) == 1:
        return np.ones(1), 0.0, 0, 0.0
    if 2 * len(alphabet.matrix) <= alphabet.matrix.shape[1]:
        weights, multiplier, steps = maximise_few(
            alphabet, tol=max(0.1 * tol, 1e-15), max_steps=max_steps
        )
        gap = _gap(alphabet, weights, multiplier)
        if gap <= max(0.4 * tol, rescue_above or 0.0) or len(weights) > MOST_IN_USE:
            return weights, multiplier, steps, gap
    from channelcode._kernels.capacity_interior import interior_point

    weights, _, multiplier, steps, gap = interior_point(
        alphabet.matrix,
        alphabet.entropy,
        alphabet.cost,
        alphabet.budget,
        alphabet.start(),
        max(0.1 * tol, 1e-15),
        max_steps,
    )
    crowded = rescue_above is not None and np.count_nonzero(weights > 1e-9) > MOST_IN_USE
    if not abs(gap) <= max(0.2 * tol, rescue_above or 0.0) and not crowded:
        weights, multiplier = finish(alphabet, weights, multiplier, tol=tol)
        gap = _gap(alphabet, weights, multiplier)
    steps_left = RESCUE_STEPS
    if rescue_above is not None:
        steps_left = int(np.clip(RESCUE_WORK / alphabet.matrix.size, 100, RESCUE_STEPS))
    if not abs(gap) <= max(0.4 * tol, rescue_above or 0.0):
        from channelcode._kernels.capacity_blahut import blahut_arimoto

        start = np.maximum(weights, 1e-12) / np.maximum(weights, 1e-12).sum()
        other, price, more, _ = blahut_arimoto(
            alphabet.matrix,
            alphabet.entropy,
            alphabet.cost,
            alphabet.budget,
            start,
            max(0.4 * tol, rescue_above or 0.0),
            steps_left,
        )
        steps += more
        if _gap(alphabet, other, price) < abs(gap):
            weights, multiplier, gap = other, price, _gap(alphabet, other, price)
    return weights, float(multiplier), int(steps), float(gap)


def finish(
    alphabet: Letters, weights: Array, multiplier: float, *, tol: float, max_steps: int = 40
) -> tuple[Array, float]:
    """Newton on the weights of the letters in use alone, for the digits that the path lost.

    On the support D_i - s b_i = c and the budget is met; a letter whose weight would turn negative
    leaves, one whose D_i - s b_i is above c joins.
    """
    best, best_s, best_gap = weights, multiplier, _gap(alphabet, weights, multiplier)
    kkt = alphabet.kkt(weights, multiplier)
    used = weights > np.maximum(kkt.max() - kkt, 1e-14)
    current, s = np.where(used, weights, 0.0), multiplier
    most = alphabet.matrix.shape[1] + int(alphabet.budget < np.inf)
    if np.count_nonzero(used) > most:  # thousands may be as good as each other
        columns = np.column_stack([alphabet.matrix, alphabet.cost])[:, :most]
        current = fewer_weights(columns, -alphabet.entropy, current, most)
        used = current > 0
    for _ in range(max_steps):
        if best_gap <= 0.2 * tol or not used.any():
            break
        change, ds = _newton_step(alphabet, current, s, used)
        falling = used & (change < 0)
        fraction = 1.0
        if falling.any():
            fraction = min(1.0, float((-current[falling] / change[falling]).min()))
        current = np.maximum(current + fraction * change, 0.0)
        s = max(s + fraction * ds, 0.0)
        if fraction < 1.0:
            used = used & (current > 1e-15)
        current = np.where(used, current, 0.0)
        current = current / current.sum()
        kkt = alphabet.kkt(current, s)
        gap = _gap(alphabet, current, s)
        if np.isfinite(gap) and gap < best_gap:
            best, best_s, best_gap = current, s, gap
        if fraction == 1.0:
            worst = int(np.argmax(kkt))
            if not used[worst]:
                used = used.copy()
                used[worst] = True
                current = (1.0 - 1e-9) * current
                current[worst] = 1e-9
    return best, best_s


def _gap(alphabet: Letters, weights: Array, multiplier: float) -> float:
    """The gap in nats, overspending counted as the information it costs to undo."""
    over = max(float(weights @ alphabet.cost) - 1.0, 0.0) if alphabet.budget < np.inf else 0.0
    return abs(alphabet.gap(weights, multiplier)) + over


def _newton_step(alphabet: Letters, weights: Array, s: float, used: Any) -> tuple[Array, float]:
    """Changes of the weights in use and of the multiplier that make KKT hold to first order."""
    index = np.flatnonzero(used)
    rows = alphabet.matrix[index]
    output = weights @ alphabet.matrix
    limited = alphabet.budget < np.inf
    count = len(index)
    size = count + (2 if limited else 1)
    system, right = np.zeros((size, size)), np.zeros(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(output > 0, rows / np.sqrt(output), 0.0)
    system[:count, :count] = -scaled @ scaled.T
    system[:count, -1] = -1.0
    system[-1, :count] = 1.0
    kkt = alphabet.kkt(weights, s)[index]
    finite = np.where(np.isfinite(kkt), kkt, 0.0)
    right[:count] = float(weights[index] @ finite) - finite
    right[-1] = 1.0 - weights.sum()
    if limited:
        system[:count, -2] = -(alphabet.cost[index] - 1.0)
        system[-2, :count] = alphabet.cost[index] - 1.0
        right[-2] = -float(weights[index] @ (alphabet.cost[index] - 1.0))
    answer = np.linalg.lstsq(system, right, rcond=1e-14)[0]
    change = np.zeros(len(weights))
    change[index] = answer[:count]
    return change, float(answer[-2]) if limited else 0.0
