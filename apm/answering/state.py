"""All that answers change, replaced as a whole: the belief follows from the labels in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from apm.answering.automatic import default_again
from apm.belief import Belief
from apm.encoders import Encoder, Linear
from apm.journal import Entry, Journal
from apm.pools.inputs import (
    as_matrix,
    as_row_number,
    column_names,
    is_streamed,
    read_only_view,
    stacked,
)
from apm.pools.streamed import EncodedRows, as_rows, source_of
from apm.posteriors.base import Posterior
from apm.selectors import Explanation, Selector
from apm.selectors.default import default_selector
from apm.selectors.tiled import choose_streamed
from apm.selectors.tiled_explanation import explain_streamed
from apm.storage.answers import Answer, Answers
from channelcode._validation import Seed, integer
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument

CLOSING = ("tell", "repeat", "correct", "skip", "abstain")  # events after which a row is not asked


def entropy(seed: Seed) -> int:
    """The number behind a seed: fresh, drawn, or itself."""
    if seed is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    return integer("seed", seed, least=0)


class Setup(NamedTuple):
    """What stays the same: encoder, selector as given, the posterior before any label, the seed.

    `chosen` says of "model" and "selector" whether the library chose them; `columns` are the names
    of the pool's columns, `rows` its size at the beginning.
    """

    encoder: Encoder
    given: Selector
    initial: Posterior
    seed: int
    chosen: dict[str, bool]
    columns: list[str] | None
    rows: int


class State(NamedTuple):
    """All that answers change; replaced as a whole, never modified.

    `belief` meets `features`, the encoded pool; `open` says which rows may be asked; `previous` is
    the state before the last call (without its own previous), for an exact undo.
    """

    pool: Any
    features: Any
    belief: Belief
    selector: Selector
    journal: Journal
    open: np.ndarray
    previous: State | None = None


def beginning(setup: Setup, matrix: Any, belief: Belief) -> State:
    """The state before any answer; `belief` has the encoder."""
    features = encoded(setup.encoder, matrix)
    # What selectors see: the features as they are, so that no query encodes the pool again.
    met = _meeting(belief.posterior, belief.channel, features)
    selector = setup.given.prepared(met, features)
    is_open = np.ones(len(matrix), dtype=bool)
    journal = Journal(belief.channel)
    return State(read_only_view(matrix), features, met, selector, journal, is_open)


def encoded(encoder: Encoder, matrix: Any) -> Any:
    """The encoded pool, not to be written to; of a streamed one the rows as they are read."""
    if is_streamed(matrix):
        return matrix if type(encoder) is Linear else EncodedRows(matrix, encoder.encode)
    return read_only_view(as_matrix(encoder.encode(matrix), "encoder(pool)"))


def learned(setup: Setup, state: State, answers: list[Answer]) -> State:
    """The state with more labels learnt, the journal aside."""
    held, before = state.belief, state.journal.answers
    if setup.chosen["model"]:
        # of every answer in force: a row that was labelled twice may have two labels
        known = {answer.label for answer in (*before.answers, *answers)}
        if len(known) > held.posterior.num_labels:
            return refitted(setup, state, (*before.answers, *answers))
    return state._replace(belief=updated(held, state.features, answers))


def refitted(setup: Setup, state: State, answers: tuple[Answer, ...]) -> State:
    """The state with the posterior of exactly these answers, the journal's entries aside."""
    posterior, channel = setup.initial, state.belief.channel
    selector, journal = state.selector, state.journal
    if setup.chosen["model"]:
        count = max(2, len({answer.label for answer in answers}))
        if count != posterior.num_labels:
            posterior = default_again(posterior, count)
        channel = posterior.channel
    belief = _meeting(posterior, channel, state.features)
    if answers:
        belief = updated(belief, state.features, list(answers))
    if posterior.num_labels != state.belief.posterior.num_labels:
        journal.records()  # what was told before had the other channel
        journal = replace(journal, channel=channel)
        given = default_selector(belief) if setup.chosen["selector"] else setup.given
        selector = given.prepared(belief, state.features)
    return state._replace(belief=belief, selector=selector, journal=journal)


def extended(setup: Setup, state: State, rows: Any) -> State:
    """The state with more rows, the journal aside; the selector looks at the pool anew."""
    encoded = as_matrix(setup.encoder.encode(rows), "encoder(more_rows)")
    features = read_only_view(stacked(state.features, encoded))
    pool = read_only_view(stacked(state.pool, rows))
    belief = _meeting(state.belief.posterior, state.belief.channel, features)
    given = default_selector(belief) if setup.chosen["selector"] else setup.given
    selector = given.prepared(belief, features)
    return state._replace(pool=pool, features=features, belief=belief, selector=selector)


def pool_matrix(pool: Any, posterior: Any) -> tuple[Any, list[str] | None]:
    """The pool as a matrix or as streamed rows, and the names of its columns if it has some."""
    if not isinstance(posterior, Posterior):
        posterior = None
    numbered = posterior is not None and type(posterior).shaped is not Posterior.shaped
    if numbered and not isinstance(pool, np.ndarray) and source_of(pool) is not None:
        rule = f"must be in memory for {type(posterior).__name__}, which knows rows by number"
        raise InvalidArgument("pool", rule, type(pool).__name__)
    rows = None if numbered else as_rows(pool)
    if rows is not None:
        return rows, rows.columns
    known = pool if posterior is None else posterior.shaped(pool)
    return as_matrix(known, "pool"), column_names(pool)


def chosen_rows(state: State, n: int, seed: int) -> Any:
    """What the selector chooses of the rows that may be asked."""
    if is_streamed(state.features):
        return choose_streamed(
            state.selector, state.belief, state.features, state.open, n=n, rng=seed
        )
    (candidates,) = state.open.nonzero()
    return state.selector.choose(state.belief, state.features, candidates, n=n, rng=seed)


def explained_row(state: State, index: int, seed: int) -> Explanation:
    """Why a row that may be asked is, or is not, the next."""
    if is_streamed(state.features):
        row = as_row_number(index, len(state.pool))
        return explain_streamed(state.selector, state.belief, state.features, state.open, row, seed)
    return state.selector.explain(
        state.belief, state.features, index, exclude=~state.open, rng=seed
    )


def closed(state: State, answers: Answers, entries: Sequence[Entry] = ()) -> np.ndarray:
    """Which rows of the pool may be asked, `(n,)`; `entries` are those since `state`, if known."""
    if entries and all(entry.event in CLOSING for entry in entries):
        is_open = state.open.copy()
        for entry in entries:
            is_open[entry.index] = False
        return is_open
    is_open = np.ones(len(state.pool), dtype=bool)
    is_open[list(answers.is_closed())] = False
    return is_open


def updated(belief: Belief, features: Any, answers: list[Answer]) -> Belief:
    """The belief about encoded features `(n, p)` after some answers about their rows."""
    rows = [answer.row for answer in answers]
    weights = [answer.weight for answer in answers]
    weighted = weights if any(weight != 1.0 for weight in weights) else None
    labels = [answer.label for answer in answers]
    asked = features[rows[0] : rows[0] + 1] if len(rows) == 1 else features[rows]
    return belief.after(belief.posterior.update(asked, labels, weighted))


def _meeting(posterior: Posterior, channel: Channel, features: Any) -> Belief:
    """The belief that meets the encoded pool, and remembers what labels change little of it."""
    posterior.require_candidates(features)
    return Belief(posterior, Linear(), channel).sized(features).keeping(features)
