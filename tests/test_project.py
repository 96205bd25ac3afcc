"""The project as a whole: what it says runs, its imports are light, no test file is missing."""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_doctestplus.output_checker import FLOAT_CMP, OutputChecker

import channelcode

ROOT = Path(__file__).parent.parent
PACKAGES = ("channelcode", "apm")
FAMILIES = (
    "channelcode",
    "channelcode/channels",
    "channelcode/measures",
    "channelcode/capacity",
    "channelcode/capacity/certify",
    "channelcode/capacity/search",
    "channelcode/capacity/solvers",
    "channelcode/capacity/solvers/continuous",
    "channelcode/transport",
    "channelcode/transport/solvers",
    "channelcode/feedback",
    "apm",
    "apm/archive",
    "apm/pools",
    "apm/encoders",
    "apm/posteriors",
    "apm/selectors",
    "apm/selectors/rules",
    "apm/selectors/matching",
    "apm/selectors/tiles",
    "apm/studies",
    "apm/studies/data",
    "apm/studies/engine",
    "apm/studies/paper",
    "apm/studies/multiclass",
    "apm/adapters",
)
HEAVY = (
    "ot",
    "matplotlib",
    "torch",
    "sklearn",
    "dask",
    "numba",
    "pandas",
    "joblib",
    "scipy.stats",
    "scipy.optimize",
)
EXAMPLE_SECONDS = 180
# FLOAT_CMP: numbers are compared to 1e-5, because their last digits depend on the CPU and the BLAS.
DOCTEST_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | FLOAT_CMP

FENCE = re.compile(
    r"^(?P<mark>```+|~~~+)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=mark)[ \t]*$", re.M | re.S
)
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("[!_]*.py"))


def python_blocks(text: str) -> list[tuple[int, str]]:
    """Line number and text of each block fenced as ```python; ```python no-run is left out."""
    return [
        (text.count("\n", 0, match.start("body")), match["body"])
        for match in FENCE.finditer(text)
        if match["info"].split() == ["python"]
    ]


