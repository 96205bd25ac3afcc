"""A learner that chooses whom to ask: candidates are pairs of a row and an expert with a price."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.encoders import Affine, Encoder, Linear
from apm.encoders.experts import NOT_COMPARABLE, Chosen, Expert, LapseByLogit, WithExpert
from apm.learner import Learner
from apm.pools.inputs import as_dense, as_list, as_row_number
from apm.posteriors import EncodedLaplace, Laplace, Posterior
from apm.selectors import GainPerCost, Selector
from apm.selectors.matching.apm import Matching
from channelcode._validation import Array, Seed
from channelcode.channels import Channel, Logistic
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Pool, gaussian_pool


@dataclass(frozen=True)
class Answered:
    """One event of an `ExpertLearner`: the row, who was asked, what it cost, and what was said.

    `bits` is what the answer could tell of theta just before it came; `cost` is zero for events
    that are not answers.
    """

    index: int
    expert: str
    label: Any
    cost: float
    event: str
    bits: float | None


class Pairs(np.ndarray[Any, np.dtype[np.intp]]):
    """The rows to ask, best first, with `experts`, the name of whom to ask for each."""

    experts: tuple[str, ...]

    @classmethod
    def of(cls, rows: Any, experts: Sequence[str]) -> Pairs:
        """Row numbers `(n,)` and names, as many."""
        pairs = np.asarray(rows, dtype=np.intp).view(cls)
        pairs.experts = tuple(experts)
        return pairs

    def __array_finalize__(self, other: Any) -> None:
        self.experts = ()  # of an array made from this one nobody knows whom to ask

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, Pairs) and found.ndim == 1:
            names = np.array(self.experts, dtype=object)
            found.experts = tuple(names[key]) if len(names) == len(self) else ()
        return found

    def __index__(self) -> int:
        if self.size != 1:
            raise TypeError(f"{self.size} rows are not one integer: take one of them")
        return int(self.item())

    __int__ = __index__


class ExpertLearner:
    """Ask the pair of row and expert that tells most for its price; learn from all answers at once.

    - `pool` `(n, d)`: the examples; `experts`: a list of `Expert(channel, cost, name)`;
    - `model`: a posterior without labels whose channel is replaced by the experts': `Laplace(...)`,
      with or without an encoder, `Grid(...)`, `Draws(...)`. The default is a Laplace posterior of
      logistic regression with a constant;
    - `selector`: `GainPerCost()`, or another rule by information. Posterior matching is refused;
    - `truth`: the channel of the label itself, for predictions.

    An expert is asked about a row once; other experts may still be asked about it. Everything that
    a `Learner` writes down (journal, archive, undo, correct) holds the expert, too.

    >>> from channelcode import Lapse, Logistic
    >>> doctor = Expert(Logistic(), 5.0, "doctor")
    >>> student = Expert(Lapse(Logistic(), 0.1, 0.1), 1.0, "student")
    >>> X = [[0.5, 1.0], [-1.0, 0.2], [0.3, -2.0]]
    >>> learner = ExpertLearner(X, experts=[doctor, student], seed=0)
    >>> pick = learner.ask()
    >>> int(pick), pick.experts
    (2, ('student',))
    >>> learner.tell(pick, 1, expert="student")
    >>> learner.spent
    1.0
    """

    def __init__(
        self,
        pool: ArrayLike,
        model: Posterior | None = None,
        selector: Selector | None = None,
        *,
        experts: Sequence[Expert],
        truth: Channel | None = None,
        seed: Seed = None,
    ) -> None:
        channel = Chosen(tuple(experts))
        matrix = as_dense(pool, "pool").astype(np.float64)
        rule = GainPerCost() if selector is None else selector
        if isinstance(rule, Matching):
            raise InvalidArgument("channel", NOT_COMPARABLE, rule)
        posterior = panel(Laplace(Logistic(), 1.0, intercept=True) if model is None else model,
                          channel, matrix)  # fmt: skip
        self._start(Learner(_pairs(matrix, channel), posterior, rule, seed=seed), truth)

    def _start(self, learner: Learner, truth: Channel | None) -> None:
        channel = learner.belief.channel
        if not isinstance(channel, Chosen):
            raise InvalidArgument("path", "must be a file of an ExpertLearner", channel)
        truth = Logistic() if truth is None else truth
        if (truth.dim, truth.num_outputs) != (channel.inner_dim, channel.num_outputs):
            raise InvalidArgument("truth", "must have the input and outputs of the experts", truth)
        self._learner, self._truth = learner, truth

    # Asking and telling -----------------------------------------------------------------------

    def ask(self, n: int = 1) -> Pairs:
        """The rows to ask next, best first, and whom (`experts`); nothing changes until told."""
        rows, numbers = np.divmod(np.asarray(self._learner.ask(n)), len(self.experts))
        return Pairs.of(rows, [self.experts[place].name for place in numbers])

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
        if expert is None:
            expert = getattr(index, "experts", ())
            if not expert:
                rule = "must say who answered, unless the rows are what ask gave"
                raise InvalidArgument("expert", rule, None)
        pairs = self._numbers(index, expert)
        single = np.ndim(index) == 0 or (isinstance(index, Pairs) and len(pairs) == 1)
        answer = label if not single else as_list(label, "label")
        self._learner.tell(pairs, answer, sample_weight=sample_weight, repeat=repeat)

    def correct(self, index: int, label: Any, *, expert: Any) -> None:
        """Replace an expert's answer about a row."""
        (pair,) = self._numbers(index, expert)
        self._learner.correct(pair, label)

    def skip(self, index: Any, *, expert: Any = None) -> None:
        """Do not ask this expert (or, without one, anybody) about a row until `unskip`."""
        told = set(self._learner.labelled.tolist()) | set(self._learner.skipped.tolist())
        pairs = self._everyone(index) if expert is None else self._numbers(index, expert)
        self._learner.skip([pair for pair in pairs if pair not in told])

    def unskip(self, index: Any, *, expert: Any = None) -> None:
        """Let an expert, or everybody, be asked about a row again."""
        skipped = set(self._learner.skipped.tolist())
        pairs = self._everyone(index) if expert is None else self._numbers(index, expert)
        self._learner.unskip([pair for pair in pairs if pair in skipped or expert is not None])

    def abstain(self, index: Any, *, expert: Any) -> None:
        """Take "don't know" as an expert's answer."""
        self._learner.abstain(self._numbers(index, expert))

    def undo(self) -> np.ndarray:
        """Take back the last call; the rows that it was about."""
        return self._learner.undo() // len(self.experts)

    def extend(self, more_rows: ArrayLike) -> None:
        """Add rows to the pool, `(m, d)`."""
        matrix = as_dense(more_rows, "more_rows").astype(np.float64)
        self._learner.extend(_pairs(matrix, self._channel))

    # What is known ----------------------------------------------------------------------------

    @property
    def experts(self) -> tuple[Expert, ...]:
        """Who may be asked."""
        return self._channel.experts

    @property
    def learner(self) -> Learner:
        """The learner behind it: row `r E + e` of its pool is row r and expert e of E."""
        return self._learner

    @property
    def pool(self) -> Array:
        """The examples, `(n, d)`."""
        return self._learner.pool[:: len(self.experts), :-1]

    @property
    def posterior(self) -> Any:
        """What is believed of the parameters, unknown rates last."""
        return self._learner.belief.posterior

    @property
    def spent(self) -> float:
        """The price of the answers in force."""
        weights = self._learner._state.journal.answers.answers
        numbers = [answer.row % len(self.experts) for answer in weights]
        return float(self._channel.costs[numbers].sum())

    @property
    def history(self) -> tuple[Answered, ...]:
        """One record for each event, oldest first."""
        records = []
        count = len(self.experts)
        for record in self._learner.history:
            expert = self.experts[record.index % count]
            paid = expert.cost if record.event in ("tell", "repeat") else 0.0
            row = record.index // count
            records.append(
                Answered(row, expert.name, record.label, paid, record.event, record.bits)
            )
        return tuple(records)

    def rates(self) -> dict[str, tuple[float, float]]:
        """The rates of wrong answers that are learnt: mean and deviation of each, by name."""
        channel, posterior = self._channel, self.posterior
        held = posterior.sized(self._learner.pool.shape[1])
        mean = np.asarray(held.mean)
        variance = np.diag(np.asarray(held.covariance))
        first = len(mean) - len(channel.unknown)
        found = {}
        z = np.linspace(-6.0, 6.0, 401)
        mass = np.exp(-0.5 * z**2)
        mass /= mass.sum()
        for place, expert in enumerate(channel.unknown):
            part = channel.part(expert)
            if not isinstance(part, LapseByLogit):
                continue
            rate = part.rate(mean[first + place] + np.sqrt(variance[first + place]) * z)
            centre = float(mass @ rate)
            spread = float(np.sqrt(mass @ np.square(rate - centre)))
            found[channel.experts[expert].name] = centre, spread
        return found

    def predict_proba(self, X: ArrayLike | None = None) -> Array:
        """The probability of each label itself, `(n, K)`, whoever may answer: through `truth`."""
        from channelcode.information import mutual_information

        matrix = self.pool if X is None else as_dense(X).astype(np.float64)
        laws = input_laws(self._learner.belief, matrix)
        return np.asarray(mutual_information(self._truth, laws).output)

    def predict(self, X: ArrayLike | None = None) -> np.ndarray:
        """The likeliest label of every row of X (of the pool by default), `(n,)`."""
        return self._learner.classes_[np.argmax(self.predict_proba(X), axis=1)]

    # Keeping ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one file (`.npz`, no pickle)."""
        return self._learner.save(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        model: Posterior | None = None,
        truth: Channel | None = None,
    ) -> ExpertLearner:
        """The learner that `save` wrote; `model` only where the file could not hold it.

        A model is the posterior of the learner that was saved (`learner.posterior`), and `truth` is
        as it was given.
        """
        new = cls.__new__(cls)
        new._start(Learner.load(path, model=model), truth)
        return new

    def __repr__(self) -> str:
        names = ", ".join(expert.name for expert in self.experts)
        return f"ExpertLearner({len(self.pool)} rows, experts {names}; spent {self.spent:g})"

    # Inside -----------------------------------------------------------------------------------

    @property
    def _channel(self) -> Chosen:
        channel: Any = self._learner.belief.channel
        return channel

    def _numbers(self, index: Any, expert: Any) -> list[int]:
        """The rows of the pairs in the pool of the learner behind this one."""
        listed = [index] if isinstance(index, int) else as_list(np.asarray(index), "index")
        rows = [as_row_number(row, len(self.pool)) for row in listed]
        names = [expert] if isinstance(expert, str) else as_list(expert, "expert")
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


