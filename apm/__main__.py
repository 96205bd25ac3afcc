"""`python -m apm` is the command `apm`."""

from apm.cli import main

main()
