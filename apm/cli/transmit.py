"""`apm transmit`: send one message through a noisy channel with feedback, and see what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from apm.cli.channel import CHANNELS, parse_channel
from apm.cli.console import console, picture_path, plain_errors, saved
from channelcode.errors import InvalidArgument

MOST_BITS = 100_000
NAMES = ", ".join(form for form, _ in CHANNELS.values())


def transmit_command(
    channel: Annotated[str, typer.Option(help=f"{NAMES}, or a JSON file.")] = "logistic",
    power: Annotated[float | None, typer.Option(help="Mean power budget, E|l|^2 <= POWER.")] = None,
    bits: Annotated[int, typer.Option(help="The message is one of 2^BITS.")] = 64,
    error: Annotated[float, typer.Option(help="Stop once an error is this unlikely.")] = 1e-3,
    uses: Annotated[int | None, typer.Option(help="Stop after this many uses at most.")] = None,
    message: Annotated[int | None, typer.Option(help="The message; by default drawn.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of message and noise.")] = None,
    shifted: Annotated[bool, typer.Option("--shifted", help="Random cyclic shifts.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Where to draw the posterior.")] = None,
) -> None:
    """Send a message by posterior matching and print what it took, with what is proved."""
    import numpy as np

    from channelcode import Power
    from channelcode.feedback import (
        Confidence,
        PosteriorMatching,
        Rounded,
        Shifted,
        Uses,
        bounds,
        transmit,
    )

    with plain_errors():
        if plot is not None:
            plot = picture_path(plot)
        if not 1 <= bits <= MOST_BITS:
            raise InvalidArgument("bits", f"must be from 1 to {MOST_BITS}", bits)
        if seed is not None and seed < 0:
            raise InvalidArgument("seed", "must be non-negative", seed)
        law = parse_channel(channel)
        if power is None and law.inputs is None:
            rule = "must be given: the input of this channel is continuous"
            raise InvalidArgument("power", rule, power)
        limit = None if power is None else Power(power)
        scheme = PosteriorMatching(law, limit, cuts=Shifted() if shifted else Rounded())
        rng = np.random.default_rng(seed)
        sent = int.from_bytes(rng.bytes(bits // 8 + 1), "big") % 2**bits
        sent = sent if message is None else message
        stop: Any = Confidence(error)
        if uses is not None:
            stop = stop | Uses(uses)
        run = transmit(scheme, sent, messages=2**bits, stop=stop, rng=rng)
        limits = bounds(scheme, 2**bits, stop=Confidence(error))
        _show(scheme, run, limits, bits, error)
        if plot is not None:
            from channelcode.plot import waterfall

            saved(waterfall(run), plot)


def _show(scheme: Any, run: Any, limits: Any, bits: int, error: float) -> None:
    out = console()
    best = scheme.capacity
    out.print(f"[bold]{scheme!r}[/bold]", markup=True)
    out.print(f"capacity    {best.bits:.9g} bits a use, proved to {best.gap:.2g}")
    out.print(f"sent        {hex(run.message)} (one of 2^{bits})")
    known = run.error_bound <= error
    verdict = "right" if run.correct else "WRONG" if known else "not known yet"
    out.print(f"decoded     {hex(run.decoded)}: {verdict}")
    out.print(f"uses        {run.uses}; no code can take fewer than {limits.fano:.1f} on average")
    if not known:
        out.print("rate        none yet: it stopped before the message was known")
    elif run.uses:
        share = run.rate_bits / best.bits if best.bits > 0 else float("nan")
        out.print(f"rate        {run.rate_bits:.6g} bits a use, {share:.1%} of the capacity")
    out.print(f"error       at most {run.error_bound:.3g}, the posterior says")
    lost = float(run.loss_bits.sum())
    out.print(f"gathered    {run.information_bits:.6g} bits; rounding cost {lost:.3g}, certified")
