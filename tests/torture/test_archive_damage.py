"""Damaged and edited archives: each is refused with one typed error, none is read as another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm import archive
from apm.belief import Belief
from apm.encoders import FeatureMap
from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from apm.selectors import Random
from channelcode.errors import InvalidArgument
from tests.torture import cases


def refused(path: Path) -> bool:
    """Whether loading ends in the library's own error; anything else but success is let through."""
    try:
        Learner.load(path)
    except InvalidArgument:
        return True
    return False


def flips(folder: Path, bits: Any) -> list[int]:
    path = cases.archive(folder)
    content = path.read_bytes()
    damaged = folder / "damaged.npz"
    silent = []
    for bit in bits(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(changed)
        if not refused(damaged):
            silent.append(bit)
    assert not refused(path)
    return silent


def test_single_bit_flips_are_refused(tmp_path):
    assert flips(tmp_path, lambda count: range(0, count, 211)) == []


@pytest.mark.slow
def test_every_single_bit_flip_is_refused(tmp_path):
    assert flips(tmp_path, range) == []


def test_every_truncation_is_refused(tmp_path):
    content = cases.archive(tmp_path).read_bytes()
    damaged = tmp_path / "damaged.npz"
    for length in range(0, len(content), 7):
        damaged.write_bytes(content[:length])
        assert refused(damaged), length
    damaged.write_bytes(content + b"\0")
    assert refused(damaged)


# Edited with a right checksum ---------------------------------------------------------------------

EDITS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {}


def edit(function: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Any:
    EDITS[function.__name__.replace("_", " ").strip()] = function
    return function


@edit
def a_negative_row(header, arrays):
    header["journal"][0]["index"] = -1


@edit
def a_row_beyond_the_pool(header, arrays):
    header["journal"][0]["index"] = 4


@edit
def a_row_that_is_a_truth_value(header, arrays):
    header["journal"][0]["index"] = False


@edit
def a_row_twice(header, arrays):
    header["journal"][1]["index"] = 0


@edit
def another_row(header, arrays):
    header["journal"][1]["index"] = 3


@edit
def another_label(header, arrays):
    header["journal"][1]["label"] = "no"


@edit
def a_label_that_is_a_list(header, arrays):
    header["journal"][1]["label"] = ["yes"]


@edit
def no_label(header, arrays):
    header["journal"][1]["label"] = None


@edit
def another_weight(header, arrays):
    header["journal"][1]["sample_weight"] = 2.0


@edit
def a_weight_without_end(header, arrays):
    header["journal"][1]["sample_weight"] = float("inf")


@edit
def an_unknown_event(header, arrays):
    header["journal"][1]["event"] = "told"


@edit
def a_label_made_a_skip(header, arrays):
    header["journal"][1]["event"] = "skip"


@edit
def an_undo_of_nothing(header, arrays):
    header["journal"].append({**header["journal"][1], "event": "undo", "of": 9, "call": 2})


@edit
def calls_out_of_order(header, arrays):
    header["journal"][1]["call"] = 7


@edit
def an_empty_journal(header, arrays):
    header["journal"] = []


@edit
def a_journal_turned_round(header, arrays):
    header["journal"].reverse()


@edit
def one_record_less(header, arrays):
    header["journal"].pop()


@edit
def a_record_with_one_field_more(header, arrays):
    header["journal"][0]["more"] = 1


@edit
def information_that_is_no_number(header, arrays):
    header["journal"][0]["bits"] = float("nan")


@edit
def a_journal_of_numbers(header, arrays):
    header["journal"] = [1, 2]


@edit
def another_pool_of_the_same_shape(header, arrays):
    arrays["pool"] = arrays["pool"][::-1].copy()


@edit
def another_pool_with_its_own_fingerprint(header, arrays):
    from apm.storage import fingerprint

    arrays["pool"] = arrays["pool"] + 1.0
    header["pool"] = header["features"] = fingerprint(arrays["pool"])


@edit
def a_pool_with_a_hole(header, arrays):
    from apm.storage import fingerprint

    arrays["pool"] = np.where(arrays["pool"] == arrays["pool"][3, 0], np.nan, arrays["pool"])
    header["pool"] = header["features"] = fingerprint(arrays["pool"])


@edit
def another_mean(header, arrays):
    arrays["posterior/mean"] = arrays["posterior/mean"] * 1.001


@edit
def another_factor(header, arrays):
    arrays["posterior/factor"] = arrays["posterior/factor"] * 1.001


@edit
def the_prior_in_place_of_the_posterior(header, arrays):
    for name, value in VariationalLogistic(1.0).sized(2).state().items():
        arrays[f"posterior/{name}"] = value


@edit
def another_prior(header, arrays):
    arrays["posterior/prior_precision"] = np.array(2.0)


@edit
def swapped_classes(header, arrays):
    arrays["posterior/classes"] = arrays["posterior/classes"][::-1].copy()


@edit
def a_class_beyond_the_last(header, arrays):
    arrays["posterior/codes"] = arrays["posterior/codes"] + 1


@edit
def a_renamed_array(header, arrays):
    arrays["posterior/desigm"] = arrays.pop("posterior/design")


@edit
def a_lost_array(header, arrays):
    del arrays["posterior/mean"]


@edit
def an_array_of_another_shape(header, arrays):
    arrays["posterior/design"] = arrays["posterior/design"][:, :1]


@edit
def a_seed_that_is_none(header, arrays):
    header["seed"] = "many"


@edit
def a_seed_with_a_million_digits(header, arrays):
    header["seed"] = "9" * 1_000_000


@edit
def a_negative_seed(header, arrays):
    header["seed"] = "-3"


@edit
def a_selector_that_is_a_channel(header, arrays):
    header["selector"] = {"type": "Logistic", "fields": {}}


@edit
def a_selector_with_other_fields(header, arrays):
    header["selector"] = {"type": "Random", "fields": {"nothing": 1}}


@edit
def an_encoder_of_null(header, arrays):
    header["encoder"] = None


@edit
def an_encoder_nested_three_hundred_deep(header, arrays):
    value: Any = 1
    for _ in range(300):
        value = {"items": [value]}
    header["encoder"] = value


@edit
def columns_too_many(header, arrays):
    header["columns"] = ["a", "b", "c"]


@edit
def first_rows_beyond_the_pool(header, arrays):
    header["initial_rows"] = 5


@edit
def a_version_of_yesterday(header, arrays):
    header["version"] = 1


@edit
def a_version_of_tomorrow(header, arrays):
    header["version"] = 3


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_refused(name, tmp_path):
    path = cases.archive(tmp_path)
    header, arrays = archive.read(path)
    EDITS[name](header, arrays)
    archive.write(path, header, arrays)
    with pytest.raises(InvalidArgument):
        Learner.load(path)


def test_an_array_that_claims_80_terabytes_is_refused_before_memory_is_taken(tmp_path):
    import io
    import zipfile

    from apm.storage.arrays import _seal

    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        claim, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    )
    path = tmp_path / "large.npz"
    with open(path, "w+b") as file:
        with zipfile.ZipFile(file, "w") as content:
            content.writestr("header.npy", claim.getvalue())
        _seal(file)
    with pytest.raises(InvalidArgument, match="claims the shape"):
        Learner.load(path)


# Another model at load ----------------------------------------------------------------------------


def scaled(by: float) -> Belief:
    return Belief(VariationalLogistic(1.0), FeatureMap(lambda X: by * X))


def test_another_encoder_at_load_is_refused(tmp_path):
    held = Learner(cases.pool(), scaled(2.0), Random(), seed=1)
    held.tell(0, 1)
    path = held.save(tmp_path / "scaled.npz")
    assert Learner.load(path, model=scaled(2.0)).labelled.tolist() == [0]
    with pytest.raises(InvalidArgument, match="model must encode the pool as"):
        Learner.load(path, model=scaled(2.001))
    with pytest.raises(InvalidArgument, match="model must encode the pool as"):
        Learner.load(path, model=VariationalLogistic(1.0))


def test_rounding_of_another_machine_is_not_another_encoder(tmp_path):
    held = Learner(cases.pool(), scaled(2.0), Random(), seed=1)
    held.tell(0, 1)
    path = held.save(tmp_path / "scaled.npz")
    assert len(Learner.load(path, model=scaled(2.0 * (1 + 4e-16))).history) == 1


@pytest.mark.parametrize(
    "other, rule",
    [
        (VariationalLogistic(2.0), "prior_precision"),
        (VariationalLogistic(1.0, intercept=True), "intercept"),
        (VariationalLogistic(1.0, tol=1e-6), "tol"),
        (VariationalLogistic(1.0, classes=["no", "yes"]), "given"),
    ],
)
def test_another_prior_at_load_is_refused(other, rule, tmp_path):
    with pytest.raises(InvalidArgument, match=f"model must have the {rule} of the file"):
        Learner.load(cases.archive(tmp_path), model=other)
