"""Sparse pools and many features: the same answers as the dense ones, in the span of the labels."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from apm import Learner, Margin, Random, compare
from apm.answering import default_belief
from apm.belief import Belief
from apm.encoders import Affine, FeatureMap, Linear, Standardised
from apm.pools.inputs import as_matrix, is_sparse, read_only_view
from apm.pools.sparse import SparseRows, as_arrays, from_arrays
from apm.posteriors import Bohning, Laplace, VariationalLogistic
from apm.posteriors import gaussian as gaussian_module
from apm.posteriors import laplace as laplace_module
from apm.posteriors import variational as variational_module
from apm.posteriors.covariances import feature_covariance
from apm.storage import fingerprint
from channelcode.channels import Cauchit, Logistic, Probit
from channelcode.errors import InvalidArgument
from tests.naming import plain

MODELS: dict[str, Any] = {
    "variational": lambda **k: VariationalLogistic(0.2, **k),
    "logistic": lambda **k: Laplace(Logistic(), 0.2, **k),
    "probit": lambda **k: Laplace(Probit(), 0.2, **k),
    "cauchit": lambda **k: Laplace(Cauchit(), 0.2, **k),
    "bohning": lambda **k: Bohning(3, 0.2, **k),
}


def text_like(n: int = 40, d: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Few words in each row, rows of unit norm, and two or three labels."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.15)
    X[:, 0] += 0.1
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.argmax(X @ rng.normal(size=(d, 3)), axis=1)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every posterior in the span of its examples, however few the features."""
    monkeypatch.setattr(feature_covariance, "WIDE", 1)
    for module in (gaussian_module, laplace_module, variational_module):
        monkeypatch.setattr(module, "MANY_FEATURES", 1)


def grown(model: Any, X: Any, y: np.ndarray) -> Any:
    posterior = model.fit(X[:4], y[:4])
    for i in range(4, 9):
        posterior = posterior.update(X[i : i + 1], y[i : i + 1])
    return posterior.update(X[9:14], y[9:14])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_span_is_the_same_posterior(name: str, intercept: bool, request: Any) -> None:
    X, y = text_like()
    X[6] = X[2]  # a row twice, and one of nothing
    X[7] = 0.0
    y = y if name == "bohning" else (y > 0).astype(int)
    options: dict[str, Any] = {"intercept": intercept}
    options |= {"intercept_precision": 0.7} if intercept else {}
    options["classes"] = [0, 1, 2] if name == "bohning" else [0, 1]
    dense = grown(MODELS[name](**options), X, y)
    expected = dense.update(X[20], y[20])
    request.getfixturevalue("wide")
    inputs = sparse.csr_array(X)
    for fresh in (
        grown(MODELS[name](**options), inputs, y),
        MODELS[name](**options).fit(inputs[:14], y[:14]),
    ):
        held = pickle.loads(pickle.dumps(fresh))
        back = type(fresh).from_state(fresh.state(), fresh.channel)
        for found in (fresh, held, back, fresh.fit(inputs[:14], y[:14])):
            # both are the same optimum, found to about 1e-10
            np.testing.assert_allclose(found.mean, dense.mean, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(found.map, dense.map, rtol=1e-7, atol=1e-8)
            for matrix in (X, inputs, as_matrix(inputs)):
                for left, right in zip(found.project(matrix), dense.project(X), strict=True):
                    np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-9)
            cross = found.cross_leverage(inputs, inputs[:3])
            np.testing.assert_allclose(cross, dense.cross_leverage(X, X[:3]), rtol=1e-7, atol=1e-9)
            assert found.top_eigenvalue == pytest.approx(dense.top_eigenvalue, rel=1e-8)
            further = found.update(inputs[20:21], y[20:21])
            np.testing.assert_allclose(further.mean, expected.mean, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        np.asarray(fresh.covariance), np.asarray(dense.covariance), rtol=1e-8, atol=1e-9
    )


@pytest.mark.parametrize("name", ["variational", "bohning"])
def test_a_learner_on_a_sparse_pool_picks_the_same(name: str, wide: None) -> None:
    X, y = text_like(60, 40, seed=1)
    y = y if name == "bohning" else (y > 0).astype(int)
    classes = [0, 1, 2] if name == "bohning" else [0, 1]
    learners = [
        Learner(pool, MODELS[name](intercept=True, classes=classes), seed=0)
        for pool in (X, sparse.csr_matrix(X), sparse.coo_array(X))
    ]
    for _ in range(8):
        picks = [int(learner.ask()) for learner in learners]
        assert len(set(picks)) == 1
        for learner in learners:
            learner.tell(picks[0], int(y[picks[0]]))
    first = learners[0].predict_proba()
    for learner in learners[1:]:
        np.testing.assert_allclose(learner.predict_proba(), first, atol=1e-10)
        np.testing.assert_allclose(learner.predict_proba(sparse.csr_matrix(X)), first, atol=1e-10)
        assert learner.predict().tolist() == learners[0].predict().tolist()
        assert learner.ask(3).tolist() == learners[0].ask(3).tolist()


