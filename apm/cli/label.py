"""`apm label`: a local page to label on."""

from __future__ import annotations

import signal
import tempfile
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from apm.cli.console import plain_errors
from apm.cli.pool import (
    ClassNames,
    Encoding,
    FeatureNames,
    IdName,
    ImageName,
    Labels,
    Pool,
    Seed,
    SelectorName,
    TextNames,
    opened,
)


def label_command(
    pool: Pool,
    labels: Labels,
    image: ImageName = None,
    text: TextNames = None,
    features: FeatureNames = None,
    identity: IdName = None,
    classes: ClassNames = None,
    selector: SelectorName = None,
    port: Annotated[int, typer.Option(help="Port on this machine. Default: a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    seed: Seed = 0,
    encoding: Encoding = None,
) -> None:
    """Label on a page in your browser: one key for each class, skip, don't know, undo.

    The page is for this machine only, and needs no network. Every answer is in the label file
    before the next item is shown; stop with Ctrl-C and go on later.
    """
    from apm.label.page import Desk, serve
    from channelcode.errors import InvalidArgument

    with plain_errors():
        if not 0 <= port < 1 << 16:
            raise InvalidArgument("port", "must be a number below 65536", port)
        if not labels.absolute().parent.is_dir():
            raise InvalidArgument("labels", "must be a file in a folder that exists", str(labels))
        held = opened(
            pool, labels, features=features, text=text, image=image, identity=identity,
            classes=classes, seed=seed, encoding=encoding, selector=selector,
        )  # fmt: skip
        desk = Desk(held.file, held.session, text=held.text, image=held.image)
        try:
            with serve(desk, port=port) as server, ExitStack() as stack:
                before = signal.signal(signal.SIGINT, server.interrupt)
                stack.callback(signal.signal, signal.SIGINT, before)
                try:
                    typer.echo(f"label at {server.url}")
                    typer.echo("stop with Ctrl-C")
                    if browser:
                        _open(server.url, stack)
                    server.serve_forever(poll_interval=0.1)
                except KeyboardInterrupt:
                    count = sum(1 for answer in held.file.read().values() if answer.label)
                    typer.echo(f"stopped: {count} rows have a label in {labels}")
        finally:
            desk.close()


def _open(url: str, stack: ExitStack) -> None:
    """Open the page by way of a private file: arguments of programs are there for all to see."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="apm-"))  # of mode 0700
    place = Path(folder, "label.html")
    place.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={url}">')
    webbrowser.open(place.as_uri())
