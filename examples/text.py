"""Texts with 30,000 words: TF-IDF in a sparse pool, two topics, few labels.

The texts are made: each topic uses some words more than the other. Run with
`python examples/text.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import TfidfVectorizer

from apm import Laplace, Learner, Margin, Random
from channelcode import Logistic

WORDS, TEXTS, LABELS = 30_000, 1000, 40


def texts(rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Texts of 80 words; how often a word is used falls as in a language (Zipf)."""
    names = np.array([f"word{number}" for number in range(WORDS)])
    usual = 1.0 / np.arange(10, WORDS + 10)
    topic = rng.integers(2, size=TEXTS)
    leaning = np.exp(0.5 * rng.normal(size=WORDS))
    written = []
    for which in topic:
        chance = usual * (leaning if which else 1.0 / leaning)
        written.append(" ".join(rng.choice(names, 80, p=chance / chance.sum())))
    return written, np.array(["sport", "science"])[topic]


def main() -> None:
    written, topic = texts(np.random.default_rng(0))
    X = TfidfVectorizer(vocabulary=[f"word{number}" for number in range(WORDS)]).fit_transform(
        written
    )
    print(f"{X.shape[0]} texts, {X.shape[1]} features, {X.nnz} entries")
    pool, test = X[:600], X[600:]
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, selector in (("margin", Margin()), ("random texts", Random())):
        model = Laplace(Logistic(), prior_precision=0.1, classes=["science", "sport"])
        learner = Learner(pool, model, selector, seed=0)
        right = []
        for _ in range(LABELS):
            row = int(learner.ask())
            learner.tell(row, topic[row])
            right.append(float(np.mean(learner.predict(test) == topic[600:])))
        axes.plot(np.arange(1, LABELS + 1), right, label=name)
        print(f"{name}: {right[-1]:.1%} right after {LABELS} labels")
    axes.set(xlabel="labels", ylabel="accuracy on texts held back")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "text.png", dpi=120)


if __name__ == "__main__":
    main()
