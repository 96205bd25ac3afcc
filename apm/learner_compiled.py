"""The fast path of `Learner.run`: rounds of Algorithm 1 with known labels, as one compiled loop.

It reads and makes posteriors by `state` and `from_state` alone, and gives the picks of the plain
loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apm.belief import Belief
from apm.journal import Entry, ScoreSummary
from apm.pools.inputs import is_sparse, is_streamed
from apm.posteriors import VariationalLogistic
from apm.posteriors.gaussian import MANY_FEATURES
from apm.posteriors.variational import MAP_TOL, MAX_STEPS
from apm.power import SpectralPower
from apm.selectors import APM, AllClasses, Parameters, Selector
from apm.selectors.matching.views import as_choice
from apm.selectors.ranking import TIE_RTOL, TIE_SPREAD
from channelcode._validation import Array
from channelcode.channels import Logistic

LARGEST = 1 << 20  # entries of a pool that is projected at once


class Rounds(NamedTuple):
    """What the compiled loop did: the posterior after it, and a row of numbers for each round.

    `picks (n,)`, `runners (n,)` (-1 for none), `table (n, 7)` (see `apm._kernels.loop.COLUMNS`),
    `maps (n, q)`, empty unless asked for.
    """

    posterior: VariationalLogistic
    picks: np.ndarray
    runners: np.ndarray
    table: Array
    maps: Array


def is_algorithm_1(belief: Belief, selector: Selector, features: Any) -> bool:
    """Whether this is the paper's APM-LR on a pool of moderate size, nothing replaced."""
    return (
        type(belief.posterior) is VariationalLogistic
        and belief.posterior.evidence is None
        and features.shape[1] + belief.posterior.intercept < MANY_FEATURES
        and not is_sparse(features)
        and not is_streamed(features)
        and type(belief.channel) is Logistic
        and type(selector) is APM
        and type(selector.power) is SpectralPower
        and type(selector.message) is Parameters
        and type(as_choice(selector.channel)) is AllClasses
        and selector.solver is None
        and selector.charged
        and selector.radius is not None
        and features.dtype == np.float64
        and features.size <= LARGEST
    )


def known_codes(posterior: Any, labels: list[Any]) -> np.ndarray | None:
    """The channel output of every label, or None while some of their classes are unknown."""
    if posterior.num_observations == 0:
        return None
    classes = {value: code for code, value in enumerate(posterior.classes_.tolist())}
    try:
        return np.array([classes[label] for label in labels], dtype=np.int64)
    except (KeyError, TypeError):
        return None


def compiled_rounds(
    belief: Belief,
    selector: Any,
    features: Any,
    is_open: np.ndarray,
    codes: np.ndarray,
    *,
    count: int,
    retrain: bool,
) -> Rounds:
    """Up to `count` rounds; fewer if a fixed point is more than the compiled loop can do."""
    from apm._kernels.loop import run

    posterior = belief.posterior
    state = posterior.state()
    told, room = posterior.num_observations, posterior.num_observations + count
    design = np.empty((room, state["design"].shape[1]))
    own_codes = np.empty(room, dtype=np.int64)
    weights, squares = np.empty(room), np.empty(room)
    held = {"design": design, "codes": own_codes, "weights": weights, "squares": squares}
    for name, array in held.items():
        array[:told] = state[name]
    mean, factor = np.array(state["mean"]), np.array(state["factor"])
    done, picks, runners, table, bound, steps, change = run(
        np.array(features, order="C"), codes, is_open.copy(), design, own_codes, weights, squares,
        posterior.precision, mean, factor, told, float(selector.radius or 0.0), count, TIE_RTOL,
        TIE_SPREAD, float(state["tol"]), MAX_STEPS,
    )  # fmt: skip
    maps = np.empty((done if retrain else 0, len(mean)))
    start = np.array(posterior.map if retrain else state["map_start"])
    seen = told + done
    reached = retrained(
        design[:seen], own_codes[:seen], weights[:seen], posterior.precision, start, maps
    )
    if reached < len(maps):  # up to the weights that were not found: the loop goes on by itself
        return compiled_rounds(
            belief, selector, features, is_open, codes, count=reached, retrain=retrain
        )
    if done:
        idle = np.flatnonzero(weights[:told] == 0.0)  # rows that take no part in the loop
        squares[idle] = ((design[idle] @ factor) ** 2).sum(axis=1) + (design[idle] @ mean) ** 2
        state |= {name: array[:seen] for name, array in held.items()}
        state |= {"mean": mean, "factor": factor, "evidence_bound": np.array(bound)}
        state |= {"steps": np.array(steps), "change": np.array(change)}
        state |= {"map_start": maps[-1] if retrain else start, "has_map": np.array(retrain)}
        posterior = type(posterior).from_state(state)
    return Rounds(posterior, picks[:done], runners[:done], table[:done], maps)  # type: ignore[arg-type]


def retrained(
    design: Array, codes: np.ndarray, weights: Array, precision: Array, start: Array, maps: Array
) -> int:
    """Fill `maps (n, q)` with the MAP weights after each of the last n labels; how many are found.

    `start (q,)` are those before them.
    """
    from apm._kernels.logistic_map import fit

    signs = 2.0 * codes - 1.0
    for place in range(len(maps)):
        seen = len(design) - len(maps) + place + 1
        start, _, change = fit(
            design[:seen], precision, signs[:seen], weights[:seen], start, MAX_STEPS
        )
        if not change <= MAP_TOL:
            return place
        maps[place] = start
    return len(maps)


def entries(rounds: Rounds, labels: list[Any], candidates: int, seconds: float) -> list[Entry]:
    """The rounds as a journal takes them; `candidates` were open before the first."""
    told = []
    for place, (row, runner, numbers) in enumerate(
        zip(rounds.picks.tolist(), rounds.runners.tolist(), rounds.table.tolist())
    ):
        chosen, other, mean, lowest, power, centre, variance = numbers
        runner_up, margin = (runner, chosen - other) if runner >= 0 else (None, None)
        summary = ScoreSummary(chosen, runner_up, margin, mean, lowest, candidates - place)
        told.append(Entry(row, labels[row], summary, (centre, variance), power, seconds))
    return told
