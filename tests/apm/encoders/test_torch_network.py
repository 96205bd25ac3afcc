"""A whole network as an encoder, against torch itself and the figures of laplace-torch."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra 'torch' brings it")

from apm import Belief, Laplace, Learner, TorchNetwork  # noqa: E402
from apm.testing import check_encoder  # noqa: E402
from channelcode import Logistic, Softmax  # noqa: E402
from channelcode.errors import InvalidArgument  # noqa: E402

NETWORKS = json.loads((Path(__file__).parents[2] / "data" / "networks.json").read_text())
RNG = np.random.default_rng(0)


def network(d: int, hidden: int, outputs: int) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = (torch.nn.Linear(d, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, outputs))
        return torch.nn.Sequential(*layers)


@pytest.mark.parametrize("outputs", [1, 3])
def test_inputs_and_jacobian(outputs):
    module = network(4, 5, outputs)
    encoder = TorchNetwork(module)
    X = RNG.normal(size=(7, 4))
    theta = encoder.start + 0.1 * RNG.normal(size=(3, encoder.num_parameters))
    expected = module.double()(torch.from_numpy(X)).detach().numpy()
    found = encoder.inputs(encoder.start[None], X)[:, 0]
    np.testing.assert_allclose(found.reshape(7, -1), expected, atol=1e-12)
    check_encoder(encoder, X, theta=theta)
    slopes = encoder.jacobian(theta[0], X)
    q = encoder.num_parameters
    assert slopes.shape == ((7, q) if outputs == 1 else (7, 3, q))
    assert next(module.parameters()).dtype == torch.float64  # the module given is not touched
    for again in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        np.testing.assert_array_equal(again.inputs(theta, X), encoder.inputs(theta, X))


def test_pieces_are_the_whole(monkeypatch):
    encoder = TorchNetwork(network(4, 5, 3))
    X, theta = RNG.normal(size=(9, 4)), RNG.normal(size=(5, encoder.num_parameters))
    whole = encoder.inputs(theta, X), encoder.jacobian(theta[0], X)
    monkeypatch.setattr("apm.encoders.torch_network.PIECE_ENTRIES", 300)
    np.testing.assert_allclose(encoder.inputs(theta, X), whole[0], atol=1e-13)
    np.testing.assert_allclose(encoder.jacobian(theta[0], X), whole[1], atol=1e-13)


@pytest.mark.parametrize("name", ["binary_softmax2", "binary_logistic", "ten_class"])
def test_linearised_laws_equal_laplace_torch(name):
    case = NETWORKS[name]
    d, hidden, k = (case["dims"][part] for part in ("d", "hidden", "outputs"))
    encoder = TorchNetwork(network(d, hidden, k))
    channel = Softmax(k) if k > 1 else Logistic()
    n = len(case["y"])
    options: Any = {"encoder": encoder, "restarts": 0}
    prior = Laplace(channel, case["decay"], **options)
    posterior: Any = prior.fit(case["X"], case["y"], np.zeros(n))
    posterior = posterior._evolve(_weights=np.ones(n)).at(case["theta"])
    laws = Belief(posterior).push(case["X_test"])
    mean, covariance = np.array(case["mean"]), np.array(case["covariance"])
    if k > 1:
        centre = np.eye(k) - 1 / k
        mean, covariance = mean @ centre, centre @ covariance @ centre
    else:
        mean, covariance = mean[:, 0], covariance[:, 0, 0]
    np.testing.assert_allclose(laws.mean, mean, atol=1e-9)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(laws.covariance, covariance, rtol=1e-9, atol=1e-9 * scale)  # type: ignore[attr-defined]


def test_a_learner_with_a_network():
    X = RNG.normal(size=(30, 2))
    y = (np.square(X).sum(axis=1) > 1.5).astype(int)
    model: Any = Laplace(Logistic(), 0.5, encoder=TorchNetwork(network(2, 4, 1)), restarts=0)
    learner = Learner(X, model, seed=0)
    for _ in range(4):
        row = int(learner.ask())
        learner.tell(row, int(y[row]))
    assert learner.belief.posterior.gradient_norm < 1e-5  # type: ignore[attr-defined]
    assert len(set(learner.ask(5).tolist())) == 5


def test_bad_modules():
    with pytest.raises(InvalidArgument, match=r"nn\.Module"):
        TorchNetwork(lambda x: x)
    with pytest.raises(InvalidArgument, match="must have parameters"):
        TorchNetwork(torch.nn.Tanh())
    encoder = TorchNetwork(network(4, 5, 3))
    with pytest.raises(InvalidArgument, match="one for each weight"):
        encoder.inputs(np.zeros((1, 3)), np.zeros((2, 4)))
    images = TorchNetwork(torch.nn.Sequential(torch.nn.Flatten(), network(4, 5, 3)), shape=(2, 2))
    assert images.inputs(images.start[None], np.ones((6, 4))).shape == (6, 1, 3)
