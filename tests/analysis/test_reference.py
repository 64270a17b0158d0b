"""Others' figures: no row lost, each with its source, ranges and bounds read, the bibliography."""

import csv
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from strata import reference
from strata.reference import LATENCY, Published, ReferenceTableError, Span, read

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "results" / "reference"

COUNTS: dict[str, tuple[Callable[[], Sequence[Published]], int, int]] = {
    "latency.csv": (reference.latencies, 274, 89),
    "bandwidth.csv": (reference.bandwidths, 205, 63),
    "cache_geometry.csv": (reference.geometries, 91, 5),
    "instruction_latency.csv": (reference.instructions, 191, 19),
    "nbody.csv": (reference.nbody, 27, 8),
    "neighbours.csv": (reference.neighbours, 7, 5),
    "fstat.csv": (reference.fstat, 7, 7),
    "gpus.csv": (reference.gpus, 42, 6),
}
"""Rows that were collected, and those of them that are in doubt: more may be added, none lost."""


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTS)
def test_no_row_is_lost_and_every_row_has_a_place_in_a_source(name: str) -> None:
    load, rows, doubtful = COUNTS[name]
    found = load()
    assert len(found) >= rows
    assert sum(bool(row.origin.doubt) for row in found) >= doubtful
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(found)
    for row in found:
        assert all(reference.source(key).key == key for key in row.origin.keys)
        assert row.origin.text
        assert name == "gpus.csv" or row.origin.locator  # a GPU's source names the place itself


@pytest.mark.parametrize("name", COUNTS)
def test_the_source_of_a_row_is_the_one_that_it_names(name: str) -> None:
    """Its first key and its words speak of the same paper."""
    for row in COUNTS[name][0]():
        named = reference.source(row.origin.keys[0])
        arxiv = re.findall(r"arXiv:(\d{4}\.\d{4,5})", row.origin.text)
        if len(arxiv) == 1 and name != "gpus.csv":
            assert arxiv[0] in named.text, row
        url = re.findall(r"https://[^\s,)]+", row.origin.text)
        home = named.entry.fields.get("url", "")
        if len(url) == 1 and home.startswith("https://github.com") and name != "gpus.csv":
            assert url[0].rstrip(".") in named.text, row


def test_every_table_is_counted_and_every_source_is_of_a_row_or_of_a_method() -> None:
    assert {path.name for path in TABLES.glob("*.csv")} == {*COUNTS}
    cited = {key for load, *_ in COUNTS.values() for row in load() for key in row.origin.keys}
    methods = (
        "david2003order ding2019instruction higham2002accuracy okabe2008color siegel2009gravit "
        "williams2009roofline yang2020hierarchical"
    )
    assert {one.key for one in reference.bibliography()} - cited == {*methods.split()}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("28", 28, 28),
        ("8.04", 8.04, 8.04),
        ("2.039e+10", 2.039e10, 2.039e10),
        ("400-600", 400, 600),
        ("32..128 KiB", 32768, 131072),
        ("16 or 32", 16, 32),
        (">=4", 4, None),
        (">65536", 65536, None),
        ("4 + wait", 4, None),
        ("", None, None),
    ],
)
def test_ranges_and_bounds_are_read(text: str, low: float | None, high: float | None) -> None:
    found = Span(text)
    assert (found.text, found.low, found.high) == (text, low, high)
    assert found.value == (low if low == high else None)
    assert found.bounds == (None if low is None or high is None else (low, high))


def test_known_rows_are_read_as_they_are_printed() -> None:
    latencies = {(row.gpu, row.metric): row for row in reference.latencies()}
    far = latencies["A100 PCIe 40GB", "far-partition hit"]
    assert (far.level, far.value.value, far.unit, far.origin.doubt) == (
        "l2_far", 356.6, "cycles", ""
    )  # fmt: skip
    dram = [row for row in reference.latencies() if row.origin.keys == ("vandenbraak2010access",)]
    assert [(row.value.bounds, row.origin.tier) for row in dram] == [((400, 600), "A")]
    (l2,) = [r for r in reference.geometries() if (r.gpu, r.level) == ("RTX 5080", "l2")]
    assert (l2.size_bytes.value, l2.origin.doubt) == (65 * 2**20, "65 MB as printed")
    (h200,) = [gpu for gpu in reference.gpus() if gpu.gpu == "H200 SXM"]
    assert (h200.sm_count, h200.dram_peak_gbs, h200.l2_bytes) == (132, 4800, None)
    k80 = [r.rate for r in reference.nbody() if r.label == "Thessaly" and r.gpu == "Tesla K80"]
    assert k80 == [2.039e10, 8.7129e10, 2.98392e11, 3.1694e11, 3.91427e11]
    rates = {(one.gpu, one.label, one.agents): one.rate for one in reference.neighbours()}
    assert rates["H100 PCIe", "FLAME GPU 2", 1_000_000] == pytest.approx(1e6 / 2.118e-3, rel=1e-3)
    assert rates["GeForce 8800 GTS", "Breitbart 2008", 16384] == 21 * 16384


