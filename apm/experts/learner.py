"""A learner that chooses whom to ask: candidates are pairs of a row and an expert with a price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from apm.answering import Setup
from apm.answering.state import entropy
from apm.belief import Belief
from apm.encoders.experts import NOT_COMPARABLE, Chosen, Expert
from apm.experts.pairs import Answered, Pairs, pair_rows
from apm.experts.panel import default_model, input_laws, panel, unknown_rates
from apm.learner import Learner
from apm.pools.inputs import (
    as_dense,
    as_list,
    as_matrix,
    as_row_number,
    column_names,
    matching_columns,
)
from apm.pools.streamed import source_of
from apm.posteriors import MaximumEvidence, Posterior
from apm.rounds import Round, Run
from apm.selectors import Explanation, GainPerCost, Selector
from apm.selectors.matching.apm import Matching
from channelcode._validation import Array, Seed
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument


class ExpertLearner(Learner):
    """Ask the pair of row and expert that tells most for its price; learn from all answers at once.

    `Learner(pool, model, selector, experts=[...])` is one of these.

    - `pool` `(n, d)`: the examples; `experts`: a list of `Expert(channel, cost, name)`;
    - `model`: a posterior without labels whose channel is replaced by the experts': `Laplace(...)`,
      with or without an encoder, `Grid(...)`, `Particles(...)`, `Draws(...)`. The default is a
      Laplace posterior of (multinomial) logistic regression with a constant;
    - `selector`: `GainPerCost()`, or another rule by information. Posterior matching is refused;
    - `truth`: the channel of the label itself, for predictions; by default the model's.

    It is the loop of `Learner` on the pairs of rows and experts: `ask`, `tell`, `correct`, `skip`,
    `undo`, `save` and the journal file are the same, and take or give the expert. An expert is
    asked about a row once; other experts may still be asked about it.

    >>> from apm import Learner
    >>> from channelcode import Lapse, Logistic
    >>> doctor = Expert(Logistic(), 5.0, "doctor")
    >>> student = Expert(Lapse(Logistic(), 0.1, 0.1), 1.0, "student")
    >>> X = [[0.5, 1.0], [-1.0, 0.2], [0.3, -2.0]]
    >>> learner = Learner(X, experts=[doctor, student], seed=0)
    >>> pick = learner.ask()
    >>> int(pick), pick.experts
    (2, ('student',))
    >>> learner.tell(pick, 1, expert="student")
    >>> learner.spent
    1.0
    """

    with_experts = True

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
        channel = Chosen(() if experts is None else tuple(experts), truth)
        if not isinstance(pool, np.ndarray) and source_of(pool) is not None:
            rule = "must be in memory where there are experts: each row stands there once for each"
            raise InvalidArgument("pool", rule, type(pool).__name__)
        names, matrix = column_names(pool), as_dense(pool, "pool").astype(np.float64)
        if len(matrix) == 0:
            raise InvalidArgument("pool", "must have at least one row", f"shape {matrix.shape}")
        rule = GainPerCost() if selector is None else selector
        if isinstance(rule, Matching):
            raise InvalidArgument("channel", NOT_COMPARABLE, rule)
        if not isinstance(rule, Selector):
            raise InvalidArgument("selector", "must be a selector such as GainPerCost()", selector)
        given: Any = model
        if model is None:
            given = default_model(channel, classes, prior_precision)
        elif classes is not None:
            raise InvalidArgument("classes", "must be given to the model", classes)
        elif prior_precision is not None:
            raise InvalidArgument("prior_precision", "must be given to the model", prior_precision)
        if isinstance(model, Belief):
            rule_of_model = "must be a posterior where there are experts: an encoder goes into it"
            raise InvalidArgument("model", rule_of_model, model)
        if truth is None and isinstance(given, Posterior) and given.dim == channel.inner_dim:
            channel = replace(channel, truth=given.channel)
        posterior = panel(given, channel, matrix)
        rows, chosen = pair_rows(matrix, channel), {"model": False, "selector": False}
        belief = Belief(posterior)
        setup = Setup(belief.encoder, rule, posterior, entropy(seed), chosen, names, len(rows))
        self._begin(setup, rows, belief)

    # Asking and telling -----------------------------------------------------------------------

    def ask(self, n: int = 1) -> Pairs:
        """The rows to ask next, best first, and whom (`experts`); nothing changes until told."""
        return self._as_pairs(super().ask(n))

    def tell(
        self,
        index: Any,
        label: Any,
        *,
        expert: Any = None,
        sample_weight: Any = None,
        repeat: bool = False,
    ) -> None:
        """Take an expert's answer about one row, or about several (one expert, or one for each).

        Without `expert` the rows must be what `ask` gave, which knows whom it meant.
        """
        pairs = self._numbers(index, expert)
        single = np.ndim(index) == 0 or (isinstance(index, Pairs) and len(pairs) == 1)
        answer = label if not single else as_list(label, "label")
        super().tell(pairs, answer, sample_weight=sample_weight, repeat=repeat)

    def correct(self, index: int, label: Any, *, expert: Any = None) -> None:
        """Replace an expert's answer about a row."""
        (pair,) = self._numbers(index, expert)
        super().correct(pair, label)

    def skip(self, index: Any, *, expert: Any = None) -> None:
        """Do not ask this expert (or, without one, anybody) about a row until `unskip`."""
        answers = self._state.journal.answers
        pairs = self._everyone(index) if expert is None else self._numbers(index, expert)
        if expert is None:
            pairs = [pair for pair in pairs if pair not in answers.labels]
        super().skip([pair for pair in pairs if pair not in answers.skipped])

    def unskip(self, index: Any = None, *, expert: Any = None) -> None:
        """Let an expert, or everybody, be asked about a row again; without a row, about all."""
        skipped = self._state.journal.answers.skipped
        if index is None:
            index = sorted({pair // len(self.experts) for pair in skipped})
            if expert is not None:
                number = self._channel.of(expert)
                index = [row for row in index if row * len(self.experts) + number in skipped]
        pairs = self._everyone(index) if expert is None else self._numbers(index, expert)
        super().unskip([pair for pair in pairs if pair in skipped or expert is not None])

    def abstain(self, index: Any, *, expert: Any = None) -> None:
        """Take "don't know" as an expert's answer."""
        super().abstain(self._numbers(index, expert))

    def undo(self) -> np.ndarray:
        """Take back the last call; the rows that it was about."""
        return super().undo() // len(self.experts)

    def run(
        self,
        labels: ArrayLike,
        n: int,
        *,
        retrain: bool = False,
        observe: Callable[[Round], object] | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> Run:
        """Ask and tell n times with answers known beforehand, `labels[i, e]` of expert e for row i.

        A round's `index` is the number of the pair, `row E + expert` of E experts, for `observe`.
        """
        table = np.asarray(labels, dtype=object)
        if table.shape != (shape := (len(self.pool), len(self.experts))):
            rule = f"must hold an answer of every expert for every row, {shape}"
            raise InvalidArgument("labels", rule, f"shape {table.shape}")
        done = super().run(
            list(table.ravel()), n, retrain=retrain, observe=observe, clock=clock  # type: ignore[arg-type]
        )  # fmt: skip
        return Run(self._as_pairs(done.indices), done.weights)

    def explain(self, index: int, *, expert: Any = None) -> Explanation:
        """Why a row and an expert are, or are not, the pair to ask next; `runner_up` is a pair."""
        (pair,) = self._numbers(index, expert)
        return replace(super().explain(pair), index=pair // len(self.experts))

    def stop_advice(self) -> NoReturn:
        """Not given with experts: a stop would have to know whose answers come next."""
        self._without("stop_advice")

    @property
    def efficiency(self) -> NoReturn:
        """Not given with experts: their channels have no power in common."""
        self._without("efficiency")

    def curve(self, X: Any = None, y: Any = None, *, every: int = 1) -> NoReturn:
        """Not given with experts; `predict` after each answer does the same."""
        self._without("curve")

    # What is known ----------------------------------------------------------------------------

    @property
    def experts(self) -> tuple[Expert, ...]:
        """Who may be asked."""
        return self._channel.experts

    @property
    def pool(self) -> Array:
        """The examples, `(n, d)`."""
        return self._state.pool[:: len(self.experts), :-1]

    @property
    def pairs(self) -> Array:
        """What the rules choose from, `(n E, d + 1)`: row `r E + e` is row r for expert e of E."""
        return self._state.pool

    @property
    def n_features_in_(self) -> int:
        return self._state.pool.shape[1] - 1

    @property
    def posterior(self) -> Any:
        """What is believed of the parameters, unknown rates last."""
        return self.belief.posterior

    @property
    def labelled(self) -> Pairs:
        """The rows that were answered, and by whom, in the order of the answers."""
        return self._as_pairs(super().labelled)

    @property
    def remaining(self) -> Pairs:
        """The rows that may be asked, and whom, in order."""
        return self._as_pairs(super().remaining)

    @property
    def skipped(self) -> Pairs:
        """The skipped rows, and for whom, in order."""
        return self._as_pairs(super().skipped)

    @property
    def abstained(self) -> Pairs:
        """The rows that somebody did not know, and who, in order."""
        return self._as_pairs(super().abstained)

    @property
    def spent(self) -> float:
        """The price of the answers in force."""
        answers = self._state.journal.answers.answers
        numbers = [answer.row % len(self.experts) for answer in answers]
        return float(self._channel.costs[numbers].sum())

    @property
    def history(self) -> tuple[Answered, ...]:  # type: ignore[override]
        """One record for each event, oldest first."""
        records = []
        count = len(self.experts)
        for record in super().history:
            expert = self.experts[record.index % count]
            paid = expert.cost if record.event in ("tell", "repeat") else 0.0
            row = record.index // count
            name = "" if record.event == "extend" else expert.name
            label = record.label // count if record.event == "extend" else record.label
            records.append(Answered(row, name, label, paid, record.event, record.bits))
        return tuple(records)

    def rates(self) -> dict[str, tuple[float, float]]:
        """The rates of wrong answers that are learnt: mean and deviation of each, by name."""
        return unknown_rates(self.posterior.sized(self._state.pool.shape[1]), self._channel)

    def predict_proba(self, X: ArrayLike | None = None) -> Array:
        """The probability of each label itself, `(n, K)`, whoever may answer: through `truth`."""
        from channelcode.information import mutual_information

        matrix = self.pool if X is None else as_dense(self._matching(X), "X").astype(np.float64)
        laws = input_laws(self.belief, matrix)
        return np.asarray(mutual_information(self._channel.label_channel, laws).output)

    def predict(self, X: ArrayLike | None = None) -> np.ndarray:
        """The likeliest label of every row of X (of the pool by default), `(n,)`."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def __repr__(self) -> str:
        names = ", ".join(expert.name for expert in self.experts)
        return f"ExpertLearner({len(self.pool)} rows, experts {names}; spent {self.spent:g})"

    # Inside -----------------------------------------------------------------------------------

    @property
    def _channel(self) -> Chosen:
        channel: Any = self._state.belief.channel
        return channel

    def _as_pairs(self, numbers: Any) -> Pairs:
        rows, experts = np.divmod(np.asarray(numbers, dtype=np.intp), len(self.experts))
        return Pairs.of(rows, [self.experts[place].name for place in experts])

    def _numbers(self, index: Any, expert: Any) -> list[int]:
        """The numbers of pairs in the pool of pairs."""
        if expert is None:
            expert = getattr(index, "experts", ()) or (0,) * (len(self.experts) == 1)
            if not expert:
                rule = "must say who answered, unless the rows are what ask gave"
                raise InvalidArgument("expert", rule, None)
        listed = [index] if isinstance(index, int) else as_list(np.asarray(index), "index")
        rows = [as_row_number(row, len(self.pool)) for row in listed]
        names = [expert] if isinstance(expert, str | Expert) else as_list(expert, "expert")
        if len(names) == 1:
            names = names * len(rows)
        if len(names) != len(rows):
            rule = f"must be one expert, or one for each of {len(rows)} rows"
            raise InvalidArgument("expert", rule, f"{len(names)} experts")
        count = len(self.experts)
        return [row * count + self._channel.of(name) for row, name in zip(rows, names, strict=True)]

    def _everyone(self, index: Any) -> list[int]:
        every = range(len(self.experts))
        return [pair for expert in every for pair in self._numbers(index, expert)]

    def _matching(self, X: Any, argument: str = "X") -> Any:
        return matching_columns(X, self._setup.columns, self.n_features_in_, argument)

    def _more(self, more_rows: Any) -> Any:
        rows = as_dense(self._matching(more_rows, "more_rows"), "more_rows").astype(np.float64)
        return as_matrix(pair_rows(rows, self._channel), "more_rows")

    def _without(self, what: str) -> NoReturn:
        raise InvalidArgument("learner", f"must have no experts to give {what}", self)
