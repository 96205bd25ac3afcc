"""A live bar with the time left on a terminal or in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import importlib.util
import time
from types import TracebackType
from typing import Any, Self

_QUIET_SECONDS = 30.0


class Progress:
    """Shows how many trials are finished and the time left, on standard error.

    On a terminal and in a notebook (extra `notebook`) a bar of `rich`; elsewhere, as in a log file,
    one line every half minute; with `shown=False` nothing but what `say` is given.
    """

    def __init__(self, total: int, *, finished: int = 0, shown: bool = True) -> None:
        self.total = total
        self.finished = finished
        self._start = finished
        self._shown = shown
        self._bar: Any = None
        self._task: Any = None
        self._begin = self._spoken = time.monotonic()

    def __enter__(self) -> Self:
        from rich.console import Console

        self._console = Console(stderr=True, soft_wrap=True)
        if self._shown and (self._console.is_terminal or _in_notebook(self._console)):
            from rich import progress

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left"),
                progress.TimeRemainingColumn(),
                console=self._console,
            )
            self._bar.start()
            self._task = self._bar.add_task("trials", total=self.total, completed=self.finished)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.refresh()  # in a notebook `stop` leaves the bar as it was last drawn
            self._bar.stop()

    def advance(self, name: str) -> None:
        """One more trial is finished."""
        self.finished += 1
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{name:24s}")
        elif self._shown and time.monotonic() - self._spoken > _QUIET_SECONDS:
            self._spoken = time.monotonic()
            left = (self._spoken - self._begin) / (self.finished - self._start)
            left *= self.total - self.finished
            self.say(f"{self.finished} of {self.total} trials, about {left / 60:.1f} minutes left")

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, highlight=False, markup=False)


def _in_notebook(console: Any) -> bool:
    """Whether `rich` can draw a bar in a notebook: it needs ipywidgets there."""
    return console.is_jupyter and importlib.util.find_spec("ipywidgets") is not None