GOOD = "gpu,architecture,level,metric,value,unit,method,tier,doubt,key,source,locator\n"
ROW = "X,Y,l1,load_latency,28,cycles,chase,A,,jia2018volta,Jia,Table 1\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gpu,level\nX,l1\n", ":1: found columns gpu,level; expected gpu,architecture"),
        ("", ":1: found columns none"),
        (GOOD + "X,Y\n", ":2: found 2 cells; expected 12"),
        (
            GOOD + ROW.replace(",28,", ",fast,"),
            ":2: found 'fast' under value; expected a number, a range",
        ),
        (GOOD + ROW.replace(",28,", ",,"), ":2: found nothing under value"),
        (
            GOOD + ROW + ROW.replace(",l1,", ",l9,"),
            ":3: found 'l9' under level; expected shared or dram",
        ),
        (GOOD + ROW.replace(",cycles,", ",weeks,"), "'weeks' under unit; expected cycles or ns"),
        (GOOD + ROW.replace(",A,", ",Z,"), "found 'Z' under tier"),
        (GOOD + ROW.replace("jia2018volta", "jia1918"), "found 'jia1918' under key"),
        (GOOD + ROW.replace(",Jia,", ",,"), "found nothing under source"),
        (GOOD + ROW.replace(",Table 1", ","), "found nothing under locator"),
    ],
)
def test_a_broken_table_is_refused_in_one_line(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "latency.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReferenceTableError) as error:
        tuple(read(path, LATENCY))
    message = f"{error.value}"
    assert found in message
    assert "to fix: " in message
    assert "\n" not in message


# --- the bibliography -----------------------------------------------------------------------------


def test_numbers_are_places_in_the_alphabet() -> None:
    sources = reference.bibliography()
    assert [one.number for one in sources] == list(range(1, len(sources) + 1))
    assert len({one.key for one in sources}) == len(sources) == 58
    keys = [one.key for one in sources]
    assert keys[1] == "gt200abstract"  # by its title: nobody is named
    braak, williams = keys.index("vandenbraak2010access"), keys.index("williams2009roofline")
    assert keys.index("babelstream2026") < braak < williams < keys.index("yktian2024")


def test_citations() -> None:
    jia, wilt = reference.source("jia2018volta"), reference.source("wilt2013handbook")
    assert reference.cite("jia2018volta") == f"[{jia.number}]"
    assert (
        reference.cite("wilt2013handbook", "jia2018volta", "jia2018volta")
        == f"[{jia.number}, {wilt.number}]"
    )
    assert jia.text == (
        "Jia, Maggioni, Staiger, and Scarpazza. Dissecting the NVIDIA Volta GPU Architecture via "
        "Microbenchmarking. 2018. Read as the PDF in github.com/nikhilkhandelwal07/CA_Paper. "
        "arXiv:1804.06826."
    )
    with pytest.raises(KeyError):
        reference.cite("nobody1900")


@pytest.mark.parametrize("one", reference.bibliography(), ids=lambda one: one.key)
def test_every_source_is_printed_with_its_place(one: reference.Source) -> None:
    fields = one.entry.fields
    assert one.text.startswith(tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
    assert all(
        fields[name] in one.text
        for name in ("year", "eprint", "doi", "url", "note")
        if name in fields
    )
    assert ("eprint" in fields) == (fields.get("archiveprefix") == "arXiv")
    assert fields["title"].startswith("{")  # keeps its capitals
    assert reference.bibtex([one]).isascii()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@misc{a, title = {T}}\n@misc{a, title = {T}}", "repeated bibliography entry: a"),
        ("@misc{a, title = {T}", "syntax error in line 1"),
        ("@misc{a, title = T}", "undefined string"),
        ("@book{a, author = {A}, title = {T}, publisher = {P}}", "missing year in a"),
        ("@poem{a, title = {T}}", "poem"),
    ],
)
def test_a_broken_bibliography_is_refused(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "sources.bib"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReferenceTableError, match=re.escape(found)) as error:
        reference.read_bibliography(path)
    assert "\n" not in f"{error.value}"


# --- the package ----------------------------------------------------------------------------------


def test_the_tables_have_one_home_and_a_wheel_carries_it() -> None:
    analysis = ROOT / "analysis"
    setuptools = tomllib.loads((analysis / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert (analysis / setuptools["package-dir"]["strata.reference.data"]).resolve() == TABLES
    assert {"*.bib", "*.csv"} <= {*setuptools["package-data"]["strata.reference.data"]}
    assert setuptools["packages"]["find"]["where"] == ["src"]  # and finds `data` there, by name
    assert (analysis / "src" / "strata" / "reference" / "data" / "__init__.py").is_file()
    assert not list((analysis / "src" / "strata" / "reference").rglob("*.csv"))
    assert reference.folder() == TABLES
