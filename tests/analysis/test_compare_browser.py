"""The pages of a comparison and of a fleet in a browser: nothing cut, overlapping or fetched."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import synthetic_fleet
from test_page_in_browser import HITS

import builders
from browsers import dark_or_light, opened, resize
from compare_images import moved_pair, recorded
from strata import fleet
from strata.compare import Settings, compare_all, words
from strata.report import comparison as comparison_files
from strata.report import fleet as fleet_files
from strata.run import load_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

OPEN = "for (const details of document.querySelectorAll('details')) details.open = true"


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Changes between two runs of an H200, and it beside a CPU."""
    folder = tmp_path_factory.mktemp("compare")
    before, after = moved_pair()
    runs = [before, after, recorded("intel-xeon-processor", "0cf4ff2")]
    comparison_files.write(*compare_all(runs, Settings()), folder)
    with opened(browser, folder / "compare.html") as shown:
        yield shown


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1024, 1920])
def test_nothing_is_cut_overlaps_or_fades(page: Page, width: int, *, dark: bool) -> None:
    dark_or_light(page, dark=dark)
    resize(page, width, 900)
    page.evaluate(OPEN)
    found = page.evaluate(f"audit({json.dumps({'slack': 1.0, 'least': 4.5, 'colours': dark})})")
    assert found["faults"] == []
    assert found["size"]["figures"] == 3
    assert found["size"]["texts"] > 300
    assert dark or found["size"]["labels"] > 100


def tooltip_at(page: Page, x: float, y: float) -> str:
    """The text of the page for a place that the mouse points at."""
    for step in (2, 1, 0):
        page.mouse.move(x + step, y)
    page.wait_for_function("!document.querySelector('.tip').hidden")
    return str(page.evaluate("document.querySelector('.tip').textContent"))


def test_a_mark_of_a_comparison_tells_its_row_its_run_and_its_change(page: Page) -> None:
    dark_or_light(page, dark=False)
    resize(page, 1280, 900)
    packed = page.evaluate("document.getElementById('r1-packed').textContent")
    rows = json.loads(zlib.decompress(base64.b64decode(packed)))
    cases = [(name, params) for name, params, count in rows["cases"] for _ in range(count)]
    heads = [rows["heads"][at] for at in rows["head"]]
    (found, *_), _ = compare_all([*moved_pair()], Settings())
    top = found.flagged().iloc[0]
    for figure, wanted in (
        ("Changes of every row between runs", f"change={words.percent(top.change)}"),
        ("Devices side by side", "run="),
    ):
        seen = page.evaluate(HITS % f'svg[aria-label="{figure}"]')
        assert len(seen) > 30
        # A mark with no other near it.
        one = next(
            hit for hit in seen
            if wanted in cases[hit["number"] - 1][1]
            if 0 < hit["y"] < 900 and all(other is hit or abs(other["x"] - hit["x"])
                                          + abs(other["y"] - hit["y"]) > 6 for other in seen)
        )  # fmt: skip
        benchmark, params = cases[one["number"] - 1]
        text = tooltip_at(page, one["x"], one["y"])
        assert text.startswith(f"{heads[one['number'] - 1][0]}: ")
        assert text.endswith(f"{benchmark} {params}")
        page.mouse.click(one["x"], one["y"])
        page.wait_for_function("document.querySelector('dialog.row').open")
        assert "run" in page.evaluate(
            "[...document.querySelectorAll('dialog.row dt')].map(one => one.textContent)"
        )
        page.evaluate("[...document.querySelectorAll('dialog.row button')].pop().click()")
        here = "document.querySelector('#r1-viewer tr.here')"
        page.wait_for_function(f"{here}?.cells[0].textContent === '{one['number']}'")


def test_the_page_of_a_fleet_is_whole_at_every_width(browser: Browser, tmp_path: Path) -> None:
    excerpt = load_run(builders.DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f")
    world = synthetic_fleet.world(excerpt, most=800)
    faults = ["host_link", "memory_errors", "clocks_low"]
    data = tmp_path / "data"
    synthetic_fleet.write(data, world, synthetic_fleet.made(world, 24, 7, faults, runs=2))
    with fleet.opened([data], pytest.fail) as parts:
        found = fleet.examine(parts, pytest.fail)
        written = fleet_files.write(found, parts, tmp_path / "out")
    with opened(browser, written) as shown:
        shown.evaluate(OPEN)
        for width in (400, 1920):
            resize(shown, width, 900)
            result = shown.evaluate(f"audit({json.dumps({'slack': 1.0, 'least': 4.5})})")
            assert result["faults"] == []
            assert result["size"]["texts"] > 300
        assert shown.evaluate("document.querySelectorAll('#map tbody tr').length") == 24
        assert (
            shown.evaluate("document.querySelectorAll('#out tbody tr').length")
            == len(found.out)
            >= 3
        )
