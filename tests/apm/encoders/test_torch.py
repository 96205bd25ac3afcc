"""Neural features: frozen activations, and a last-layer Laplace computed independently."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra 'torch' brings it")

from apm.belief import Belief  # noqa: E402
from apm.encoders import TorchFeatures  # noqa: E402
from apm.encoders.torch import train_mlp  # noqa: E402
from apm.learner import Learner  # noqa: E402
from apm.posteriors import Bohning, Laplace  # noqa: E402
from apm.power import PoolMaxPower  # noqa: E402
from apm.selectors import APM, ContestedPair, Predictions  # noqa: E402
from channelcode.channels import Softmax  # noqa: E402
from channelcode.errors import InvalidArgument  # noqa: E402
from channelcode.measures import FullPool  # noqa: E402


def blobs(seed: int = 0, rows: int = 60):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    return rng.normal(size=(rows, 4)) + 2 * np.eye(4)[y], y


def network(dtype=torch.float64):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = (torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
        return torch.nn.Sequential(*layers).to(dtype)


def test_features_are_the_activations() -> None:
    X, _ = blobs()
    module = network()
    expected = torch.tanh(module[0](torch.from_numpy(X))).detach().numpy()
    np.testing.assert_allclose(TorchFeatures(module).encode(X), expected, rtol=1e-12)
    np.testing.assert_allclose(TorchFeatures(module, "1").encode(X), expected, rtol=1e-12)
    pieces = TorchFeatures(module, "1", batch=7).encode(X)
    np.testing.assert_allclose(pieces, expected, rtol=1e-12)


def test_mode_and_gradients_are_left_alone() -> None:
    X, _ = blobs()
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.Dropout(0.5), torch.nn.Linear(5, 3)
    )
    module.train()
    module[1].eval()
    before = X.copy()
    first, second = TorchFeatures(module).encode(X), TorchFeatures(module).encode(X)
    np.testing.assert_array_equal(first, second)  # no dropout
    assert module.training
    assert module[0].training
    assert not module[1].training
    assert not module[2]._forward_pre_hooks
    np.testing.assert_array_equal(X, before)


def test_images() -> None:
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    )
    X = np.random.default_rng(0).normal(size=(5, 16))
    assert TorchFeatures(module, shape=(1, 4, 4)).encode(X).shape == (5, 8)
    assert TorchFeatures(module, "0", shape=(1, 4, 4)).encode(X).shape == (5, 8)


def test_last_layer_laplace_agrees_with_torch() -> None:
    """MAP and Hessian of the last layer by torch's own optimiser and automatic differentiation."""
    X, y = blobs(1)
    module = network()
    train, precision = slice(0, 20), 0.7
    phi = torch.tanh(module[0](torch.from_numpy(X))).detach()
    labels = torch.from_numpy(y[train])

    def loss(flat):
        logits = phi[train] @ flat.reshape(3, 6).T
        prior = 0.5 * precision * (flat**2).sum()
        return torch.nn.functional.cross_entropy(logits, labels, reduction="sum") + prior

    flat = torch.zeros(18, dtype=torch.float64)
    for _ in range(30):
        gradient = torch.autograd.functional.jacobian(loss, flat)
        hessian = torch.autograd.functional.hessian(loss, flat)
        flat = flat - torch.linalg.solve(hessian, gradient)
    hessian = torch.autograd.functional.hessian(loss, flat)
    blocks = torch.linalg.inv(hessian).reshape(3, 6, 3, 6)
    spread = torch.einsum("ni,aibj,nj->nab", phi, blocks, phi).numpy()
    centre = np.eye(3) - 1 / 3
    belief = Belief(Laplace(Softmax(3), precision), TorchFeatures(module)).fit(X[train], y[train])
    laws = belief.push(X)
    assert isinstance(laws, FullPool)
    logits = (phi @ flat.reshape(3, 6).T).numpy() @ centre
    np.testing.assert_allclose(laws.mean, logits, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(laws.covariance, centre @ spread @ centre, rtol=1e-6, atol=1e-8)


def test_a_trained_network_in_a_learner() -> None:
    X, y = blobs(2)
    state = torch.random.get_rng_state()
    module = train_mlp(X[:12], y[:12], num_classes=3, hidden=(8,), steps=100)
    again = train_mlp(X[:12], y[:12], num_classes=3, hidden=(8,), steps=100)
    assert torch.equal(torch.random.get_rng_state(), state)
    for first, second in zip(module.parameters(), again.parameters(), strict=True):
        assert torch.equal(first, second)
    selector = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(num_targets=20))
    belief = Belief(Bohning(3, 0.1, intercept=True), TorchFeatures(module))
    learner = Learner(X, belief, selector, seed=0)
    for row in range(6):
        learner.tell(row, int(y[row]))
    for _ in range(8):
        row = int(learner.ask()[0])
        learner.tell(row, int(y[row]))
    assert np.mean(learner.predict(X) == y) > 0.8


def test_bad_input() -> None:
    module = network()
    with pytest.raises(InvalidArgument, match="module"):
        TorchFeatures(lambda x: x)
    with pytest.raises(InvalidArgument, match="layer"):
        TorchFeatures(module, "hidden")
    with pytest.raises(InvalidArgument, match="layer"):
        TorchFeatures(torch.nn.Tanh())
    shared = torch.nn.Linear(4, 4)
    twice = torch.nn.Sequential(shared, torch.nn.Tanh(), shared)
    with pytest.raises(InvalidArgument, match="once"):
        TorchFeatures(twice).encode(np.zeros((2, 4)))
    with pytest.raises(InvalidArgument, match="y"):
        train_mlp(np.zeros((2, 4)), [0, 5], num_classes=3)
