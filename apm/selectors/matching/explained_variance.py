"""How much of a candidate's channel input is about the logits at a target: rho^2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.pools.inputs import as_dense
from apm.posteriors import Bohning, EncodedLaplace, Posterior
from apm.posteriors.covariances.feature_covariance import FeatureCovariance
from apm.posteriors.gaussian import ScalarGaussian
from apm.selectors.matching.views import View
from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool

MODERATE = 1e70  # a form between its inverse and this can be squared, inverted and multiplied
PIECE_ENTRIES = 1 << 14  # an eighth of a mebibyte: a piece stays in the cache while it is made
RANK_RTOL = 1e-10  # eigenvalues this far below the largest are the direction a softmax ignores


def explained_share(belief: Belief, X: Any, targets: Any, view: View) -> Array:
    """rho^2 of every candidate and target, `(n, t)` in [0, 1].

    rho^2 is the part of the variance of the candidate's input L that the posterior explains by the
    logits F at the target: `Cov(L,F) Cov(F)^+ Cov(F,L) / Var L`. On the line it is the squared
    correlation; for a Kronecker covariance `(x'Bx*)^2 / (x'Bx x*'Bx*)`, whatever pair x contests.
    A candidate without variance shares nothing.
    """
    posterior = belief.posterior
    if isinstance(view.laws, EmpiricalPool) and belief.channel.dim == 1:
        first, second = (_deviations(belief.push(rows)) for rows in (X, targets))
        return _shares(first @ second.T, np.vecdot(first, first), np.vecdot(second, second))
    if isinstance(view.laws, EmpiricalPool):
        return _sampled_share(view.laws, belief.push(targets))
    features, others = belief.encoder.encode(X), belief.encoder.encode(targets)
    if isinstance(posterior, EncodedLaplace):
        return _image_share(posterior, as_dense(features), as_dense(others), view)
    form = posterior
    if not isinstance(posterior, ScalarGaussian | Bohning):
        form = getattr(posterior.covariance, "features", None)
    if isinstance(form, ScalarGaussian | Bohning):
        own, other = form.leverage(features), form.leverage(others)
        return _shares(form.cross_leverage(features, others), own, other)
    if isinstance(form, FeatureCovariance):
        own, other = form.quadratic(features), form.quadratic(others)
        return _shares(form.cross(features, others), own, other)
    if view.pairs is None:
        rule = "must be ContestedPair(), or the posterior's covariance Kronecker (Bohning)"
        raise InvalidArgument("channel", rule, type(posterior).__name__)
    here, there = _design(belief, features), _design(belief, others)
    return _pair_share(posterior, here, there, view)


def kept_shares(
    belief: Belief, X: Any, candidates: Any, targets: Any, weights: Array | None
) -> Iterator[tuple[slice, Array]] | None:
    """rho^2 of candidates in a kept pool, in pieces `(rows, t)`, or averaged by weights `(n, 1)`.

    None if nothing is kept of this pool (`Belief.keeping`); candidates None are all rows.
    """
    forms = belief.forms(X)
    cross = None if forms is None else forms.cross(targets)
    watched = None if forms is None else forms.watch(targets)
    if forms is None or cross is None or watched is None:
        return None
    own, other = forms.leverage, watched.leverage
    if weights is None or not (_moderate(own) and _moderate(other)):
        pieces = _kept_pieces(cross, own, other, candidates)
        if weights is None:
            return pieces
        return ((part, np.minimum(share @ weights, 1.0)[:, None]) for part, share in pieces)
    with np.errstate(divide="ignore"):
        here, there = (np.where(form > 0, 1.0 / form, 0.0) for form in (own, other))
    share = np.einsum("nt,nt,t->n", cross, cross, there * weights) * here
    np.minimum(share, 1.0, out=share)
    return iter([(slice(None), share[:, None] if candidates is None else share[candidates, None])])


def _moderate(form: Array) -> bool:
    """Whether squares and inverses of these values, where they are not zero, are in range."""
    return not (((form > 0) & (form < 1.0 / MODERATE)) | (form > MODERATE)).any()


def _kept_pieces(
    cross: Array, own: Array, other: Array, candidates: Any
) -> Iterator[tuple[slice, Array]]:
    rows = np.arange(len(cross)) if candidates is None else candidates
    count = max(1, PIECE_ENTRIES // cross.shape[1])
    for start in range(0, len(rows), count):
        part = slice(start, min(start + count, len(rows)))
        yield part, _shares(cross[rows[part]], own[rows[part]], other)


def _inverse_root(form: Array) -> Array:
    """1 / sqrt(form), and zero where the form is zero: what does not vary shares nothing."""
    with np.errstate(divide="ignore"):
        return np.where(form > 0, 1.0 / np.sqrt(form), 0.0)


def _design(belief: Belief, features: Any) -> Array:
    matrix = np.asarray(features, dtype=np.float64)
    if not belief.posterior.intercept:
        return matrix
    return np.concatenate((matrix, np.ones((len(matrix), 1))), axis=1)


def _shares(cross: Any, own: Any, other: Any) -> Array:
    """cross^2 / (own other), `(n, t)`, at most one by Cauchy and Schwarz up to rounding.

    Divided before it is squared, so that forms of any size stay within range.
    """
    share = np.array(cross, dtype=np.float64)
    share *= _inverse_root(np.asarray(own, dtype=np.float64))[:, None]
    share *= _inverse_root(np.asarray(other, dtype=np.float64))
    share *= share
    return np.minimum(share, 1.0, out=share)


def _deviations(laws: Any) -> Array:
    """Samples of laws less their mean, times the roots of their weights: `(n, s)`, `(n, s, k)`."""
    roots = np.sqrt(laws.weights)
    deviations = laws.samples - laws.mean[:, None]
    return deviations * (roots if deviations.ndim == 2 else roots[:, None])


def _sampled_share(laws: Any, targets: Any) -> Array:
    """rho^2 for laws by samples on the line and targets by samples in R^k, `(n, t)`."""
    if laws.dim != 1:
        rule = "must be ContestedPair() for a posterior made of samples in R^k"
        raise InvalidArgument("channel", rule, f"laws in R^{laws.dim}")
    return _spanned_share(_deviations(laws), _deviations(targets))


def _image_share(posterior: EncodedLaplace, X: Any, targets: Any, view: View) -> Array:
    """rho^2 in the linear model of an encoder, `(n, t)`."""
    if view.laws.dim != 1:
        rule = "must be ContestedPair() for a linearised posterior in R^k"
        raise InvalidArgument("channel", rule, f"laws in R^{view.laws.dim}")
    images = np.concatenate([posterior.images(part) for part in posterior.pieces(X)])
    if view.pairs is None:
        here = images[:, 0]
    else:
        rows = np.arange(len(images))
        here = images[rows, view.pairs[:, 0]] - images[rows, view.pairs[:, 1]]
    there = np.swapaxes(posterior.images(np.asarray(targets, dtype=np.float64)), 1, 2)
    return _spanned_share(here, there[..., 0] if there.shape[2] == 1 else there)


def _spanned_share(here: Array, there: Array) -> Array:
    """The part of each vector `(n, s)` that lies in the span of others `(t, s)` or `(t, s, k)`."""
    here = here * _inverse_root(np.vecdot(here, here))[:, None]
    share = np.empty((len(here), len(there)))
    for place, logits in enumerate(there):  # (s, k): an orthonormal basis of what they span
        basis, sizes, _ = np.linalg.svd(logits.reshape(len(logits), -1), full_matrices=False)
        basis = basis[:, sizes > np.sqrt(RANK_RTOL) * sizes[0]] if sizes[0] > 0 else basis[:, :0]
        share[:, place] = np.square(here @ basis).sum(axis=1)
    return np.minimum(share, 1.0, out=share)


def _pair_share(posterior: Posterior, here: Array, there: Array, view: View) -> Array:
    """rho^2 for any covariance `(k q, k q)`, candidates grouped by the pair they contest."""
    classes, width = np.asarray(posterior.mean).shape
    blocks = np.asarray(posterior.covariance).reshape(classes, width, classes, width)
    centre = np.eye(classes) - 1.0 / classes
    blocks = np.einsum("aibj,bc->aicj", blocks, centre, optimize=True)
    image = np.einsum("tj,aicj->taic", there, blocks, optimize=True)  # Cov(theta_a, l*_c)
    spread = np.einsum("ba,taic,ti->tbc", centre, image, there, optimize=True)
    values, vectors = np.linalg.eigh(spread)
    kept = values > RANK_RTOL * values[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = vectors * np.where(kept, 1.0 / np.sqrt(values), 0.0)[:, None, :]
    white = np.einsum("taic,tcd->taid", image, inverse, optimize=True)
    variance = view.laws.total_variance
    pairs = view.pairs
    share = np.zeros((len(here), len(there)))
    if pairs is None:
        return share
    for first, second in np.unique(pairs, axis=0):
        rows = np.flatnonzero((pairs[:, 0] == first) & (pairs[:, 1] == second))
        difference = white[:, first] - white[:, second]
        along = np.einsum("nq,tqd->ntd", here[rows], difference, optimize=True)
        along *= _inverse_root(variance[rows])[:, None, None]
        share[rows] = np.einsum("ntd,ntd->nt", along, along)
    return np.minimum(share, 1.0, out=share)
