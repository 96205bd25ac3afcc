"""The loop of active learning: ask for an example, tell its label, repeat."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm import archive
from apm._inputs import as_list, as_matrix, as_row_number
from apm.belief import Belief
from apm.encoders import Linear
from apm.journal import Entry, Journal, Record, ScoreSummary
from apm.learner_compiled import compiled_rounds, entries, is_algorithm_1, known_codes
from apm.posteriors.base import Posterior
from apm.rounds import Asked, Round, Rows, Run, induced_law
from apm.selectors import Explanation, Selector
from apm.selectors.default import default_selector
from apm.selectors.ranking import Indices
from channelcode._validation import Array, Seed, integer
from channelcode.errors import InvalidArgument


class Learner:
    """Choose, take a label, update the belief, write one record (the paper's Algorithm 1).

    - `pool` `(n, d)`: the examples, known by their position; held without a copy, never modified;
    - `model`: a posterior such as `VariationalLogistic()`, or a `Belief` with an encoder;
    - `selector`: unless given `APM()`, or for K classes the rule of `docs/multiclass.md`;
    - `seed`: an integer or a generator. The picks follow from the seed and the labels told so far:
      to ask again before telling gives the same answer.

    Selectors see the encoded examples. Labels are of any values that the posterior takes.

    >>> from apm import VariationalLogistic
    >>> learner = Learner([[0.5, 1.0], [-1.0, 0.2], [0.3, -2.0]], VariationalLogistic(), seed=0)
    >>> learner.ask()
    Rows([2])
    >>> learner.tell(2, "no")
    >>> learner.ask(2)
    Rows([1, 0])
    """

    def __init__(
        self,
        pool: ArrayLike,
        model: Posterior | Belief,
        selector: Selector | None = None,
        *,
        seed: Seed = None,
    ) -> None:
        matrix = as_matrix(pool, "pool")
        if len(matrix) == 0:
            raise InvalidArgument("pool", "must have at least one row", f"shape {matrix.shape}")
        belief = Belief(model) if isinstance(model, Posterior) else model
        if not isinstance(belief, Belief):
            raise InvalidArgument("model", "must be a posterior or a Belief", model)
        chosen = default_selector(belief) if selector is None else selector
        if not isinstance(chosen, Selector):
            raise InvalidArgument("selector", "must be a selector such as APM()", selector)
        self._pool = _read_only_view(matrix)
        self._features = _read_only_view(as_matrix(belief.encoder.encode(matrix), "encoder(pool)"))
        self._encoder = belief.encoder
        # What selectors see: the features as they are, so that no query encodes the pool again.
        known = Belief(belief.posterior, Linear(), belief.channel).sized(self._features)
        self._belief = known.keeping(self._features)
        self._given = chosen
        self._selector = chosen.prepared(self._belief, self._features)
        self._entropy = _entropy(seed)
        self._journal = Journal(belief.channel)
        self._open = np.ones(len(matrix), dtype=bool)
        self._asked: Asked | None = None
        self._radius: float | None = None

    # Asking and telling -----------------------------------------------------------------------

    def ask(self, n: int = 1) -> Rows:
        """The rows to label next, best first, shape `(n,)`; nothing changes until they are told.

        A single row also serves as an integer: `labels[int(learner.ask())]`.
        """
        started = perf_counter()
        candidates = np.flatnonzero(self._open)
        if len(candidates) == 0:
            raise InvalidArgument("n", "must be 0: every row of the pool has a label", n)
        choice = self._selector.choose(
            self._belief, self._features, candidates, n=n, rng=self._round_seed()
        )
        seconds = (perf_counter() - started) / len(choice.indices)
        self._asked = Asked(choice, len(self._journal), seconds)
        return Rows.of(choice.indices)

    def tell(self, index: Any, label: Any) -> None:
        """Take the label of one row, or of several at once (equal lengths).

        Any row may be told, asked or not. The same label again is ignored; another one is an error,
        and then nothing of the call is kept.
        """
        started = perf_counter()
        rows, labels = self._fresh(index, label)
        if not rows:
            return
        before = self._belief
        updated = before.posterior.update(self._features[rows], labels)
        known = [self._known(row) for row in rows]
        self._belief = before.after(updated)
        seconds = (perf_counter() - started) / len(rows)
        for row, value, (law, summary, power, spent) in zip(rows, labels, known):
            self._journal.add(Entry(row, value, summary, law, power, spent + seconds))
            self._open[row] = False

    def run(
        self,
        labels: ArrayLike,
        n: int,
        *,
        retrain: bool = False,
        observe: Callable[[Round], object] | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> Run:
        """Ask and tell n times with labels known beforehand, `labels[i]` for row i: a simulation.

        The same picks, records and posterior as the loop of `ask` and `tell`. With `retrain=True`
        the most probable weights after each label are kept, for learning curves. `observe` is
        called after every label with a `Round`: what was chosen from what, the posterior before and
        after, and the seconds by `clock`; whatever it measures is in nobody's time. Algorithm 1 as
        it stands (`VariationalLogistic`, `APM()` with its spectral budget) without an observer runs
        as one compiled loop, many times faster; everything else runs step by step.

        >>> from apm import VariationalLogistic
        >>> learner = Learner([[0.5], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.run([1, 0, 1], 2, observe=lambda round: print(round.index, round.label))
        2 1
        1 0
        Run(indices=array([2, 1]), weights=None)
        """
        values = as_list(labels, "labels")
        if len(values) != len(self._pool):
            rule = f"must have one label for each of {len(self._pool)} rows"
            raise InvalidArgument("labels", rule, f"{len(values)} labels")
        values = [v.item() if isinstance(v, np.generic) else v for v in values]
        count, left = integer("n", n, least=1), int(np.count_nonzero(self._open))
        if count > left:
            raise InvalidArgument("n", f"must be at most {left}, the rows left", n)
        indices: list[int] = []
        weights: list[Array] = []
        fast = observe is None and is_algorithm_1(self._belief, self._selector, self._features)
        while len(indices) < count:
            codes = known_codes(self._belief.posterior, values) if fast else None
            if codes is not None:
                picks, maps = self._compiled(values, codes, count - len(indices), retrain)
                indices.extend(picks)
                weights.extend(maps)
                fast = False  # whatever is left needs the errors of the slow path
                continue
            index = self._step(values, len(indices), observe, clock)
            indices.append(index)
            if retrain:
                weights.append(np.asarray(self._belief.posterior.map))
        kept = np.array(weights) if retrain else None
        return Run(np.array(indices, dtype=np.intp), kept)

    # Reading ----------------------------------------------------------------------------------

    @property
    def pool(self) -> Any:
        """The examples, `(n, d)`, as given."""
        return self._pool

    @property
    def belief(self) -> Belief:
        """What the labels say so far."""
        return Belief(self._belief.posterior, self._encoder, self._belief.channel)

    @property
    def selector(self) -> Selector:
        """The rule that chooses, with what it remembers of the initial pool."""
        return self._selector

    @property
    def history(self) -> tuple[Record, ...]:
        """One frozen record for each label, oldest first."""
        return self._journal.records()

    @property
    def labelled(self) -> Indices:
        """The labelled rows in the order of their labels."""
        return np.array(self._journal.indices, dtype=np.intp)

    @property
    def remaining(self) -> Indices:
        """The rows without a label, in order."""
        return np.flatnonzero(self._open)

    @property
    def classes_(self) -> np.ndarray:
        """The labels by column of `predict_proba`; 0..K-1 until labels say otherwise."""
        return self._belief.posterior.classes_

    def predict_proba(self, X: ArrayLike | None = None) -> Array:
        """The probability of each label, averaged over the posterior, `(n, K)`; X: the pool."""
        if X is None:
            return self._belief.predict_proba(self._features)
        return self.belief.predict_proba(X)

    def predict(self, X: ArrayLike | None = None) -> np.ndarray:
        """The likeliest label of every row of X (of the pool by default), `(n,)`."""
        classes = self.classes_
        return classes[np.argmax(self.predict_proba(X)[:, : len(classes)], axis=1)]

    def explain(self, index: int) -> Explanation:
        """Why a row without a label is, or is not, the one to ask next (see `Explanation`)."""
        return self._selector.explain(
            self._belief, self._features, index, exclude=~self._open, rng=self._round_seed()
        )

    # Keeping ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one file (`.npz`, no pickle); `load` goes on with the same picks."""
        arrays: dict[str, Any] = {"pool": self._pool}
        posterior = self._belief.posterior
        for name, value in posterior.state().items():
            arrays[f"posterior/{name}"] = value
        header = {
            "seed": str(self._entropy),
            "journal": self._journal.to_list(),
            "posterior": type(posterior).__name__,
            "likelihood": archive.describe(posterior.channel, arrays, "likelihood"),
            "channel": archive.describe(self._belief.channel, arrays, "channel"),
            "encoder": archive.describe(self._encoder, arrays, "encoder"),
            "selector": archive.describe(self._given, arrays, "selector"),
        }
        return archive.write(path, header, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: Posterior | Belief | None = None,
        selector: Selector | None = None,
    ) -> Learner:
        """The learner that `save` wrote.

        `model` and `selector` are needed only where the file could not hold them, for instance a
        function inside an encoder or a selector of your own.
        """
        header, arrays = archive.read(path)
        belief = archive.restored_belief(header, arrays, model)
        chosen = selector
        if chosen is None:
            chosen = archive.restore(header["selector"], arrays, "selector")
        learner = cls(arrays["pool"], belief, chosen, seed=int(header["seed"]))
        learner._journal = Journal.from_list(belief.channel, header["journal"])
        learner._open[learner._journal.indices] = False
        return learner

    def __repr__(self) -> str:
        told, rows = len(self._journal), len(self._pool)
        return f"Learner({rows} rows, {told} labelled, {type(self._selector).__name__})"

    # Inside -----------------------------------------------------------------------------------

    def _step(
        self,
        labels: list[Any],
        number: int,
        observe: Callable[[Round], object] | None,
        clock: Callable[[], float],
    ) -> int:
        """Ask, tell, show the round to the observer; the row that was asked."""
        before, begin = self._belief.posterior, clock()
        index = int(self.ask()[0])
        middle = clock()
        self.tell(index, labels[index])
        end = clock()
        if observe is not None and self._asked is not None:
            observe(
                Round(
                    number,
                    index,
                    labels[index],
                    self._asked.choice,
                    before,
                    self._belief.posterior,
                    select_seconds=middle - begin,
                    update_seconds=end - middle,
                )
            )
        return index

    def _compiled(
        self, values: list[Any], codes: np.ndarray, count: int, retrain: bool
    ) -> tuple[list[int], list[Array]]:
        """Rounds of the compiled loop, told to the journal."""
        started = perf_counter()
        before, selector = self._belief, self._selector
        rounds = compiled_rounds(
            before, selector, self._features, self._open, codes, count=count, retrain=retrain
        )
        self._belief = Belief(rounds.posterior, before.encoder, before.channel)
        picks = rounds.picks.tolist()
        seconds = (perf_counter() - started) / max(len(picks), 1)
        for entry in entries(rounds, values, int(np.count_nonzero(self._open)), seconds):
            self._journal.add(entry)
            self._open[entry.index] = False
        return picks, list(rounds.maps)

    def _round_seed(self) -> int:
        """The seed of this round: the learner's and the number of labels told."""
        return (self._entropy << 64) + len(self._journal)

    def _fresh(self, index: Any, label: Any) -> tuple[list[int], list[Any]]:
        """The rows told for the first time and their labels, after all checks."""
        if isinstance(index, int):
            indices, labels = [index], [label]
        else:
            indices, labels = as_list(index, "index"), as_list(label, "label")
        if len(indices) != len(labels):
            rule = f"must have one entry for each of {len(indices)} rows"
            raise InvalidArgument("label", rule, f"{len(labels)} labels")
        new: dict[int, Any] = {}
        for position, value in zip(indices, labels):
            row = as_row_number(position, len(self._pool))
            if isinstance(value, np.ndarray) and value.size != 1:
                raise InvalidArgument("label", "must be one value for each row", value)
            value = value.item() if isinstance(value, np.generic | np.ndarray) else value
            known = self._journal.label(row) if row in self._journal else new.get(row, value)
            if known != value:
                rule = f"must agree with the label of row {row}, {known!r}"
                raise InvalidArgument("label", rule, value)
            if row not in self._journal:
                new[row] = value
        return list(new), list(new.values())

    def _known(self, row: int) -> tuple[Any, ScoreSummary | None, float | None, float]:
        """Of a row just before its label: law, scores, largest power, seconds of its selection."""
        asked, belief = self._asked, self._belief
        if asked is None or row not in asked.choice.indices:
            return induced_law(belief, self._features, row), None, None, 0.0
        if asked.told != len(self._journal):  # the belief has changed since
            law = induced_law(belief, self._features, row)
            return law, asked.summary(row), None, asked.seconds
        if asked.choice.laws is None and self._radius is None:
            self._radius = belief.radius(self._features)
        power = asked.largest_power(belief, self._radius)
        law = asked.law(belief, self._features, row)
        return law, asked.summary(row), power, asked.seconds


def _read_only_view(matrix: Any) -> Any:
    view = np.asarray(matrix).view()
    view.setflags(write=False)
    return view


def _entropy(seed: Seed) -> int:
    if seed is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    return integer("seed", seed, least=0)
