"""Jacobians of layered networks: linear maps and functions of single numbers, one after another.

For l = W_m a(W_{m-1} a(... x)) backpropagation has a closed form, many times faster than automatic
differentiation example by example:

    dl_k / dW_j = D_j[k] (outer) a_{j-1},   D_{j-1} = (D_j W_j) a'(z_{j-1}),   D_m = I.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.encoders.torch import import_torch
from channelcode._validation import Array
from channelcode.errors import InvalidArgument

ELEMENTWISE = (
    "Tanh", "Sigmoid", "ReLU", "SiLU", "GELU", "ELU", "LeakyReLU", "Softplus", "Mish", "SELU",
    "Hardtanh", "Identity", "LogSigmoid", "Softsign", "Tanhshrink",
)  # fmt: skip


def layers_of(module: Any) -> tuple[Any, ...] | None:
    """The layers of a network of this kind, in order; None if it is of another.

    A plain `nn.Sequential` of plain `nn.Linear` and activations, each used once and without hooks:
    what is computed is then known from the layers alone.
    """
    nn = import_torch().nn
    if type(module) is not nn.Sequential:
        return None
    layers = tuple(module)
    plain = (nn.Linear, *(getattr(nn, name) for name in ELEMENTWISE))
    if len({id(layer) for layer in layers}) < len(layers) or not layers:
        return None
    if any(type(layer) not in plain for layer in layers) or type(layers[-1]) is not nn.Linear:
        return None
    if any(_has_hooks(part) for part in (module, *layers)):
        return None
    held = [part for layer in layers for part in layer.parameters()]
    return layers if len({id(part) for part in held}) == len(held) else None


def _has_hooks(module: Any) -> bool:
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name, None) for name in names)


def layered_jacobian(layers: tuple[Any, ...], weights: Array, X: Array) -> Array:
    """dl / dtheta of every row of X `(n, d)` at all weights `(q,)`: `(n, k, q)`."""
    torch = import_torch()
    linear = [place for place, layer in enumerate(layers) if isinstance(layer, torch.nn.Linear)]
    blocks = {place: _block(layers, place) for place in linear}
    width = layers[linear[0]].in_features
    if X.shape[1] != width:
        raise InvalidArgument("X", f"must have {width} columns", f"shape {X.shape}")
    n, k, q = len(X), layers[-1].out_features, len(weights)
    found = np.zeros((n, k, q))
    values, slopes, a = {}, {}, X
    for place, layer in enumerate(layers[:-1]):
        values[place] = a
        if place in blocks:
            first, (rows, columns), bias = blocks[place]
            a = a @ weights[first : first + rows * columns].reshape(rows, columns).T
            if bias:
                a = a + weights[first + rows * columns : first + rows * (columns + 1)]
        else:
            z = torch.from_numpy(a).requires_grad_()
            out = layer(z)
            (slope,) = torch.autograd.grad(out.sum(), z)
            a, slopes[place] = out.detach().numpy(), slope.numpy()
    values[len(layers) - 1] = a
    back: Any = None  # dl / d(the output of a layer); None is the identity
    for place in reversed(range(len(layers))):
        if place not in blocks:
            back = back * slopes[place][:, None, :]
            continue
        first, (rows, columns), bias = blocks[place]
        last = first + rows * columns
        block = found[:, :, first:last].reshape(n, k, rows, columns)
        matrix = weights[first:last].reshape(rows, columns)
        if back is None:
            for output in range(k):
                found[:, output, first + output * columns : first + (output + 1) * columns] = (
                    values[place]
                )
        else:
            np.multiply(back[..., None], values[place][:, None, None, :], out=block)
        if bias:
            found[:, :, last : last + rows] = np.eye(k) if back is None else back
        if place:
            back = np.broadcast_to(matrix, (n, k, columns)) if back is None else back @ matrix
    return found


def _block(layers: tuple[Any, ...], place: int) -> tuple[int, tuple[int, int], bool]:
    """Where a linear layer's weights begin in theta, their shape, and whether it has a bias."""
    before = sum(part.numel() for layer in layers[:place] for part in layer.parameters())
    layer = layers[place]
    return before, tuple(layer.weight.shape), layer.bias is not None
