"""The page as a browser shows it: nothing cut, nothing overlaps, tables sort, links land.

The reports are of the tiny runs that fill every figure. What is looked for is in page_audit.js; a
page with one fault of each kind proves that it is found.
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
from figure_images import RUNS
from strata.model.truth import load_run
from strata.model.units import interval, quantity
from strata.report import page as report
from strata.run import params_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

OPEN = "for (const one of document.querySelectorAll('details:not(.toc)')) one.open = true"
SCREEN = (1280, 900)
LETTERS = {400: 4.5, 1280: 11.0, 1920: 11.0}
"""CSS pixels of the letters of a figure at the least, by the width of the window."""
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
            report.write([load_run(RUNS[run]) for run in REPORTS[request.param]], out, ["svg"])
    return out


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page of the report in a large window; it requests nothing else and has no errors."""
    with opened(browser, folder / "report.html", *SCREEN) as page:
        yield page


one = pytest.mark.parametrize("folder", ["one"], indirect=True)


def sound(page: Page, call: str) -> dict[str, int]:
    """What an audit counted; fails with every fault, a line each."""
    found: dict[str, Any] = page.evaluate(call)
    if found["faults"]:
        pytest.fail("\n".join([f"{len(found['faults'])} faults", *found["faults"]]), pytrace=False)
    size: dict[str, int] = found.get("size", found)
    return size


def audit(page: Page, **options: Any) -> dict[str, int]:
    """Fails with what is wrong with the page as it is; returns how much was looked at."""
    return sound(page, f"audit({json.dumps({'slack': 1.0} | options)})")


@pytest.mark.parametrize("width", LETTERS)
def test_nothing_is_cut_overlaps_or_is_too_small_to_read(page: Page, width: int) -> None:
    resize(page, width, 900)
    audit(page)
    page.evaluate(OPEN)
    size = audit(page, least=LETTERS[width])
    assert size["figures"] == page.locator(".card > svg").count() > 20
    assert size["labels"] > 10 * size["figures"]
    assert size["texts"] > 500
    wide = "[document.documentElement, ...document.querySelectorAll('.card')]"
    assert page.evaluate(f"{wide}.every(one => one.scrollWidth <= one.clientWidth)")


def test_nothing_fades_in_the_dark(page: Page) -> None:
    dark_or_light(page, dark=True)
    page.evaluate(OPEN)
    assert audit(page, colours=True)["texts"] > 500


