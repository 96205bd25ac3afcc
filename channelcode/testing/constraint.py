"""The contract of a constraint, above all of a cost of your own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from channelcode._validation import Array, Seed, as_generator
from channelcode.constraints import Constraint, Limits, limits
from channelcode.testing.inputs import sweep, sweep_space
from channelcode.testing.verdict import attempt, fail, where


def check_constraint(constraint: Constraint, *, dim: int = 1, rng: Seed = 0) -> None:
    """Raise AssertionError, saying what to mend, unless `constraint` can limit inputs in R^dim.

    Its cost is tried on thousands of inputs of every size up to 1e30: one real number for each, no
    NaN, never minus infinity (plus infinity forbids an input), the same answer for the same input
    whatever stands beside it, inputs left as they were, and some input that keeps the budget.
    Beyond `rises`, if that is declared, it must fall nowhere along rays from zero.

    >>> from channelcode import Cost, Power
    >>> check_constraint(Power(2.0))
    >>> check_constraint(Cost(lambda l: abs(l - 3.0), 1.0))
    >>> check_constraint(Cost(lambda l: l.sum(), 1.0))
    Traceback (most recent call last):
        ...
    AssertionError: Cost(...): the cost must return shape (9,) for inputs of shape (9,), not ()...
    """
    if not isinstance(constraint, Constraint):
        fail(constraint, "must be an instance of channelcode.Constraint (not the class)")
    found = attempt(constraint, "its reduction to a cost and a peak", lambda: limits(constraint))
    cost, budget, peak = found[0], found[1], found[2]
    if cost is None:
        return
    generator = as_generator(rng)
    everywhere = sweep(generator, 1) if dim == 1 else sweep_space(generator, dim, 1)
    sizes = np.abs(everywhere) if dim == 1 else np.linalg.norm(everywhere, axis=1)
    everywhere = everywhere[sizes <= peak]
    few = everywhere[:: max(1, len(everywhere) // 8)][:9]
    _check_answers(constraint, cost, few)
    values = _costs(constraint, cost, everywhere)
    for wrong, rule in ((np.isnan(values), "NaN"), (np.isneginf(values), "minus infinity")):
        if wrong.any():
            fail(constraint, f"the cost must not be {rule}, as {where(everywhere, wrong)}")
    if not np.isfinite(values).any():
        fail(constraint, "the cost is infinite for every input that was tried")
    if not (values <= budget).any():
        best = int(np.argmin(values))
        shown = f"{float(values[best])!r} at l = {everywhere[best].tolist()}"
        fail(
            constraint, f"no input keeps the budget of {budget!r}: the least cost found is {shown}"
        )
    if found.rises < np.inf:
        _check_rise(constraint, found, dim, generator)


def _check_rise(constraint: Constraint, limit: Limits, dim: int, generator: Generator) -> None:
    """Beyond `rises` the cost falls nowhere along rays: axes and, in R^dim, a few others."""
    start = limit.rises
    close = start + max(start, 1.0) * np.geomspace(1e-9, 1e3, 2000)
    sizes = np.concatenate([[start], close, np.abs(sweep(generator, dim))])
    sizes = np.unique(sizes[(sizes >= start) & (sizes <= limit.peak)])
    directions = np.concatenate([np.eye(dim), -np.eye(dim)])
    if dim > 1:
        slanted = generator.standard_normal((8, dim))
        slanted /= np.linalg.norm(slanted, axis=1, keepdims=True)
        directions = np.concatenate([directions, slanted])
    for direction in directions if len(sizes) else ():
        ray = sizes[:, None] * direction
        inputs = ray[:, 0] if dim == 1 else ray
        values = _costs(constraint, limit.cost, inputs)
        highest = np.maximum.accumulate(values)
        with np.errstate(invalid="ignore"):
            falls = values < highest - 1e-12 * np.abs(highest)
        falls |= (highest == np.inf) & (values < np.inf)
        if falls.any():
            place = int(np.argmax(falls))
            shown = f"{float(highest[place])!r} to {float(values[place])!r}"
            fail(
                constraint,
                f"the cost must fall nowhere beyond rises={start!r}, and falls from {shown} on the "
                f"way to l = {inputs[place].tolist()}",
            )


def _check_answers(constraint: Constraint, cost: Any, few: Array) -> None:
    given = np.array(few)
    first = _costs(constraint, cost, given)
    if not np.array_equal(given, few):
        fail(constraint, "the cost must not write into its argument")
    if not np.array_equal(first, _costs(constraint, cost, few), equal_nan=True):
        fail(constraint, "the cost must give the same answer for the same input")
    alone = np.concatenate([_costs(constraint, cost, few[i : i + 1]) for i in range(len(few))])
    with np.errstate(invalid="ignore"):
        same = np.allclose(first, alone, rtol=1e-12, atol=0.0, equal_nan=True)
    if not same:
        fail(constraint, "the cost of an input must not depend on the inputs beside it")


def _costs(constraint: Constraint, cost: Any, inputs: Array) -> Array:
    with np.errstate(all="ignore"):
        raw = attempt(
            constraint,
            f"the cost of an array of shape {inputs.shape}",
            lambda: np.asarray(cost(inputs)),
        )
    if raw.dtype.kind not in "buif":
        fail(constraint, f"the cost must return real numbers, not {raw.dtype}")
    if raw.shape != (len(inputs),):
        shapes = f"shape {(len(inputs),)} for inputs of shape {inputs.shape}, not {raw.shape}"
        fail(constraint, f"the cost must return {shapes}: one number for each input")
    return raw.astype(np.float64)
