"""`apm bisect`: find a threshold by answering yes or no, even if some answers are wrong."""

from __future__ import annotations

import json
from math import ceil, isfinite, log10, ulp
from pathlib import Path
from typing import Annotated, Any

import typer

from apm.cli.console import console, plain_errors
from apm.storage import replacing
from channelcode.errors import InvalidArgument

YES, NO = ("y", "yes", "1", "true"), ("n", "no", "0", "false")
MOST_CELLS = 1_000_000


def bisect_command(
    low: Annotated[float, typer.Option(help="The threshold is above this.")],
    high: Annotated[float, typer.Option(help="The threshold is below this.")],
    width: Annotated[float, typer.Option(help="How finely it must be known.")],
    noise: Annotated[float, typer.Option(help="Share of wrong answers, 0 to 1/2.")] = 0.1,
    error: Annotated[float, typer.Option(help="Stop once a wrong result is this unlikely.")] = 0.05,
    file: Annotated[
        Path | None, typer.Option(help="Keep the answers here, to go on later.")
    ] = None,
    questions: Annotated[int | None, typer.Option(help="Ask at most this many now.")] = None,
) -> None:
    """Find a threshold by bisection: answer y, n, u (take back) or q (leave, to go on later)."""
    from channelcode.feedback import Horstein

    with plain_errors():
        cells = _cells(low, high, width)
        if not 0 < noise < 0.5:
            rule = "must lie between 0 and 1/2; if no answer is ever wrong, say 1e-6"
            raise InvalidArgument("noise", rule, noise)
        if not 0 < error < 1:
            raise InvalidArgument("error", "must lie between 0 and 1", error)
        if questions is not None and questions < 0:
            raise InvalidArgument("questions", "must be non-negative", questions)
        scheme = Horstein(noise)
        answers = _read(file, _settings(low, high, width, noise))
        states = [scheme.start(messages=cells)]
        for answer in answers:
            states.append(scheme.update(states[-1], answer))
        out, asked = console(), 0
        if answers:
            out.print(f"going on after {len(answers)} answers")
        while states[-1].error_bound > error and (questions is None or asked < questions):
            query = low + (high - low) * (states[-1].cuts[0] / cells)
            reply = _ask(f"{len(answers) + 1}. is it above {_shown(query, low, high, cells)}?")
            if reply is None:
                break
            if reply == "u":
                if answers:
                    answers.pop()
                    states.pop()
            else:
                # the letter 1 says that the message is right of the cut
                answers.append(1 if reply else 0)
                states.append(scheme.update(states[-1], answers[-1]))
                asked += 1
            if file is not None:
                _write(file, _settings(low, high, width, noise), answers)
        _show(states[-1], low, high, cells, error, len(answers))


def _cells(low: float, high: float, width: float) -> int:
    if not (isfinite(low) and isfinite(high)):
        raise InvalidArgument("low", "must be finite, as must high", (low, high))
    if not low < high:
        raise InvalidArgument("high", "must be above low", high)
    if not 0 < width < high - low:
        raise InvalidArgument("width", "must be positive and below high - low", width)
    steps = (high - low) / width
    if not steps <= MOST_CELLS:
        raise InvalidArgument("width", f"must leave at most {MOST_CELLS} steps", width)
    cells = max(ceil(steps), 2)
    if (high - low) / cells < 4 * ulp(max(abs(low), abs(high))):
        rule = "must be wider than the digits of low and high: subtract what they have in common"
        raise InvalidArgument("width", rule, width)
    return cells


def _shown(value: float, low: float, high: float, cells: int) -> str:
    """A number with the digits that tell neighbouring steps apart, and two more."""
    largest = max(abs(low), abs(high))
    digits = ceil(log10(largest / ((high - low) / cells))) + 2
    return f"{value:.{min(max(digits, 3), 17)}g}"


def _ask(question: str) -> Any:
    """True, False, "u", or None to leave; asked again until it is one of them."""
    while True:
        try:
            said = typer.prompt(question, prompt_suffix=" ").strip().lower()
        except (EOFError, typer.Abort):
            return None
        if said in YES or said in NO:
            return said in YES
        if said in ("u", "q"):
            return None if said == "q" else "u"
        console().print("answer y or n; u takes the last answer back, q leaves")


def _settings(low: float, high: float, width: float, noise: float) -> dict[str, float]:
    return {"low": low, "high": high, "width": width, "noise": noise}


def _read(path: Path | None, settings: dict[str, float]) -> list[int]:
    if path is None or not path.exists():
        return []
    if not path.is_file():  # a pipe or a device might never end
        raise InvalidArgument("file", "must be a file", str(path))
    try:
        held = json.loads(path.read_text())
        answers = held["answers"]
        known = {name: float(held[name]) for name in settings}
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise InvalidArgument("file", f"must be of apm bisect ({problem})", str(path)) from None
    if not isinstance(answers, list) or any(answer not in (0, 1) for answer in answers):
        raise InvalidArgument("file", "must hold answers 0 and 1", str(path))
    if known != settings:
        raise InvalidArgument("file", f"must be of the same search, {settings}", known)
    return [int(answer) for answer in answers]


def _write(path: Path, settings: dict[str, float], answers: list[int]) -> None:
    with replacing(path) as file:
        file.write(json.dumps({**settings, "answers": answers}).encode())


def _show(state: Any, low: float, high: float, cells: int, error: float, count: int) -> None:
    out, step = console(), (high - low) / cells
    start = low + step * state.best

    def shown(value: float) -> str:
        return _shown(value, low, high, cells)

    out.print(f"the threshold lies in [{shown(start)}, {shown(start + step)}]")
    out.print(f"            wrong with probability {state.error_bound:.3g} after {count} answers")
    first, last = (low + step * (state.quantile(u) + side) for u, side in ((0.025, 0), (0.975, 1)))
    out.print(f"95 %        [{shown(first)}, {shown(last)}]")
    if state.error_bound > error:
        out.print(f"not settled: the error is above {error:g}; go on with the same --file")
