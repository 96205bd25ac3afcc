"""Closed-form jacobians of layered networks, against automatic differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: the extra 'torch' brings it")

from apm import TorchNetwork  # noqa: E402
from apm.encoders.torch_layers import ELEMENTWISE, layered_jacobian, layers_of  # noqa: E402

nn = torch.nn
RNG = np.random.default_rng(0)


def double(*layers: Any) -> Any:
    return nn.Sequential(*layers).double()


def by_autograd(module: Any, X: np.ndarray) -> np.ndarray:
    """d output / d parameter, one example and one output at a time."""
    found = []
    for x in torch.from_numpy(X):
        rows = []
        for output in module(x[None])[0]:
            parts = torch.autograd.grad(output, list(module.parameters()), retain_graph=True)
            rows.append(torch.cat([part.reshape(-1) for part in parts]).numpy())
        found.append(rows)
    return np.array(found)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_activation(name):
    module = double(nn.Linear(3, 4), getattr(nn, name)(), nn.Linear(4, 2))
    X = RNG.normal(size=(6, 3))
    encoder = TorchNetwork(module)
    layers = layers_of(encoder.module)
    assert layers is not None
    found = layered_jacobian(layers, encoder.start, X)
    np.testing.assert_allclose(found, by_autograd(module, X), atol=1e-13)


@pytest.mark.parametrize(
    "layers",
    [
        lambda: (nn.Linear(3, 2),),
        lambda: (nn.Linear(3, 1, bias=False),),
        lambda: (nn.Linear(3, 5, bias=False), nn.Tanh(), nn.Linear(5, 4), nn.Linear(4, 3)),
        lambda: (nn.Tanh(), nn.Linear(3, 4), nn.ReLU(), nn.Sigmoid(), nn.Linear(4, 2, bias=False)),
        lambda: (nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 5), nn.SiLU(), nn.Linear(5, 4)),
    ],
    ids=["linear", "one output", "no bias", "activation first", "deep"],
)
def test_every_arrangement(layers):
    module = double(*layers())
    encoder, X = TorchNetwork(module), RNG.normal(size=(5, 3))
    theta = encoder.start + 0.3 * RNG.normal(size=encoder.num_parameters)
    known = layers_of(encoder.module)
    assert known is not None
    torch.nn.utils.vector_to_parameters(torch.from_numpy(theta), module.parameters())
    expected = by_autograd(module, X)
    np.testing.assert_allclose(layered_jacobian(known, theta, X), expected, atol=1e-13)
    outputs = expected.shape[1]
    np.testing.assert_allclose(
        encoder.jacobian(theta, X), expected[:, 0] if outputs == 1 else expected, atol=1e-13
    )


def hooked() -> Any:
    module = double(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    module[1].register_forward_hook(lambda *given: 2.0 * given[2])
    return module


def shared() -> Any:
    layer = nn.Linear(3, 3)
    return double(layer, nn.Tanh(), layer)


class Doubled(nn.Linear):
    def forward(self, input: Any) -> Any:
        return 2.0 * super().forward(input)


@pytest.mark.parametrize(
    "module",
    [
        hooked(),
        shared(),
        double(Doubled(3, 4), nn.Tanh(), nn.Linear(4, 2)),
        double(nn.Linear(3, 4), nn.Softmax(dim=1), nn.Linear(4, 2)),
        double(nn.Linear(3, 4), nn.Tanh()),
        double(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)),
        nn.Linear(3, 2).double(),
    ],
    ids=["hook", "shared", "own class", "softmax", "no last map", "normalised", "no sequence"],
)
def test_other_networks_are_left_to_torch(module):
    assert layers_of(module) is None
    X = RNG.normal(size=(4, 3))
    encoder = TorchNetwork(module)
    expected = by_autograd(module, X)
    np.testing.assert_allclose(encoder.jacobian(encoder.start, X), expected, atol=1e-12)
