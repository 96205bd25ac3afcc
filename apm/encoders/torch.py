"""Features of a neural network, frozen: the last layer is left to the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import Matrix, as_dense, as_matrix
from channelcode._validation import integer, non_negative, positive
from channelcode.errors import InvalidArgument, MissingExtra


def import_torch() -> Any:
    """The package torch, or an error that says which extra brings it."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "torch") from None
    return torch


@dataclass(frozen=True)
class TorchFeatures(Encoder):
    """The encoder phi(x) = the activations of one layer of any `nn.Module`, in evaluation mode.

    `layer` names a submodule (as in `named_modules`), whose output is taken; None takes what goes
    into the last `nn.Linear`, so that the posterior replaces that layer (with `intercept=True` for
    its bias). Examples `(n, d)` are reshaped to `(n, *shape)` where the module wants images. No
    gradient is kept, and the module's own mode is restored.
    """

    module: Any
    layer: str | None = None
    shape: tuple[int, ...] | None = None
    batch: int = 4096

    def __post_init__(self) -> None:
        torch = import_torch()
        if not isinstance(self.module, torch.nn.Module):
            raise InvalidArgument("module", "must be a torch.nn.Module", self.module)
        integer("batch", self.batch, least=1)
        self._watched()

    def _watched(self) -> tuple[Any, bool]:
        """The submodule to watch, and whether its input is wanted instead of its output."""
        torch = import_torch()
        named = dict(self.module.named_modules())
        if self.layer is not None:
            if self.layer not in named:
                known = ", ".join(name for name in named if name)
                raise InvalidArgument("layer", f"must be one of {known}", self.layer)
            return named[self.layer], False
        linear = [module for module in named.values() if isinstance(module, torch.nn.Linear)]
        if not linear:
            raise InvalidArgument("layer", "must be named: the module has no nn.Linear", None)
        return linear[-1], True

    def encode(self, X: ArrayLike) -> Matrix:
        torch = import_torch()
        matrix = as_dense(X)
        first = next(iter(self.module.parameters()), None)
        dtype = torch.float32 if first is None else first.dtype
        device = None if first is None else first.device
        seen: list[Any] = []
        watched, before = self._watched()
        if before:
            handle = watched.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        else:
            handle = watched.register_forward_hook(lambda _, __, output: seen.append(output))
        modes = {module: module.training for module in self.module.modules()}
        self.module.eval()
        parts = []
        try:
            with torch.no_grad():
                for start in range(0, len(matrix), self.batch):
                    rows = np.array(matrix[start : start + self.batch])
                    piece = torch.from_numpy(rows).to(dtype=dtype, device=device)
                    if self.shape is not None:
                        piece = piece.reshape(len(rows), *self.shape)
                    seen.clear()
                    self.module(piece)
                    if len(seen) != 1:
                        rule = "must be used once in a forward pass"
                        raise InvalidArgument("layer", rule, f"used {len(seen)} times")
                    parts.append(seen[0].reshape(len(rows), -1).cpu().numpy())
        finally:
            handle.remove()
            for module, training in modes.items():
                module.training = training
        return as_matrix(np.concatenate(parts), "module(X)", finite=False)


def train_mlp(
    X: ArrayLike,
    y: ArrayLike,
    *,
    num_classes: int,
    hidden: Sequence[int] = (64,),
    steps: int = 300,
    rate: float = 1e-2,
    decay: float = 1e-3,
    rng: int = 0,
) -> Any:
    """A small network trained on the labels so far, for `TorchFeatures`.

    Linear layers with tanh between them, cross-entropy on all of X `(n, d)` and y `(n,)` in
    0..K-1 at each of `steps` Adam steps with weight decay. torch's global random state is not
    touched; one seed gives one network.
    """
    torch = import_torch()
    matrix = as_matrix(X)
    codes = np.asarray(y)
    if codes.shape != (len(matrix),) or codes.dtype.kind not in "iu":
        raise InvalidArgument("y", f"must be {len(matrix)} whole numbers", codes)
    integer("num_classes", num_classes, least=2)
    if len(codes) == 0 or codes.min() < 0 or codes.max() >= num_classes:
        raise InvalidArgument("y", f"must lie in 0..{num_classes - 1}", codes)
    positive("rate", rate)
    non_negative("decay", decay)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rng)
        layers: list[Any] = []
        width = matrix.shape[1]
        for size in hidden:
            layers += [torch.nn.Linear(width, size), torch.nn.Tanh()]
            width = size
        layers.append(torch.nn.Linear(width, num_classes))
        network = torch.nn.Sequential(*layers)
    inputs = torch.from_numpy(np.array(matrix, dtype=np.float32))
    labels = torch.from_numpy(codes.astype(np.int64))
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=decay)
    for _ in range(integer("steps", steps, least=1)):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(inputs), labels)
        loss.backward()
        optimiser.step()
    return network.eval()
