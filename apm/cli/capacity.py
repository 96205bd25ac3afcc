"""`apm capacity`: the capacity of a channel, its optimal input, and why to trust them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from apm.cli.channel import CHANNELS, parse_channel
from apm.cli.console import console, picture_path, plain_errors, saved
from apm.cli.extensions import CHANNELS_GROUP, completions
from channelcode._validation import integer
from channelcode.errors import InvalidArgument, NotConverged

ATOMS_SHOWN = 20
MOST_POINTS = 100_000
NAMES = ", ".join(form for form, _ in CHANNELS.values())


def capacity_command(
    channel: Annotated[
        str,
        typer.Option(
            help=f"{NAMES}, or a JSON file.", autocompletion=completions(CHANNELS, CHANNELS_GROUP)
        ),
    ] = "logistic",
    power: Annotated[float | None, typer.Option(help="Mean power budget, E|l|^2 <= POWER.")] = None,
    peak: Annotated[float | None, typer.Option(help="Amplitude limit, |l| <= PEAK.")] = None,
    tol: Annotated[float, typer.Option(help="Certified gap to reach, in bits.")] = 1e-9,
    curve: Annotated[bool, typer.Option("--curve", help="Draw C(P) up to POWER.")] = False,
    points: Annotated[int, typer.Option(help="Number of powers on the curve.")] = 100,
    plot: Annotated[Path | None, typer.Option(help="Where to draw (PNG, SVG or PDF).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compute a channel's capacity with proof: value, bounds, atoms and why to trust it."""
    from channelcode import Peak, Power, Unconstrained, capacity

    with plain_errors():
        law = parse_channel(channel)
        drawn = Path("capacity-curve.png") if curve and plot is None and not as_json else plot
        if drawn is not None:
            drawn = picture_path(drawn)  # before the work
        if curve:
            _curve(law, power, peak, points, drawn, as_json)
            return
        constraint: Any = Unconstrained()
        if power is not None:
            constraint = Power(power)
        if peak is not None:
            constraint = Peak(peak) if power is None else constraint & Peak(peak)
        try:
            result = capacity(law, constraint, tol=tol)
        except NotConverged as error:
            if error.result is not None:
                _show(error.result)
            raise
        if as_json:
            _print_json(_as_dict(result))
        else:
            _show(result)
        if drawn is not None:
            from channelcode.plot import capacity as draw

            saved(draw(result), drawn, aside=as_json)


def _curve(
    law: Any,
    power: float | None,
    peak: float | None,
    points: int,
    path: Path | None,
    as_json: bool,
) -> None:
    from channelcode import capacity_curve

    if power is None or not 0 < power < np.inf:
        raise InvalidArgument("power", "must be the largest power of the curve", power)
    if peak is not None:
        raise InvalidArgument("peak", "cannot be combined with --curve", peak)
    if integer("points", points, least=2) > MOST_POINTS:
        raise InvalidArgument("points", f"must be at most {MOST_POINTS}", points)
    result = capacity_curve(law, np.linspace(power / points, power, points))
    if as_json:
        names = ("powers", "bits", "lower", "upper", "gap", "multiplier")
        told = {name: np.asarray(getattr(result, name)).tolist() for name in names}
        _print_json({"channel": repr(law), **told})
    else:
        console().print(
            f"{points} powers up to {power:g}: C rises from {result.bits[0]:.6g} to "
            f"{result.bits[-1]:.9g} bits, every point proved to {np.max(result.gap):.1g} bits"
        )
    if path is not None:
        from channelcode.plot import capacity_curve as draw

        saved(draw(result), path, aside=as_json)


def _print_json(content: Any) -> None:
    console().print_json(json.dumps(_finite(content), allow_nan=False))


def _finite(value: Any) -> Any:
    """The same with null for infinity and NaN, which JSON cannot write."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _show(result: Any) -> None:
    from rich.table import Table

    out = console()
    out.print(f"[bold]{result.problem.channel!r}[/bold] under {result.problem.constraint!r}")
    out.print(f"capacity    [bold]{result.bits:.12g}[/bold] bits = {result.nats:.12g} nats")
    if result.deficit_bits < 1e-3:
        out.print(f"deficit     {result.deficit_bits:.12g} bits below log2 {len(result.output)}")
    out.print(f"proved      between {result.lower:.12g} and {result.upper:.12g} bits")
    out.print(f"            (gap {result.gap:.2g}; upper bound over: {result.scope})")
    out.print(f"dC/dP       {result.multiplier:.9g} bits per unit power")
    out.print(f"found by    {result.stats.method}, then checked from the input law alone")
    if not result.status.ok:
        out.print(f"[red]{result.status.name}: {result.status.value}[/red]")
    table = Table(title=f"optimal input: {len(result.input)} atoms", title_justify="left")
    table.add_column("input l", justify="right")
    table.add_column("weight", justify="right")
    rows = list(zip(result.input.points, result.input.weights, strict=True))
    for point, weight in rows[:ATOMS_SHOWN]:
        table.add_row(", ".join(f"{x:.9g}" for x in point), f"{weight:.9g}")
    if len(rows) > ATOMS_SHOWN:
        table.add_row(f"... {len(rows) - ATOMS_SHOWN} more", "")
    out.print(table)


def _as_dict(result: Any) -> dict[str, Any]:
    return {
        "channel": repr(result.problem.channel),
        "constraint": repr(result.problem.constraint),
        "bits": result.bits,
        "nats": result.nats,
        "deficit_bits": result.deficit_bits,
        "lower": result.lower,
        "upper": result.upper,
        "gap": result.gap,
        "multiplier": result.multiplier,
        "scope": result.scope,
        "status": result.status.name,
        "method": result.stats.method,
        "atoms": result.input.atoms.tolist(),
        "weights": result.input.weights.tolist(),
        "output": np.asarray(result.output).tolist(),
    }
