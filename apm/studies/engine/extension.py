"""One more method for trials that are there: what a trial lacks, and how the two parts are joined.

A trial's split, its first labels and the stream of each method follow from the settings and the
trial's number, so a method run later sees what it would have seen at once. A file that was extended
says so: `versions` are those of its first methods, and `extended` lists the later ones with the
fingerprint that the file had before and the versions that made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from apm.studies.engine.store import Store, StoreError
from apm.studies.engine.trial import Run
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.studies.engine.study import Plan

START_ATOL = 1e-9  # of an accuracy, a count over a count: equal but for the rounding of a quotient


def lacking(store: Store, plan: Plan, trial: int) -> Plan | None:
    """The plan with the methods that a stored trial lacks; None if it is of another study."""
    meta = _meta(store, plan, trial)
    held = None if meta is None else _held(plan, meta)
    if held is None:
        return None
    return plan.with_methods([name for name in plan.methods if name not in held])


def earlier_marks(store: Store, plan: Plan, mark: str) -> frozenset[str]:
    """The fingerprints of stored trials of this plan that have some of its methods only."""
    found = set()
    for trial in range(plan.num_trials):
        meta = _meta(store, plan, trial)
        if meta is not None and meta.get("fingerprint") != mark and _held(plan, meta) is not None:
            found.add(str(meta["fingerprint"]))
    return frozenset(found)


def joined(
    store: Store, plan: Plan, trial: int, later: list[Run], meta: dict[str, Any]
) -> tuple[list[Run], dict[str, Any]]:
    """All runs of a trial in the plan's order, and its description: first part and later ones.

    Both parts must begin at the same place: the accuracy before the first query is that of the
    split, the first labels and the model, whatever the method.
    """
    before, arrays = store.content(plan.name, trial)
    earlier = [
        Run(method, {key[len(method) + 1 :]: arrays[key] for key in arrays if _is(key, method)})
        for method in before["methods"]
    ]
    starts = [run.arrays["accuracy"][0] for run in (*earlier, *later) if "accuracy" in run.arrays]
    if starts and np.ptp(starts) > START_ATOL:
        raise StoreError(
            f"{store.path(plan.name, trial)} does not begin where this version begins (accuracy "
            f"{starts[0]:.6f} and {starts[-1]:.6f} before the first query): it cannot be extended. "
            "Name another output directory to run the study anew."
        )
    by_name = {run.method: run for run in (*earlier, *later)}
    step = {
        "methods": [run.method for run in later],
        "fingerprint": before["fingerprint"],
        "versions": meta["versions"],
    }
    told = {**meta, "versions": before["versions"], "extended": [*before.get("extended", []), step]}
    return [by_name[method] for method in plan.methods], told


def _is(key: str, method: str) -> bool:
    return key.rpartition("/")[0] == method


def _held(plan: Plan, meta: dict[str, Any]) -> list[str] | None:
    """The methods of a stored trial if all else about it is this plan's; None if it is not."""
    own = getattr(plan, "methods", ())
    methods = [name for name in own if name in meta["methods"]]
    if not methods or set(methods) != set(meta["methods"]) or len(methods) == len(own):
        return None
    try:
        mark = plan.with_methods(meta["methods"]).fingerprint()
    except InvalidArgument:
        return None
    return methods if mark == meta.get("fingerprint") else None


def _meta(store: Store, plan: Plan, trial: int) -> dict[str, Any] | None:
    try:
        return store.meta(plan.name, trial)
    except (OSError, InvalidArgument):
        return None  # damaged: it is run again as a whole
