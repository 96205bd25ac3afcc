"""Running tasks: in this process, in worker processes (joblib), or on a Dask cluster."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from apm.studies.engine.trial import Run
from channelcode.errors import ChannelCodeError, MissingExtra

KEPT = "What is finished is kept: run the same command again"

Result = tuple[str, int, list[Run], float]


class StudyError(ChannelCodeError):
    """A study could not go on; the message says what is kept and what to do."""


@dataclass(frozen=True)
class Task:
    """One trial of a plan to run; the plan carries its data."""

    plan: Any
    trial: int


def execute(task: Task) -> Result:
    """The plan's name, the trial, its runs and the CPU seconds they took."""
    from threadpoolctl import threadpool_limits

    begin = time.process_time()
    with threadpool_limits(1):  # one thread: the same rounding whoever runs the trial
        runs = task.plan.run(task.trial)
    return task.plan.name, task.trial, runs, time.process_time() - begin


def results_of(tasks: Iterator[Task], workers: int, dask: Any) -> Generator[Result, None, None]:
    """What `execute` gives for every task, in the order in which they finish."""
    return values_of(execute, tasks, workers, dask)


def values_of(
    function: Callable[[Any], Any], tasks: Iterator[Any], workers: int, dask: Any
) -> Generator[Any, None, None]:
    """`function` of every task, in the order in which they finish: here, by workers, on Dask."""
    if dask is not None:
        from apm.cluster.connection import ClusterError
        from apm.cluster.tasks import on_dask

        try:
            yield from on_dask(function, tasks, dask)
        except ClusterError as error:
            raise StudyError(f"{error}. {KEPT}") from error
    elif workers == 1:
        yield from map(function, tasks)
    else:
        try:
            from joblib import Parallel, delayed
        except ImportError:
            raise MissingExtra("joblib", "parallel") from None
        options: dict[str, Any] = {"return_as": "generator_unordered", "batch_size": 1}
        from concurrent.futures.process import BrokenProcessPool  # 30 ms: not for every import

        with _deaf_children():
            finished: Any = Parallel(n_jobs=workers, **options)(delayed(function)(t) for t in tasks)
        try:
            yield from finished
        except BrokenProcessPool as error:
            raise StudyError(
                "a worker process was ended from outside, often because memory ran out. "
                f"{KEPT}, with fewer workers if it recurs."
            ) from error


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that start here not hear Ctrl-C, which is this one's to answer.

    A terminal sends it to all of them, and a worker that is still loading would print a traceback.
    What is ignored stays so in a new process. For the tens of milliseconds that the start takes,
    this process does not hear it either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers are the main thread's to set
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
