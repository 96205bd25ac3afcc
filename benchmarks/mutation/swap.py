"""A mutant without a new import: the code of a live function is exchanged, in a child of a server.

The server imports the library and collects the tests once. For a mutant inside a function it
forks; the child gives every function object made from the old code the new code, empties the
caches of the library, and runs tests until one fails. What a module computes when it is imported
stays as it was, so a mutant that survives here is asked again by a fresh import (`run.py --again`).
"""

from __future__ import annotations

import ast
import functools
import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from benchmarks.mutation.mutate import Mutant

Place = tuple[str, int]


def enclosing(source: str, mutant: Mutant) -> Place | None:
    """Name and first line of the outermost function whose body holds the change, if one does."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for name, node in _functions(ast.parse(source), ""):
        first, last = node.body[0], node.body[-1]
        start = lines[first.lineno - 1] + first.col_offset
        end = lines[(last.end_lineno or 1) - 1] + (last.end_col_offset or 0)
        if start <= mutant.start and mutant.end <= end:
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return name, line
    return None


def _functions(node: ast.AST, within: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield within + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{within}{child.name}.")


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and all inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def exchange(path: Path, source: str, place: Place) -> bool:
    """Give the functions at `place` of the file the code of `source`; False if there are none."""
    new = {
        (code.co_qualname, code.co_firstlineno): code
        for code in codes(compile(source, str(path), "exec"))
    }
    if place not in new:
        return False
    changed = False
    for function in gc.get_objects():
        # not isinstance: proxies of other libraries do something when asked
        if type(function) is not FunctionType or function.__code__.co_filename != str(path):
            continue
        held = function.__code__
        if (held.co_qualname, held.co_firstlineno) == place:
            with suppress(ValueError):  # other free variables: a fresh import will tell
                function.__code__ = new[place]
                changed = True
    return changed


def empty_caches(packages: tuple[str, ...]) -> None:
    """Forget what functions of these packages remember."""
    for each in gc.get_objects():
        if type(each) is functools._lru_cache_wrapper:
            module: str = getattr(each, "__module__", "") or ""
            if module.split(".")[0] in packages:
                each.cache_clear()


class Server:
    """The collected tests, by name, in this process: a plugin of pytest."""

    def __init__(self, tree: Path, folders: Sequence[str]) -> None:
        self.tree, self.folders = tree, [*folders]
        self.items = dict[str, Any]()
        self.failed: str | None = None

    def main(self, serve: Callable[[], None]) -> None:
        """Collect the tests, and call `serve` in place of running them."""
        import pytest

        self.serve = serve
        options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        pytest.main([*options, *self.folders], plugins=[self])

    def pytest_runtestloop(self, session: Any) -> bool:
        """Called by pytest once everything is collected."""
        self.items = {item.nodeid: item for item in session.items}
        self.serve()
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called by pytest for every part of a test."""
        if report.failed:
            self.failed = report.nodeid

    def run(self, names: Sequence[str]) -> None:
        """Run these tests here, until one fails."""
        items = [self.items[name] for name in names if name in self.items]
        for place, item in enumerate(items):
            after = items[place + 1] if place + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed is not None:
                return

    def judge(
        self, mutant: Mutant, source: str, names: Sequence[str], seconds: float
    ) -> tuple[str, str]:
        """`caught`, `survived` or `not tried`, and by which test or why."""
        place = enclosing(source, mutant)
        if place is None:
            return "not tried", "outside of functions"
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._child(mutant, source, place, names, seconds, writer)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if code in (3, 4):
            return "not tried", said or "no such function is alive"
        if code == 0:
            return "survived", said
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "caught", "out of time"
        return "caught", said or f"code {code}"

    def _child(
        self,
        mutant: Mutant,
        source: str,
        place: Place,
        names: Sequence[str],
        seconds: float,
        writer: int,
    ) -> None:
        os.setpgid(0, 0)
        most = int(2 * seconds) + 10
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        code = 1
        try:
            if not exchange(self.tree / mutant.path, mutant.applied(source), place):
                os._exit(3)
            empty_caches(("channelcode", "apm"))
            began = time.process_time()
            for name in names:
                if time.process_time() - began > seconds:
                    break
                self.run([name])
                if self.failed is not None:
                    os.write(writer, self.failed.encode())
                    break
            code = 0 if self.failed is None else 1
        except BaseException as error:
            code = 4
            os.write(writer, f"{type(error).__name__}: {error}".encode()[:200])
        finally:
            sys.stdout.flush()
            os._exit(code)
