"""The next item for every possible answer, worked out while the user looks at this one."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from apm.label.session import Answers
from channelcode.errors import ChannelCodeError

log = logging.getLogger(__name__)
REMEMBERED = 500  # picks

State = frozenset[tuple[int, Any]]


class Ahead:
    """Picks by state of the answers; `pick` gives one, `think_of` has more worked out behind it.

    A pick is a function of the answers, so nothing here can change it: what was worked out before
    is given at once, anything else is worked out when it is asked for. One thread works at a time.
    """

    def __init__(self, choose: Callable[[Answers], int | None]) -> None:
        self._choose = choose
        self._picks: OrderedDict[State, int | None] = OrderedDict()
        self._wanted: list[Answers] = []
        self._following: Callable[[int | None], list[Answers]] | None = None
        self._turn = threading.Lock()  # of the thread that works something out
        self._changed = threading.Condition()
        self._closed = False
        self._waiting = 0  # requests: while there are any, nothing is worked out beforehand
        self._thread = threading.Thread(target=self._run, daemon=True, name="ahead")
        self._thread.start()

    def pick(self, answers: Answers) -> int | None:
        """The row to ask after these answers; at once if it was thought of."""
        state = _state(answers)
        with self._changed:
            if state in self._picks:
                self._picks.move_to_end(state)
                return self._picks[state]
            self._waiting += 1
        try:
            with self._turn:
                return self._found(state, answers)
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def think_of(self, answers: Answers, following: Callable[[int | None], list[Answers]]) -> None:
        """Work out, in the background, the pick after `answers` and then after what may follow it.

        What was asked for before is forgotten.
        """
        with self._changed:
            self._wanted, self._following = [answers], following
            self._changed.notify_all()

    def idle(self, timeout: float | None = None) -> bool:
        """Wait until all of it is worked out; False if that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._wanted or self._closed, timeout)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout=10)

    def _found(self, state: State, answers: Answers) -> int | None:
        with self._changed:
            if state in self._picks:
                return self._picks[state]
        pick = self._choose(answers)
        with self._changed:
            self._picks[state] = pick
            while len(self._picks) > REMEMBERED:
                self._picks.popitem(last=False)
        return pick

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or (self._wanted and not self._waiting))
                if self._closed:
                    return
                wanted = self._wanted
                answers = wanted[0]
            pick = None
            try:
                with self._turn:
                    pick = self._found(_state(answers), answers)
            except (ChannelCodeError, ArithmeticError, MemoryError) as error:
                # whoever asks for it gets the error
                log.warning("the item after a possible answer could not be found: %s", error)
            with self._changed:
                if self._wanted is wanted:
                    wanted.pop(0)
                    if self._following is not None:
                        wanted.extend(self._following(pick))
                        self._following = None
                self._changed.notify_all()


def _state(answers: Answers) -> State:
    return frozenset(answers.items())