def test_what_is_remembered_of_a_pool_follows_the_labels(wide: None) -> None:
    """A pool that cannot be written to is projected once; the answers are those of a fresh one."""
    X, y = text_like()
    pool = read_only_view(as_matrix(sparse.csr_array(X)))
    posterior: Any = VariationalLogistic(0.2, classes=[0, 1]).sized(60)
    for i in range(8):
        posterior = posterior.update(X[i], int(y[i] > 0))
        fresh = posterior.leverage(sparse.csr_array(X))
        np.testing.assert_allclose(posterior.leverage(pool), fresh, rtol=1e-12)
        _ = posterior.update(X[20 + i], 0).leverage(pool)  # a branch that is given up
    with pytest.raises(ValueError, match="read-only"):
        pool.data[0] = 1.0


def test_what_a_sparse_matrix_must_be() -> None:
    rows = as_matrix(sparse.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 3)))
    assert isinstance(rows, SparseRows)
    assert rows.toarray().tolist() == [[0, 3, 0], [4, 0, 0]]
    assert (len(rows), rows.nbytes > 0, rows.itemsize) == (2, True, 8)
    assert as_matrix(sparse.csr_array(np.eye(2, dtype=int))).dtype == np.float64
    assert as_matrix(sparse.csr_array(np.eye(2, dtype=np.float32))).dtype == np.float32
    broken = sparse.csr_array(np.diag([1.0, np.nan, 1.0]))
    with pytest.raises(InvalidArgument, match="nan in row 1, column 1"):
        as_matrix(broken)
    with pytest.raises(InvalidArgument, match="nan in row 1, column 1"):
        Belief(VariationalLogistic()).push(broken)
    with pytest.raises(InvalidArgument, match="real numbers"):
        as_matrix(sparse.csr_array(np.eye(2) * 1j))
    with pytest.raises(InvalidArgument, match="at least one column"):
        as_matrix(sparse.csr_array((3, 0)))
    with pytest.raises(InvalidArgument, match="must be dense for Standardised"):
        Standardised.of(sparse.csr_array(np.eye(2)))


def lived_through(pool: Any, more: Any, y: np.ndarray, selector: Any = None) -> Learner:
    """A learner that was told, corrected, extended, and had a call taken back."""
    learner = Learner(pool, selector=selector, classes=sorted(set(y.tolist())), seed=0)
    first = [int(np.flatnonzero(y == label)[0]) for label in np.unique(y)]
    learner.tell(first, y[first])
    row = int(learner.ask())
    learner.tell(row, y[row])
    learner.extend(more[:5])
    learner.extend(more[5:7])
    learner.tell(len(y) + 6, y[6])
    learner.skip(int(learner.ask()))
    learner.tell(len(y) + 5, y[5])
    learner.undo()
    learner.correct(row, y[0])
    return learner


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("features", [60, 2000])
@pytest.mark.parametrize("rule", [None, Random(), Margin()], ids=plain)
def test_a_sparse_learner_lives_as_a_dense_one(
    classes: int, features: int, rule: Any, tmp_path: Any
) -> None:
    X, y = text_like(30, features, seed=3)
    y = np.minimum(y, classes - 1)
    rows = sparse.csr_matrix(X)
    other = sparse.csr_matrix(X).astype(np.float64)
    other.indices = other.indices.astype(np.int64)  # another layout of the same rows
    other.indptr = other.indptr.astype(np.int64)
    learner = lived_through(rows, X, y, rule)
    assert is_sparse(learner.pool)
    assert learner.pool.shape == (37, features)
    learner.save(tmp_path / "learner.npz")
    learner.record_to(tmp_path / "labels.jsonl")
    learner.stop_recording()
    read = Learner(other, selector=rule, classes=np.unique(y), seed=0)
    read.record_to(tmp_path / "labels.jsonl", more_rows=sparse.csc_array(X[:7]))
    read.stop_recording()
    copies = [
        Learner.load(tmp_path / "learner.npz"),
        pickle.loads(pickle.dumps(learner)),
        copy.deepcopy(learner),
        read,
    ]
    for each in copies:
        assert [r.event for r in each.history] == [r.event for r in learner.history]
        assert each.ask(3).tolist() == learner.ask(3).tolist()
        np.testing.assert_allclose(each.predict_proba(), learner.predict_proba(), atol=1e-9)
        row = int(learner.remaining[0])
        each.tell(row, 0)
    assert learner.stop_advice().labels == len(learner.labelled)
    curve = learner.curve(rows, y)
    np.testing.assert_allclose(curve.log_loss, learner.curve(X, y).log_loss, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_wide_sparse_pool_gives_the_dense_scores(classes: int) -> None:
    """Scores of the default rule to 1e-10, as the issue asks; 300 features are beyond the switch
    to the span of the labels, 60 below it."""
    for features in (60, 300):
        X, y = text_like(50, features, seed=5)
        y = np.minimum(y, classes - 1)
        found = []
        for pool in (X, sparse.csr_array(X)):
            learner = Learner(pool, belief_of(classes), seed=0)
            learner.tell(range(12), y[:12])
            state = learner._state
            rows = np.arange(12, 50)
            choice = state.selector.choose(state.belief, state.features, rows, n=4, rng=0)
            found.append((choice.scores, choice.indices, learner.predict_proba()))
        scale = np.abs(found[0][0]).max()
        np.testing.assert_allclose(found[1][0], found[0][0], rtol=0, atol=1e-10 * scale)
        assert found[0][1].tolist() == found[1][1].tolist()
        np.testing.assert_allclose(found[1][2], found[0][2], rtol=0, atol=1e-10)


def belief_of(classes: int) -> Belief:
    """What `Learner` takes for a sparse pool, for a dense one: features as they are."""
    return default_belief(np.eye(2), list(range(classes)), encoder=Linear())


def test_stored_zeros_and_layouts_do_not_make_another_pool() -> None:
    plain_rows = sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    with_zeros = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 3.0]), np.array([0, 2, 1, 2]), np.array([0, 2, 3, 4])),
        shape=(3, 3),
    )
    assert fingerprint(as_matrix(with_zeros)) == fingerprint(as_matrix(plain_rows))
    assert fingerprint(as_matrix(sparse.csc_array(plain_rows))) == fingerprint(
        as_matrix(plain_rows)
    )


