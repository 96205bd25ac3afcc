"""The kernels once more with every index checked, in a process and a cache of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from channelcode._kernels.transport.samples import semidual as semidual_kernels
from channelcode._kernels.transport.space import slabs as slabs_kernels
from channelcode._kernels.transport.space.slabs import MOST_CORNERS, MOST_NODES, corner_heights

ROOT = Path(__file__).parents[3]
HERE = "tests/channelcode/transport"


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays(tmp_path):
    """NUMBA_BOUNDSCHECK=1: an index out of bounds raises instead of overwriting memory."""
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    names = (
        "test_kernels.py",
        "test_points.py",
        "test_sample_kernels.py",
        "test_faces.py",
        "pools/test_samples.py",
        "pools/test_lanes.py",
        "pools/test_table.py",
    )
    files = [f"{HERE}/{name}" for name in names]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-k", "not py_func"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("atoms", [1, 2, 3, 63, 64, 65, 127, 128, 129, 4096])
def test_every_pair_of_cells_has_its_own_number(atoms):
    bits = semidual_kernels.bits_for(atoms)
    assert 1 << bits >= atoms
    assert (atoms - 1 << bits) + atoms - 1 < atoms << bits


@pytest.mark.parametrize("room", [0, 1, 2, 3, 5])
def test_corners_beyond_the_room_are_left_out(room):
    """A cube of eight atoms has more corners than a small array holds."""
    atoms = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1.0, 1)])
    atoms = atoms + 0.1 * np.random.default_rng(0).standard_normal((8, 3))
    v = 0.5 * (atoms**2).sum(axis=1)
    everything = corner_heights(atoms, v, np.zeros(MOST_CORNERS))
    assert everything > 5
    assert corner_heights(atoms, v, np.zeros(room)) == room


def test_slab_nodes_stay_within_their_array():
    """Twelve atoms in general position: as many panels as the method ever makes."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        atoms = rng.standard_normal((12, 3))
        v = 0.5 * (atoms**2).sum(axis=1) + 0.1 * rng.standard_normal(12)
        nodes, shares = np.zeros(MOST_NODES), np.zeros(MOST_NODES)
        count = slabs_kernels.slab_nodes(atoms, v, 0.5, nodes, shares)
        assert count <= MOST_NODES
        assert shares[:count].sum() == pytest.approx(1.0)