def test_nothing_is_lost_on_paper(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    resize(page, PAPER, 900)
    size = audit(page, print=True)
    assert size["texts"] > 300
    assert size["figures"] == page.locator(".card > svg").count()
    dark_or_light(page, dark=False)
    page.wait_for_function("document.querySelectorAll('.part[open]').length === 0")


@pytest.mark.parametrize("size", [SCREEN, (400, 800)])
def test_a_number_shows_its_row_in_full(page: Page, size: tuple[int, int]) -> None:
    resize(page, *size)
    link = page.locator("[id$=-summary] .numbers a").first  # of the first run that has numbers
    run, number = f"{link.get_attribute('href')}"[1:].split("-")
    link.scroll_into_view_if_needed()
    scrolled = page.evaluate("scrollY")
    link.click()
    row = f"document.getElementById('{run}-{number}')"
    assert page.evaluate(f"auditRow('#{run}-{number}', {row}).then(faults => faults)") == []
    assert page.evaluate("scrollY") == scrolled
    link.click()
    page.wait_for_function("document.querySelector('dialog').open")
    page.evaluate("[...document.querySelectorAll('dialog.row button')].pop().click()")
    here = f"document.querySelector('#{run}-viewer tr.here')"
    page.wait_for_function(f"{here}?.cells[0].textContent === '{number}'")
    assert not page.evaluate("document.querySelector('dialog').open")


MARKS = """(async () => {
  const svg = document.querySelector('%s');
  svg.scrollIntoView({block: 'center', behavior: 'instant'});
  await new Promise(done => setTimeout(done, 100));
  const [hits, ...texts] = svg.dataset.hits.split('|');
  let number = 0;
  return hits.split(',').map(hit => {
    const [at, size] = hit.split('x'), [x, y, more] = at.split(' ');
    const [wide, high] = (size ?? '0 0').split(' ').map(Number);
    const matrix = svg.getScreenCTM(), k = matrix.a;
    const to = new DOMPoint(+x + wide / 2, +y + high / 2).matrixTransform(matrix);
    const shown = more[0] === 't' ? {words: texts[more.slice(1)]} : {number: number += +more};
    return {...shown, x: to.x, y: to.y, wide: k * wide, high: k * high};
  });
})()"""
"""What a drawing shows, a row or words, and the middle of each in the window."""
HITS = f"{MARKS}.then(marks => marks.filter(mark => mark.number))"
"""Those that are rows."""


def alone(hits: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The marks in the window that no other is near."""
    for hit in hits:
        near = (
            other for other in hits
            if abs(hit["x"] - other["x"]) + abs(hit["y"] - other["y"]) < 12 and other is not hit
        )  # fmt: skip
        if 0 < hit["y"] < SCREEN[1] and not any(near):
            yield hit


def tip(page: Page, hit: dict[str, Any], start: str) -> str:
    """The tooltip of a mark."""
    page.mouse.move(hit["x"] + 3, hit["y"])
    page.mouse.move(hit["x"], hit["y"])
    page.wait_for_function(f"document.querySelector('.tip')?.textContent.startsWith('{start}')")
    text = page.locator(".tip").text_content()
    return f"{text}".replace("\u2013", "-")


@one
@pytest.mark.parametrize("figure", ["layout_latency", "coalescing"])
def test_a_mark_shows_quantity_value_interval_and_why_it_is_not_valid(
    page: Page, figure: str
) -> None:
    page.evaluate(OPEN)
    rows = load_run(RUNS[LARGEST]).rows
    hit = next(alone(page.evaluate(HITS % f"#r1-figure-{figure} svg")))
    row = rows[hit["number"] - 1]
    text = tip(page, hit, f"{row.quantity}: ")
    ends = (row.minimum, row.maximum) if row.ci_low is None else (row.ci_low, row.ci_high)
    assert text.startswith(f"{row.quantity}: {quantity(row.value, row.unit)}")
    assert interval(*ends, row.unit).replace("\u2013", "-") in text
    assert f"; {'valid' if row.valid else f'not valid: {row.reasons}'}" in text
    assert text.endswith(f"{row.benchmark} {params_text(row.params, ' ')}")
    box = page.locator(".tip").bounding_box()
    assert box
    assert 0 <= box["x"] <= box["x"] + box["width"] <= SCREEN[0]
    page.mouse.move(2, 2)
    page.wait_for_function("document.querySelector('.tip').hidden")
    page.mouse.click(hit["x"], hit["y"])
    page.wait_for_function("document.querySelector('dialog.row').open")


@one
def test_a_published_mark_shows_its_source_and_a_mark_on_a_bar_its_own_row(page: Page) -> None:
    page.evaluate(OPEN)
    hits = page.evaluate(MARKS % "#r1-figure-published_latency svg")
    theirs = next(hit for hit in alone(hits) if "words" in hit)
    assert re.search(r"^[^,]+, .*: \d+ cycles.*; .* \[\d+", theirs["words"])
    tip(page, theirs, theirs["words"])
    hits = page.evaluate(HITS % "#r1-figure-nbody_ladder svg")
    bars = [hit for hit in hits if hit["wide"]]
    mark = next(
        hit for hit in hits
        if not hit["wide"] and any(abs(hit["x"] - bar["x"]) < bar["wide"] / 2 - 9
                                   and abs(hit["y"] - bar["y"]) < bar["high"] / 2 for bar in bars)
    )  # fmt: skip
    row = load_run(RUNS[LARGEST]).rows[mark["number"] - 1]
    assert tip(page, mark, f"{row.quantity}: ").endswith(params_text(row.params, " "))


@one
def test_a_selected_figure_is_enlarged_with_its_tooltips(page: Page) -> None:
    page.evaluate(OPEN)
    card = page.locator("#r1-figure-layout_latency .card")
    card.scroll_into_view_if_needed()
    box = card.locator("svg").bounding_box()
    assert box
    card.locator("svg").click(position={"x": 3, "y": 3})
    large = page.locator("dialog.zoom svg").bounding_box()
    assert large
    assert large["width"] > 1.4 * box["width"]
    hit = next(alone(page.evaluate(HITS % "dialog.zoom svg")))
    tip(page, hit, load_run(RUNS[LARGEST]).rows[hit["number"] - 1].quantity)
    page.keyboard.press("Escape")
    page.wait_for_function("document.querySelector('#r1-figure-layout_latency .card svg')")
    page.locator("#r1-figure-layout_latency .files button").click()
    assert page.locator("dialog.zoom svg").is_visible()


@one
@pytest.mark.parametrize("figure", ["latency_vs_footprint", "published_latency"])
def test_an_entry_of_a_legend_hides_its_marks_and_shows_them_again(page: Page, figure: str) -> None:
    page.evaluate(OPEN)
    selector = f"#r1-figure-{figure} svg"
    svg = page.locator(selector)
    svg.scroll_into_view_if_needed()
    keys = svg.evaluate(
        "svg => [...new Set([...svg.querySelectorAll('[class^=series-]')].map("
        "one => one.classList[0].slice(7)))]"
    )
    assert len(keys) > 1
    key, series = svg.locator(f".key-{keys[0]}").last, page.locator(f"{selector} .series-{keys[0]}")
    for hides in (False, True, False):
        assert (series.first.evaluate("one => getComputedStyle(one).display") == "none") == hides
        assert svg.evaluate("svg => svg.off?.size > 0") == hides
        assert page.locator(f"{selector} .series-{keys[1]}").first.is_visible()
        key.click()


@one
def test_the_contents_show_the_section_in_sight(page: Page) -> None:
    here = "document.querySelector('.toc a[aria-current]')?.hash"
    for width in SCREEN[0], 400:
        resize(page, width, 900)
        wide = "true" if width > 400 else "false"
        page.wait_for_function(f"document.querySelector('.toc').open === {wide}")
        for name in ("bandwidth", "trust", "latency"):
            page.evaluate(f"document.querySelector('.toc a[href$=-{name}]').click()")
            page.wait_for_function(f"{here} === '#r1-{name}'")
            top = page.evaluate(f"document.getElementById('r1-{name}').getBoundingClientRect().top")
            assert 0 <= top < 100


@one
def test_without_a_script_links_reach_rows(browser: Browser, folder: Path) -> None:
    from playwright.sync_api import expect

    address = (folder / "report.html").as_uri()
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    link = page.locator("#r1-summary .numbers a").first.get_attribute("href")
    page.goto(f"{address}{link}")
    expect(page.locator(f"{link}")).to_be_in_viewport(ratio=1)
    page.close()


def test_tables_sort_by_mouse_and_keyboard(page: Page) -> None:
    page.evaluate(OPEN)
    head = page.locator("table.sortable th").first
    head.click()
    assert head.get_attribute("aria-sort") == "ascending"
    head.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert sound(page, "auditTables('table.sortable')")["sorted"] > 20


def test_all_rows_can_be_seen_sorted_and_reached(page: Page, folder: Path) -> None:
    resize(page, 400, 900)
    (count, *_) = [len(load_run(RUNS[run]).rows) for run in REPORTS[folder.name[5:]]]
    assert not page.locator("#r1-viewer table").count()
    page.locator("#r1-all > summary").click()
    page.wait_for_selector("#r1-viewer table")
    audit(page)
    assert sound(page, "auditTables('#r1-viewer table', {whole: false})")["sorted"] == 11
    number = page.evaluate(
        f"(() => {{ for (let number = {count}; ; number--)"
        "if (!document.getElementById(`r1-${number}`)) return number; })()"
    )
    page.evaluate(f"location.hash = '#r1-{number}'")
    here = "document.querySelector('#r1-viewer tr.here')"
    page.wait_for_function(f"{here}?.cells[0].textContent === '{number}'")
    page.wait_for_function(
        f"(r => 0 <= r.top && r.bottom <= innerHeight)({here}.getBoundingClientRect())"
    )


def test_every_link_brings_its_target_into_sight(page: Page, folder: Path) -> None:
    found = sound(page, "auditLinks(40)")
    assert found["links"] > 100
    assert found["followed"] >= 40
    links = page.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    files = {address for address in links if not address.startswith("#")}
    assert len(files) > 10
    assert [address for address in files if not (folder / address).is_file()] == []


def test_the_markup_has_names_for_screen_readers(page: Page) -> None:
    assert sound(page, "auditMarkup()")["elements"] > 1000


SVG = "<svg aria-label=x viewBox='0 0 100 50'"
AUDIT = "audit({slack: 1, least: 5.5})"
ROWS = "".join(f"<tr><td>{text}" for text in ("900 MB/s", "1.5 GB/s", "20 kB/s"))
TABLE = f"""<table class=x><thead><tr><th onclick="this.ariaSort = this.ariaSort === 'ascending' ?
'descending' : 'ascending'">rate<tbody>{ROWS}</table>"""
FAULTS = [
    ("<p>sound", AUDIT, None),
    ("<div style='width: 900px; height: 9px'></div>", AUDIT, "the page is 9"),
    ("<p style='position: absolute; left: 395px; width: 99px'>far", AUDIT,
     'beyond the window: "far" in p'),
    ("<p class=box style='width: 20px; overflow: hidden; white-space: nowrap'>a long line", AUDIT,
     'cut by p.box: "a long line"'),
    ("<p>one</p><p style='margin-top: -28px'>two</p>", AUDIT, 'overlap: "one"'),
    ("<p style='color: #999'>grey</p>", AUDIT, 'faint: "grey" in p'),
    (f"{SVG}></svg>", AUDIT, 'figure "x": no text found in it'),
    (f"{SVG}><text x=90 y=20 textLength=25 font-size=10>out</text></svg>", AUDIT,
     'figure "x": "out" (90'),
    (f"{SVG}><text x=10 y=20 font-size=10>one</text><text x=20 y=22 font-size=10>two</text></svg>",
     AUDIT, 'figure "x": "one" and "two" overlap by'),
    (f"{SVG} width=100><text x=10 y=20 font-size=4>tiny</text></svg>", AUDIT,
     'figure "x": "tiny" has letters of 4.0 px'),
    (f"{SVG}><text x=10 y=20 font-size=10 fill='#ccc'>pale</text></svg>", AUDIT,
     'figure "x": "pale" is faint'),
    (TABLE, "auditTables('table.x')",
     'table "rate", "rate" ascending: "1.5 GB/s" next to "20 kB/s"'),
    ("<a href='#nowhere'>x</a>", "auditLinks(9)", "1 links lead nowhere, the first #nowhere"),
    ("<h1>x</h1><h3>y</h3>", "auditMarkup()", 'heading "y" of level 3 follows one of level 1'),
    ("<p id=a></p><p id=a></p>", "auditMarkup()", "2 elements are called a"),
    ("<svg></svg>", "auditMarkup()", "svg: a drawing without role and label"),
    ("<input>", "auditMarkup()", "input has no name"),
]  # fmt: skip


@pytest.mark.parametrize(("markup", "call", "fault"), FAULTS)
def test_a_fault_is_found(
    browser: Browser, tmp_path: Path, markup: str, call: str, fault: str | None
) -> None:
    text = "<!DOCTYPE html><body style='font: 16px/1.2 sans-serif'><main><p>sound</p>"
    path = tmp_path / "page.html"
    path.write_text(text + markup, encoding="utf-8")
    page, *_ = open_page(browser, path.as_uri(), 400, 900)
    faults = page.evaluate(call)["faults"]
    page.close()
    assert [one for one in faults if one.startswith(fault)] if fault else faults == [], faults
