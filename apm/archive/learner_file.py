"""A learner in a file: everything it needs to go on, checked in every part when it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from apm.archive.description import describe, posterior_class, restore
from apm.archive.replay import check_replay, check_schema, close
from apm.belief import Belief
from apm.encoders import Encoder, Linear
from apm.journal import Journal
from apm.pools.inputs import as_matrix, is_sparse, is_streamed
from apm.pools.marks import mark_of
from apm.pools.streamed import EncodedRows, as_rows
from apm.posteriors.base import Posterior
from apm.selectors.tiled import tile_values
from apm.storage import read_arrays, write_arrays
from channelcode._validation import Array, integer
from channelcode.errors import ChannelCodeError, InvalidArgument, NotConverged

VERSION = 2
KIND = "a learner's file"
PARTS: dict[str, type | tuple[type, ...]] = {
    "seed": str,
    "journal": list,
    "posterior": str,
    "likelihood": object,
    "channel": object,
    "encoder": object,
    "selector": object,
    "chosen": dict,
    "columns": (list, type(None)),
    "initial_rows": int,
    "pool": str,
    "features": str,
}
ENCODED_RTOL = 1e-6  # what rounding may do to an encoder's output on another machine


class Saved(NamedTuple):
    """What a file holds of a learner.

    `belief` has the encoder; `initial` is the posterior before any label; `chosen` says for
    "model" and "selector" whether the library chose them.
    """

    pool: Any
    features: Any
    belief: Belief
    initial: Posterior
    selector: Any
    chosen: dict[str, bool]
    columns: list[str] | None
    initial_rows: int
    seed: int
    journal: Journal


def save(path: str | os.PathLike[str], saved: Saved) -> Path:
    """Write a learner to `path`; a reader sees the old file or the new one."""
    posterior = saved.belief.posterior
    arrays: dict[str, Any] = _pool_arrays(saved.pool) | {"sketch": _sketch(saved.features)}
    arrays |= {f"posterior/{name}": value for name, value in posterior.state().items()}
    if saved.initial.num_observations:
        arrays |= {f"initial/{name}": value for name, value in saved.initial.state().items()}
    header: dict[str, Any] = {
        "seed": str(saved.seed),
        "journal": saved.journal.to_list(),
        "posterior": type(posterior).__name__,
        "likelihood": describe(posterior.channel, arrays, "likelihood"),
        "parts": {
            name: describe(part, arrays, f"parts.{name}")
            for name, part in posterior.parts().items()
            if name != "channel"
        },
        "channel": describe(saved.belief.channel, arrays, "channel"),
        "encoder": describe(saved.belief.encoder, arrays, "encoder"),
        "selector": describe(saved.selector, arrays, "selector"),
        "chosen": saved.chosen,
        "columns": saved.columns,
        "initial_rows": saved.initial_rows,
        "pool": mark_of(saved.pool),
        "features": mark_of(saved.features),
    }
    if is_streamed(saved.pool):
        header["streamed"] = saved.pool.path
    return write(path, header, arrays)


def load(path: str | os.PathLike[str], model: Any, selector: Any, pool: Any = None) -> Saved:
    """Read a learner and check it; `model` and `selector` say what the file could not hold.

    `pool` is one that was streamed: the file holds its fingerprint.
    """
    header, arrays = read(path)
    with explained(path):
        pool = _given_pool(header, arrays, pool, path)
        belief, initial = _beliefs(header, arrays, model)
        if not is_streamed(pool):
            features: Any = as_matrix(belief.encoder.encode(pool))
        elif type(belief.encoder) is Linear:
            features = pool
        else:
            features = EncodedRows(pool, belief.encoder.encode)
        _check_features(header, arrays, features, "path" if model is None else "model")
        chosen = restore(header["selector"], arrays, "selector") if selector is None else selector
        journal = Journal.from_list(belief.channel, header["journal"])
        names = header["columns"]
        if names is not None and not (
            len(names) == pool.shape[1] and all(isinstance(name, str) for name in names)
        ):
            raise InvalidArgument("path", f"must be {KIND} (names of columns)", names)
        flags = {key: bool(header["chosen"].get(key)) for key in ("model", "selector")}
        seed = integer("seed", int(header["seed"]), least=0)
        rows = int(header["initial_rows"])
        if not 0 < rows <= len(pool):
            raise InvalidArgument("path", f"must be {KIND} (its first rows)", rows)
        saved = Saved(
            pool,
            features,
            belief,
            initial,
            chosen,
            flags,
            names,
            rows,
            seed,
            journal,
        )
        check_replay(saved)
        return saved


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """Write the header and the arrays of a learner."""
    return write_arrays(path, {"version": VERSION, **header}, arrays)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write` wrote; anything else is refused with a typed error."""
    header, arrays = read_arrays(path, KIND)
    if header.get("version") != VERSION:
        rule = f"must be of version {VERSION} of the format"
        raise InvalidArgument("path", rule, f"version {header.get('version')}")
    lacking = [
        name
        for name, kind in PARTS.items()
        if name not in header or not isinstance(header[name], kind)
    ]
    needed = ("sketch",) if "streamed" in header else ("pool", "sketch")
    lacking += [name for name in needed if name not in arrays]
    if lacking:
        raise InvalidArgument("path", "must hold every part of a learner", lacking)
    return header, arrays


