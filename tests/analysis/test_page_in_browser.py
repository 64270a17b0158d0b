"""The page as a browser shows it: nothing cut, nothing overlaps, tables sort, links land.

The reports are of the tiny runs that fill every figure, so every figure is looked at. What is
looked for is in page_audit.js; a page with one fault of each kind proves that it is found.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsers import dark_or_light, open_page, opened, resize
from figure_images import RUNS, drawings
from strata.model.truth import load_run
from strata.model.units import interval, quantity
from strata.report import page as report
from strata.run import params_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

OPEN = "for (const one of document.querySelectorAll('details:not(.toc)')) one.open = true"

SLACK = 1.0
"""Points by which outlines of two labels may reach into each other, or out of their figure."""

LETTERS = 5.5
"""Pixels that the letters of a figure have at the least, however narrow the window."""

PAPER = 718
"""CSS pixels between the margins of a sheet of A4, at 96 to the inch and a centimetre each."""

LARGEST = max(RUNS, key=lambda run: sum(path.stat().st_size for path in RUNS[run].iterdir()))
REPORTS = {"one": [LARGEST], "several": [run for run in RUNS if run != LARGEST]}
"""The run with the most figures, and the others on a page together."""


@pytest.fixture(scope="session", params=REPORTS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report, written once, by the first process of the tests that needs it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    out = root / f"page-{request.param}"
    with (root / f"page-{request.param}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "report.html").exists():
            report.write([load_run(RUNS[run]) for run in REPORTS[request.param]], out)
    return out


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page of the report; it requests nothing else and has no errors."""
    with opened(browser, folder / "report.html") as page:
        yield page


def sound(found: dict[str, Any]) -> None:
    """Fails with every fault, a line each."""
    if found["faults"]:
        pytest.fail("\n".join([f"{len(found['faults'])} faults", *found["faults"]]), pytrace=False)


def audit(page: Page, **options: Any) -> dict[str, int]:
    """Fails with what is wrong with the page as it is; returns how much was looked at."""
    found = page.evaluate(f"audit({json.dumps({'slack': SLACK, 'least': LETTERS} | options)})")
    sound(found)
    size: dict[str, int] = found["size"]
    return size


@pytest.mark.parametrize("width", [400, 1024, 1920])
def test_nothing_is_cut_and_nothing_overlaps(page: Page, folder: Path, width: int) -> None:
    resize(page, width, 900)
    audit(page)
    page.evaluate(OPEN)
    size = audit(page)
    runs = REPORTS[folder.name.removeprefix("page-")]
    assert size["figures"] == sum(drawing.run in runs for drawing in drawings())
    assert size["labels"] > 10 * size["figures"]
    assert size["texts"] > 500


def test_nothing_fades_in_the_dark(page: Page) -> None:
    dark_or_light(page, dark=True)
    page.evaluate(OPEN)
    assert audit(page, colours=True)["texts"] > 500


