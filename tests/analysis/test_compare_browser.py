"""The pages of a comparison and of a fleet in a browser: nothing cut, overlapping or fetched."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import synthetic_fleet

import builders
import chromium
from compare_images import moved_pair, recorded
from strata import fleet
from strata.compare import Settings, output
from strata.report import comparison as comparison_files
from strata.report import fleet as fleet_files
from strata.run import load_run

pytestmark = pytest.mark.skipif(chromium.executable() is None, reason=chromium.MISSING)

AUDIT = Path(__file__).with_name("page_audit.js").read_text(encoding="utf-8")
OPEN = "for (const details of document.querySelectorAll('details')) details.open = true"


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Chromium]:
    with chromium.running() as running:
        yield running


@contextmanager
def opened(browser: chromium.Chromium, page: Path) -> Iterator[chromium.Page]:
    """A page that fetches nothing and complains of nothing."""
    shown = chromium.Page(browser, page.as_uri(), width=1024, height=900)
    shown.run(AUDIT)
    yield shown
    assert shown.troubles() == []
    assert set(shown.requests()) == {page.as_uri()}
    shown.close()


@pytest.fixture(scope="module")
def page(
    browser: chromium.Chromium, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[chromium.Page]:
    """Changes between two runs of an H200, and it beside a CPU."""
    folder = tmp_path_factory.mktemp("compare")
    before, after = moved_pair()
    runs = [before, after, recorded("intel-xeon-processor", "0cf4ff2")]
    comparison_files.write(*output.compared(runs, Settings()), folder)
    with opened(browser, folder / "compare.html") as shown:
        yield shown


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1024, 1920])
def test_nothing_is_cut_overlaps_or_fades(page: chromium.Page, width: int, *, dark: bool) -> None:
    page.media(dark=dark)
    page.resize(width, 900)
    page.run(OPEN)
    found = page.run(f"audit({json.dumps({'slack': 1.0, 'least': 5.5, 'colours': dark})})")
    assert found["faults"] == []
    assert found["size"]["figures"] == 3
    assert found["size"]["texts"] > 300
    assert dark or found["size"]["labels"] > 100


def test_the_page_of_a_fleet_is_whole_at_every_width(
    browser: chromium.Chromium, tmp_path: Path
) -> None:
    excerpt = load_run(builders.DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f")
    world = synthetic_fleet.world(excerpt, most=800)
    faults = ["host_link", "memory_errors", "clocks_low"]
    data = tmp_path / "data"
    synthetic_fleet.write(data, world, synthetic_fleet.made(world, 24, 7, faults, runs=2))
    with fleet.opened([data], pytest.fail) as parts:
        found = fleet.examine(parts, pytest.fail)
        written = fleet_files.write(found, parts, tmp_path / "out")
    with opened(browser, written) as shown:
        shown.run(OPEN)
        for width in (400, 1920):
            shown.resize(width, 900)
            told = shown.run(f"audit({json.dumps({'slack': 1.0, 'least': 5.5})})")
            assert told["faults"] == []
            assert told["size"]["texts"] > 300
        assert shown.run("document.querySelectorAll('#map tbody tr').length") == 24
        assert shown.run("document.querySelectorAll('#out tbody tr').length") == len(found.out) >= 3