def run_block(body: str, namespace: dict[str, Any], *, name: str, line: int) -> None:
    """Run a block; one with prompts is a doctest, whose shown output must be what comes out."""
    if ">>>" not in body:
        exec(compile("\n" * line + body, name, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(body, namespace, name, name, line)
    report: list[str] = []
    runner = doctest_runner()
    runner.run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert runner.failures == 0, "".join(report)


class TolerantChecker(OutputChecker):
    """Accepts what plain doctest accepts (FLOAT_CMP alone does not know "..."), or near numbers."""

    def check_output(self, want: str, got: str, flags: int) -> bool:
        if doctest.OutputChecker.check_output(self, want, got, flags & ~FLOAT_CMP):
            return True
        return super().check_output(want, got, flags)


def doctest_runner() -> doctest.DocTestRunner:
    return doctest.DocTestRunner(TolerantChecker(), optionflags=DOCTEST_FLAGS, verbose=False)


def library_modules() -> list[str]:
    names = list(PACKAGES)
    for package in PACKAGES:
        found = pkgutil.walk_packages(
            [str(ROOT / package)], f"{package}.", onerror=lambda name: None
        )
        names += [module.name for module in found if not module.name.endswith("__main__")]
    return sorted(names)


def run_python(*arguments: str, cwd: Path, timeout: float = 120) -> str:
    """The output of a fresh interpreter on this checkout; fails with what it wrote on error."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- what is written runs -------------------------------------------------------------------------


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run(path, tmp_path, monkeypatch):
    """Every block runs when it is copied alone: it imports and makes what it needs."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for line, body in python_blocks(path.read_text()):
            try:
                run_block(body, {"__name__": "__main__"}, name=path.name, line=line)
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
                    raise
                pytest.skip(f"line {line} needs the extra dask")


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_in_text_exist(path):
    """A full name such as `channelcode.channels.Logistic` or `tests/conftest.py::rng` is real."""
    text = FENCE.sub("", path.read_text())
    for name in re.findall(r"`((?:channelcode|apm)(?:\.\w+)+)(?:\([^`]*\))?`", text):
        assert resolves(name), f"{path.name} speaks of {name}, which does not exist"
    for file, function in re.findall(
        r"`((?:tests|examples|benchmarks)/[\w/.]+)(?:::(\w+))?`", text
    ):
        assert (ROOT / file).exists(), f"{path.name} speaks of {file}, which does not exist"
        if function:
            assert f"def {function}(" in (ROOT / file).read_text(), f"{file} has no {function}"


def resolves(name: str) -> bool:
    """Whether a dotted name leads to a module, or to an attribute of one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for attribute in parts[split:]:
            if not hasattr(value, attribute) and attribute not in annotations_of(value):
                return False
            value = getattr(value, attribute, None)
        return True
    return False


def annotations_of(value: Any) -> set[str]:
    """Names a class declares without a value, as dataclass fields without default are."""
    bases = getattr(value, "__mro__", ())
    return {name for base in bases for name in getattr(base, "__annotations__", {})}


def test_name_check_knows_real_from_invented():
    assert resolves("channelcode.errors.InvalidArgument")
    assert resolves("channelcode.certificate.Certificate.lower")
    assert resolves("channelcode.channels")
    assert not resolves("channelcode.channels.Telepathy")
    assert not resolves("channelcode.telepathy.Channel")


def test_readme_opens_with_code_and_a_picture():
    text = (ROOT / "README.md").read_text()
    assert python_blocks(text), "README.md has no python block"
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        assert (ROOT / picture).is_file(), f"README.md shows {picture}, which does not exist"


def test_block_runner_sees_errors_and_wrong_output():
    text = "```python\nx = 1\n```\ntext\n```python no-run\n1/0\n```\n```text\n1/0\n```\n"
    assert python_blocks(text) == [(1, "x = 1\n")]
    namespace: dict[str, Any] = {}
    run_block("x = 2\n", namespace, name="block", line=0)
    run_block(">>> x + 1\n3\n>>> y = x\n", namespace, name="block", line=0)
    assert namespace["y"] == 2
    with pytest.raises(AssertionError, match="Expected"):
        run_block(">>> x + 1\n4\n", namespace, name="block", line=0)
    run_block(">>> 0.1 + 0.2\n0.3\n", namespace, name="block", line=0)
    with pytest.raises(AssertionError, match="Expected"):
        run_block(">>> 0.1 + 0.2\n0.3001\n", namespace, name="block", line=0)
    with pytest.raises(ZeroDivisionError):
        run_block("1 / 0\n", namespace, name="block", line=0)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(path, tmp_path):
    """Every example runs without a warning and draws its picture where it is told to."""
    picture = tmp_path / "picture.png"
    run_python("-W", "error", str(path), str(picture), cwd=tmp_path, timeout=EXAMPLE_SECONDS)
    needs_torch = "needs torch" in path.read_text()
    if not (needs_torch and importlib.util.find_spec("torch") is None):
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", library_modules())
def test_docstring_examples(name, tmp_path, monkeypatch):
    from channelcode.errors import MissingExtra

    monkeypatch.chdir(tmp_path)
    try:
        module = importlib.import_module(name)
    except MissingExtra as error:
        pytest.skip(str(error))
    report: list[str] = []
    runner = doctest_runner()
    with np.printoptions(precision=8, suppress=False):
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


# --- what import promises -------------------------------------------------------------------------


@pytest.mark.parametrize("package", PACKAGES)
def test_import_is_light(package, tmp_path):
    program = f"import json, sys, {package}; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(run_python("-W", "error", "-c", program, cwd=tmp_path)))
    assert loaded.isdisjoint(HEAVY), sorted(loaded.intersection(HEAVY))


def test_every_public_name_can_be_had(tmp_path):
    """Names in `__all__` may be loaded late, but they exist."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name) is not None, f"{package}.{name}"


def test_optimised_python_checks_the_same(tmp_path):
    """`python -O` drops assert statements: validation must not be made of them."""
    program = """
import numpy as np
from channelcode import BinarySymmetric, DiscreteMeasure, Ordinal, Softmax
from channelcode.errors import InvalidArgument
calls = [
    lambda: BinarySymmetric(1.5),
    lambda: BinarySymmetric(float("nan")),
    lambda: Softmax(1),
    lambda: Ordinal([1.0, 0.0]),
    lambda: DiscreteMeasure([0.0, 1.0], [0.5, 0.6]),
    lambda: DiscreteMeasure([0.0, np.inf], [0.5, 0.5]),
    lambda: DiscreteMeasure([], []),
]
for number, call in enumerate(calls):
    try:
        call()
    except InvalidArgument as error:
        print(number, error)
    else:
        print(number, "accepted")
"""
    plain = run_python("-c", program, cwd=tmp_path)
    assert "accepted" not in plain
    assert len(plain.splitlines()) == 7
    assert run_python("-O", "-c", program, cwd=tmp_path) == plain


def test_no_assert_in_the_library():
    pattern = re.compile(r"^\s*assert\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path != ROOT / "channelcode" / "testing.py"  # its assertions are what it is for
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.match(line)
    ]
    assert found == []


# --- the house ------------------------------------------------------------------------------------


def public_modules(folder: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob("[!_]*.py"))


@pytest.mark.parametrize("family", [name for name in FAMILIES if (ROOT / name).is_dir()])
def test_each_module_has_its_test_file(family):
    """`base.py` is tested by the contract that every member passes, `test__<family>.py`."""
    tests = ROOT / "tests" / family
    contract = tests / f"test__{Path(family).name}.py"
    missing = [
        name
        for name in public_modules(family)
        if not (tests / f"test_{name}.py").is_file() and not (name == "base" and contract.is_file())
    ]
    assert missing == [], f"tests/{family} lacks test files for these modules"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tables_of_the_architecture_are_the_tree(package):
    """Every module and folder of a package stands in its table, once, and nothing else does."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text.split(f"| `{package}`, from the top | holds |\n|---|---|\n")[1].split("\n\n")[0]
    told = [
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    here = {
        path.stem
        for path in (ROOT / package).iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").is_file())
        and not path.stem.startswith("__")
    }
    assert sorted(told) == sorted(here)


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_can_be_taken_in_at_a_glance(package):
    """About a dozen files side by side, at the top of a package as well as below."""
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder in (ROOT / package, *(ROOT / package).rglob("*"))
        if folder.is_dir()
        and (count := len([f for f in folder.glob("*.py") if f.stem != "__init__"])) > 13
    }
    assert crowded == {}


def test_files_are_of_reading_size():
    too_long = {
        str(path.relative_to(ROOT)): lines
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert too_long == {}


def test_no_module_is_named_for_nothing():
    names = {
        path.stem.strip("_") for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    }
    assert names.isdisjoint({"utils", "util", "helpers", "helper", "misc", "common"})


def test_version_is_told_once():
    declared = channelcode.__version__
    try:
        installed = importlib.metadata.version("channelcode")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("run from a checkout that is not installed")
    assert installed == declared
    assert declared in (ROOT / "CHANGELOG.md").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^version: {re.escape(declared)}$", citation, re.M)


def test_typed_markers_are_there():
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file()
