"""A cluster of two processes on this machine, for all tests of the folder."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client
