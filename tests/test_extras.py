"""The library without its extras: what works, and what the errors name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = (
    "sklearn", "joblib", "pandas", "matplotlib", "torch", "dask", "distributed", "polyagamma",
    "skactiveml", "modAL", "hypothesis", "mpmath", "cvxpy", "ipywidgets",
)  # fmt: skip

BLOCKED = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
PLAIN = """
import numpy as np, tempfile
import apm, channelcode
from scipy import sparse
from apm import *
from channelcode import Logistic, Power, capacity

assert capacity(Logistic(), Power(1.0)).bits > 0
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
for y in (np.where(X[:, 0] > 0, "b", "a"), np.array(list("xyz"))[np.argmax(X, axis=1)]):
    for pool in (X, sparse.csr_array(X)):
        learner = Learner(pool, seed=0)
        learner.tell(range(9), y[:9])
        row = int(learner.ask())
        learner.tell(row, y[row])
        learner.undo()
        learner.stop_advice(), learner.curve(X, y), learner.history, learner._repr_html_()
        str(learner.explain(int(learner.ask())))
        path = tempfile.mktemp(suffix=".npz")
        learner.save(path)
        assert Learner.load(path).ask(2).tolist() == learner.ask(2).tolist()
    compare(X, y, labels=2, trials=2)
"""
NAMED = {
    "compare(X, X[:, 0] > 0, labels=2, trials=2, workers=2)": "parallel",
    "Learner(X).history.to_frame()": "frame",
    "from apm.adapters import APMClassifier": "sklearn",
    "from apm.studies.data.catalogue import load; load('digits')": "datasets",
    "import apm.plot; apm.plot.learning_curve(compare(X, X[:, 0] > 0, labels=2, trials=2))": "plot",
    "Sampled().fit(X, X[:, 0] > 0)": "sampling",
    "Learner(X).label()": "notebook",
}


def without_extras(program: str) -> subprocess.CompletedProcess[str]:
    blocked = BLOCKED.format(EXTRAS)
    return subprocess.run(
        [sys.executable, "-c", blocked + program],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip


def test_the_default_install_is_enough_to_label() -> None:
    found = without_extras(PLAIN)
    assert found.returncode == 0, found.stderr[-2000:]


@pytest.mark.parametrize("line", NAMED)
def test_what_is_missing_is_named_with_its_extra(line: str) -> None:
    start = (
        "import numpy as np\nfrom apm import *\nX = np.random.default_rng(0).normal(size=(40, 2))\n"
    )
    found = without_extras(start + line)
    assert found.returncode != 0
    last = found.stderr.strip().splitlines()[-1]
    assert f"pip install 'channelcode[{NAMED[line]}]'" in last


def test_every_extra_that_an_error_names_exists() -> None:
    """And `dev`, which the tests and the demonstration run on, has them all but the heavy ones."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(NAMED.values()) <= set(extras)
    needed = {"plot", "datasets", "sampling", "sklearn", "parallel", "frame"}
    assert needed <= set(extras["dev"][0].removesuffix("]").partition("[")[2].split(","))
    hard = [line.partition(">")[0] for line in project["dependencies"]]
    assert not {"scikit-learn", "joblib", "pandas", "torch", "matplotlib"} & set(hard)
    assert not any("==" in line for line in extras["torch"])  # users may have any build
