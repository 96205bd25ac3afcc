"""The append-only record of events: what was told, and what the learner knew when it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from apm.storage.answers import EVENTS, Answers, last_call, replayed
from apm.storage.frames import frame
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import Measure, ScalarPool


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of one selection: the chosen one, its lead, and where the others lie.

    `runner_up` is the best other candidate (None if there was none) and `margin` the lead over it;
    `mean` and `lowest` are over all `num_candidates`; None where those of a streamed pool that
    could not be chosen were not read.
    """

    chosen: float
    runner_up: int | None
    margin: float | None
    mean: float | None
    lowest: float | None
    num_candidates: int


@dataclass(frozen=True)
class Record:
    """One event: a label told, or a row skipped, corrected, taken back.

    - `index`, `label`: the row of the pool and its label (None where there is none);
    - `scores`: a `ScoreSummary`, or None for a row that was not asked;
    - `bits`: I(theta; Y) of the row just before its label, in bits; None for other events;
    - `bound`: no candidate would have gained more than this beyond `bits` (in bits): `C(P) - I`
      at the tightest valid power, the largest E|L|^2 of the candidates; None if it was not asked;
    - `seconds`: spent on selecting the row and on updating the posterior, shared in a batch;
    - `event`: tell, repeat, correct, skip, unskip, abstain, undo or extend;
    - `sample_weight`: of the label; `call`: the number of the call that the record belongs to, and
      `of` the call that an undo took back;
    - `power`: E|L|^2 of the row just before its label, what the label was asked at (see
      `Learner.efficiency`); None for other events and in files of older versions.
    """

    index: int
    label: Any
    scores: ScoreSummary | None
    bits: float | None
    bound: float | None
    seconds: float
    event: str
    sample_weight: float
    call: int
    of: int | None
    power: float | None


class Entry(NamedTuple):
    """An event as it happens, before its information is worked out.

    `law` is the induced law just before the label: `(mean, variance)` on the line, else a measure;
    None without a label. `channel` is what that law goes through, if it is not the journal's.
    `power` is the largest E|L|^2 of the candidates, None for a row that was not asked. The rest is
    as in a `Record`.
    """

    index: int
    label: Any = None
    scores: ScoreSummary | None = None
    law: tuple[float, float] | Measure | None = None
    power: float | None = None
    seconds: float = 0.0
    event: str = "tell"
    sample_weight: float = 1.0
    call: int = 0
    of: int | None = None
    channel: Channel | None = None


class History(tuple[Record, ...]):
    """The records of a learner, oldest first: a tuple that can become a table."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each record, the fields of its scores as columns."""
        rows = []
        for record in self:
            row = asdict(record)
            scores = row.pop("scores") or {}
            rows.append({**row, **{f"score_{name}": value for name, value in scores.items()}})
        plain = [each.name for each in fields(Record) if each.name != "scores"]
        columns = plain + [f"score_{each.name}" for each in fields(ScoreSummary)]
        return frame(rows, columns)


