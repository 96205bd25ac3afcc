"""`python -m apm` is the command `apm`, also installed as `channelcode`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line, also while it is still being loaded."""
    try:
        from apm.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.stderr.flush()
        os._exit(130)  # what is half loaded is not taken down in order


if __name__ == "__main__":
    main()
