"""Batches that read only the tiles that can win are the batches of memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import APM, InformationGain, Learner, VariationalLogistic
from apm.pools.blocks import Sliced
from apm.power import FixedPower
from apm.selectors.tiles.batch_bounds import TileBounds

pytestmark = pytest.mark.usefixtures("small_tiles")


class Counted(Sliced):
    def __init__(self, rows):
        super().__init__(rows)
        self.reads = 0

    def read(self, start, stop):
        self.reads += 1
        return super().read(start, stop)

    def blocks(self):
        for block in super().blocks():
            self.reads += -(-len(block) // 256)
            yield block


@given(
    seed=st.integers(0, 10**6),
    single=st.booleans(),
    power=st.sampled_from([None, 0.0, 0.5, 40.0, 1e4, "gain"]),
    clusters=st.integers(1, 6),
    spread=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
)
@settings(max_examples=25, deadline=None)
def test_the_same_batch(seed, single, power, clusters, spread):
    rng = np.random.default_rng(seed)
    where = np.sort(rng.integers(clusters, size=1100))
    X = rng.normal(size=(clusters, 4))[where] * 3 + spread * rng.normal(size=(1100, 4))
    X = X.astype(np.float32 if single else np.float64)
    rule = APM() if power is None else APM(FixedPower(power)) if power != "gain" else None
    rule = InformationGain() if rule is None else rule
    one, other = (Learner(pool, VariationalLogistic(0.1), rule, seed=1) for pool in (X, Counted(X)))
    for learner in (one, other):
        learner.tell(range(0, 60, 6), (X[0:60:6, 0] > 0).astype(int))
    assert one.ask(4).tolist() == other.ask(4).tolist()


def test_few_tiles_are_read_for_the_later_rows():
    X = np.random.default_rng(0).normal(size=(256 * 40, 8))
    X *= np.linspace(3.0, 0.5, len(X))[:, None]
    source = Counted(X)
    learner = Learner(source, VariationalLogistic(), APM(), seed=0)
    learner.tell([0, 1], [0, 1])
    source.reads = 0
    learner.ask(3)
    assert source.reads < 70  # of 120 for three rows, with what is read of the rows chosen


def test_other_rules_have_no_bounds():
    from apm import PoolMaxPower, Predictions
    from apm.pools import StreamedRows

    X = StreamedRows(Sliced(np.random.default_rng(0).normal(size=(600, 3))))
    learner = Learner(X, VariationalLogistic(), seed=0)
    for rule in (APM(PoolMaxPower()), APM(message=Predictions()), APM()):
        assert TileBounds.of(rule, learner._state.belief, X) is None
    for rule in (APM(radius=5.0), InformationGain()):
        assert TileBounds.of(rule, learner._state.belief, X) is not None
