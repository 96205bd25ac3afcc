"""The cache of compiled kernels: kept, checked, and never in the way of a call."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core import options

from channelcode._kernels.jit import CheckedFiles, borrowing, kernel
from tests.kernel_checks import assert_matches_py_func

SOURCE = """
import numpy as np
from channelcode._kernels.jit import kernel

@kernel
def square(x):
    return x * x

@kernel
def total(values):
    result = 0.0
    for value in values:
        result += square(value)
    return result
"""
VALUES = np.array([1.0, 2.0, 3.0])
_names = itertools.count()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with two kernels, cached in the `__pycache__` beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    path = tmp_path / "sums.py"
    path.write_text(SOURCE)
    return path


def fresh(path: Path) -> ModuleType:
    """Import `path` anew, with dispatchers that have compiled nothing yet."""
    spec = importlib.util.spec_from_file_location(f"fresh_{next(_names)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hits(function) -> int:
    return sum(function.stats.cache_hits.values())


def entries(source: Path, name: str = "total") -> list[Path]:
    return sorted((source.parent / "__pycache__").glob(f"kernels-*/sums.{name}-*.nbc"))


def test_second_process_loads_what_the_first_compiled(source):
    assert fresh(source).total(VALUES) == 14.0
    again = fresh(source)
    assert again.total(VALUES) == 14.0
    assert hits(again.total) == 1
    assert len(entries(source)) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: b"\x80\x04garbage" * 100,
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: bytes(len(content)),
        lambda content: content + b"tail",
    ],
    ids=["empty", "ten bytes", "half", "short by one", "garbage", "bit flip", "zeros", "longer"],
)
def test_damaged_entry_is_compiled_again_and_replaced(source, damage):
    assert fresh(source).total(VALUES) == 14.0
    for entry in entries(source) + entries(source, "square"):
        entry.write_bytes(damage(entry.read_bytes()))
    second = fresh(source)
    assert second.total(VALUES) == 14.0
    assert hits(second.total) == 0
    third = fresh(source)
    assert third.total(VALUES) == 14.0
    assert hits(third.total) == 1


def test_intact_file_holding_something_else_is_a_miss(source):
    first = fresh(source)
    first.total(VALUES)
    files: CheckedFiles = first.total._cache._cache_file
    signature = first.total.signatures[0]
    key = first.total._cache._index_key(signature, first.total.targetctx.codegen())
    assert files.load(key) is not None
    files.save(key, ("not", "machine", "code"))
    second = fresh(source)
    assert second.total(VALUES) == 14.0
    assert hits(second.total) == 0
    assert hits(_called(fresh(source))) == 1  # and the entry was replaced


def _called(module: ModuleType):
    assert module.total(VALUES) == 14.0
    return module.total


def test_name_shared_by_two_keys_is_a_miss(tmp_path):
    class Alike:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return "alike"

        def __eq__(self, other):
            return isinstance(other, Alike) and self.value == other.value

        def __hash__(self):
            return hash(self.value)

    files = CheckedFiles(tmp_path, "name", "stamp")
    files.save(Alike(1), "one")
    assert files.load(Alike(1)) == "one"
    assert files.load(Alike(2)) is None


def test_leftovers_of_numbas_own_cache_are_ignored(source):
    folder = source.parent / "__pycache__"
    folder.mkdir()
    first = fresh(source)
    name = first.total._cache._cache_file.name
    (folder / f"{name}.nbi").write_bytes(b"\x80\x04damaged")
    (folder / f"{name}.1.nbc").write_bytes(b"damaged")
    assert first.total(VALUES) == 14.0
    assert hits(_called(fresh(source))) == 1


def test_edit_of_a_source_recompiles_and_clears_the_old_code(source):
    assert fresh(source).total(VALUES) == 14.0
    source.write_text(SOURCE.replace("x * x", "x * x * x"))
    edited = fresh(source)
    assert edited.total(VALUES) == 36.0
    assert len(entries(source)) == 1


def test_edit_of_a_called_kernel_in_another_file_recompiles_the_caller(source, monkeypatch):
    """numba's own cache dates a kernel by its own file, and would answer with the old callee."""
    source.write_text(SOURCE.replace("def total", "def unused"))
    caller = source.with_name("caller.py")
    caller.write_text(
        "from channelcode._kernels.jit import kernel\n"
        "from callee_under_test import square\n\n"
        "@kernel\ndef twice(x):\n    return 2.0 * square(x)\n"
    )
    for expected in (18.0, 54.0):
        monkeypatch.setitem(sys.modules, "callee_under_test", fresh(source))
        assert fresh(caller).twice(3.0) == expected
        source.write_text(source.read_text().replace("x * x", "x * x * x"))


@pytest.mark.parametrize("folder", ["a file", "missing parent is a file"])
def test_cache_folder_that_cannot_be_made(source, monkeypatch, folder):
    blocked = source.parent / "blocked"
    blocked.write_text("not a folder")
    target = blocked if folder == "a file" else blocked / "below"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(target))
    (source.parent / "__pycache__").write_text("not a folder either")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    module = fresh(source)
    assert module.total.stats.cache_path is None
    assert module.total(VALUES) == 14.0


def test_folder_that_becomes_read_only_after_import(source, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "read-only file system")

    module = fresh(source)
    monkeypatch.setattr(os, "replace", refuse)
    assert module.total(VALUES) == 14.0
    assert entries(source) == []
    assert list((source.parent / "__pycache__").rglob("*.nbc.*")) == []  # no drafts left behind


