"""The picture of a learner: what is labelled, what comes next."""

import numpy as np
import pytest

from apm import (
    APM,
    EPIG,
    Belief,
    Bohning,
    ContestedPair,
    FeatureMap,
    Learner,
    Margin,
    MaxVariance,
    PoolMaxPower,
    Random,
    VariationalLogistic,
    compare,
)
from apm.plot import _scores, calibration, learning_curve, selection

pytest.importorskip("matplotlib")

PAIR = APM(PoolMaxPower(), channel=ContestedPair())


def learner_in_the_plane(labels=3, rows=40, features=2):
    pool = np.random.default_rng(3).normal(size=(rows, features))
    learner = Learner(pool, VariationalLogistic(), APM(), seed=1)
    for _ in range(labels):
        (row,) = learner.ask()
        learner.tell(row, int(pool[row, 0] > 0))
    return learner


def drawn(figure, label):
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == label]
    return np.stack(line.get_data(), axis=-1)


def test_shows_the_labelled_rows_and_the_next_pick(tmp_path):
    learner = learner_in_the_plane()
    figure = selection(learner, np.asarray(learner.pool)[:, 0] > 0)
    np.testing.assert_array_equal(drawn(figure, "labelled"), learner.pool[learner.labelled])
    (following,) = learner.ask()
    np.testing.assert_array_equal(drawn(figure, "asked for next"), [learner.pool[following]])
    figure.savefig(tmp_path / "selection.png")
    assert (tmp_path / "selection.png").stat().st_size > 5_000


def test_a_finished_pool_has_no_next_pick():
    learner = learner_in_the_plane(labels=5, rows=5)
    labels = [line.get_label() for line in selection(learner).axes[0].lines]
    assert "labelled" in labels
    assert "asked for next" not in labels


def test_bad_input():
    with pytest.raises(ValueError, match="in the plane"):
        selection(learner_in_the_plane(features=3))
    with pytest.raises(ValueError, match="labels must have length 40"):
        selection(learner_in_the_plane(), [0, 1])


def test_every_class_is_drawn_and_the_scale_is_a_share():
    learner = learner_in_the_plane()
    labels = np.arange(40) % 9
    figure = selection(learner, labels)
    for value in range(9):
        found = drawn(figure, f"class {value}")
        np.testing.assert_array_equal(found, np.asarray(learner.pool)[labels == value])
    (image,) = figure.axes[0].images
    assert image.get_clim() == (0.0, 1.0)
    low, high = figure.axes[1].get_ylim()
    assert (low, high) == (0.0, 1.0)


def test_curves_are_drawn_as_they_are():
    learner = learner_in_the_plane(labels=6)
    pool = np.asarray(learner.pool)
    measured = learner.curve(pool, (pool[:, 0] > 0).astype(int))
    for curve, name in ((learner.curve(), "expected by the model"), (measured, "measured")):
        points = drawn(learning_curve(curve), name)
        np.testing.assert_array_equal(points, np.stack([curve.labels, curve.accuracy], axis=1))
    np.testing.assert_array_equal(
        drawn(learning_curve(learner), "expected by the model")[:, 1], learner.curve().accuracy
    )
    found = compare(pool, pool[:, 0] > 0, {"a": Random(), "b": MaxVariance()}, labels=4, trials=2)
    np.testing.assert_allclose(drawn(learning_curve(found), "b")[:, 1], found.mean("b"))


def test_calibration_compares_probability_and_share():
    learner = learner_in_the_plane(labels=10)
    pool = np.asarray(learner.pool)
    truth = (pool[:, 0] > 0).astype(int)
    figure = calibration(learner, pool, truth, bins=4)
    points = drawn(figure, "40 rows in 4 groups")
    sure = learner.predict_proba(pool).max(axis=1)
    order = np.argsort(sure, kind="stable").reshape(4, 10)
    np.testing.assert_allclose(points[:, 0], sure[order].mean(axis=1))
    right = learner.predict(pool) == truth
    np.testing.assert_allclose(points[:, 1], right[order].mean(axis=1))
    error = np.mean(np.abs(points[:, 0] - points[:, 1]))
    assert f"{error:.3f}" in figure.axes[0].get_title()
    with pytest.raises(ValueError, match="one label for each of 40 rows"):
        calibration(learner, pool, truth[:3])
    with pytest.raises(ValueError, match="bins"):
        calibration(learner, pool, truth, bins=0)


def with_classes(classes, selector=None):
    rng = np.random.default_rng(0)
    pool = 3.0 + 5.0 * rng.normal(size=(60, 2))
    y = np.digitize(pool[:, 0] + pool[:, 1], np.linspace(0, 12, classes - 1))
    names = np.array([f"c{value:02d}" for value in y])
    model = Belief(Bohning(classes, 1.0), FeatureMap(lambda X: (X - 3.0) / 5.0))
    learner = Learner(pool, model, selector, seed=0)
    rows = np.unique(names, return_index=True)[1]
    learner.tell(rows, names[rows])
    return learner, names


@pytest.mark.parametrize("classes", [3, 12])
def test_every_class_is_drawn_in_a_colour_of_its_own(classes):
    learner, names = with_classes(classes)
    axes = selection(learner, names).axes[0]
    lines = [line for line in axes.lines if str(line.get_label()).startswith("class ")]
    assert sum(len(np.asarray(line.get_xdata())) for line in lines) == 60
    assert len({str(line.get_color()) for line in lines}) == len(set(names)) == len(lines)


@pytest.mark.parametrize("selector", [None, Margin(), EPIG(20), PAIR])
def test_the_scale_is_the_share_of_the_picture(selector):
    learner, names = with_classes(3, selector)
    figure = selection(learner, names)
    (image,) = figure.axes[0].images
    assert image.get_clim() == (0.0, 1.0)
    shares = np.asarray(image.get_array())
    assert shares.min() == 0.0
    assert shares.max() <= 1.0
    assert figure.axes[1].get_ylim() == (0.0, 1.0)
    # half of the picture lies below a share of one half, unless many scores are equal
    assert np.mean(shares < 0.5) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("selector", [None, PAIR, Margin()])
def test_a_row_has_the_shade_of_its_own_score(selector):
    """Rows that are left, drawn at their places, score as the learner scores them."""
    learner, _ = with_classes(3, selector)
    left = learner.remaining
    scores = [learner.explain(int(row)).score for row in left]
    found = _scores(learner, np.asarray(learner.pool)[left])
    np.testing.assert_allclose(found, scores, rtol=1e-9)


def test_efficiency_shows_bits_under_the_capacity():
    from apm import VariationalLogistic
    from apm.plot import efficiency

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    learner = Learner(X, VariationalLogistic(0.5), seed=0)
    learner.run((X[:, 0] > 0).astype(int), 5)
    upper, lower = efficiency(learner).axes
    lines = {
        line.get_label(): np.asarray(line.get_ydata()) for line in (*upper.lines, *lower.lines)
    }
    assert (lines["told by the label"] <= lines["capacity at the power spent"] + 1e-9).all()
    assert lines["so far"][-1] == pytest.approx(learner.efficiency.total)


def test_numbers_of_labelled_rows_do_not_overlap():
    """Forty rows, many of them in one place: what is numbered can be read."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.02 * rng.normal(size=(40, 2)), 3.0 * rng.normal(size=(20, 2))])
    learner = Learner(X, seed=0)
    learner.tell(range(60), (X[:, 0] > 0).astype(int))
    figure = selection(learner)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert 15 <= len(boxes) < 60
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
