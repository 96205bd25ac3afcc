"""Finding a cluster, and comparing its workers with this process."""

from types import SimpleNamespace

import pytest

from apm.cluster import connection
from apm.cluster.connection import ClusterError, connected, require_same_versions
from apm.cluster.versions import VersionMismatch, versions
from channelcode.errors import InvalidArgument, MissingExtra
from tests.apm.clusters import local_cluster


def answering(**answers):
    return SimpleNamespace(run=lambda function, on_error: answers)


def test_workers_that_differ_are_named():
    own = versions()
    require_same_versions(answering(one=own, two=own))
    with pytest.raises(VersionMismatch, match=r"two: numpy .* here, 1\.0 there"):
        require_same_versions(answering(one=own, two=own | {"numpy": "1.0"}))
    with pytest.raises(VersionMismatch, match=r"three: channelcode .* here, 9\.9 there"):
        require_same_versions(answering(three=own | {"channelcode": "9.9"}))
    with pytest.raises(VersionMismatch, match=r"four: python 3\.\d+ here, 3\.1 there"):
        require_same_versions(answering(four=own | {"python": "3.1.4"}))


def test_a_worker_without_this_package():
    with pytest.raises(VersionMismatch, match="one: ModuleNotFoundError: No module named 'apm'"):
        require_same_versions(answering(one=ModuleNotFoundError("No module named 'apm'")))


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtra, match="dask"), connected("tcp://here:1"):
        pass


@pytest.mark.parametrize("wrong", [3, 1.5, object, ["tcp://a"]], ids=str)
def test_what_is_no_cluster(wrong):
    pytest.importorskip("distributed")
    told = "dask must be a scheduler's address"
    with pytest.raises(InvalidArgument, match=told), connected(wrong):
        pass


@pytest.mark.parametrize("nowhere", ["tcp://127.0.0.1:9", "no-such-file.json", "smtp://a:1"])
def test_nobody_answers(nowhere, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connection, "PATIENCE", "1s")
    with pytest.raises(ClusterError, match="no Dask scheduler answers"), connected(nowhere):
        pass


def test_address_cluster_and_client():
    with local_cluster(1, processes=False) as cluster:
        from distributed import Client

        for given in (cluster.scheduler_address, cluster):
            with connected(given) as client:
                assert client.submit(sum, [1, 2]).result() == 3
            assert client.status == "closed"
        with Client(cluster) as own:
            with connected(own) as client:
                assert client is own
            assert own.status == "running"
