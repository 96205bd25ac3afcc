"""One pool asked about with several threads, by several threads and by several processes."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from apm import APM, InformationGain, Learner, MaxVariance, VariationalLogistic
from apm.pools import StreamedRows
from apm.pools.streamed import source_of
from tests.naming import plain

SCRIPT = """
import sys
import numpy as np
from apm import APM, InformationGain, Learner, VariationalLogistic

path = sys.argv[1]
X = np.load(path)
y = (X[:, 0] + X[:, 1] > 0).astype(int)
found = []
for pool in (path, X):
    for rule in (None, APM(), InformationGain()):
        learner = Learner(pool, VariationalLogistic(), rule, seed=0)
        learner.tell(range(12), y[:12])
        for _ in range(2):
            row = learner.ask()
            learner.tell(row, y[row])
            found.append(int(row[0]))
        found.extend(learner.ask(2).tolist())
print(found)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    where = tmp_path_factory.mktemp("pool") / "pool.npy"
    rng = np.random.default_rng(0)
    np.save(where, rng.standard_normal((20_000, 64), dtype=np.float32))
    return where


def test_threads_of_the_libraries_change_no_question(path):
    asked = []
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        settings = {**os.environ, **dict.fromkeys(names, threads)}
        command = [sys.executable, "-c", SCRIPT, str(path)]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
        asked.append([int(each) for each in done.stdout.strip(" []\n").split(",")])
    assert asked[0] == asked[1]
    half = len(asked[0]) // 2
    assert asked[0][:half] == asked[0][half:]  # from the file and from memory


def questions(pool, rule, sign):
    learner = Learner(pool, VariationalLogistic(), rule, seed=0)
    learner.tell(range(12), (sign * learner.pool[:12][:, 0] > 0).astype(int))
    found = []
    for _ in range(4):
        row = learner.ask()
        learner.tell(row, (sign * learner.pool[row][:, 0] > 0).astype(int))
        found.append(int(row[0]))
    return found


@pytest.mark.parametrize("rule", [APM(), InformationGain(), MaxVariance()], ids=plain)
def test_learners_in_threads_share_one_pool(path, rule):
    alone = [questions(path, rule, sign) for sign in (1, -1)]
    shared = StreamedRows(source_of(path))  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda sign: questions(shared, rule, sign), (1, -1)))
    assert together == alone


def test_what_is_remembered_of_tiles_travels(path):
    shared = StreamedRows(source_of(path))  # type: ignore[arg-type]
    asked = questions(shared, MaxVariance(), 1)
    again = pickle.loads(pickle.dumps(shared))
    assert again.records.complete
    assert questions(again, MaxVariance(), 1) == asked
