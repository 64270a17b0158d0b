"""What holds for every test: how often hypothesis tries, and runs that several files look at.

It times no example, because the machine may be busy. A property is tried with the same 20 examples
each time; with STRATA_TESTS=all, with 100 random ones.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import browsers
import ladder_run
from strata.run import Run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "quick", settings.get_profile("all"), max_examples=20, derandomize=True, database=None
)
settings.load_profile(os.environ.get("STRATA_TESTS", "quick"))
os.environ["STRATA_CACHE"] = ""  # figures are drawn, not taken from the cache of a user


@pytest.fixture(scope="session")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of a GPU."""
    return ladder_run.gpu_run(tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of a CPU."""
    return ladder_run.host_run(tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """The browser of all tests of a process: Playwright runs once in each."""
    if reason := browsers.missing():
        pytest.skip(reason)
    with browsers.running() as running:
        yield running