def test_folder_removed_after_import(source):
    module = fresh(source)
    shutil.rmtree(source.parent / "__pycache__")
    assert module.total(VALUES) == 14.0
    assert hits(_called(fresh(source))) == 1


def test_damaged_entry_that_cannot_be_removed(source, monkeypatch):
    assert fresh(source).total(VALUES) == 14.0
    for entry in entries(source):
        entry.write_bytes(b"damaged")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    assert fresh(source).total(VALUES) == 14.0


def test_entry_that_is_a_folder(source):
    module = fresh(source)
    module.total(VALUES)
    (entry,) = entries(source)
    entry.unlink()
    entry.mkdir()
    assert fresh(source).total(VALUES) == 14.0


def test_processes_that_start_together(source):
    """Four first calls at once, of two signatures, on an empty cache: nothing lost or left."""
    program = (
        "import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import sums\n"
        "values = np.array([1.0, 2.0, 3.0]).astype(sys.argv[2])\n"
        "print(sums.total(values), sum(sums.total.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}

    def start(dtype: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program, str(source.parent), dtype],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    for process in [start(dtype) for dtype in ("float64", "float32", "float64", "float32")]:
        output, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        assert output.split()[0] == "14.0"
    for dtype in ("float64", "float32"):
        output, error = start(dtype).communicate(timeout=120)
        assert output.split() == ["14.0", "1"], error
    assert len(entries(source)) == 2
    assert list((source.parent / "__pycache__").rglob("*.nbc.*")) == []


def test_kernel_given_a_kernel_is_not_stored(source):
    source.write_text(SOURCE + "\n@kernel\ndef apply(function, x):\n    return function(x)\n")
    module = fresh(source)
    assert module.apply(module.square, 3.0) == 9.0
    assert entries(source, "apply") == []


def test_arithmetic_is_numpys_and_not_fastmath():
    @kernel
    def divide(x, y):
        return x / y

    @kernel
    def compensated(large, small):
        return (large + small) - large - small

    assert divide(1.0, 0.0) == np.inf
    assert np.isnan(divide(0.0, 0.0))
    # fastmath would cancel this to zero; the rounding error of 1e16 + 1 is exactly -1
    assert compensated(1e16, 1.0) == -1.0


def test_without_compilation_the_kernel_is_the_function(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)

    @kernel
    def double(x):
        return 2 * x

    assert double(3) == double.py_func(3) == 6


def test_recompile_and_flush(source):
    module = fresh(source)
    module.total(VALUES)
    module.total.recompile()
    assert module.total(VALUES) == 14.0
    module.total._cache.flush()
    assert entries(source) == []


def test_helper_compares_results_and_written_arguments(source):
    assert assert_matches_py_func(fresh(source).total, VALUES) == 14.0

    class Fake:
        def __init__(self, compiled, py_func):
            self.compiled, self.py_func = compiled, py_func

        def __call__(self, *args):
            return self.compiled(*args)

    def write(array):
        array[0] += 1.0

    assert_matches_py_func(Fake(write, write), np.zeros(2))
    for compiled, python in [
        (lambda a: (1.0, 2.0), lambda a: (1.0, 2.0 + 1e-9)),
        (lambda a: 1, lambda a: 2),
        (lambda a: None, lambda a: 1.0),
        (lambda a: np.zeros(2), lambda a: np.zeros(3)),
        (lambda a: None, write),
    ]:
        with pytest.raises(AssertionError):
            assert_matches_py_func(Fake(compiled, python), np.zeros(2))


def test_a_constant_argument_needs_no_code_of_its_own():
    """A callee is compiled once, for a number, whatever constants kernels call it with."""

    @kernel
    def scaled(values, count):
        total = 0.0
        for i in range(count):
            total += values[i]
        return total

    @kernel
    def caller(values):
        count = 0
        first = scaled(values, count)
        for _ in range(2):
            first += scaled(values, count)
            count += 1
        return first + scaled(values, 2) + scaled(values, 3)

    values = np.array([1.0, 2.0, 4.0])
    assert caller(values) == caller.py_func(values) == 1.0 + 3.0 + 7.0
    assert len(scaled.signatures) == 1  # type: ignore[attr-defined]


def test_a_borrowing_kernel_counts_no_references_and_makes_no_array():
    @borrowing
    def sums(table, out):
        for i in range(table.shape[0]):
            row = table[i]
            for value in row:
                out[i] += value

    @borrowing
    def fresh(n):
        return np.zeros(n)

    sums._cache.flush()  # type: ignore[attr-defined]  # code of an earlier run cannot be inspected
    table = np.arange(6.0).reshape(2, 3)
    held = sys.getrefcount(table)
    assert_matches_py_func(sums, table, np.zeros(2))
    assert sys.getrefcount(table) == held
    assert "NRT_incref" not in "".join(sums.inspect_llvm().values())  # type: ignore[attr-defined]
    with pytest.raises(numba.TypingError):
        fresh(3)


@pytest.mark.parametrize("missing", ["the option", "the class"])
def test_a_borrowing_kernel_without_numbas_private_option_is_an_ordinary_one(monkeypatch, missing):
    """A numba that does not know the option refuses it when the kernel is compiled."""
    if missing == "the option":
        monkeypatch.delattr(options.DefaultOptions, "_nrt")
    else:
        monkeypatch.delattr(options, "DefaultOptions")

    @borrowing
    def first_sum(table):
        row = table[0]
        return row.sum()

    assert "_nrt" not in first_sum.targetoptions  # type: ignore[attr-defined]
    assert_matches_py_func(first_sum, np.arange(6.0).reshape(2, 3))