@contextmanager
def explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make whatever goes wrong with the parts of a file an error that names it."""
    try:
        yield
    except NotConverged as error:
        rule = f"must be {KIND} (its posterior cannot be found again: {error})"
        raise InvalidArgument("path", rule, str(path)) from error
    except (ChannelCodeError, OSError):
        raise
    except Exception as error:
        rule = f"must be {KIND} ({type(error).__name__}: {error})"
        raise InvalidArgument("path", rule, str(path)) from error


def _beliefs(
    header: dict[str, Any], arrays: dict[str, Any], model: Any
) -> tuple[Belief, Posterior]:
    """The belief of a file, and its posterior before any label; a given model says the rest."""
    state, initial = (
        {name.removeprefix(part): value for name, value in arrays.items() if name.startswith(part)}
        for part in ("posterior/", "initial/")
    )
    if model is None:
        encoder = restore(header["encoder"], arrays, "model")
        if not isinstance(encoder, Encoder):
            raise InvalidArgument("path", f"must be {KIND} (its encoder is none)", encoder)
        channel = restore(header["channel"], arrays, "model")
        parts = {"channel": restore(header["likelihood"], arrays, "model")}
        for name, part in header.get("parts", {}).items():
            parts[name] = restore(part, arrays, "model")
        if repr(channel) == repr(parts["channel"]):  # two descriptions of one object
            channel = parts["channel"]
        kind = posterior_class(header["posterior"])
    else:
        given = Belief(model) if isinstance(model, Posterior) else model
        if not isinstance(given, Belief):
            raise InvalidArgument("model", "must be a posterior or a Belief", model)
        kind, parts = type(given.posterior), given.posterior.parts()
        if kind.__name__ != header["posterior"]:
            rule = f"must have the posterior of the file, {header['posterior']}"
            raise InvalidArgument("model", rule, kind.__name__)
        told = {"channel": header["likelihood"], **header.get("parts", {})}
        for name, part in parts.items():
            _same_description(told.get(name), part, arrays, name)
        _same_description(header["channel"], given.channel, arrays, "channel")
        encoder, channel = given.encoder, given.channel
    likelihood = parts.pop("channel")
    posterior = kind.from_state(state, likelihood, **parts)
    check_schema(state, posterior)
    if model is not None:
        _same_options(given.posterior.without_data().state(), posterior.without_data().state())
    start = posterior.restored(initial) if initial else posterior.without_data()
    return Belief(posterior, encoder, channel), start


def _same_description(told: Any, given: Any, arrays: dict[str, Any], name: str) -> None:
    """Refuse a channel or an encoder that is not the file's, where the file can tell."""
    own: dict[str, Any] = {}
    described = describe(given, own, "part")
    if "opaque" in repr(told) or "opaque" in repr(described):
        return
    if repr(restore(told, arrays, "model")) != repr(restore(described, own, "model")):
        rule = f"must have the {name} of the file, {restore(told, arrays, 'model')!r}"
        raise InvalidArgument("model", rule, given)


