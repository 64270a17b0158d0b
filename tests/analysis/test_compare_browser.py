"""The page of a comparison in a browser: nothing cut, nothing overlaps, nothing fetched."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import chromium
from compare_images import moved_pair, recorded
from strata.compare import Settings, output
from strata.report import comparison as comparison_files

pytestmark = pytest.mark.skipif(chromium.executable() is None, reason=chromium.MISSING)

AUDIT = Path(__file__).with_name("page_audit.js").read_text(encoding="utf-8")
OPEN = "for (const details of document.querySelectorAll('details')) details.open = true"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """Changes between two runs of an H200, and it beside a CPU."""
    folder = tmp_path_factory.mktemp("compare")
    before, after = moved_pair()
    runs = [before, after, recorded("intel-xeon-processor", "0cf4ff2")]
    comparison_files.write(*output.compared(runs, Settings()), folder)
    address = (folder / "compare.html").as_uri()
    with chromium.running() as browser:
        opened = chromium.Page(browser, address, width=1024, height=900)
        opened.run(AUDIT)
        yield opened
        assert opened.troubles() == []
        assert set(opened.requests()) == {address}
        opened.close()


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
