"""The next rows to label, as a function of the pool and the answers alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from apm.answering import default_posterior
from apm.belief import Belief
from apm.label.book import LABELLED, SKIPPED, UNSURE, Answer
from apm.label.escaping import as_label
from apm.learner import Learner
from apm.selectors import Selector
from channelcode._validation import integer
from channelcode.errors import InvalidArgument

SHORTLIST = 4000  # rows among which the second and later rows of a batch are looked for

Answers = dict[int, Answer]


class Session:
    """Picks that follow from the features, the answers and the seed, and from nothing else.

    Whoever has the same pool and the same answers is asked the same row: the order in which the
    answers came does not matter, nor does what was asked before. Labels are text. `classes` are
    those named beforehand; more may come with the answers. `selector` is the rule, by default the
    one that a `Learner` would use.

    >>> X = np.array([[0.5, 1.0], [-1.0, 0.2], [0.3, -2.0], [1.0, 1.0]])
    >>> session = Session(X)
    >>> answers = {2: Answer("label", "no"), 0: Answer("label", "yes"), 3: Answer("skip")}
    >>> session.ask(answers), session.ask(dict(reversed(answers.items())))
    ([1], [1])
    """

    def __init__(
        self,
        features: Any,
        *,
        classes: Sequence[str] = (),
        selector: Selector | None = None,
        seed: int = 0,
    ) -> None:
        self.features = features
        self.selector = selector
        self.classes = tuple(_label(name) for name in dict.fromkeys(classes))
        self.seed = integer("seed", seed, least=0)
        self._fresh: dict[tuple[str, ...], Learner] = {}

    def known_classes(self, answers: Answers) -> tuple[str, ...]:
        """The classes named beforehand, then those of the answers, in alphabetical order."""
        told = {answer.label for answer in answers.values() if answer.kind == LABELLED}
        return (*self.classes, *sorted(told.difference(self.classes)))

    def learner(self, answers: Answers) -> Learner:
        """A learner that was told the answers, row by row in the order of the pool."""
        learner = copy.copy(self._blank(self.known_classes(answers)))
        rows = sorted(answers)
        told = [row for row in rows if answers[row].kind == LABELLED]
        if told:
            learner.tell(told, [answers[row].label for row in told])
        for kind, call in ((SKIPPED, learner.skip), (UNSURE, learner.abstain)):
            those = [row for row in rows if answers[row].kind == kind]
            if those:
                call(those)
        return learner

    def in_order(self, answers: Answers) -> Learner:
        """A learner that was told the labels in the order of `answers`, for its learning curve."""
        learner = copy.copy(self._blank(self.known_classes(answers)))
        told = {row: each.label for row, each in answers.items() if each.kind == LABELLED}
        if told:
            learner.tell(list(told), list(told.values()))
        return learner

    def ask(self, answers: Answers, n: int = 1) -> list[int]:
        """The n rows to label next, best first; fewer if fewer are left.

        The first row is the one that `n=1` gives. In pools of more than 4,000 open rows the others
        are looked for among the 4,000 that score best for the first.
        """
        return self.asked_by(self.learner(answers), n)

    def asked_by(self, learner: Learner, n: int = 1) -> list[int]:
        """The rows that a learner of this session asks for."""
        left = len(learner.remaining)
        count = min(integer("n", n, least=1), left)
        if count == 0:
            return []
        if count == 1 or left <= SHORTLIST:
            return learner.ask(count).tolist()
        (first,) = learner.ask().tolist()
        choice = learner._asked.choice  # type: ignore[union-attr]
        best = np.argsort(-choice.scores, kind="stable")[: max(SHORTLIST, count)]
        shortlist = np.union1d(choice.candidates[best], [first])
        state = learner._state
        chosen = state.selector.choose(
            state.belief,
            state.features[shortlist],
            np.arange(len(shortlist)),
            n=count,
            rng=learner._round_seed(),
        )
        picked = shortlist[chosen.indices].tolist()
        others = [row for row in picked if row != first]
        return [first, *others][:count]

    def _blank(self, classes: tuple[str, ...]) -> Learner:
        """A learner without answers for these classes; the last ones are kept."""
        if classes not in self._fresh:
            named = list(classes) if len(classes) > 1 else None
            posterior = default_posterior(max(2, len(classes)), named)
            while len(self._fresh) > 2:
                self._fresh.pop(next(iter(self._fresh)))
            self._fresh[classes] = Learner(
                self.features, Belief(posterior), self.selector, seed=self.seed
            )
        return self._fresh[classes]


def _label(name: str) -> str:
    label = as_label(name)
    if label is None:
        raise InvalidArgument("classes", "must be names of one line each", name)
    return label
