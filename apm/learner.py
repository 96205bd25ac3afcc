"""The loop of active learning: ask for an example, tell its label, repeat."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from apm import archive
from apm.answering import Reading, Setup, default_belief, locked
from apm.answering.state import beginning, chosen_rows, closed, entropy, explained_row, pool_matrix
from apm.belief import Belief
from apm.encoders.experts import Chosen
from apm.learner_compiled import compiled_rounds, entries, is_algorithm_1, known_codes
from apm.pools.inputs import as_list, as_matrix, matching_columns
from apm.posteriors.base import Posterior
from apm.posteriors.evidence import MaximumEvidence
from apm.rounds import Asked, Round, Rows, Run
from apm.selectors import Explanation, Selector
from apm.selectors.default import default_selector
from channelcode._validation import Array, Seed, integer
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apm.encoders import Expert
    from apm.insight import Curve, Efficiency, StopAdvice


class Learner(Reading):
    """Choose, take a label, update the belief, write one record (the paper's Algorithm 1).

    - `pool` `(n, d)`: the examples, known by their position; held without a copy, never modified.
      A memory map, a path to a `.npy`, `.parquet` or `.zarr` file, a Dask collection or a function
      that yields blocks of rows is read tile by tile and never held whole (`docs/scale.md`);
    - `model`: a posterior such as `VariationalLogistic()`, or a `Belief` with an encoder;
    - `selector`: unless given the rule that our studies rank best (`docs/choosing.md`);
    - `experts`: a list of `Expert(channel, cost, name)` if labels come from several people with
      prices. The learner is then an `ExpertLearner`: `ask` says whom, `tell` takes `expert=`.
      `truth` is the channel of the label itself;
    - `classes`, `prior_precision`: of the model that is chosen where none is given: the labels in
      their order, and a number for standardised features (1), or `MaximumEvidence()`;
    - `seed`: an integer or a generator. The picks follow from the seed and the labels told so far:
      to ask again before telling gives the same answer.

    Selectors see the encoded examples. Labels are of any values that the posterior takes.

    >>> from apm import VariationalLogistic
    >>> learner = Learner([[0.5, 1.0], [-1.0, 0.2], [0.3, -2.0]], VariationalLogistic(), seed=0)
    >>> learner.ask()
    Rows([1])
    >>> learner.tell(1, "no")
    >>> learner.ask(2)
    Rows([0, 2])
    """

    #: Whether the members of a class choose experts, too.
    with_experts: ClassVar[bool] = False

    def __new__(cls, *args: Any, experts: Any = None, **options: Any) -> Any:
        """A learner, or one with experts if there are some."""
        if experts is not None and cls is Learner:
            from apm.experts.learner import ExpertLearner

            return object.__new__(ExpertLearner)
        return object.__new__(cls)

    def __init__(
        self,
        pool: ArrayLike,
        model: Posterior | Belief | None = None,
        selector: Selector | None = None,
        *,
        experts: Sequence[Expert] | None = None,
        truth: Channel | None = None,
        classes: ArrayLike | None = None,
        prior_precision: float | MaximumEvidence | None = None,
        seed: Seed = None,
    ) -> None:
        if truth is not None:
            raise InvalidArgument("truth", "must be given with experts", truth)
        posterior = model.posterior if isinstance(model, Belief) else model
        matrix, names = pool_matrix(pool, posterior)
        if len(matrix) == 0:
            raise InvalidArgument("pool", "must have at least one row", f"shape {matrix.shape}")
        if model is None:
            belief = default_belief(matrix, classes, prior_precision=prior_precision)
        elif classes is not None:
            raise InvalidArgument("classes", "must be given to the model", classes)
        elif prior_precision is not None:
            raise InvalidArgument("prior_precision", "must be given to the model", prior_precision)
        else:
            belief = Belief(model) if isinstance(model, Posterior) else model
        if not isinstance(belief, Belief):
            rule = "must be a posterior or a Belief"
            if hasattr(model, "predict_proba"):
                rule += " (classifiers of scikit-learn go into apm.adapters.Committee)"
            raise InvalidArgument("model", rule, model)
        given = default_selector(belief) if selector is None else selector
        if not isinstance(given, Selector):
            raise InvalidArgument("selector", "must be a selector such as APM()", selector)
        chosen = {"model": model is None and classes is None, "selector": selector is None}
        rows = len(matrix)
        self._begin(
            Setup(belief.encoder, given, belief.posterior, entropy(seed), chosen, names, rows),
            matrix,
            belief,
        )

    def _begin(self, setup: Setup, matrix: Any, belief: Belief) -> None:
        self._setup, self._state = setup, beginning(setup, matrix, belief)
        self._asked = None
        self._norm: tuple[Any, float] | None = None
        self._lock = threading.RLock()

    # Asking and telling -----------------------------------------------------------------------

    @locked
    def ask(self, n: int = 1) -> Rows:
        """The rows to label next, best first, shape `(n,)`; nothing changes until they are told.

        A single row also serves as an integer: `labels[int(learner.ask())]`.
        """
        started = perf_counter()
        self._catch_up()
        state = self._state
        if not state.open.any():
            raise InvalidArgument("n", f"must be 0: {self._left()}", n)
        choice = chosen_rows(state, n, self._round_seed())
        seconds = (perf_counter() - started) / len(choice.indices)
        self._asked = Asked(choice, state.belief, seconds)
        return Rows.of(choice.indices)

    @locked
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
        0 1
        Run(indices=array([2, 0]), weights=None)
        """
        values = as_list(labels, "labels")
        if len(values) != len(self._state.pool):
            rule = f"must have one label for each of {len(self._state.pool)} rows"
            raise InvalidArgument("labels", rule, f"{len(values)} labels")
        values = [v.item() if isinstance(v, np.generic) else v for v in values]
        self._catch_up()
        count, left = integer("n", n, least=1), int(np.count_nonzero(self._state.open))
        if count > left:
            raise InvalidArgument("n", f"must be at most {left}, the rows left", n)
        indices: list[int] = []
        weights: list[Array] = []
        state = self._state
        fast = observe is None and self._file is None
        fast = fast and is_algorithm_1(state.belief, state.selector, state.features)
        while len(indices) < count:
            codes = known_codes(self._state.belief.posterior, values) if fast else None
            if codes is not None:
                picks, maps = self._compiled(values, codes, count - len(indices), retrain)
                indices.extend(picks)
                weights.extend(maps)
                fast = False  # whatever is left needs the errors of the slow path
                continue
            index = self._step(values, len(indices), observe, clock)
            indices.append(index)
            if retrain:
                weights.append(np.asarray(self._state.belief.posterior.map))
        kept = np.array(weights) if retrain else None
        return Run(np.array(indices, dtype=np.intp), kept)

    def label(self, render: Callable[[int], Any] | None = None, *, classes: ArrayLike = ()) -> Any:
        """Buttons for a notebook (extra `notebook`): the row to label, an answer at a click.

        `render(row)` is given the number of the row, as `ask` gives it, and returns anything that a
        notebook can display; text is shown as text. Without it the columns and their values are
        shown. `classes` have a button before they were told. See `docs/labelling.md`.

        >>> learner = Learner([[1.0], [-1.0], [2.0]], classes=["no", "yes"], seed=0)
        >>> texts = ["lovely", "broken", "great"]
        >>> buttons = learner.label(lambda row: texts[row])  # doctest: +SKIP
        """
        from apm.label.notebook import Buttons

        return Buttons(self, render, classes).widget

    @locked
    def explain(self, index: int) -> Explanation:
        """Why a row without a label is, or is not, the one to ask next (see `Explanation`)."""
        self._catch_up()
        return explained_row(self._state, index, self._round_seed())

    @locked
    def stop_advice(self) -> StopAdvice:
        """What further labels would bring, by the model's own account (see `StopAdvice`).

        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(50, 2))
        >>> learner = Learner(X, seed=0)
        >>> learner.tell(range(20), X[:20, 0] > 0)
        >>> advice = learner.stop_advice()
        >>> round(advice.accuracy, 1), advice.interval[0] < advice.accuracy < advice.interval[1]
        (0.8, True)
        """
        from apm.insight.advice import stop_advice

        self._catch_up()
        return stop_advice(self._setup, self._state)

    @property
    @locked
    def efficiency(self) -> Efficiency:
        """Bits gathered over the capacity at the power spent, per label and in total.

        >>> learner = Learner([[1.0], [-1.0], [2.0], [-2.0]], seed=0)
        >>> learner.tell([2, 0], [1, 0])
        >>> 0 < learner.efficiency.total <= 1
        True
        """
        from apm.insight.efficiency import efficiency

        self._catch_up()
        return efficiency(self._state.journal)

    @locked
    def curve(
        self, X: ArrayLike | None = None, y: ArrayLike | None = None, *, every: int = 1
    ) -> Curve:
        """Accuracy and log loss after each label in force, on X `(n, d)` with labels y `(n,)`.

        Without X and y it is what the model expects of itself on its pool, which is not a
        measurement (`Curve.measured`). The labels are learnt again one by one: `every` thins.

        >>> learner = Learner([[1.0], [-1.0], [2.0], [-2.0]], seed=0)
        >>> learner.tell([0, 1], ["yes", "no"])
        >>> learner.curve([[3.0], [-3.0]], ["yes", "no"]).accuracy
        array([0.5, 1. ])
        """
        from apm.insight.curve import curve

        self._catch_up()
        if (X is None) != (y is None):
            raise InvalidArgument("y", "must be given with X, and X with it", y)
        features = None
        if X is not None:
            matrix = matching_columns(
                self._state.belief.posterior.shaped(X), self._setup.columns, self.n_features_in_
            )
            features = as_matrix(self._setup.encoder.encode(matrix), "encoder(X)")
        return curve(self._setup, self._state, features, y, every)

    # Keeping ----------------------------------------------------------------------------------

    @locked
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one file (`.npz`, no pickle); `load` goes on with the same picks.

        Of a streamed pool it holds the fingerprint and the path.
        """
        self._catch_up()
        state, setup = self._state, self._setup
        given = default_selector(state.belief) if setup.chosen["selector"] else setup.given
        saved = archive.Saved(
            state.pool, state.features, self.belief, setup.initial, given, setup.chosen,
            setup.columns, setup.rows, setup.seed, state.journal,
        )  # fmt: skip
        return archive.save(path, saved)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: Posterior | Belief | None = None,
        selector: Selector | None = None,
        pool: Any = None,
    ) -> Self:
        """The learner that `save` wrote, after every part was checked.

        A streamed `pool` is known by its fingerprint; unless given it is looked for where it was.
        `model` and `selector` are needed only where the file could not hold them, for instance a
        function inside an encoder or a selector of your own; a model must be the one that was saved
        (same posterior, same options, same encoded pool). A file that was changed, cut short or
        whose posterior does not follow from its journal is refused.
        """
        saved = archive.load(path, model, selector, pool)
        with archive.explained(path):
            if not isinstance(saved.selector, Selector):
                raise InvalidArgument("selector", "must be a selector", saved.selector)
            setup = Setup(
                saved.belief.encoder, saved.selector, saved.initial, saved.seed, saved.chosen,
                saved.columns, saved.initial_rows,
            )  # fmt: skip
            experts = isinstance(saved.belief.channel, Chosen)
            if cls.with_experts and not experts:
                raise InvalidArgument("path", "must be a file of a learner with experts", str(path))
            learner = cls.__new__(cls, experts=True if experts else None)
            learner._begin(setup, saved.pool, saved.belief)
            is_open = closed(learner._state, saved.journal.answers)
            learner._state = learner._state._replace(journal=saved.journal, open=is_open)
        return learner

    def _repr_html_(self) -> str:
        from apm.insight.html import as_html

        return as_html(self)

    # Inside -----------------------------------------------------------------------------------

    def _step(
        self,
        labels: list[Any],
        number: int,
        observe: Callable[[Round], object] | None,
        clock: Callable[[], float],
    ) -> int:
        """Ask, tell, show the round to the observer; the row that was asked."""
        before, begin = self._state.belief.posterior, clock()
        index = int(Learner.ask(self)[0])
        middle = clock()
        Learner.tell(self, index, labels[index])
        end = clock()
        if observe is not None and self._asked is not None:
            observe(
                Round(
                    number,
                    index,
                    labels[index],
                    self._asked.choice,
                    before,
                    self._state.belief.posterior,
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
        state = self._state
        rounds = compiled_rounds(
            state.belief, state.selector, state.features, state.open, codes,
            count=count, retrain=retrain,
        )  # fmt: skip
        belief = state.belief.after(rounds.posterior)
        picks = rounds.picks.tolist()
        seconds = (perf_counter() - started) / max(len(picks), 1)
        told = entries(rounds, values, int(np.count_nonzero(state.open)), seconds)
        self._commit(state._replace(belief=belief), told, together=False)
        return picks, list(rounds.maps)

    def _round_seed(self) -> int:
        """The seed of this round: the learner's and the number of labels told."""
        return (self._setup.seed << 64) + len(self._state.journal)

    def _left(self) -> str:
        answers = self._state.journal.answers
        if not answers.skipped and not answers.abstained:
            return "every row of the pool has a label"
        return (
            f"of {len(self._state.pool)} rows {len(answers.labels)} are labelled, "
            f"{len(answers.skipped)} skipped, {len(answers.abstained)} abstained from"
        )


Learner.__new__.__wrapped__ = Learner.__init__  # type: ignore[attr-defined]  # for `help`: its signature