def _same_options(given: dict[str, Any], held: dict[str, Any]) -> None:
    for name in dict.fromkeys((*held, *given)):
        ours, theirs = given.get(name), held.get(name)
        if ours is None or theirs is None or not np.array_equal(ours, theirs):
            shown = None if theirs is None else np.asarray(theirs).tolist()
            rule = f"must have the {name} of the file, {shown}"
            raise InvalidArgument(
                "model", rule, None if ours is None else np.asarray(ours).tolist()
            )


def _pool_arrays(pool: Any) -> dict[str, Any]:
    if is_streamed(pool):
        return {}
    if not is_sparse(pool):
        return {"pool": pool}
    from apm.pools.sparse import as_arrays

    return dict(as_arrays(pool, "pool"))


def _given_pool(header: dict[str, Any], arrays: dict[str, Any], pool: Any, path: Any) -> Any:
    """The pool of a file, or the one that it refers to, with the fingerprint that it has there."""
    argument, place = "path" if pool is None else "pool", None
    if pool is not None:
        given = as_rows(pool)
        pool = as_matrix(pool, "pool") if given is None else given
    elif "streamed" not in header:
        pool = _pool_of(arrays)
    else:
        from apm.pools.files import file_kind

        place = header["streamed"]  # of a memory map it may be a file that says nothing of rows
        if not isinstance(place, str) or not os.path.exists(place) or file_kind(place) is None:
            rule = "must be given to load: the file holds only its fingerprint"
            raise InvalidArgument("pool", rule, place)
        argument, pool = "pool", as_rows(place)
    if pool.ndim != 2 or len(pool) == 0 or mark_of(pool, header["pool"]) != header["pool"]:
        if argument == "path":
            raise InvalidArgument("path", f"must be {KIND} (its pool is another)", str(path))
        if place is not None:
            rule = f"must be given to load, by the fingerprint of {path}"
            raise InvalidArgument("pool", rule, f"other rows in {place}")
        raise InvalidArgument("pool", f"must be the pool of {path} (its fingerprint)", "another")
    return pool


def _pool_of(arrays: dict[str, Any]) -> Any:
    if "pool.indptr" not in arrays:
        return arrays["pool"]
    from apm.pools.sparse import from_arrays

    return from_arrays(arrays, "pool")


def _sketch(features: Any) -> Array:
    """Random sums of the columns, and the size of what was added: `(2, p)`."""
    if is_streamed(features):
        return _streamed_sketch(features)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=len(features))
    return np.array([signs @ features, abs(features).sum(axis=0)], dtype=np.float64)


def _streamed_sketch(features: Any) -> Array:
    every = np.ones(len(features), dtype=bool)
    return np.sum(tile_values(features, every, _tile_sketch), axis=0)


def _tile_sketch(start: int, tile: Any, places: Any) -> Array:
    bits = np.random.PCG64(0)
    bits.advance(start // 2)  # two signs from each draw, and tiles begin at even rows
    signs = np.random.Generator(bits).choice([-1.0, 1.0], size=len(tile))
    return np.array([signs @ tile, np.abs(tile).sum(axis=0, dtype=np.float64)])


def _check_features(
    header: dict[str, Any], arrays: dict[str, Any], features: Any, argument: str
) -> None:
    """Refuse an encoder that gives another encoded pool: its hash, or its sums up to rounding."""
    if mark_of(features, header["features"]) == header["features"]:
        return
    stored, own = arrays["sketch"], _sketch(features)
    if stored.shape != own.shape or not close(own[0], stored[0], stored[1], ENCODED_RTOL):
        raise InvalidArgument(argument, "must encode the pool as the file's encoder did", "another")
