"""What holds for every test: hypothesis times no example, for the machine may be busy.

And the made-up runs of the whole n-body ladder, which several files of tests look at.
"""

import pytest
from hypothesis import HealthCheck, settings

import ladder_run
from strata.run import Run

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of a GPU."""
    return ladder_run.gpu_run(tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of a CPU."""
    return ladder_run.host_run(tmp_path_factory.mktemp("host"))
