"""Any scikit-learn classifier with `predict_proba`, or a committee of them, inside `Learner`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.pools.inputs import Matrix
from apm.posteriors.base import Posterior
from apm.posteriors.input_projection import seen_part
from apm.posteriors.samples.reweighting import Pending
from channelcode._validation import Array, integer, probability
from channelcode.channels import Channel, Logistic, Softmax
from channelcode.errors import InvalidArgument, MissingExtra
from channelcode.measures import EmpiricalPool, Pool


class Fitted(NamedTuple):
    """The members as fitted to the labels held; none before two classes were seen."""

    members: tuple[Any, ...] = ()


class Committee(Posterior):
    """Classifiers of scikit-learn as samples of the channel input: one sample for each member.

    - `members`: classifiers with `fit` and `predict_proba`, or one, of which `copies` are fitted,
      each to labels drawn with replacement (the bootstrap; every class seen is kept);
    - `classes`: the labels, in order; all must be named beforehand;
    - `least_probability`: what a probability of zero counts as: a sample must be finite;
    - `rng`: an integer seed, for the copies and for members without a `random_state` of their own.

    The members are fitted anew to all labels with every label; until two classes were seen, each
    calls all classes equally likely. A member's input is `l = ln p` (two classes: the log odds), so
    its channel output is its own `predict_proba`. Probabilities are the mean over the members, and
    rules read their laws: `InformationGain()` (disagreement of the members), `EPIG()`,
    `Margin(bayesian=True)`, `APM(PoolMaxPower())`. There are no weights: what needs them raises.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from apm import Learner
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> learner = Learner(X, Committee(DecisionTreeClassifier(), ["no", "yes"], copies=8), seed=0)
    >>> learner.tell(range(10), np.where(X[:10, 0] > 0, "yes", "no"))
    >>> learner.predict_proba(X).shape, len(learner.ask(3))
    ((60, 2), 3)
    """

    __slots__ = ("_copies", "_least", "_members", "_pending", "_seed")
    _members: tuple[Any, ...]
    _copies: int
    _least: float
    _seed: int
    _pending: tuple[Pending, ...]

    linear = False
    gives_samples = True

    def __init__(
        self,
        members: Any,
        classes: ArrayLike,
        *,
        copies: int = 10,
        least_probability: float = 1e-6,
        rng: int = 0,
    ) -> None:
        several = isinstance(members, Sequence)
        listed = tuple(members) if several else (members,)
        if not listed:
            raise InvalidArgument("members", "must be one classifier or more", members)
        for member in listed:
            if not (hasattr(member, "fit") and hasattr(member, "predict_proba")):
                rule = "must be classifiers with fit and predict_proba"
                raise InvalidArgument("members", rule, member)
        least = probability("least_probability", least_probability)
        count = len(np.asarray(classes))
        if not 0.0 < least < 1.0 / max(count, 2):
            raise InvalidArgument("least_probability", f"must be in (0, 1/{count})", least)
        self._set(
            _members=listed,
            _copies=1 if several else integer("copies", copies, least=1),
            _least=least,
            _seed=integer("rng", rng, least=0),
            _pending=(),
            _given=np.empty(count),  # for num_labels, until the classes are checked
        )
        if count < 2:
            raise InvalidArgument("classes", "must be two or more", classes)
        super().__init__(1.0, classes=classes)

    @property
    def num_labels(self) -> int:
        return 2 if self._given is None else len(self._given)

    @property
    def dim(self) -> int:
        return 1 if self.num_labels == 2 else self.num_labels

    @property
    def channel(self) -> Channel:
        return Logistic() if self.num_labels == 2 else Softmax(self.num_labels)

    @property
    def num_members(self) -> int:
        """How many classifiers vote."""
        return len(self._members) * self._copies

    @property
    def members(self) -> tuple[Any, ...]:
        """The classifiers, as fitted to the labels so far; empty before two classes were seen."""
        self._known_design()
        return self._solution.members

    @property
    def mean(self) -> NoReturn:
        """Not known: an error."""
        self._without_weights("mean")

    @property
    def covariance(self) -> NoReturn:
        """Not known: an error."""
        self._without_weights("covariance")

    @property
    def map(self) -> NoReturn:
        """Not known: an error."""
        self._without_weights("map")

    @property
    def summed_covariance(self) -> NoReturn:
        """Not known: an error."""
        self._without_weights("summed_covariance")

    def _without_weights(self, wanted: str) -> NoReturn:
        rule = (
            f"must have weights for {wanted}, and classifiers of scikit-learn show none. Choose a "
            "rule that needs their probabilities alone, as InformationGain(), EPIG(), "
            "Margin(bayesian=True) or APM(PoolMaxPower())"
        )
        raise InvalidArgument("posterior", rule, self)

    def mean_inputs(self, features: Any) -> Any:
        """E l of every candidate: `(m,)` on the line, `(m, k)` in R^k."""
        return self.pool(self.project(features)).mean

    def project(self, features: Matrix) -> tuple[Array, ...]:
        """The input of every row under each member: `(n, s)`, or `(n, s, K)` for K > 2."""
        self.require_features(features.shape[1])
        rows, k = features.shape[0], self.num_labels
        if not self._solution.members:
            shape = (rows, self.num_members) if k == 2 else (rows, self.num_members, k)
            return (np.zeros(shape),)
        logs = np.empty((rows, self.num_members, k))
        for place, member in enumerate(self._solution.members):
            chances = np.full((rows, k), self._least)
            chances[:, np.asarray(member.classes_)] = member.predict_proba(features)
            logs[:, place] = np.log(np.maximum(chances, self._least))
        inputs = logs[..., 1] - logs[..., 0] if k == 2 else seen_part(self.channel, logs)
        for pending in self._pending:
            inputs = pending.moved(inputs)
        return (inputs,)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays)

    def after_asking(self, features: Matrix, weight: Any) -> Self:
        equal = np.full(self.num_members, 1.0 / self.num_members)
        pending = Pending.of(self.project(features)[0][0], equal, weight)
        return self._evolve(_pending=(*self._pending, pending))

    # Inside -----------------------------------------------------------------------------------

    def _solve(self, start: Posterior | None, fresh: int) -> Fitted:
        self._set(_pending=())  # a label that came is no longer awaited
        active = self._ordered()
        X, codes, weights = self.design[active], self._codes[active], self._weights[active]
        if len(np.unique(codes)) < 2:
            return Fitted()
        found = []
        for number in range(self.num_members):
            rows = self._drawn(codes, number)
            options = {} if (weights == 1.0).all() else {"sample_weight": weights[rows]}
            found.append(self._member(number).fit(X[rows], codes[rows], **options))
        return Fitted(tuple(found))

    def _ordered(self) -> Any:
        """The labels that count, in an order of their own: not that in which they were told."""
        told: list[Any] = [
            (row.tobytes(), code, weight)
            for row, code, weight in zip(self.design, self._codes.tolist(), self._weights.tolist())
        ]
        places = sorted(range(len(told)), key=told.__getitem__)
        return np.array([place for place in places if told[place][2] > 0], dtype=np.intp)

    def _drawn(self, codes: Any, number: int) -> Any:
        """The labels that a member learns from: all, or as many with replacement."""
        if self._copies == 1:
            return np.arange(len(codes))
        rng = np.random.default_rng([self._seed, number, len(codes)])
        rows = rng.integers(len(codes), size=len(codes))
        for code in np.setdiff1d(codes, codes[rows]):
            rows = np.append(rows, rng.choice(np.flatnonzero(codes == code)))
        return np.sort(rows)

    def _member(self, number: int) -> Any:
        """A fresh copy of a classifier; without a seed of its own it gets one of ours."""
        try:
            from sklearn.base import clone
        except ImportError:
            raise MissingExtra("scikit-learn", "sklearn") from None
        member: Any = clone(self._members[number % len(self._members)])
        unset = {
            name: int(np.random.default_rng([self._seed, number]).integers(2**31))
            for name, value in member.get_params().items()
            if value is None and name.rpartition("__")[2] == "random_state"
        }
        return member.set_params(**unset) if unset else member

    def parts(self) -> dict[str, Any]:
        return {"channel": self.channel, "members": self._members}

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Fitted:
        return self._solve(None, 0)  # the same labels and seeds give the same members

    def state(self) -> dict[str, np.ndarray]:
        plan = np.array([self._copies, self._seed], dtype=np.int64)
        told = np.array([repr(member) for member in self._members])
        least = np.array(self._least)
        return super().state() | {"plan": plan, "least": least, "members": told}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any, **parts: Any) -> dict[str, Any]:
        members, (copies, seed) = parts["members"], state["plan"].tolist()
        told, own = state["members"].tolist(), [repr(member) for member in members]
        if told != own:
            raise InvalidArgument("model", f"must have the members of the file, {told}", own)
        return {
            "members": members if len(members) > 1 or copies == 1 else members[0],
            "classes": state["given"],
            "copies": copies,
            "least_probability": float(state["least"]),
            "rng": seed,
        }

    def __repr__(self) -> str:
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        kinds = ", ".join(type(member).__name__ for member in self._members)
        copies = f" x {self._copies}" if self._copies > 1 else ""
        return f"Committee([{kinds}]{copies}; {seen})"
