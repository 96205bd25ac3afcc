"""The part of a learner that only reads: rows, classes, names, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.answering.recording import Recording
from apm.belief import Belief
from apm.journal import History
from apm.pools.inputs import matching_columns
from apm.selectors import Selector
from apm.selectors.base import Indices
from channelcode._validation import Array


class Reading(Recording):
    """What is known so far, for any thread: one look at the present state."""

    @property
    def pool(self) -> Any:
        """The examples, `(n, d)`, as given."""
        return self._state.pool

    @property
    def belief(self) -> Belief:
        """What the labels say so far."""
        held = self._state.belief
        return Belief(held.posterior, self._setup.encoder, held.channel)

    @property
    def selector(self) -> Selector:
        """The rule that chooses, with what it remembers of the pool."""
        return self._state.selector

    @property
    def history(self) -> History:
        """One frozen record for each event, oldest first; `history.to_frame()` makes a table."""
        with self._lock:
            return self._state.journal.records()

    @property
    def labelled(self) -> Indices:
        """The labelled rows in the order of their labels."""
        return np.array(list(self._state.journal.answers.labels), dtype=np.intp)

    @property
    def remaining(self) -> Indices:
        """The rows that may be asked, in order: no label, not skipped, no abstention."""
        return np.flatnonzero(self._state.open)

    @property
    def skipped(self) -> Indices:
        """The skipped rows, in order."""
        return np.array(sorted(self._state.journal.answers.skipped), dtype=np.intp)

    @property
    def abstained(self) -> Indices:
        """The rows whose answer was "don't know", in order."""
        return np.array(sorted(self._state.journal.answers.abstained), dtype=np.intp)

    @property
    def classes_(self) -> np.ndarray:
        """The labels by column of `predict_proba`; 0..K-1 until labels say otherwise."""
        return self._state.belief.posterior.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the pool."""
        return self._state.pool.shape[1]

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the pool's columns, `(d,)`; there if the pool was a frame with names."""
        if self._setup.columns is None:
            raise AttributeError("the pool had no column names")
        return np.array(self._setup.columns, dtype=object)

    def predict_proba(self, X: ArrayLike | None = None) -> Array:
        """The probability of each label, `(n, K)`, of X or of the pool (`Belief.predict_proba`).

        A frame must have the columns of the pool, in the same order.
        """
        state = self._state
        if X is None:
            return state.belief.predict_proba(state.features)
        matrix = matching_columns(
            state.belief.posterior.shaped(X), self._setup.columns, state.pool.shape[1]
        )
        return state.belief.predict_proba(self._setup.encoder.encode(matrix))

    def predict(self, X: ArrayLike | None = None) -> np.ndarray:
        """The likeliest label of every row of X (of the pool by default), `(n,)`.

        Only labels that were told, or named by `classes` of the posterior, are predicted; before
        the first of them, places in `classes_`. A regression predicts the mean of the label.
        """
        state = self._state
        features = state.features
        if X is not None:
            known = state.belief.posterior.shaped(X)
            matrix = matching_columns(known, self._setup.columns, state.pool.shape[1])
            features = self._setup.encoder.encode(matrix)
        if not state.belief.posterior.has_classes:
            return state.belief.mean_inputs(features)
        return self.classes_[state.belief.likeliest(features)]

    def __repr__(self) -> str:
        state = self._state
        told, rows = len(state.journal.answers.labels), len(state.pool)
        return f"Learner({rows} rows, {told} labelled, {type(state.selector).__name__})"
