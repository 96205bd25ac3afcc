"""Numbers standardised, categories one-hot, texts as TF-IDF: against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.tables import features_of, read_table
from apm.tables.words import tf_idf
from channelcode.errors import InvalidArgument


def table(folder, content):
    path = folder / "pool.csv"
    path.write_text(content)
    return read_table(path)


MIXED = (
    "id,price,colour,said\n7,1,red,a good thing\n8,,blue,a bad thing\n"
    "9,4,red,no thing at all\n10,1,,good and bad\n"
)


def test_numbers_categories_and_what_is_missing(tmp_path):
    found = features_of(table(tmp_path, MIXED), columns=["price", "colour"])
    assert found.names == ["price", "price is missing", "colour = blue", "colour = red"]
    root = np.sqrt(2)  # the numbers 1, 4, 1 have mean 2 and deviation sqrt 2
    expected = [[-1 / root, 0, 0, 1], [0, 1, 1, 0], [2 / root, 0, 0, 1], [-1 / root, 0, 0, 0]]
    assert np.allclose(found.matrix, expected, atol=1e-12)


def test_what_is_left_out_is_said(tmp_path):
    found = features_of(table(tmp_path, MIXED))
    assert not any(name.startswith("id") for name in found.names)
    assert "'id'" in found.notes[0]
    named = features_of(table(tmp_path, MIXED), columns=["id"])
    assert named.names == ["id"]
    without = features_of(table(tmp_path, MIXED), leave_out=["price"])
    assert not any(name.startswith("price") for name in without.names)


def test_a_label_in_the_pool_is_not_learnt_from(tmp_path):
    found = features_of(table(tmp_path, "x,Label\n1,0\n2,1\n"))
    assert found.names == ["x"]


def test_named_columns_are_used_whatever_they_are(tmp_path):
    found = features_of(table(tmp_path, "x,name\n1,ann\n2,bob\n"), columns=["name"])
    assert found.names == ["name = ann", "name = bob"]


def test_nothing_left_is_an_error(tmp_path):
    with pytest.raises(InvalidArgument, match="--features"):
        features_of(table(tmp_path, "id,name\n1,ann\n2,bob\n3,cid\n"))
    with pytest.raises(InvalidArgument, match="did you mean 'price'"):
        features_of(table(tmp_path, MIXED), columns=["prize"])


def test_text_makes_sparse_rows(tmp_path):
    found = features_of(table(tmp_path, MIXED), text=["said"])
    assert found.matrix.shape == (4, len(found.names))
    dense = found.matrix.toarray()
    words = [place for place, name in enumerate(found.names) if name.startswith("said: ")]
    assert np.allclose(np.sum(dense[:, words] ** 2, axis=1), 1.0, atol=1e-12)
    assert dense[1, found.names.index("price is missing")] == 1.0


texts = st.lists(st.text("ab cé1_,\n", max_size=30), min_size=2, max_size=8)


@given(texts, st.integers(1, 5))
def test_tf_idf_is_that_of_scikit_learn(given_texts, most):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectoriser = text.TfidfVectorizer(min_df=2)
    rows, words = tf_idf(list(given_texts))
    try:
        expected = vectoriser.fit_transform(given_texts).toarray()
    except ValueError:  # no word is in two texts
        return
    assert words == vectoriser.get_feature_names_out().tolist()
    # sums in another order: a few roundings
    assert np.allclose(rows.toarray(), expected, atol=1e-12)
    few, kept = tf_idf(list(given_texts), most=most)
    assert len(kept) == min(most, len(words))
    assert set(kept) <= set(words)
    assert few.shape == (len(given_texts), len(kept))


def test_texts_without_words():
    rows, words = tf_idf([None, "", "a b c"])
    assert rows.shape == (3, 0)
    assert words == []


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_any_scale_is_standardised(scale, tmp_path):
    content = "x,y\n" + "".join(f"{scale * i},{'' if i == 1 else scale * i}\n" for i in range(1, 6))
    found = features_of(table(tmp_path, content))
    assert np.isfinite(found.matrix).all()
    assert np.allclose(found.matrix[:, 0].std(), 1.0, atol=1e-9)
