"""Words of texts as sparse features: term frequency times inverse document frequency."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

MOST_WORDS = 30_000
_WORD = re.compile(r"\w\w+")  # letters, digits and underscores of any script, two or more


def words_of(text: str | None) -> list[str]:
    """The words of a text in lower case; single characters are none.

    >>> words_of("A café, re-opened in 2024!")
    ['café', 're', 'opened', 'in', '2024']
    """
    return [] if text is None else _WORD.findall(text.lower())


def tf_idf(texts: list[str | None], *, most: int = MOST_WORDS) -> tuple[Any, list[str]]:
    """Rows `(n, V)` of TF-IDF weights with length one, and the words, in alphabetical order.

    The weight of a word is `count * (ln((1 + n) / (1 + m)) + 1)` for m of n texts that have it, as
    in scikit-learn; then each row is divided by its Euclidean norm. A word counts if two texts have
    it (one is enough where none has two); beyond `most` words those in most texts are kept.

    >>> rows, words = tf_idf(["red fish", "blue fish", "red whale"])
    >>> words, rows.toarray().round(3)[0].tolist()
    (['fish', 'red'], [0.707, 0.707])
    """
    from scipy.sparse import csr_array

    counted = [Counter(words_of(text)) for text in texts]
    among = Counter(word for counts in counted for word in counts)
    shared = {word: count for word, count in among.items() if count > 1} or dict(among)
    ranked = sorted(shared, key=lambda word: (-shared[word], word))[:most]
    words = sorted(ranked)
    place = {word: number for number, word in enumerate(words)}
    idf = np.array([np.log((1 + len(texts)) / (1 + shared[word])) + 1 for word in words])
    starts, columns, values = [0], [], []
    for counts in counted:
        known = sorted(place[word] for word in counts if word in place)
        weights = np.array([counts[words[column]] for column in known]) * idf[known]
        norm = float(np.sqrt(np.sum(np.square(weights))))
        columns.extend(known)
        values.extend(weights / norm if norm > 0 else weights)
        starts.append(len(columns))
    shape = (len(texts), len(words))
    data = np.array(values, dtype=np.float64), np.array(columns, dtype=np.int64), np.array(starts)
    return csr_array(data, shape=shape), words