def panel(model: Posterior, channel: Chosen, X: Array) -> Posterior:
    """A posterior without labels, with the experts' channels in place of its own."""
    if not isinstance(model, Posterior) or model.num_observations:
        raise InvalidArgument("model", "must be a posterior without labels", model)
    if (model.dim, model.num_labels) != (channel.inner_dim, channel.num_outputs):
        raise InvalidArgument("model", "must have the input and outputs of the experts", model)
    encoder: Any = getattr(model, "encoder", None)
    if encoder is None:
        if not isinstance(model, Laplace):
            rule = "must be Laplace, or a posterior with an encoder such as Draws or Particles"
            raise InvalidArgument("model", rule, model)
        if model.intercept and model.intercept_precision != model.prior_precision:
            rule = "must have one prior precision: with experts the intercept has that of the rest"
            raise InvalidArgument("model", rule, model)
        inner: Encoder = Affine() if model.intercept else Linear()
        pair = WithExpert(inner, channel, _count(inner, channel, X))
        return EncodedLaplace(
            channel, model.prior_precision, encoder=pair, restarts=0, classes=model._given
        )
    pair = WithExpert(encoder, channel, _count(encoder, channel, X))
    options: Any = model._options
    return type(model)(**options(model.state(), channel, encoder=pair))


