"""Posteriors as plain arrays and back, and the step from one to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from apm.posteriors.evidence import MaximumEvidence
from apm.posteriors.labels import Codes, Labels, lookup
from channelcode._validation import Array
from channelcode.measures.base import Immutable


class Stored(Immutable, ABC):
    """What of a posterior goes to a file: its options, its data and its solution."""

    __slots__ = (
        "_cache", "_classes", "_codes", "_design", "_evidence", "_given", "_intercept",
        "_intercept_precision", "_lookup", "_num_features", "_precision", "_prior_precision",
        "_solution", "_weights",
    )  # fmt: skip
    _code_type: ClassVar[Any] = np.int64
    _cache: dict[str, Any]
    _classes: Labels | None
    _codes: Codes
    _design: Array | None
    _evidence: MaximumEvidence | None
    _given: Labels | None
    _intercept: bool
    _intercept_precision: float
    _lookup: dict[Any, int]
    _num_features: int | None
    _precision: Array
    _prior_precision: float
    _solution: Any
    _weights: Array

    @property
    def prior_precision(self) -> float:
        """lambda, the precision of the prior of every weight."""
        return self._prior_precision

    @property
    def evidence(self) -> MaximumEvidence | None:
        """The rule by which the labels choose the prior precision, if they do."""
        return self._evidence

    @property
    def intercept(self) -> bool:
        """Whether a constant feature is added, last."""
        return self._intercept

    @property
    def intercept_precision(self) -> float:
        """The prior precision of the intercept."""
        return self._intercept_precision

    def state(self) -> dict[str, np.ndarray]:
        """Everything that is needed to go on, as plain arrays (for `numpy.savez`, no pickle)."""
        arrays: dict[str, np.ndarray] = {
            "prior_precision": np.array(self._prior_precision),
            "intercept": np.array(self._intercept),
            "intercept_precision": np.array(self._intercept_precision),
        }
        if self._evidence is not None:
            arrays["evidence"] = self._evidence.to_array()
        if self._given is not None:
            arrays["given"] = self._given
        if self._design is not None:
            arrays |= {"design": self._design, "codes": self._codes, "weights": self._weights}
            if self._classes is not None:
                arrays["classes"] = self._classes
            arrays |= self._solution_state()
        return arrays

    def parts(self) -> dict[str, Any]:
        """The objects that `from_state` needs beside the arrays, by name: the channel."""
        return {"channel": getattr(self, "channel", None)}

    def restored(self, state: dict[str, np.ndarray]) -> Self:
        """The posterior with this one's channel that `state()` came from."""
        parts = self.parts()
        return self.from_state(state, parts.pop("channel"), **parts)

    def without_data(self) -> Self:
        """The posterior as it was made: its options, and no labels."""
        parts = self.parts()
        return type(self)(**self._options(self.state(), parts.pop("channel"), **parts))

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray], channel: Any = None, **parts: Any) -> Self:
        """The posterior that `state()` came from; the channel only if the posterior takes one."""
        new = cls(**cls._options(state, channel, **parts))
        if "design" in state:
            design = np.array(state["design"], dtype=np.float64)
            new._set(_prior_precision=float(state["prior_precision"]))  # as the labels chose it
            new._set(
                _design=design,
                _num_features=design.shape[1] - new._intercept,
                _precision=new._prior_diagonal(design.shape[1] - new._intercept),
                _codes=np.array(state["codes"], dtype=cls._code_type),
                _weights=np.array(state["weights"], dtype=np.float64),
            )
            if "classes" in state:
                classes = np.array(state["classes"])
                new._set(_classes=classes, _lookup=lookup(classes))
            new._set(_solution=new._restore_solution(state))
        return new

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        """The arguments of the constructor that `state` holds, and the channel if it takes one."""
        precision: Any = float(state["prior_precision"])
        if "evidence" in state:
            precision = MaximumEvidence(*np.asarray(state["evidence"], dtype=float).tolist())
        return {
            "prior_precision": precision,
            "intercept": bool(state["intercept"]),
            "intercept_precision": float(state["intercept_precision"]),
            "classes": state.get("given"),
        }

    @abstractmethod
    def _solution_state(self) -> dict[str, np.ndarray]:
        """The solution as plain arrays."""

    @abstractmethod
    def _restore_solution(self, state: dict[str, np.ndarray]) -> Any:
        """The solution from what `_solution_state` gave."""

    def _prior_diagonal(self, num_features: int) -> Array:
        diagonal = np.full(num_features + self._intercept, self._prior_precision)
        if self._intercept:
            diagonal[-1] = self._intercept_precision
        diagonal.setflags(write=False)
        return diagonal

    def _evolve(self, **changes: Any) -> Self:
        new = object.__new__(type(self))
        changes["_cache"] = {}
        for name, get, put in fields(type(self)):
            put(new, changes[name] if name in changes else get(self))
        return new


@cache
def fields(cls: type) -> tuple[tuple[str, Any, Any], ...]:
    """The fields of a posterior: names, and how their slots are read and set."""
    names = (name for base in cls.__mro__ for name in getattr(base, "__slots__", ()))
    slots = ((name, getattr(cls, name)) for name in names)
    return tuple((name, slot.__get__, slot.__set__) for name, slot in slots)
