"""The page: self-contained, every link lands, no path of the machine, the same bytes every time."""

import base64
import json
import re
import subprocess
import sys
import zlib
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    HOST_RUN,
    context,
    count,
    counts,
    layout_case,
    load,
    load2,
    predicted,
    strata_process,
)
from strata import figures, reference
from strata.figures import _drawing as drawing
from strata.model.truth import load_run
from strata.report import all_rows, sentences, tables
from strata.report import page as report
from strata.report.citations import Citations
from strata.report.questions import AS_FILES
from strata.run import Run, RunError
from strata.run.private import without_paths


class Page(HTMLParser):
    """Ids, links and loads of a page."""

    LOADS = ("src", "srcset", "data", "poster", "action", "background")
    VOID = ("meta", "link", "br", "input", "img", "hr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.loads, self.open = (list[str]() for _ in range(4))
        self.tags: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.open += [] if tag in self.VOID else [tag]
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href") and tag != "link":
                self.links.append(value or "")
            elif name in (*self.LOADS, "href"):
                self.loads.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("p", "li", "td", "tr", "th", "dt", "dd") or self.open[-1] == tag:
            assert self.open.pop() == tag


def written(folder: Path, *runs: Run) -> str:
    """The page of runs."""
    return report.write(runs, folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the synthetic GPU run."""
    return report.write([load_run(GPU_RUN)], tmp_path_factory.mktemp("one")).parent


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two runs on different devices."""
    runs = [load_run(GPU_RUN), load_run(HOST_RUN)]
    return report.write(runs, tmp_path_factory.mktemp("both")).parent


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run with counts."""
    return report.write([load_run(COUNTED_RUN)], tmp_path_factory.mktemp("counted")).parent


@pytest.fixture(params=["one", "both", "counted"])
def folder(request: pytest.FixtureRequest) -> Path:
    """Each of the reports."""
    value: Path = request.getfixturevalue(request.param)
    return value


def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_loads_nothing_and_every_link_lands(folder: Path) -> None:
    page = Page(text(folder))
    assert page.loads == ["data:,"]
    assert page.open == []
    assert not [link for link in page.links if "//" in link]
    assert not re.search(r"@import|url\((?!#)", text(folder))
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text(folder)))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    ids = set(page.ids)
    assert len(ids) == len(page.ids)
    assert len(page.links) > 100
    for link in page.links:
        assert link[1:] in ids if link.startswith("#") else (folder / link).is_file()
    # Rows without links have no element, and every source has one.
    for anchors in (r"r\d-\d+", r"source-\d+"):
        linked = {link[1:] for link in page.links if re.fullmatch(f"#{anchors}", link)}
        assert linked == {name for name in ids if re.fullmatch(anchors, name)}
        assert len(linked) >= 3
        assert len(linked) < 500
    assert (folder / "references.bib").read_text(encoding="utf-8").count("@") == len(linked)


def test_figures_are_inline_and_beside_the_page(one: Path) -> None:
    run = load_run(GPU_RUN)
    names = sorted(figure.name for figure in figures.discover() if figure.has(run))
    assert {"bandwidth_vs_warps", "latency_vs_warps", "layout_latency"} <= set(names)
    assert Page(text(one)).tags["svg"] == len({*names} - AS_FILES) > 3
    assert Page(text(one)).tags["img"] == 0
    starts = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<?xml"}
    assert sorted(path.name for path in (one / "figures").iterdir()) == [
        f"{name}.{suffix}" for name in names for suffix in starts
    ]
    for path in (one / "figures").iterdir():
        assert path.read_bytes().startswith(starts[path.suffix[1:]])
    assert sorted(path.name for path in (one / "data").iterdir()) == [f"{n}.csv" for n in names]
    tables = {path.name for path in (one / "tables").iterdir()}
    for name in ("headlines", "layout_read", "levels"):
        assert {f"{name}.md", f"{name}.tex"} <= tables
    assert len(tables) % 2 == 0


def opened(packed: str) -> dict[str, Any]:
    columns: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return columns


def unpacked(page: str, key: str = "r1") -> dict[str, Any]:
    """All rows as the script of the page reads them."""
    (packed,) = re.findall(rf'<script [^>]*id="{key}-packed">([^<]*)</script>', page)
    return opened(packed)


def test_runs_have_their_rows_in_sections_of_their_own(both: Path) -> None:
    page = text(both)
    for key, folder in (("r1", GPU_RUN), ("r2", HOST_RUN)):
        rows, columns = load_run(folder).rows, unpacked(page, key)
        assert len(columns["value"]) == len(columns["head"]) == len(rows)
        assert sum(count for _, _, count in columns["cases"]) == len(rows)
        assert f'id="{key}-summary"' in page
        assert (both / "figures" / folder.name / "layout_latency.pdf").is_file()
    with pytest.raises(RunError, match="twice; expected each run once"):
        report.write([load_run(GPU_RUN)] * 2, both)


def test_every_number_of_the_summary_is_a_link(one: Path) -> None:
    (sentences,) = re.findall(r'<ul class="sentences">(.*?)</ul>', text(one), re.DOTALL)
    loose = re.sub(r"<a .*?</a>", "", sentences)
    loose = re.sub(r"aosoa32|L1:|L2:", "", re.sub(r"<[^>]*>", "", loose))
    assert not re.search(r"\d", loose)


def counters_section(page: str) -> str:
    """The text between the heading about counters and the next one."""
    _, _, rest = page.partition("What the counters show</h4>")
    return rest.partition("<h3")[0]


def test_counters_section_lists_what_was_counted_and_what_was_not(counted: Path) -> None:
    section = counters_section(text(counted))
    assert "Counted on GX000: 1 quantity (memory) in 3 passes." in section
    assert "l1tex__t_sectors_op_ld.sum" in section
    assert "this chip has no dram__row_hits.sum" in section
    assert "prediction and count agree in 158 of 159 cases; 1 not equal." in section
    (row,) = re.findall(
        r"<tr><td[^>]*>[^<]*soaoas[^<]*</td><td>sectors per read</td>.*?</tr>", text(counted)
    )
    assert re.findall(r'<a href="#r1-\d+">(\d+)</a>', row) == ["32", "33"]
    files = sorted(path.stem for path in (counted / "tables").glob("*.md"))
    assert files == ["headlines", "layout_read", "levels", "model_differences", "traffic"]


def test_counters_section_has_the_reason_why_nothing_was_counted_or_a_gate_failed(
    one: Path, tmp_path: Path
) -> None:
    section = counters_section(text(one))
    assert "the run is of schema version 1, whose harness had no counters" in section
    assert "0 of 1075 rows proved by counters" in section
    changes = {"state": "unavailable", "reason": "see /home/someone/x", "mend": "run as root"}
    inner = {f"counters__{key}": value for key, value in changes.items()}
    run = load2(tmp_path / "a", [layout_case()], **inner)
    page = written(tmp_path / "out", run)
    assert "Nothing was counted: see …/x. To fix: run as root." in counters_section(page)
    line = layout_case()
    found = counts(line, [count(), predicted()], gates=[("model", "failed", "7 requests, not 8")])
    page = written(tmp_path / "out", load2(tmp_path / "b", [line, found]))
    assert "7 requests, not 8" in counters_section(page)


def test_warnings_of_the_build_are_at_the_top(one: Path, tmp_path: Path) -> None:
    assert '<strong class="dirty">DIRTY</strong>' in text(one)
    assert "does not reproduce these numbers" in text(one)
    page = written(tmp_path / "out", load(tmp_path, [layout_case()]))
    assert 'class="notice"' not in page


def test_gates_invalid_rows_skips_and_failures_are_listed(one: Path) -> None:
    page = text(one)
    assert "12 invalid rows: a gate failed, or a plausibility rule is violated</summary>" in page
    assert "event_slope is +4.30 % off clock64_slope" in page
    assert "noise: half-width 9.1 % &gt; 1 %" in page
    assert "rows like this one:" in page
    assert "<b>skipped</b>: the working set of 64 warps does not fit in L1" in page
    assert "<b>failed</b>: time limit of 60 s" in page
    assert re.search(r"<td>timer</td><td[^>]*>105</td><td[^>]*bad[^>]*>1</td>", page)


def test_report_holds_no_path_of_the_machine(tmp_path: Path) -> None:
    shown = {
        "/home/someone/src/strata/sweeps/x.yaml": "…/x.yaml",
        "g++ -I/opt/cuda/include -O3": "g++ -I…/include -O3",
        "cannot open '/home/a/b c'": "cannot open '…/b c'",
        r"C:\Users\someone\runs": "…/runs",
    }
    shown |= {text: text for text in ("micro/x/cuda/a=b", "sweeps/quick.yaml", "5 reads/s / 3")}
    assert [without_paths(text) for text in shown] == [*shown.values()]
    gate = [("code", "unverified", "no /usr/local/cuda/bin/cuobjdump")]
    failed = {"status": "failed", "reason": "see /home/someone/core.1", "measurements": []}
    run = load(
        tmp_path, [layout_case(gates=gate), layout_case("soa") | failed],
        command=["/home/someone/build/strata", "run", "--out", "/home/someone/runs"],
        sweep__file="/home/someone/my.yaml", strata__compiler="/usr/lib/ccache/g++ 12.2",
    )  # fmt: skip
    written(tmp_path / "out", run)
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for secret in (b"/home", b"someone", b"/usr", f"{tmp_path}".encode()):
                assert secret not in content, path


def test_text_of_a_run_cannot_become_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    gate = [("timer", "failed", evil)]
    run = load(tmp_path, [layout_case(gates=gate)], device__name=evil, device__fact=evil)
    page = written(tmp_path / "out", run)
    assert evil not in page
    assert Page(page).tags["script"] == 2  # the program, and the rows
    assert evil in json.dumps(unpacked(page))


def test_table_that_differs_from_the_samples_is_noticed(tmp_path: Path) -> None:
    run = load(tmp_path, [layout_case("aos", 100)])
    table = run.folder / "measurements.csv"
    table.write_text(table.read_text().replace(",100.0,,", ",99.0,,"))
    page = written(tmp_path / "out", load_run(run.folder))
    assert "violates its contract" in page
    assert "value is 99.0, the samples give 100" in page


def test_an_unfinished_run_names_what_is_missing(tmp_path: Path) -> None:
    cases = [layout_case("aos")["case"], layout_case("soa")["case"]]
    sweep = context()["sweep"] | {"cases": cases}
    run = load(tmp_path, [layout_case("aos")], state="interrupted", sweep=sweep)
    page = written(tmp_path / "out", run)
    assert "The run is interrupted" in page
    assert "1 cases of the sweep were not reached" in page or "1 case of the sweep was" in page


def test_same_input_gives_the_same_bytes(one: Path, tmp_path: Path) -> None:
    # In another process, with another hash seed, another time zone and another working folder.
    again, there = tmp_path / "again", {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo"}
    assert strata_process("report", GPU_RUN, "-o", again, cwd=tmp_path, **there).returncode == 0
    first = {path.relative_to(one): path.read_bytes() for path in one.rglob("*.*")}
    second = {path.relative_to(again): path.read_bytes() for path in again.rglob("*.*")}
    assert first.keys() == second.keys()
    assert [f"{name}" for name in first if first[name] != second[name]] == []


def test_one_process_gives_the_bytes_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    run = load_run(HOST_RUN)
    monkeypatch.setattr(drawing, "cores", lambda: 3)
    many = report.make([run])
    monkeypatch.setattr(drawing, "cores", lambda: 1)
    alone = report.make([run])
    assert many.keys() == alone.keys()
    assert [name for name in many if many[name] != alone[name]] == []
    assert list(many)[-1] == "report.html"


@pytest.mark.parametrize("cores", [1, 2])
def test_a_figure_that_fails_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, cores: int
) -> None:
    def fail(_: object) -> NoReturn:
        raise ArithmeticError("no <number>")

    sound = next(figure for figure in figures.discover() if figure.name == "layout_latency")
    broken = replace(sound, name="broken", title="Broken", caption=fail)
    monkeypatch.setattr(figures, "discover", lambda: [broken, sound])
    monkeypatch.setattr(drawing, "cores", lambda: cores)
    page = written(tmp_path / "out", load_run(HOST_RUN))
    assert "&#39;Broken&#39; failed and is left out: ArithmeticError: no &lt;number&gt;" in page
    assert "ArithmeticError" in caplog.text
    assert [path.stem for path in (tmp_path / "out" / "data").iterdir()] == ["layout_latency"]


def test_a_table_or_sentence_that_fails_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(run: Run) -> NoReturn:
        raise ArithmeticError(f"no {run.context.backend} <number>")

    every = tables.discover()
    monkeypatch.setattr(tables, "discover", lambda: {**every, fail: 400})
    monkeypatch.setattr(sentences, "PARTS", {"nothing": fail, **sentences.PARTS})
    run = load(tmp_path, [layout_case("aos", 100), layout_case("soa", 50)])
    page = written(tmp_path / "out", run)
    notices = re.findall(r'<p class="notice"><strong>Note.</strong> (.*)</p>', page)
    why = "failed and is left out: ArithmeticError: no cuda &lt;number&gt;"
    table = f"The table of {__name__}.fail {why}"
    assert notices == [f"What the run shows about nothing {why}", table]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "soa is the cheapest layout" in re.sub("<[^>]*>", "", page)
    assert (tmp_path / "out" / "tables" / "layout_read.md").is_file()


def test_a_page_grows_by_a_few_bytes_a_row(tmp_path: Path) -> None:
    program = [sys.executable, f"{DATA}/make_synthetic.py", "--rows", "30000", f"{tmp_path}"]
    subprocess.run(program, check=True, capture_output=True)
    run = load_run(next(tmp_path.iterdir()))
    assert len(run.rows) == 30_000
    page = report.make([run], ["svg"])["report.html"].decode()
    packed = re.search(r'id="r1-packed">([^<]*)</script>', page)
    assert packed
    assert len(packed[1]) < 30 * len(run.rows)
    assert len(page) - len(packed[1]) < 2_500_000  # figures, and what does not grow
    assert Page(page).tags["tr"] < 1500
    assert len(unpacked(page)["value"]) == len(run.rows)


LATER = {"tensor", "synchronization_cost", "energy_prices"}
"""Figures of benchmarks that were added to the first ones."""


def test_the_page_shows_25_figures_and_those_of_later_benchmarks() -> None:
    known = {figure.name: figure.paper for figure in figures.discover()}
    assert known.keys() >= AS_FILES | LATER
    shown = {name for name, paper in known.items() if not paper and name not in AS_FILES}
    assert len(shown - LATER) == 25


# --- all rows in one text: nothing lost, nothing twice --------------------------------------------


def test_every_row_comes_back() -> None:
    rows = load_run(COUNTED_RUN).rows
    found = opened(all_rows.pack(rows))
    cases = [case for case in found["cases"] for _ in range(case[2])]
    several = [place for place, row in enumerate(rows) if row.samples > 1]
    assert len(cases) == len(rows)
    for place, row in enumerate(rows):
        quantity, unit, provenance, method = found["heads"][found["head"][place]]
        valid, reasons = found["notes"][found["note"][place]]
        assert (quantity, unit, method) == (row.quantity, row.unit, row.method)
        assert (provenance, valid, reasons) == (row.provenance, row.valid, row.reasons)
        assert cases[place][0] == row.benchmark
        assert found["value"][place] == pytest.approx(row.value, rel=1e-6)
        assert found["n"][place] == row.samples
    for at, place in enumerate(several):
        row = rows[place]
        ends = [found[name][at] for name in ("low", "high", "least", "most")]
        wanted = [row.ci_low, row.ci_high, row.minimum, row.maximum]
        assert ends == pytest.approx(wanted, rel=1e-6)


def test_counts_keep_their_digits_and_reasons_are_shown_as_on_the_page(tmp_path: Path) -> None:
    gate = [("timer", "failed", "see /home/a/b")]
    run = load(tmp_path, [layout_case("aos", 123_456_789_012, gates=gate)])
    found = opened(all_rows.pack(run.rows, without_paths))
    assert found["value"] == [123_456_789_012]
    assert found["notes"] == [[False, "timer: see …/b"]]
    assert opened(all_rows.pack([]))["value"] == []


@given(st.sets(st.integers(0, 60)))
def test_spans_name_each_place_once(places: set[int]) -> None:
    found: list[int] = []
    for part in filter(None, all_rows.spans(places).split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    assert found == sorted(place + 1 for place in places)


# --- what a page cites is what it lists -----------------------------------------------------------


def test_a_page_cites_known_sources_and_has_a_bibtex_entry_for_each() -> None:
    cites, keys = Citations(), ("siegel2009gravit", "wilt2013handbook", "david2003order")
    first, second, third = (reference.source(key).number for key in keys)
    link = '<a href="#source-{0}">{0}</a>'.format
    found = cites.link(f"as in [{first}] & [{first}, {second}]")
    assert found == f"as in [{link(first)}] &amp; [{link(first)}, {link(second)}]"
    assert [one.number for one in cites.used()] == sorted({first, second})
    assert cites.cite("david2003order") == f"[{link(third)}]"
    assert cites.bibtex().count("@") == 3
    assert "@book{david2003order," in cites.bibtex()
    with pytest.raises(KeyError):
        cites.cite("nobody1900nothing")


@pytest.mark.parametrize(
    "text",
    ["[9999]", f"GPU [{'1' * 5000}]", "[\u0661]", "samples[1]", "[a]", "[1.5]", "x[0][2]", "[]"],
)
def test_other_brackets_are_left_alone(text: str) -> None:
    cites = Citations()
    assert cites.link(text) == text
    assert cites.used() == []
