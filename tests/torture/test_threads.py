"""Several threads at one learner: nothing is lost, nothing counts twice."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from channelcode.errors import InvalidArgument
from tests.torture.cases import learner, pool

ROWS = 40


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*tasks: Callable[[], None]) -> None:
    barrier, errors = threading.Barrier(len(tasks)), []

    def started(task: Callable[[], None]) -> None:
        barrier.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=started, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_labels_told_by_four_threads_all_count():
    held = learner(ROWS)

    def tells(first: int) -> None:
        for row in range(first, ROWS, 4):
            held.tell(row, row % 2)

    together(*(partial(tells, first) for first in range(4)))
    posterior = held.belief.posterior
    assert sorted(held.labelled.tolist()) == list(range(ROWS))
    assert len(held.history) == posterior.num_observations == ROWS
    told = {tuple(row): code for row, code in zip(posterior.design, posterior.codes)}
    assert told == {tuple(row): place % 2 for place, row in enumerate(pool(ROWS))}


def test_asking_beside_telling_never_names_a_row_that_was_labelled_before():
    held = learner(ROWS)
    wrong = []

    def asks() -> None:
        for _ in range(30):
            known = set(held.labelled.tolist())
            if len(known) < ROWS and int(held.ask()[0]) in known:
                wrong.append(known)

    def tells() -> None:
        for row in range(ROWS - 1):
            held.tell(row, row % 2)

    together(asks, tells, asks)
    assert wrong == []
    assert held.belief.posterior.num_observations == ROWS - 1


def test_the_same_label_from_two_threads_counts_once():
    held = learner(ROWS)
    everything = list(range(ROWS))
    labels = [row % 2 for row in everything]
    together(*[lambda: held.tell(everything, labels)] * 4)
    assert held.belief.posterior.num_observations == ROWS


def test_undo_beside_tell_leaves_labels_and_posterior_in_step():
    held = learner(ROWS)

    def tells() -> None:
        for row in range(ROWS):
            held.tell(row, row % 2)

    def undoes() -> None:
        for _ in range(10):
            with suppress(InvalidArgument):  # nothing left to take back
                held.undo()

    held.tell(0, 0)
    together(tells, undoes)
    assert held.belief.posterior.num_observations == len(held.labelled)
    fresh = learner(ROWS)
    fresh.tell(held.labelled, [int(row) % 2 for row in held.labelled])
    np.testing.assert_allclose(
        held.belief.posterior.mean, fresh.belief.posterior.mean, rtol=1e-7, atol=1e-9
    )  # the fixed point is solved to 1e-10
