"""No information of a label is more than the table has."""

import numpy as np

from apm._kernels.gains import BEYOND
from apm.selectors.tiles.gain_table import MOST, GainTable
from channelcode import Logistic
from channelcode.information import mutual_information
from channelcode.measures import ScalarPool


def gain(mean, variance):
    return np.asarray(mutual_information(Logistic(), ScalarPool(mean, variance)).bits)


def test_it_is_above_and_near():
    rng = np.random.default_rng(0)
    variance = np.exp(rng.uniform(-8, 12, size=2000))
    mean = np.sqrt(1 + variance) * rng.exponential(size=2000)
    mean[:50] = 0.0
    table, exact = GainTable(gain), gain(mean, variance)
    bound = table.above(mean, variance)
    assert (bound >= exact - 1e-12).all()
    # sixteen steps for each doubling, of v and of m^2 / (1 + v)
    some = exact > 1e-6
    assert np.median(bound[some] / exact[some]) < 1.1
    assert (bound <= 1.0 + 1e-9).all()
    np.testing.assert_array_equal(table.above(mean, variance), bound)


def test_variances_beyond_the_table():
    table = GainTable(gain)
    assert table.above(np.zeros(1), np.array([4 * MOST]))[0] == BEYOND
    assert 0 <= table.above(np.zeros(1), np.zeros(1))[0] < 1e-11
    far = table.above(np.array([1e6]), np.array([1.0]))[0]
    assert gain(np.array([1e6]), np.array([1.0]))[0] <= far < 1e-3
