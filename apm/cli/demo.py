"""`apm demo`: capacities with proof, one APM selection, and the paper's experiments in small."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from apm.cli.console import console, plain_errors, saved, writable_folder

POWER = 4.0
POOL_SIZE = 300
QUERIES = 20


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo-output"),
) -> None:
    """Capacities with certificates, an APM run on a toy pool, and the paper in small."""
    with plain_errors():
        writable_folder(out)
        _capacities(out)
        _selection(out)
        _experiments(out)


def _capacities(out: Path) -> None:
    from rich.table import Table

    import channelcode as cc
    from channelcode.plot import capacity as draw

    steep = cc.Link(lambda l: 1.0 / (1.0 + np.exp(-(l**3))))
    channels: dict[str, cc.Channel] = {
        "logistic": cc.Logistic(),
        "probit": cc.Probit(),
        "cauchit": cc.Cauchit(),
        "lapse 2%": cc.Lapse(cc.Logistic(), low=0.02, high=0.02),
        "own: sigma(l^3)": steep,
        "ordinal of 3": cc.Ordinal((-1.0, 1.0)),
        "2-bit Gaussian": cc.QuantisedGaussian((-1.5, 0.0, 1.5)),
        "binomial of 5": cc.Binomial(5),
        "softmax of 3": cc.Softmax(3),
        "softmax of 10": cc.Softmax(10),
    }
    table = Table(title=f"Capacity under E|l|^2 <= {POWER:g}, with proof", title_justify="left")
    for name in ("channel", "capacity (bits)", "gap", "atoms", "dC/dP", "found by"):
        table.add_column(name, justify="left" if name in ("channel", "found by") else "right")
    drawn: Any = None
    for name, channel in channels.items():
        result = cc.capacity(channel, cc.Power(POWER))
        table.add_row(
            name,
            f"{result.bits:.10f}",
            f"{result.gap:.0e}",
            str(len(result.input)),
            f"{result.multiplier:.6f}",
            result.stats.method.partition(" (")[0],
        )
        if name == "2-bit Gaussian":
            drawn = result
    console().print(table)
    saved(draw(drawn), out / "capacity.png")


def _selection(out: Path) -> None:
    from apm import APM, Learner, VariationalLogistic
    from apm.plot import selection

    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, POOL_SIZE)
    centres = np.where(labels[:, None] == 1, 1.0, -1.0) * np.array([1.2, 0.6])
    pool = centres + rng.normal(size=(POOL_SIZE, 2))
    learner = Learner(pool, VariationalLogistic(), APM(), seed=7)
    for index in (int(np.argmax(labels == 0)), int(np.argmax(labels == 1))):
        learner.tell(index, int(labels[index]))
    for _ in range(QUERIES):
        index = int(learner.ask())
        learner.tell(index, int(labels[index]))
    accuracy = float(np.mean(learner.predict(pool) == labels))
    index = int(learner.ask())
    console().print(
        f"APM on a toy pool of {POOL_SIZE}: {QUERIES} labels asked for, {accuracy:.1%} of the pool "
        f"classified right; next it would ask for example {index}:"
    )
    console().print(str(learner.explain(index)))
    saved(selection(learner, labels), out / "selection.png")


def _experiments(out: Path) -> None:
    from apm.studies import reproduce

    console().print("The paper's experiments in small (`apm reproduce` runs all):")
    done = reproduce(out / "paper", quick=True)
    console().print(f"report: {done.report}")