def test_nothing_is_lost_on_paper(page: Page, folder: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    resize(page, PAPER, 900)
    size = audit(page, print=True)
    assert size["texts"] > 300
    runs = REPORTS[folder.name.removeprefix("page-")]
    assert size["figures"] == sum(drawing.run in runs for drawing in drawings())
    dark_or_light(page, dark=False)
    page.wait_for_function("document.querySelectorAll('.part[open]').length === 0")


SCREEN = (1280, 900)


@pytest.mark.parametrize("folder", ["one"], indirect=True)
def test_the_first_screen_holds_the_numbers_and_the_map(page: Page) -> None:
    resize(page, *SCREEN)
    found = page.evaluate(
        "[...document.querySelectorAll('#r1-summary > :is(h2, .under, .numbers > div, .valid), "
        "#r1-summary .numbers > div, #r1-figure-hierarchy_map .card')].map("
        "one => [one.getBoundingClientRect().top >= 0, one.getBoundingClientRect().bottom])"
    )
    assert len(found) > 8
    assert all(inside and bottom <= SCREEN[1] for inside, bottom in found), found
    assert len(page.evaluate("[...document.querySelectorAll('#r1-summary .numbers > div')]")) <= 10
    (link,) = page.evaluate(
        "[...document.querySelectorAll('#r1-summary .valid > a:last-child')].map(a => a.hash)"
    )
    assert link == "#r1-trust"


def test_the_answers_take_twelve_screens(page: Page, folder: Path) -> None:
    resize(page, *SCREEN)
    top, whole = page.evaluate(
        "[document.getElementById('r1-rows').getBoundingClientRect().top + scrollY,"
        "document.documentElement.scrollHeight]"
    )
    assert SCREEN[1] < top <= 12 * SCREEN[1]
    if folder.name == "page-one":
        assert whole <= 12 * SCREEN[1]


@pytest.mark.parametrize("size", [SCREEN, (400, 800)])
def test_a_number_shows_its_row_in_full(page: Page, size: tuple[int, int]) -> None:
    resize(page, *size)
    run, number, x, y = page.evaluate(  # of the first run that has numbers
        "(() => { const link = document.querySelector('[id$=-summary] .numbers a');"
        "link.scrollIntoView({block: 'center', behavior: 'instant'}); const "
        "r = link.getClientRects()[0]; "
        "return [...link.hash.slice(1).split('-'), r.x + 3, r.y + 3]; "
        "})()"
    )
    scrolled = page.evaluate("scrollY")
    page.mouse.click(x, y)
    faults = page.evaluate(
        f"auditRow('#{run}-{number}', document.getElementById('{run}-{number}')).then(told => told)"
    )
    assert faults == []
    assert page.evaluate("scrollY") == scrolled
    page.mouse.click(x, y)
    page.wait_for_function("document.querySelector('dialog').open")
    page.evaluate("[...document.querySelectorAll('dialog button')].pop().click()")
    here = f"document.querySelector('#{run}-viewer tr.here')"
    page.wait_for_function(f"{here}?.cells[0].textContent === '{number}'")
    assert not page.evaluate("document.querySelector('dialog').open")


LINES = {"tlb", "bandwidth_ceilings"}
"""Figures whose marks are a line, or on one that has a tooltip, too."""

HITS = """(async () => {
  const svg = document.querySelector('%s');
  svg.scrollIntoView({block: 'center', behavior: 'instant'});
  await new Promise(done => setTimeout(done, 100));
  let number = 0;
  return svg.dataset.hits.split('|')[0].split(',').filter(hit => !hit.includes(' t')).map(hit => {
    const [at, size] = hit.split('x'), [x, y, more] = at.split(' ').map(Number);
    const [wide, high] = (size ?? '0 0').split(' ').map(Number);
    const to = new DOMPoint(x + wide / 2, y + high / 2).matrixTransform(svg.getScreenCTM());
    return {number: number += more, x: to.x, y: to.y, wide, high};
  });
})()"""
"""The rows that a drawing shows, and the middle of each in the window."""

THEIRS = """(async () => {
  const svg = document.querySelector('#r1-figure-published_latency svg');
  svg.scrollIntoView({block: 'end', behavior: 'instant'});
  await new Promise(done => setTimeout(done, 100));
  const [hits, ...texts] = svg.dataset.hits.split('|');
  const all = hits.split(',').map(hit => hit.split(' ')).reverse();
  const [x, y, told] = all.find(one => one[2].startsWith('t') && all.every(other => other === one
    || Math.abs(other[0] - one[0]) + Math.abs(other[1] - one[1]) > 9));
  const at = new DOMPoint(Number(x), Number(y)).matrixTransform(svg.getScreenCTM());
  return {x: at.x, y: at.y, told: texts[told.slice(1)]};
})()"""
"""A published value that no other is near, and its place."""


@pytest.mark.parametrize("folder", ["one"], indirect=True)
def test_a_mark_shows_its_value_interval_and_case(page: Page) -> None:
    resize(page, *SCREEN)
    page.evaluate(OPEN)
    rows = load_run(RUNS[LARGEST]).rows
    tip = "document.querySelector('.tip')"
    figures = page.evaluate(
        "[...document.querySelectorAll('#r1 svg[data-hits]:not([data-hits=\"\"])')]"
        ".map(svg => svg.closest('figure').id.slice('r1-figure-'.length))"
    )
    assert len(figures) > 5
    assert "published_latency" in figures
    for figure in [one for one in figures if one not in LINES][:8]:
        hits = page.evaluate(HITS % f"#r1-figure-{figure} svg")
        alone = next(
            one for one in hits
            if 0 < one["y"] < SCREEN[1] and all(other is one or other["number"] == one["number"]
                   or abs(one["x"] - other["x"]) + abs(one["y"] - other["y"]) > 9 for other in hits)
        )  # fmt: skip
        row = rows[alone["number"] - 1]
        page.mouse.move(alone["x"] + 1, alone["y"] + 1)
        page.wait_for_function(f"!{tip}.hidden && {tip}.textContent.includes('{row.quantity}')")
        said = page.evaluate(f"{tip}.textContent").replace("\u2013", "-")
        assert said.startswith(f"{row.quantity}: {quantity(row.value, row.unit)}")
        spread = (row.ci_low, row.ci_high) if row.ci_low is not None else (row.minimum, row.maximum)
        assert interval(*spread, row.unit).replace("\u2013", "-") in said
        assert said.endswith(f"{row.benchmark} {params_text(row.params, ' ')}")
        inside = "0 <= r.left && r.right <= innerWidth && 0 <= r.top && r.bottom <= innerHeight"
        assert page.evaluate(f"(r => {inside})({tip}.getBoundingClientRect())")
        page.mouse.move(2, 2)
        page.wait_for_function(f"{tip}.hidden")
    theirs = page.evaluate(THEIRS)
    for step in (0, 1):
        page.mouse.move(theirs["x"] + step, theirs["y"])
    page.wait_for_function(f"!{tip}.hidden && {tip}.textContent === {json.dumps(theirs['told'])}")
    assert re.search(r"^[^,]+, .*: \d+ cycles.*; .* \[\d+", theirs["told"])
    page.mouse.click(theirs["x"], theirs["y"])  # no row of the run
    assert not page.evaluate("document.querySelector('dialog').open")


@pytest.mark.parametrize("folder", ["one"], indirect=True)
def test_a_mark_on_a_bar_shows_its_own_row(page: Page) -> None:
    resize(page, *SCREEN)
    page.evaluate(OPEN)
    rows = load_run(RUNS[LARGEST]).rows
    hits = page.evaluate(HITS % "#r1-figure-nbody_ladder svg")
    bars = [hit for hit in hits if hit["wide"]]
    inside = [
        hit for hit in hits
        if not hit["wide"] and 0 < hit["y"] < SCREEN[1]
        and any(abs(hit["x"] - bar["x"]) < bar["wide"] / 2 - 9
                and abs(hit["y"] - bar["y"]) < bar["high"] / 2 for bar in bars)
    ]  # fmt: skip
    assert inside
    for hit in inside[:2]:
        for step in (2, 0):
            page.mouse.move(hit["x"] + step, hit["y"])
        row = rows[hit["number"] - 1]
        params = json.dumps(params_text(row.params, " "))
        page.wait_for_function(f"document.querySelector('.tip').textContent.endsWith({params})")
        said = page.evaluate("document.querySelector('.tip').textContent")
        assert said.startswith(f"{row.quantity}: ")


@pytest.mark.parametrize("folder", ["one"], indirect=True)
def test_the_contents_show_where_one_is(page: Page) -> None:
    here = "document.querySelector('.toc a[aria-current]')?.hash"
    for width in SCREEN[0], 400:
        resize(page, width, 900)
        page.wait_for_function(
            f"document.querySelector('.toc').open === {'true' if width > 400 else 'false'}"
        )
        for name in ("bandwidth", "trust", "latency"):
            page.evaluate(f"document.querySelector('.toc a[href$=-{name}]').click()")
            page.wait_for_function(f"{here} === '#r1-{name}'")
            top = page.evaluate(f"document.getElementById('r1-{name}').getBoundingClientRect().top")
            assert 0 <= top < 100
    assert "Latency" in page.evaluate("document.querySelector('.toc summary').innerText")


@pytest.mark.parametrize("folder", ["one"], indirect=True)
def test_without_a_script_links_reach_rows_and_nothing_is_missing(
    browser: Browser, folder: Path
) -> None:
    from playwright.sync_api import expect

    address = (folder / "report.html").as_uri()
    page = browser.new_page(
        java_script_enabled=False, viewport={"width": SCREEN[0], "height": SCREEN[1]}
    )
    page.goto(address)
    link = page.locator("#r1-summary .numbers a").first.get_attribute("href")
    page.goto(f"{address}{link}")
    expect(page.locator(f"{link}")).to_be_in_viewport(ratio=1)
    expect(page.locator(".toc")).to_have_attribute("open", "")
    page.close()


def test_tables_sort(page: Page) -> None:
    page.evaluate(OPEN)
    found = page.evaluate("auditTables('table.sortable')")
    sound(found)
    assert found["sorted"] > 20


def test_all_rows_can_be_seen_sorted_and_reached(page: Page, folder: Path) -> None:
    resize(page, 400, 900)
    (count, *_) = [len(load_run(RUNS[run]).rows) for run in REPORTS[folder.name[5:]]]
    seen = "document.querySelector('#r1-viewer table') !== null"
    assert not page.evaluate(seen)
    page.evaluate("document.querySelector('#r1-all > summary').click()")
    page.wait_for_function(seen)
    audit(page)
    found = page.evaluate("auditTables('#r1-viewer table', {whole: false})")
    sound(found)
    assert found["sorted"] == 11
    number = page.evaluate(
        f"(() => {{ for (let number = {count}; ; number--)"
        "if (!document.getElementById(`r1-${number}`)) return number; })()"
    )
    page.evaluate(f"location.hash = '#r1-{number}'")
    here = "document.querySelector('#r1-viewer tr.here')"
    page.wait_for_function(f"{here} !== null")
    assert page.evaluate(f"{here}.cells[0].textContent") == f"{number}"
    page.wait_for_function(
        f"(r => 0 <= r.top && r.bottom <= innerHeight)({here}.getBoundingClientRect())"
    )


def test_a_heading_is_selected_by_mouse_and_keyboard(page: Page) -> None:
    page.evaluate(OPEN)
    middle = page.evaluate(
        "(() => { const head = document.querySelector('table.sortable th');"
        "head.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const r = head.getBoundingClientRect(); return [r.x + 10, r.y + r.height / 2]; })()"
    )
    state = "document.querySelector('table.sortable th').getAttribute('aria-sort')"
    assert page.evaluate(state) is None
    page.mouse.click(*middle)
    assert page.evaluate(state) == "ascending"
    page.evaluate("document.querySelector('table.sortable th').focus()")
    page.keyboard.press("Enter")
    assert page.evaluate(state) == "descending"


def test_every_link_brings_its_target_into_sight(page: Page, folder: Path) -> None:
    found = page.evaluate("auditLinks(40)")
    sound(found)
    assert found["links"] > 100
    assert found["followed"] >= 40
    beside = page.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    files = {address for address in beside if not address.startswith("#")}
    assert len(files) > 10
    assert [address for address in files if not (folder / address).is_file()] == []


def test_whoever_hears_the_page_finds_their_way(page: Page) -> None:
    found = page.evaluate("auditMarkup()")
    sound(found)
    assert found["elements"] > 1000


FAULTS = {
    "the page is 9": "<div style='width: 900px; height: 9px'></div>",
    'beyond the window: "far" in p': "<p style='position: absolute; left: 395px; width: 99px'>far",
    'cut by div.box: "a long line"': "<div class=box style='width: 20px; overflow: hidden'>"
    "<span style='white-space: nowrap'>a long line</span></div>",
    'overlap: "one"': "<p>one</p><p style='margin-top: -28px'>two</p>",
    'faint: "grey" in p': "<p style='color: #999'>grey</p>",
    'figure "x": no text found in it': "<svg aria-label=x viewBox='0 0 100 50'></svg>",
    'figure "x": "out" (90': "<svg aria-label=x viewBox='0 0 100 50'>"
    "<text x=90 y=20 textLength=25 font-size=10>out</text></svg>",
    'figure "x": "one" and "two" overlap by': "<svg aria-label=x viewBox='0 0 100 50'>"
    "<text x=10 y=20 font-size=10>one</text><text x=20 y=22 font-size=10>two</text></svg>",
    'figure "x": "tiny" has letters of 4.0 px': "<svg aria-label=x viewBox='0 0 100 50' width=100>"
    "<text x=10 y=20 font-size=4>tiny</text></svg>",
    'figure "x": "pale" is faint': "<svg aria-label=x viewBox='0 0 100 50'>"
    "<text x=10 y=20 font-size=10 fill='#ccc'>pale</text></svg>",
}


@pytest.mark.parametrize("told", [None, *FAULTS])
def test_a_fault_is_found(browser: Browser, told: str | None, tmp_path: Path) -> None:
    text = "<!DOCTYPE html><body style='font: 16px/1.2 sans-serif'><main><p>sound</p>"
    path = tmp_path / "page.html"
    path.write_text(text + (FAULTS[told] if told else ""), encoding="utf-8")
    page, *_ = open_page(browser, path.as_uri(), 400, 900)
    faults = page.evaluate("audit({slack: 1, least: 5.5})")["faults"]
    page.close()
    if told is None:
        assert faults == []
    else:
        assert [fault for fault in faults if fault.startswith(told)], faults


def test_a_table_out_of_order_is_found(browser: Browser, tmp_path: Path) -> None:
    cells = "".join(f"<tr><td>{text}</td></tr>" for text in ("900 MB/s", "1.5 GB/s", "20 kB/s"))
    path = tmp_path / "page.html"
    path.write_text(
        '<!DOCTYPE html><table class=x><thead><tr><th onclick="this.ariaSort = this.ariaSort === '
        f"'ascending' ? 'descending' : 'ascending'\">rate<tbody>{cells}</table>"
        "<a href='#nowhere'>x</a>",
        encoding="utf-8",
    )
    page, *_ = open_page(browser, path.as_uri(), 400, 900)
    first, *_ = page.evaluate("auditTables('table.x')")["faults"]
    assert first == 'table "rate", "rate" ascending: "1.5 GB/s" next to "20 kB/s"'
    assert page.evaluate("auditLinks(9)")["faults"] == ["1 links lead nowhere, the first #nowhere"]
    page.close()


def test_markup_without_names_is_found(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!DOCTYPE html><h1>x</h1><h3 id=a>y</h3><p id=a><svg></svg><input><table><th>z</table>",
        encoding="utf-8",
    )
    page, *_ = open_page(browser, path.as_uri(), 400, 900)
    assert page.evaluate("auditMarkup()")["faults"] == [
        "2 elements are called a",
        "the page names no language",
        "the page has no title",
        'heading "y" of level 3 follows one of level 1',
        "svg: a drawing without role and label",
        "input has no name",
        'heading "z" of a table has no scope',
    ]
    page.close()


def test_what_a_page_asks_for_and_complains_of_is_seen(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!DOCTYPE html><img src='https://strata.invalid/x.png'><script>nothing.at.all</script>",
        encoding="utf-8",
    )
    page, requests, errors = open_page(browser, path.as_uri(), 400, 900)
    assert requests == [path.as_uri(), "https://strata.invalid/x.png"]
    assert any("nothing is not defined" in error for error in errors)
    assert any("ERR_NAME_NOT_RESOLVED" in error for error in errors)
    page.close()
