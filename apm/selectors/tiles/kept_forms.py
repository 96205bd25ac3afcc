"""Quadratic forms of all rows in a byte each, and where they lie under another belief.

A pass over all tiles finds x'Ax of every row for the forms that its rule needs: A = Sigma, and G of
the signal where not all of an input is signal (`PooledForm`). Each is kept as one of 256 steps
between the least and the largest of its tile. Under another belief, with
`A_1 - A_0 = sum_i l_i e_i e_i'` (orthonormal e_i) and some of the i in I,

    x'A_1 x  =  x'A_0 x  +  sum_{i in I} l_i (e_i'x)^2  +  rest,
    min(l_i, 0 : i not in I) |x|^2  <=  rest  <=  max(l_i, 0 : i not in I) |x|^2.

So few products e_i'x, those of the largest |l_i|, say where the forms are now. A label changes
Sigma along one direction above all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from apm.pools.outlines import LEVELS, coded, rounding
from apm.posteriors.covariances.products import times
from apm.selectors.matching.pooled_form import PooledForm
from apm.selectors.tiles.leaders import Foremost
from channelcode._validation import Array

DOUBLE = 16 * float(np.finfo(np.float64).eps)  # of sums and products of a few numbers
SEEN = 1e-9  # of the largest part of a signal: smaller ones say nothing of a common factor
TINIEST = 1e-300
STRICT = 8.0  # how much more a change of the variance counts than one of the signal
SETTLED = 0.05  # of a form: changes along a direction that are not worth a product
ROUNDING = 1e-12  # of products of matrices in double precision, relative to their sizes


@dataclass(frozen=True, eq=False)
class Forms:
    """Matrices A = F D F' `(q, q)` under one belief: Sigma, D = I, and G where there is one.

    `sizes` are the spectral and the Frobenius norm of each F sqrt(D), which say what rounding can
    do.
    """

    factor: Array
    weights: tuple[Array, ...]
    matrices: tuple[Array, ...]
    sizes: tuple[tuple[float, float], ...]

    @cached_property
    def inverse(self) -> Array:
        """F^-1 of Sigma = F F'."""
        found: Any = np.linalg.pinv(self.factor, rcond=ROUNDING)
        return found

    @classmethod
    def of(cls, posterior: Any, form: PooledForm | None) -> Forms | None:
        """The forms of a Gaussian posterior on the line, and of the signal about a message.

        None if a number of them is beyond the range of squares.
        """
        factor = posterior.factor if form is None else form.factor
        weights = (np.ones(len(factor)),) if form is None else (np.ones(len(factor)), form.weights)
        roots = [factor * np.sqrt(each) for each in weights]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.square(factor).sum() ** 2):
                return None
        sizes = tuple((float(np.linalg.norm(R, 2)), float(np.linalg.norm(R))) for R in roots)
        return cls(factor, weights, tuple(R @ R.T for R in roots), sizes)

    def blur(self, place: int, unit: float, floor: float, length: Any) -> Any:
        """What rounding can do to a form of a row that is no longer than this, as it is computed.

        `unit` is a bound on the relative error of a product of two vectors, its square and a sum.
        """
        spectral, whole = self.sizes[place]
        error = 2.0 * unit * whole * length + floor
        return error * (2.0 * spectral * length + error)