def damaged() -> dict[str, Any]:
    return {
        "an index beyond the columns": {"pool.indices": np.array([0, 5, 2], dtype=np.int32)},
        "a negative index": {"pool.indices": np.array([0, -1, 2], dtype=np.int32)},
        "rows that go back": {"pool.indptr": np.array([0, 2, 1, 3], dtype=np.int32)},
        "rows beyond the data": {"pool.indptr": np.array([0, 1, 2, 9], dtype=np.int32)},
        "a row too many": {"pool.indptr": np.array([0, 1, 2, 3, 3], dtype=np.int32)},
        "a shape of one axis": {"pool.shape": np.array([3])},
        "no columns": {"pool.shape": np.array([3, 0])},
        "more columns than can be": {"pool.shape": np.array([3, -4])},
        "text for numbers": {"pool": np.array(["a", "b", "c"])},
        "not finite": {"pool": np.array([1.0, np.nan, 3.0])},
        "a column twice": {
            "pool.indptr": np.array([0, 2, 2, 3], dtype=np.int32),
            "pool.indices": np.array([1, 1, 2], dtype=np.int32),
        },
        "one index too few": {"pool.indices": np.array([0, 1], dtype=np.int32)},
    }


@pytest.mark.parametrize("kind", damaged())
def test_arrays_that_are_no_sparse_rows_are_refused(kind: str) -> None:
    whole = as_arrays(as_matrix(sparse.csr_array(np.diag([1.0, 2.0, 3.0]))), "pool")
    assert from_arrays(whole, "pool").toarray().tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
    with pytest.raises(InvalidArgument, match="must be rows of a sparse matrix"):
        from_arrays(whole | damaged()[kind], "pool")


def test_more_rows_take_the_form_of_the_pool() -> None:
    dense = Learner(np.eye(3), classes=[0, 1], seed=0)
    dense.extend(sparse.csr_array(np.ones((1, 3))))
    assert dense.pool.tolist() == [*np.eye(3).tolist(), [1.0, 1.0, 1.0]]
    rows = Learner(sparse.csr_array(np.eye(3)), classes=[0, 1], seed=0)
    rows.extend([[1.0, 0.0, 1.0]])
    assert rows.pool.toarray().tolist() == [*np.eye(3).tolist(), [1.0, 0.0, 1.0]]
    with pytest.raises(InvalidArgument, match="must have 3 columns"):
        rows.extend(sparse.csr_array(np.eye(2)))
    with pytest.raises(InvalidArgument, match="more_rows must be finite"):
        rows.extend([[np.nan, 0.0, 1.0]])
    assert len(rows.pool) == 4


def test_selectors_are_compared_on_sparse_rows() -> None:
    X, y = text_like(40, 30, seed=2)
    rules = {"margin": Margin(), "random": Random()}
    found = compare(sparse.csr_array(X), y, rules, labels=3, trials=2)
    assert found.accuracy.shape == (2, 2, 4)


def test_encoders_of_sparse_rows() -> None:
    X = sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    assert is_sparse(Linear().encode(X))
    assert as_matrix(Affine().encode(X)).toarray().tolist() == [[0, 2, 1], [3, 0, 1]]
    doubled = FeatureMap(lambda rows: 2 * rows).encode(X)
    assert doubled.toarray().tolist() == [[0, 4], [6, 0]]  # type: ignore[attr-defined]


def test_thirty_thousand_features_need_no_square_of_them() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 30_000, size=(300, 20))
    indptr = np.arange(0, 6001, 20)
    X = sparse.csr_array((rng.random(6000), columns.ravel(), indptr), shape=(300, 30_000))
    for model, y in ((VariationalLogistic(1.0), [0, 1] * 10), (Bohning(3, 1.0), [0, 1, 2, 1] * 5)):
        belief = Belief(model).fit(X[:20], y)
        laws: Any = belief.push(X)
        assert len(laws) == 300
        with pytest.raises(InvalidArgument, match=r"GiB"):
            np.asarray(belief.posterior.summed_covariance)
