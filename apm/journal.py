"""The append-only record of labels: what was told, and what the learner knew when it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import Measure, ScalarPool


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of one selection: the chosen one, its lead, and where the others lie.

    `runner_up` is the best other candidate (None if there was none) and `margin` the lead over it;
    `mean` and `lowest` are over all `num_candidates`.
    """

    chosen: float
    runner_up: int | None
    margin: float | None
    mean: float
    lowest: float
    num_candidates: int


@dataclass(frozen=True)
class Record:
    """One label.

    - `index`, `label`: the row of the pool and its label;
    - `scores`: a `ScoreSummary`, or None for a row that was not asked;
    - `bits`: I(theta; Y) of the row just before its label, in bits;
    - `bound`: no candidate would have gained more than this beyond `bits` (in bits): `C(P) - I`
      at the tightest valid power, the largest E|L|^2 of the candidates; None if it was not asked;
    - `seconds`: spent on selecting the row and on updating the posterior, shared in a batch.
    """

    index: int
    label: Any
    scores: ScoreSummary | None
    bits: float
    bound: float | None
    seconds: float


@dataclass(frozen=True)
class Entry:
    """A label as it is told, before its information is worked out.

    `law` is the induced law just before the label: `(mean, variance)` on the line, else a measure.
    `power` is the largest E|L|^2 of the candidates, None for a row that was not asked.
    """

    index: int
    label: Any
    scores: ScoreSummary | None
    law: tuple[float, float] | Measure
    power: float | None
    seconds: float


class Journal:
    """Labels in the order they were told; entries are added, never changed.

    The information of an entry costs an integral, so it is computed when it is read, for all new
    entries at once.

    >>> from channelcode import Logistic
    >>> journal = Journal(Logistic())
    >>> journal.add(Entry(7, "cat", None, (0.0, 9.0), None, 0.0))
    >>> journal.label(7), round(journal.records()[0].bits, 4)
    ('cat', 0.4799)
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._labels: dict[int, Any] = {}
        self._records: list[Record] = []
        self._waiting: list[Entry] = []

    def __len__(self) -> int:
        return len(self._labels)

    def __contains__(self, index: object) -> bool:
        return index in self._labels

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records())

    def label(self, index: int) -> Any:
        """The label of a row; a row without one is an error."""
        if index not in self._labels:
            raise InvalidArgument("index", "must be a labelled row", index)
        return self._labels[index]

    @property
    def indices(self) -> list[int]:
        """The labelled rows, in the order of their labels."""
        return list(self._labels)

    @property
    def labels(self) -> list[Any]:
        """The labels, in the order they were told."""
        return list(self._labels.values())

    def add(self, entry: Entry) -> None:
        """Append one label; a row is labelled once."""
        if entry.index in self._labels:
            raise InvalidArgument("index", "must not be labelled already", entry.index)
        self._labels[entry.index] = entry.label
        self._waiting.append(entry)

    def records(self) -> tuple[Record, ...]:
        """All records, oldest first."""
        if self._waiting:
            bits = _gains(self._channel, [entry.law for entry in self._waiting])
            for entry, gain in zip(self._waiting, bits):
                bound = _bound(self._channel, entry.power, float(gain))
                scores, seconds = entry.scores, entry.seconds
                self._records.append(
                    Record(entry.index, entry.label, scores, float(gain), bound, seconds)
                )
            self._waiting = []
        return tuple(self._records)

    def to_list(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries, ready for JSON."""
        return [asdict(record) for record in self.records()]

    @classmethod
    def from_list(cls, channel: Channel, rows: list[dict[str, Any]]) -> Journal:
        """The journal that `to_list` came from."""
        journal = cls(channel)
        for row in rows:
            scores = None if row["scores"] is None else ScoreSummary(**row["scores"])
            record = Record(**{**row, "scores": scores})
            journal._labels[record.index] = record.label
            journal._records.append(record)
        return journal


def _gains(channel: Channel, laws: list[tuple[float, float] | Measure]) -> Array:
    """I(L; Y) in bits for every law, `(n,)`."""
    from channelcode.information import mutual_information

    bits = np.empty(len(laws))
    line = [place for place, law in enumerate(laws) if isinstance(law, tuple)]
    if line:
        mean, variance = np.array([laws[place] for place in line]).T
        bits[line] = mutual_information(channel, ScalarPool(mean, variance)).bits
    for place, law in enumerate(laws):
        if isinstance(law, Measure):
            bits[place] = mutual_information(channel, law).bits
    return bits


def _bound(channel: Channel, power: float | None, gain: float) -> float | None:
    if power is None:
        return None
    from channelcode.capacity import Power, capacity

    # C >= I: a difference below zero is the rounding of the integral
    return max(capacity(channel, Power(power)).certificate.upper - gain, 0.0)
