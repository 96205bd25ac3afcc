"""Capacities with a formula: Prop. 2.1, the probit, softmax, and the textbook channels."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np

from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.simplex import SATURATED, simplex_code
from channelcode.capacity.slopes import logistic_slope, probit_slope
from channelcode.channels import (
    BinaryErasure,
    BinarySymmetric,
    Logistic,
    Probit,
    Softmax,
    ZChannel,
)
from channelcode.constraints import Unconstrained
from channelcode.errors import InvalidArgument

_HALVES = np.array([0.5, 0.5])


@dataclass(frozen=True)
class ClosedForm:
    """Formulas: Prop. 2.1 (logistic), probit, softmax, symmetric binary links, BSC, BEC and Z.

    Symmetric binary channels, f(-l) = 1 - f(l), follow the lower convex envelope of
    u -> h_b(f(sqrt u)) (theory: section 1).

    >>> from channelcode.capacity import capacity, Power
    >>> capacity(Logistic(), Power(1.0), solver=ClosedForm()).input.atoms
    array([-1.,  1.])
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        """The formula's input law; a problem without a formula is refused."""
        del tol  # formulas are exact
        proposal = attempt(problem)
        if proposal is None:
            raise InvalidArgument(
                "channel", "must have a closed form under this constraint", problem.channel
            )
        return proposal


def attempt(problem: Problem) -> Proposal | None:
    """The formula for this problem, or None when there is none."""
    channel, limit = problem.channel, problem.limits
    kind = type(channel)
    mean_cost = limit.cost is not None
    if problem.is_finite:
        return _textbook(problem) if isinstance(problem.constraint, Unconstrained) else None
    if mean_cost and not limit.is_power:
        return None
    if kind is Logistic:
        return _binary(limit.budget, limit.peak, logistic_slope, SATURATED, "Prop. 2.1")
    if kind is Probit:
        scale = channel.scale  # type: ignore[attr-defined]
        return _binary(
            limit.budget / scale**2,
            limit.peak / scale,
            probit_slope,
            40.0,
            "one-bit Gaussian channel",
            scale,
            radius=sqrt(min(limit.budget, limit.peak**2)),
        )
    if kind is Softmax:
        code = simplex_code(channel.num_outputs, limit.budget, limit.peak)
        regime = "on-off" if len(code.weights) > channel.num_outputs else "simplex"
        return Proposal(*code, method=f"ClosedForm (softmax, {regime})")
    if channel.dim == 1 and channel.num_outputs == 2:
        from channelcode.capacity.solvers.symmetric_binary import symmetric_binary

        return symmetric_binary(problem)
    return None


def _binary(power, peak, slope, saturated, name, scale=1.0, radius=None) -> Proposal:  # type: ignore[no-untyped-def]
    """B_sqrt(P), with the power held below the peak; -d h_b(f(sqrt u))/du is the multiplier."""
    method = f"ClosedForm ({name})"
    used = min(power, peak * peak)
    if used == 0.0:
        return Proposal(np.zeros(1), np.ones(1), slope(0.0) / scale**2, method)
    if used == inf:
        edge = saturated * scale
        return Proposal(np.array([-edge, edge]), _HALVES, 0.0, method)
    t = sqrt(used) * scale if radius is None else radius
    multiplier = slope(sqrt(used)) / scale**2 if power <= peak * peak else 0.0
    return Proposal(np.array([-t, t]), _HALVES, multiplier, method)


def _textbook(problem: Problem) -> Proposal | None:
    """BSC and BEC: equal letters. Z: the likelier letter is the clean one."""
    channel = problem.channel
    letters = channel.inputs
    if type(channel) in (BinarySymmetric, BinaryErasure):
        return Proposal(np.asarray(letters), _HALVES, 0.0, "ClosedForm (equal letters)")
    if type(channel) is ZChannel:
        p = channel.p
        if p == 1.0:  # both letters give the same output
            return Proposal(np.asarray(letters), _HALVES, 0.0, "ClosedForm (Z channel)")
        share = log(p) * p / (1.0 - p) if p > 0 else 0.0
        one = exp(share) / (1.0 + (1.0 - p) * exp(share))
        weights = np.array([1.0 - one, one])
        return Proposal(np.asarray(letters), weights, 0.0, "ClosedForm (Z channel)")
    return None
