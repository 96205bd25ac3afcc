"""A whole neural network as an encoder: all its weights are the parameters."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.encoders.torch import import_torch
from apm.encoders.torch_layers import layered_jacobian, layers_of
from apm.pools.inputs import as_dense
from channelcode._validation import Array, finite_array
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Immutable

PIECE_ENTRIES = 1 << 22  # of a jacobian, or of the weights of several networks, at a time


class TorchNetwork(Immutable, Encoder):
    """The encoder l = module(x) with theta all parameters of an `nn.Module`, in their order.

    The module is copied, in float64 and in evaluation mode; theta is its parameters one after the
    other, each in row-major order, and `start` those it has now. Outputs `(n, k)` are the channel
    input, logits for a softmax; a single output `(n, 1)` is an input on the line. Examples `(n, d)`
    are reshaped to `(n, *shape)` where the module wants images. Jacobians are exact: in
    closed form for a plain `nn.Sequential` of linear layers and activations, else by `torch.func`,
    in pieces. Give it to the posterior: `Laplace(Softmax(K), decay, encoder=TorchNetwork(module))`.
    """

    __slots__ = ("_count", "_module", "_shape", "_sizes")
    _module: Any
    _shape: tuple[int, ...] | None
    _sizes: tuple[tuple[str, tuple[int, ...]], ...]
    _count: int

    def __init__(self, module: Any, *, shape: tuple[int, ...] | None = None) -> None:
        torch = import_torch()
        if not isinstance(module, torch.nn.Module):
            raise InvalidArgument("module", "must be a torch.nn.Module", module)
        held = copy.deepcopy(module).to(dtype=torch.float64, device="cpu").eval()
        sizes = tuple((name, tuple(part.shape)) for name, part in held.named_parameters())
        count = sum(int(np.prod(size)) for _, size in sizes)
        if count == 0:
            raise InvalidArgument("module", "must have parameters", module)
        self._set(_module=held, _shape=shape, _sizes=sizes, _count=count)

    @property
    def num_parameters(self) -> int:  # type: ignore[override]
        """The number of weights."""
        return self._count

    @property
    def start(self) -> Array:
        """The weights of the module as it was given, `(q,)`."""
        parts = [part.detach().numpy().ravel() for _, part in self._module.named_parameters()]
        return np.concatenate(parts)

    @property
    def module(self) -> Any:
        """A copy of the module, in float64."""
        return copy.deepcopy(self._module)

    def inputs(self, theta: ArrayLike, X: ArrayLike) -> Array:
        torch = import_torch()
        draws = self._draws(theta, 2)
        rows = self._examples(X)
        pieces = []
        count = max(1, PIECE_ENTRIES // max(self._count, rows[0].numel() * len(rows)))
        with torch.no_grad():
            for first in range(0, len(draws), count):
                weights = torch.from_numpy(draws[first : first + count])
                found = torch.func.vmap(lambda w: self._forward(w, rows))(weights)
                pieces.append(self._outputs(found.numpy(), len(rows)))
        values = np.concatenate(pieces, axis=0).transpose(1, 0, 2)
        return values[..., 0] if values.shape[2] == 1 else values

    def jacobian(self, theta: ArrayLike, X: ArrayLike) -> Array:
        torch = import_torch()
        at = self._draws(theta, (1, 2))
        if at.ndim == 2:
            return np.stack([self.jacobian(one, X) for one in at], axis=1)
        layers = layers_of(self._module) if self._shape is None else None
        if layers is not None:
            found = layered_jacobian(layers, at, np.asarray(as_dense(X), dtype=np.float64))
            return found[:, 0] if found.shape[1] == 1 else found
        weights, rows = torch.from_numpy(at), self._examples(X)

        def one(w: Any, x: Any) -> Any:
            return self._forward(w, x[None]).reshape(-1)

        slopes = torch.func.vmap(torch.func.jacrev(one), in_dims=(None, 0))
        width = self._outputs(self._forward(weights, rows[:1]).detach().numpy()[None], 1).shape[2]
        count = max(1, PIECE_ENTRIES // (self._count * width))
        pieces = [
            slopes(weights, rows[first : first + count]).detach().numpy()
            for first in range(0, len(rows), count)
        ]
        found = np.concatenate(pieces)
        return found[:, 0] if width == 1 else found

    def _forward(self, weights: Any, rows: Any) -> Any:
        torch = import_torch()
        parts, first = {}, 0
        for name, size in self._sizes:
            last = first + int(np.prod(size))
            parts[name] = weights[first:last].reshape(size)
            first = last
        return torch.func.functional_call(self._module, parts, (rows,))

    def _examples(self, X: ArrayLike) -> Any:
        torch = import_torch()
        matrix = np.array(as_dense(X), dtype=np.float64)
        rows = torch.from_numpy(matrix)
        return rows if self._shape is None else rows.reshape(len(matrix), *self._shape)

    def _outputs(self, found: Array, rows: int) -> Array:
        """Outputs of several networks as `(s, n, k)`."""
        if found.ndim == 2 and found.shape[1] == rows:
            found = found[..., None]
        if found.ndim != 3 or found.shape[1] != rows:
            rule = "must give one row of outputs for each example"
            raise InvalidArgument("module(X)", rule, f"shape {found.shape[1:]}")
        return found

    def _draws(self, theta: ArrayLike, ndim: int | tuple[int, ...]) -> Array:
        draws = np.array(finite_array("theta", theta, ndim=ndim))
        if draws.shape[-1] != self._count:
            rule = f"must have {self._count} entries for each draw, one for each weight"
            raise InvalidArgument("theta", rule, f"shape {draws.shape}")
        return draws

    def __repr__(self) -> str:
        return f"TorchNetwork({type(self._module).__name__}, {self._count} weights)"
