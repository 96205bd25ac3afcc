"""Which tests stand closest to a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

# What is mutated: patterns of files under the root.
SUBJECTS = {
    "channels": ("channelcode/channels/**/*.py",),
    "information": ("channelcode/information/*.py", "channelcode/guarantees.py"),
    "transport": ("channelcode/transport/**/*.py",),
    "measures": ("channelcode/measures/*.py",),
    "posteriors": ("apm/posteriors/**/*.py",),
    "selectors": ("apm/selectors/**/*.py",),
    "learner": ("apm/learner*.py", "apm/answering/*.py", "apm/rounds.py"),
    "journal": ("apm/journal.py",),
    "archive": ("apm/archive/*.py", "apm/storage/*.py"),
}

# Tests beside the mirrored ones, by the start of a module's path: quick first.
NEIGHBOURS = {
    "channelcode/channels/densities": ("tests/channelcode/test_information_densities.py",),
    "channelcode/channels": (
        "tests/channelcode/channels/test__channels.py",
        "tests/channelcode/testing/test_channel.py",
    ),
    "channelcode/information": (
        "tests/channelcode/test_information.py",
        "tests/channelcode/test_softmax_output.py",
        "tests/channelcode/test_information_densities.py",
        "tests/channelcode/test_information_resolution.py",
        "tests/channelcode/information",
        "tests/channelcode/test_guarantees.py",
    ),
    "channelcode/guarantees": ("tests/channelcode/test_guarantees.py",),
    "channelcode/transport/pool": ("tests/channelcode/transport/pools",),
    "channelcode/transport": ("tests/channelcode/transport",),
    "channelcode/measures": ("tests/channelcode/measures",),
    "apm/posteriors": ("tests/apm/posteriors",),
    "apm/selectors": ("tests/apm/selectors",),
    "apm/learner_compiled": ("tests/apm/test_learner_compiled.py",),
    "apm/learner": ("tests/apm/test_learner.py", "tests/torture/test_interrupts.py"),
    "apm/answering": (
        "tests/apm/answering",
        "tests/torture/test_journal_file.py",
        "tests/apm/test_learner.py",
        "tests/torture/test_threads.py",
    ),
    "apm/journal": ("tests/apm/test_journal.py", "tests/apm/archive"),
    "apm/archive": ("tests/apm/archive", "tests/torture/test_archive_damage.py"),
    "apm/storage": (
        "tests/apm/storage",
        "tests/torture/test_durability.py",
        "tests/torture/test_journal_file.py",
        "tests/apm/archive",
    ),
}


def stages(root: Path, module: str) -> Iterator[list[str]]:
    """Lists of tests to run one after the other: the module's own file, then its neighbours."""
    place = Path(module)
    own = Path("tests") / place.parent / f"test_{place.stem}.py"
    first = [str(own)] if (root / own).exists() else []
    if first:
        yield first
    seen = set(first)
    for start, files in NEIGHBOURS.items():
        if module.startswith(start):
            for file in files:
                if file not in seen:
                    seen.add(file)
                    yield [file]