def _count(encoder: Encoder, channel: Chosen, X: Array) -> int:
    known = encoder.num_parameters
    return channel.inner_dim * encoder.encode(X[:1]).shape[1] if known is None else known


def _pairs(X: Array, channel: Chosen) -> Array:
    """Rows (x, e), all experts of the first example, then of the second."""
    count = len(channel.experts)
    numbers = np.tile(np.arange(count, dtype=np.float64), len(X))
    return np.column_stack((np.repeat(X, count, axis=0), numbers))


def input_laws(belief: Belief, X: Array) -> Pool:
    """The laws of l itself at examples X `(n, d)`, under a belief about pairs."""
    channel: Any = belief.channel
    k = channel.inner_dim
    laws = belief.push(np.column_stack((X, np.zeros(len(X)))))
    if isinstance(laws, EmpiricalPool):
        samples = laws.samples[..., 0] if k == 1 else laws.samples[..., :k]
        return EmpiricalPool(samples, laws.weights)
    mean, spread = np.asarray(laws.mean), np.asarray(laws.covariance)  # type: ignore[attr-defined]
    if k == 1:
        return gaussian_pool(mean[:, 0], spread[:, 0, 0])
    return gaussian_pool(mean[:, :k], spread[:, :k, :k])


__all__ = ["Answered", "Expert", "ExpertLearner", "Pairs"]