class KeptForms:
    """The forms of all rows that were candidates at one belief; complete once every tile was added.

    `foremost` are rows that were among the best: from them the next ones are foretold.
    """

    open: Any = None  # bits, of all rows if None
    labels: int = 0  # that the belief had

    def __init__(self, X: Any, forms: Forms, is_open: Any, constant: bool) -> None:
        count, tiles = len(forms.matrices), X.num_tiles
        self._begin(X, forms, constant)
        self.codes = np.zeros((count, len(X)), dtype=np.uint8)
        self.low, self.step = np.zeros((count, tiles)), np.zeros((count, tiles))
        self.length = np.zeros(tiles)
        self.open = np.packbits(is_open)

    def _begin(self, X: Any, forms: Forms, constant: bool) -> None:
        self.forms, self.constant, self.height = forms, constant, X.tile_rows
        self.columns, self.dtype, self.outlines = X.shape[1], X.dtype, X.outlines
        self.unit, self.floor = rounding(X.shape[1], X.dtype)
        self.foremost, self.scans = Foremost(X.shape[1], X.dtype), 0

    @classmethod
    def of_lengths(cls, X: Any, now: Forms) -> KeptForms | None:
        """The form c |x|^2 of all rows by their outlines, c the largest eigenvalue of Sigma now.

        Nothing was read for it. None where lengths are not known or beyond range, or a signal is
        asked for too.
        """
        known, columns = X.outlines, X.shape[1]
        (sigma, *signal), kept = now.matrices, cls.__new__(cls)
        if known is None or signal:
            return None
        own = np.diag(sigma).copy()
        constant = len(own) > columns
        top = float(np.linalg.eigvalsh(sigma[:columns, :columns])[-1])
        if not top > 0:
            return None
        own[:columns] = top
        size = float(np.sqrt(own.max())), float(np.sqrt(own.sum()))
        forms = Forms(np.diag(np.sqrt(own)), (np.ones(len(own)),), (np.diag(own),), (size,))
        kept._begin(X, forms, constant)
        with np.errstate(over="ignore", invalid="ignore"):
            kept.codes = known.codes[None]
            kept.low = (top * known.low + (own[columns] if constant else 0.0))[None]
            kept.step = top * known.step[None]
            kept.length = np.sqrt(known.largest * (1.0 + kept.unit) + constant) + kept.floor
        kept.floor *= max(1.0, size[0])  # what underflow does to |x|^2, c times
        return kept if kept.complete else None

    def add(self, start: int, tile: Any, places: Any, values: tuple[Array, ...]) -> None:
        """Keep the forms `values` `(len(places),)` of the candidates of a tile."""
        number = start // self.height
        with np.errstate(over="ignore"):
            known = self.outlines
            longest = np.vecdot(tile, tile).max() if known is None else known.largest[number]
        longest = float(longest) * (1.0 + self.unit)
        self.length[number] = np.sqrt(longest + self.constant) + self.floor
        for place, form in enumerate(values):
            code, self.low[place, number], self.step[place, number] = coded(form)
            where = slice(start, start + len(tile)) if len(places) == len(tile) else start + places
            self.codes[place, where] = code

    @property
    def complete(self) -> bool:
        """Whether every row has a known form, of a size that can be squared."""
        return bool(np.isfinite(self.length).all() and np.isfinite(self.low + self.step).all())

    def fits(self, forms: Forms) -> bool:
        """Whether these are the same kinds of forms: another learner may have kept others."""
        own, other = self.forms.matrices, forms.matrices
        return [each.shape for each in own] == [each.shape for each in other]

    def knows(self, start: int, places: Any) -> bool:
        """Whether all candidates of the tile at row `start` were candidates when it was kept."""
        if self.open is None:
            return True
        held = self.open[start // 8 : (start + self.height + 7) // 8]
        if len(held) * 8 == self.height and held.min() == 0xFF:
            return True
        return bool(np.unpackbits(held)[places].all())

    def held(self, start: int, places: Any) -> Any:
        """The steps of the forms of the candidates of a tile, `(f, n)`."""
        codes = self.codes[:, start : start + self.height]
        return codes if len(places) == codes.shape[1] else codes[:, places]


class Moved:
    """Where kept forms lie under the belief of now, by `columns` `(q, c)` to multiply rows with.

    What is left of a change of Sigma is bounded by |x|^2; what is left of one of G by x'Sigma x,
    beyond a common factor: labels shift the weights of the targets, and G as a whole. With `after`
    the change is that from another belief, under which the ranges are known already.
    """

    def __init__(self, kept: KeptForms, now: Forms, most: int, after: Moved | None = None) -> None:
        self.kept, self.now, self.follows = kept, now, after is not None
        then = kept.forms if after is None else after.now
        changes = [_Change.of_variance(then, now)]
        if len(now.matrices) == 2:
            changes.append(_Change.of_signal(then, now))
        width = len(now.matrices[0])
        order = np.argsort(-np.concatenate([each.worth for each in changes]), kind="stable")
        chosen = [(int(k) // width, int(k) % width) for k in order[:most]]
        settled = [changes[form].worth[k] < SETTLED for form, k in chosen]
        count = settled.index(True) if True in settled else len(chosen)
        chosen = chosen[:count]
        columns = [changes[form].vectors[:, k] for form, k in chosen]
        self.columns = np.array(columns).reshape(-1, width).T
        self.turn = np.zeros((len(chosen), len(changes)))
        for place, (form, k) in enumerate(chosen):
            self.turn[place, form] = changes[form].values[k]
        self.factors = [each.factor for each in changes]
        self.rise, self.fall, self.rounded = [], [], []
        for form, change in enumerate(changes):
            rest = np.delete(change.values, [k for own, k in chosen if own == form])
            self.rise.append(max(float(rest.max(initial=0.0)), 0.0) * (1.0 + ROUNDING))
            self.fall.append(min(float(rest.min(initial=0.0)), 0.0) * (1.0 + ROUNDING))
            sizes = np.abs(self.turn[:, form]) @ np.square(self.columns).sum(axis=0)
            self.rounded.append(float(sizes))
        self.left = [each.left for each in changes]

    def ranges(self, start: int, places: Any, image: Array) -> list[tuple[Array, Array]] | None:
        """The least and the largest that each form can be now; None if a product overflows.

        `image` `(c, len(places))` are the rows times `columns`, in the type of the rows.
        """
        from apm._kernels.kept_bounds import moved_form

        change = self.changes(image)
        if change is None:
            return None
        codes, numbers, blur = self.steps(start, places)
        found: list[tuple[Array, Array]] = []
        gauge = change[0]  # not used for the variance, whose rest is bounded by |x|^2
        for form in range(len(self.factors)):
            least, most, gauge = moved_form(codes[form], change[form], gauge, numbers[form])
            found.append((least, most))
            gauge += blur
        return found

    def onward(
        self, number: int, before: list[tuple[Array, Array]] | None, image: Array
    ) -> list[tuple[Array, Array]] | None:
        """The same in a tile whose ranges under the belief `after` which this one is are known."""
        from apm._kernels.kept_bounds import onward_form

        change = self.changes(image)
        if change is None or before is None:
            return None
        gauge = before[0][1]  # of the rest of the signal: what V was at most
        return [
            onward_form(*ends, gauge, change[form], rest)
            for form, (ends, rest) in enumerate(zip(before, self.rests(number), strict=True))
        ]

    def changes(self, image: Array) -> Array | None:
        """What is known of the changes of each form `(f, n)`; None if one overflows."""
        from apm._kernels.kept_bounds import changed_forms

        found = changed_forms(image, self.turn)
        return found if np.isfinite(found.sum()) else None

    def steps(self, start: int, places: Any) -> tuple[Array, list[tuple[float, ...]], float]:
        """Steps of all forms `(f, n)`, where they lie now, and what rounding did to the first.

        The second are the numbers of `apm._kernels.kept_bounds.moved_form`.
        """
        number = start // self.kept.height
        numbers = [tuple(each[number].tolist()) for each in self._numbers]
        return self.kept.held(start, places), numbers, float(self._first_blur[number])

    def rests(self, number: int) -> list[tuple[float, ...]]:
        """Of each form in a tile: its factor, and what may be added to it.

        These are the least and the largest part of what V was, and of a constant.
        """
        return [tuple(each[number].tolist()) for each in self._rests]

    @cached_property
    def _first_blur(self) -> Array:
        kept = self.kept
        return np.asarray(kept.forms.blur(0, kept.unit, kept.floor, kept.length))

    @cached_property
    def _numbers(self) -> list[Array]:
        """The numbers of `steps` for every form and tile, `(t, 8)`."""
        kept, found = self.kept, []
        for low, step, rest in zip(kept.low, kept.step, self._rests, strict=True):
            slack = DOUBLE * (np.abs(low) + LEVELS * step)
            found.append(np.column_stack((low, step, slack, rest)))
        return found

    @cached_property
    def _rests(self) -> list[Array]:
        """The numbers of `rests` for every form and tile, `(t, 5)`."""
        found, square = [], np.square(self.kept.length)
        for form, factor in enumerate(self.factors):
            blur = self._blur(form, self.kept.length)
            part, rest = (self.fall[form], self.rise[form]), (-blur, blur)
            if form == 0:
                part, rest = (0.0, 0.0), (part[0] * square - blur, part[1] * square + blur)
            columns = (np.broadcast_to(each, blur.shape) for each in (factor, *part, *rest))
            found.append(np.column_stack(tuple(columns)))
        return found

    def _blur(self, form: int, length: Array) -> Array:
        """What rounding can do to a form, then and now, and to the products with `columns`.

        Ranges under an earlier belief have the form in them, and as it is computed.
        """
        kept = self.kept
        then = 0.0 if self.follows else kept.forms.blur(form, kept.unit, kept.floor, length)
        here = self.now.blur(form, kept.unit, kept.floor, length)
        products = self.rounded[form] * (8.0 * kept.unit * length**2 + kept.floor**2)
        left = self.left[form] * length**2
        return self.factors[form] * then + here + products + left

    def exact(self, rows: Array, length: Array) -> list[tuple[Array, Array]]:
        """The same for some rows `(n, d)` that are no longer than these, by all products."""
        image, found = times(rows, self.now.factor), []
        np.square(image, out=image)
        for form, weights in enumerate(self.now.weights):
            value = (image @ weights.astype(image.dtype)).astype(np.float64)
            # twice: here and where rows are scored
            blur = 2.0 * self.now.blur(form, self.kept.unit, self.kept.floor, length)
            found.append((np.maximum(value - blur, 0.0), np.maximum(value + blur, 0.0)))
        return found


@dataclass(frozen=True, eq=False)
class _Change:
    """`A_1 - factor A_0 = sum_i values_i v_i v_i' + E`, and what each direction is worth.

    The v_i are orthonormal in the measure that bounds the rest (|x|^2, or x'Sigma x for the
    signal); `left` bounds x'Ex / |x|^2, found from what the sum in fact leaves.
    """

    values: Array
    vectors: Array
    worth: Array
    factor: float
    left: float

    @classmethod
    def of_variance(cls, then: Forms, now: Forms) -> _Change:
        """The change of Sigma."""
        return cls._of(then.matrices[0], now.matrices[0], 1.0, None, None)

    @classmethod
    def of_signal(cls, then: Forms, now: Forms) -> _Change:
        """The change of G in the measure of Sigma_0 = F F', by `F^-1 (G_1 - k G_0) F^-T`."""
        inverse = then.inverse
        first, second = (inverse @ each.matrices[1] @ inverse.T for each in (then, now))
        sizes, basis = np.linalg.eigh(first)
        some = sizes > SEEN * sizes[-1]
        common = 1.0
        if some.any():  # labels change some directions much; what all others have in common
            basis = basis[:, some] / np.sqrt(sizes[some])
            common = float(np.median(np.linalg.eigvalsh(basis.T @ second @ basis)))
        common = min(max(common, 0.25), 4.0)
        return cls._of(then.matrices[1], now.matrices[1], common, then.factor, inverse)

    @classmethod
    def _of(cls, first: Array, second: Array, factor: float, root: Any, inverse: Any) -> _Change:
        change = second - factor * first
        middle = change if root is None else inverse @ change @ inverse.T
        values, vectors = np.linalg.eigh(middle)
        own = first if root is None else inverse @ first @ inverse.T
        worth = np.abs(values) * len(first) / max(float(np.trace(own)), TINIEST)
        worth = worth if root is not None else STRICT * worth
        vectors = vectors if root is None else root @ vectors
        left = np.linalg.norm(change - (vectors * values) @ vectors.T)
        sizes = float(np.linalg.norm(first)) * factor + float(np.linalg.norm(second))
        sizes += float(np.abs(values) @ np.square(vectors).sum(axis=0))
        return cls(values, vectors, worth, factor, float(left) + ROUNDING * sizes)