@dataclass(frozen=True)
class Journal:
    """Events in the order they came; a journal is never changed, `plus` gives a longer one.

    The information of a label costs an integral, so it is computed when it is read, for all new
    entries at once.

    >>> from channelcode import Logistic
    >>> journal = Journal(Logistic()).plus([Entry(7, "cat", law=(0.0, 9.0))])
    >>> journal.answers.labels, round(journal.records()[0].bits, 4)
    ({7: 'cat'}, 0.4799)
    """

    channel: Channel
    entries: tuple[Entry | Record, ...] = ()
    answers: Answers = Answers()
    calls: int = 0
    # Entries worked out so far, shared with the journals that this one grew from and into.
    _known: list[tuple[Any, Record]] = field(default_factory=list, repr=False, compare=False)

    def __len__(self) -> int:
        """How many labels are in force."""
        return len(self.answers.answers)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records())

    def plus(self, entries: Iterable[Entry], *, together: bool = True) -> Journal:
        """This journal with the entries of one call, or of one call each."""
        added = []
        for place, entry in enumerate(entries):
            added.append(entry._replace(call=self.calls + 1 + (0 if together else place)))
        if not added:
            return self
        every = (*self.entries, *added)
        undo = any(entry.event == "undo" for entry in added)
        answers = replayed(every) if undo else self.answers.after(added)
        return Journal(self.channel, every, answers, added[-1].call, self._known)

    def undoing(self) -> list[Entry]:
        """The entries that take back the last call, latest row first; empty if there is none."""
        call = last_call(self.entries)
        back = reversed([entry for entry in self.entries if entry.call == call])
        return [Entry(entry.index, entry.label, event="undo", of=call) for entry in back]

    def records(self) -> History:
        """All records, oldest first."""
        known, shared = self._known, min(len(self._known), len(self.entries))
        if shared and known[shared - 1][0] is not self.entries[shared - 1]:
            known = []  # the cache went with another branch
        waiting = self.entries[len(known) :]
        known.extend(zip(waiting, _worked_out(self.channel, waiting)))
        return History(record for _, record in known[: len(self.entries)])

    def to_list(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries, ready for JSON."""
        return [asdict(record) for record in self.records()]

    @classmethod
    def from_list(cls, channel: Channel, rows: list[dict[str, Any]]) -> Journal:
        """The journal that `to_list` came from; every field and their sequence are checked."""
        records = [_checked(row, place) for place, row in enumerate(rows)]
        calls = [record.call for record in records]
        if any(not 0 <= later - call <= 1 for call, later in zip([0, *calls], calls)):
            raise InvalidArgument("journal", "must number its calls 1, 2, ...", calls)
        seen: list[Record] = []
        for record in records:
            if record.event == "undo" and record.of != last_call(
                known for known in seen if known.call != record.call
            ):
                raise InvalidArgument("journal", "must undo the last call", record.of)
            seen.append(record)
        known = [(record, record) for record in records]
        return cls(channel, tuple(records), replayed(records), max(calls, default=0), known)


def _worked_out(channel: Channel, entries: tuple[Any, ...]) -> list[Record]:
    told = [entry for entry in entries if entry.law is not None]
    through = {id(entry): entry.channel or channel for entry in told}
    gains: dict[int, Any] = {}
    for each in {id(used): used for used in through.values()}.values():
        group = [entry for entry in told if through[id(entry)] is each]
        found = _gains(each, [entry.law for entry in group]).tolist()
        gains |= dict(zip(map(id, group), found))
    records = []
    for entry in entries:
        bits, error = gains.get(id(entry), (None, 0.0))
        bound = None
        if bits is not None:
            bound = _bound(through[id(entry)], entry.power, bits - error)
        records.append(
            Record(
                entry.index, entry.label, entry.scores, bits, bound, entry.seconds, entry.event,
                entry.sample_weight, entry.call, entry.of, _spent(entry),
            )
        )  # fmt: skip
    return records


def _spent(entry: Any) -> float | None:
    """E|L|^2 of the row just before its label."""
    law = entry.law
    if law is None:
        return None
    if isinstance(law, tuple):
        mean, variance = law
        return float(mean**2 + variance)
    return float(law.second_moment)


_NUMBER = (int, float)
_SHAPES: dict[str, tuple[tuple[type, ...], float]] = {  # types, and the least value of a number
    "index": ((int,), 0),
    "bits": ((*_NUMBER, type(None)), -1e-9),  # the rounding of an integral
    "bound": ((*_NUMBER, type(None)), 0),
    "seconds": (_NUMBER, 0),
    "event": ((str,), 0),
    "sample_weight": (_NUMBER, 0),
    "call": ((int,), 1),
    "of": ((int, type(None)), 1),
    "power": ((*_NUMBER, type(None)), 0),
}
_SCORES: dict[str, tuple[type, ...]] = {
    "chosen": _NUMBER,
    "runner_up": (int, type(None)),
    "margin": (*_NUMBER, type(None)),
    "mean": (*_NUMBER, type(None)),
    "lowest": (*_NUMBER, type(None)),
    "num_candidates": (int,),
}


def _checked(row: Any, place: int) -> Record:
    """One record from a file, every field of its type and within its range."""
    where = f"record {place}"
    if isinstance(row, dict):
        row = {"power": None, **row}  # older files have none
    if not isinstance(row, dict) or set(row) != {each.name for each in fields(Record)}:
        raise InvalidArgument("journal", f"must have the fields of a record in {where}", row)
    for name, (kinds, least) in _SHAPES.items():
        value = row[name]
        wrong = not isinstance(value, kinds) or isinstance(value, bool)
        if wrong or (isinstance(value, _NUMBER) and not least <= value < np.inf):
            raise InvalidArgument("journal", f"must have a proper {name} in {where}", value)
    if row["event"] not in EVENTS or (row["event"] == "undo") != (row["of"] is not None):
        raise InvalidArgument("journal", f"must have a known event in {where}", row["event"])
    label, told = row["label"], row["event"] in ("tell", "repeat", "correct")
    plain = isinstance(label, bool | int | float | str) and label == label
    if not plain and (told or label is not None):
        raise InvalidArgument("journal", f"must have a plain label in {where}", label)
    scores = row["scores"]
    if scores is not None:
        if not isinstance(scores, dict) or set(scores) != set(_SCORES):
            raise InvalidArgument("journal", f"must have proper scores in {where}", scores)
        for name, kinds in _SCORES.items():
            if not isinstance(scores[name], kinds) or isinstance(scores[name], bool):
                raise InvalidArgument("journal", f"must have a proper {name} in {where}", scores)
        scores = ScoreSummary(**scores)
    return Record(**{**row, "scores": scores})


def _gains(channel: Channel, laws: list[tuple[float, float] | Measure]) -> Array:
    """I(L; Y) in bits for every law, and its error (four standard errors in R^k): `(n, 2)`."""
    from channelcode.information import mutual_information

    bits = np.empty((len(laws), 2))
    line = [place for place, law in enumerate(laws) if isinstance(law, tuple)]
    if line:
        mean, variance = np.array([laws[place] for place in line]).T
        found = mutual_information(channel, ScalarPool(mean, variance))
        bits[line, 0], bits[line, 1] = found.bits, found.error
    for place, law in enumerate(laws):
        if isinstance(law, Measure):
            found = mutual_information(channel, law)
            bits[place] = found.bits, found.error
    return bits


def _bound(channel: Channel, power: float | None, gain: float) -> float | None:
    """C(power) - gain, where the capacity is proved; `gain` is the least that the law can have."""
    if power is None or not channel.same_units:
        return None
    from channelcode.capacity import Power, capacity

    best = capacity(channel, Power(power), throw=False)
    # C >= I: a difference below zero is the rounding of the integral
    return max(best.certificate.upper - gain, 0.0) if best.status.ok else None
