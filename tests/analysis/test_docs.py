"""README and the manual: their numbers are those of recorded rows, their links lead somewhere."""

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import strata
from strata import figures

ROOT = Path(__file__).parents[2]
RUN = "synthetic-gpu-20260101T000000Z-0000000"
CASE = "cores=all;fields=all;layout=soa;residency=l1;warps_per_sm=1"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


numbers = tool("doc_numbers")
site = tool("docs_site")
pictures = tool("doc_figures")
OURS = numbers.Numbers.of(ROOT)
"""Keeps the recorded runs that it has loaded."""


def test_every_number_of_readme_and_the_manual_is_its_rows() -> None:
    assert [str(wrong) for wrong in numbers.check(OURS)] == []


def test_a_claim_of_readme_that_is_changed_by_hand_fails() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (claim,) = re.findall(r"<!--row:h200_rows\.bw_dram-->.*?<!--/row-->", text)
    changed = claim.replace("4.", "5.")
    assert changed != claim
    only = f"Reading {changed}."
    assert len(list(numbers.differing("README.md", only, OURS))) == 1
    assert numbers.rewritten(only, OURS) == f"Reading {claim}."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one run, one number and one page."""
    shutil.copytree(ROOT / "tests/data" / RUN, tmp_path / "results/gpu" / RUN)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/runs.csv").write_text(f"run,folder,rows\ngpu,gpu/{RUN},judged\n")
    (tmp_path / "docs/numbers.csv").write_text(
        "name,of,params,quantity,method,pick,per,unit\n"
        f"soa,layout_read,{CASE},warp_read_cycles,clock64_slope,max,,cycles\n"
        f"share,layout_read,{CASE},warp_read_cycles,clock64_slope,max,soa,times\n"
        f"many,layout_read,,warp_read_cycles,,,,cycles\n"
        "level,atlas,nowhere,row,latencies,,,cycles\n"
        "cases,run,,cases,,,,\n"
        "strange,run,,weather,,,,\n"
        "sample,published,gpu=H200;label=NVIDIA's sample;bodies=524288,rate,nbody,,,× 10¹²\n"
    )
    (tmp_path / "docs/given.csv").write_text("file,text,why\n")
    (tmp_path / "README.md").write_text("Nothing yet.\n")
    return tmp_path


def value(root: Path) -> float:
    run = strata.load_run(root / "results/gpu" / RUN)
    wanted = dict(part.split("=") for part in CASE.split(";"))
    return max(
        row.value
        for row in run.of("layout_read")
        if (row.quantity, row.method, row.valid) == ("warp_read_cycles", "clock64_slope", True)
        and wanted.items() <= dict(row.params).items()
    )


def differing(root: Path, text: str) -> list[str]:
    return [str(one) for one in numbers.differing("README.md", text, numbers.Numbers.of(root))]


def test_a_number_keeps_its_decimals_and_has_its_unit_or_not(root: Path) -> None:
    exact = value(root)
    for text in (f"{exact:.0f}", f"{exact:.2f}", f"{exact:.1f} cycles"):
        assert differing(root, f"It takes <!--row:gpu.soa-->{text}<!--/row--> of them.") == []
    for text in (f"{exact + 1:.0f}", f"{exact:.1f} ns", f"{exact:.1f}  cycles", "", "many"):
        assert len(differing(root, f"It takes <!--row:gpu.soa-->{text}<!--/row--> of them.")) == 1
    assert differing(root, "It is <!--row:gpu.share-->1.00 times<!--/row--> that.") == []
    assert differing(root, "NVIDIA's has <!--row:gpu.sample-->1.835 × 10¹²<!--/row-->.") == []
    cases = [case.status for case in strata.load_run(root / "results/gpu" / RUN).cases]
    page = f"In <!--row:gpu.cases-->{cases.count('measured')}<!--/row--> cases."
    assert differing(root, page) == []


def test_a_marker_that_markdown_or_the_check_would_miss_is_named(root: Path) -> None:
    whole = f"<!--row:gpu.soa-->{value(root):.0f}<!--/row-->"
    assert differing(root, f"one {whole}") == []
    assert "begins a line" in differing(root, f"one\n  {whole}")[0]
    for torn in (whole.replace("<!--/row-->", ""), whole.replace("gpu.soa", "soa"), "<!--/row-->"):
        assert "marks nothing" in differing(root, f"one {torn}")[0]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("cpu.soa", "run 'cpu' is not in docs/runs.csv; expected one of gpu"),
        ("gpu.soda", "'soda' is not in docs/numbers.csv"),
        ("gpu.many", "valid rows of gpu; expected 1, or pick max or min"),
        ("gpu.level", "level fits 0 valid rows of gpu"),
        ("gpu.strange", "strange: there is no 'weather'"),
    ],
)
def test_a_name_that_is_no_number_is_refused_in_one_line(
    root: Path, key: str, message: str
) -> None:
    with pytest.raises(numbers.BadInputError) as refused:
        differing(root, f"of <!--row:{key}-->1<!--/row-->")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def loose(text: str, given: str = "") -> list[str]:
    entries = [{"file": "README.md", "text": given, "why": "limit"}] if given else []
    return [one.found for one in numbers.loose("README.md", text, entries)]


MEASURED = (
    "It reads 4.8 TB/s.", "23 cycles", "in 12 ns", "12 and 13 cycles", "1, 2 or 3 %",
    "3.1 × 10¹² of them", "2.4 times", "an error of 9.4e-7", "up to 241 KiB", "at 1.98 GHz",
    "129 B a cycle", "| L1 | 32.4 |", "so **4 %** more", "a 2× gain",
    "<!--row:a.b-->1<!--/row--> and 7 cycles",
)  # fmt: skip
OTHERS = (
    "an H200 with 132 SMs", "CUDA 13.0", "32 particles of 28 bytes", "in 2009", "`--most 2 %`",
    "```\n7 cycles\n```", "[one](a/7%/b)", "<!-- 7 cycles -->", "| L1 | 128 |", "4 sectors",
    "<!--row:a.b-->1 cycles<!--/row-->",
    "<!--row:a.b-->1<!--/row--> and <!--row:a.c-->2 ns<!--/row-->",
    "<!--row:a.b-->1.9<!--/row--> × 10¹²", "| <!--row:a.b-->1.9<!--/row--> |",
)  # fmt: skip


def test_measured_numbers_without_a_row_are_named_unless_a_list_gives_them() -> None:
    assert [text for text in MEASURED if len(loose(text)) != 1] == []
    assert [text for text in OTHERS if loose(text)] == []
    text = "Timers agree within 2 %,\nand clocks within 3 %.\n\nAt 7 %."
    assert loose(text, given="within 2 %") == ["'3 %' has no row", "'7 %' has no row"]
    assert loose(text, given="Timers agree…") == ["'7 %' has no row"]
    assert loose(text, given="%, and clocks within 3 %") == ["'7 %' has no row"]


def test_an_entry_that_nothing_needs_is_named(root: Path) -> None:
    (root / "README.md").write_text("within 2 %\n")
    good = {"file": "README.md", "text": "within 2 %", "why": "limit"}
    assert list(numbers.needless(root, [good])) == []
    assert len(list(numbers.needless(root, [good | {"text": "within 3 %"}]))) == 1
    assert len(list(numbers.needless(root, [good | {"why": "I say so"}]))) == 1
    assert "no text has share" in "\n".join(map(str, numbers.check(numbers.Numbers.of(root))))


def test_every_page_of_the_site_is_checked(root: Path) -> None:
    assert {ROOT / name for name in site.ELSEWHERE} <= set(numbers.pages(ROOT))
    for name in ("CONTRIBUTING.md", "results/schema/README.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("Loads take 451 cycles.\n")
        found = "\n".join(map(str, numbers.check(numbers.Numbers.of(root))))
        assert f"{name}:1: '451 cycles' has no row" in found


def test_readme_is_short_and_names_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", text))
    assert {"quickstart", "test"} <= named <= targets
    assert "make test" in (ROOT / ".ci/run").read_text()


def test_every_picture_is_a_figure_of_a_recorded_run(tmp_path: Path) -> None:
    shown = pictures.shown(ROOT)
    assert len(shown) > 3
    known = {figure.name: figure for figure in figures.discover()}
    runs = {line["folder"]: run for run, line in reversed(OURS.runs.items())}
    for device, name in shown:
        assert known[name].has(OURS.run(runs[pictures.run_of(ROOT, device, name)])), (
            device,
            name,
        )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/runs.csv").write_text(
        "run,folder,rows,figures\none,gpu/one,judged,\ntwo,gpu/two,judged,clock power\n"
    )
    found = [pictures.run_of(tmp_path, *of) for of in (("gpu", "power"), ("gpu", "a"), ("g", "a"))]
    assert found == ["gpu/two", "gpu/one", None]


def test_the_citation_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {strata.__version__}\n" in text
    assert "cff-version: 1.2.0\n" in text
    assert "\nlicense: Apache-2.0\n" in text


def test_the_code_of_the_tutorial_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "tests/data" / RUN, tmp_path / "runs/FIRST")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(compile(code, "tutorial.md", "exec"), {})  # noqa: S102  (our own page)
    assert re.search(r"^dram +aoas +\d", capsys.readouterr().out, re.MULTILINE)


def test_every_link_of_readme_and_the_manual_leads_somewhere() -> None:
    assert [str(link) for link in site.broken(ROOT)] == []


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "README.md").write_text("# Top\n\n[a](docs/a.md#what-a-says-1)\n[b](results)\n")
    (tmp_path / "docs/a.md").write_text(
        "# A\n## What `a` says\n## What [a](a.md) says\n\n[up](../README.md#top) [far](https://x.y/z)\n"
        "```\n# no heading [x](nowhere.md)\n```\n![i](../results/i.png) [s](../results/i.png)\n"
    )
    (tmp_path / "docs/benchmarks.md").write_text("# Benchmarks\n")
    (tmp_path / "results/i.png").write_bytes(b"png")
    return tmp_path


def test_a_link_that_is_broken_by_hand_fails(manual: Path) -> None:
    assert list(site.broken(manual)) == []
    page = manual / "docs/a.md"
    text = page.read_text()
    for good, bad in (
        ("../README.md#top", "../README.md#tip"),
        ("../README.md#top", "../READYOU.md"),
        ("../README.md#top", "../../outside.md"),
        ("../results/i.png) [s]", "../results/j.png) [s]"),
        ("(a.md)", "(#nothing)"),
    ):
        page.write_text(text.replace(good, bad))
        (found,) = site.broken(manual)
        assert (found.page, found.to) == ("docs/a.md", re.sub(r"^\(|\).*$", "", bad))
    page.write_text(text.replace("## What `a` says\n", ""))
    (found,) = site.broken(manual)
    assert (found.page, found.line) == ("README.md", 3)


LISTING: dict[str, Any] = {
    "one": {
        "suite": "micro",
        "question": "What does one | cost?",
        "seconds_per_case": 0.1,
        "backends": {"host": {}},
        "axes": [
            {
                "name": "width",
                "meaning": "bytes: of a lane",
                "choices": ["4", "8"],
                "defaults": ["4", "8"],
            }
        ],
        "quantities": [{"name": "cycles", "meaning": "of <one>"}],
    },
    "rung": {
        "suite": "nbody",
        "question": "Why?",
        "seconds_per_case": 1,
        "backends": {},
        "axes": [],
        "quantities": [],
    },
}
LADDER = "rung (CPU)\n  before    none: it is the first\n  source    a paper,\n            page 3\n"


def test_a_benchmark_has_a_page_by_its_declaration_alone(manual: Path) -> None:
    (manual / "results/report/gpu").mkdir(parents=True)
    (manual / "results/report/gpu/one.png").write_bytes(b"figure")
    into = manual / "pages"
    into.mkdir()
    site.Layout(manual, into).write(LISTING, LADDER)
    page = (into / "benchmarks/one.md").read_text()
    assert "\nWhat does one \\| cost?\n" in page
    assert "| `width` | bytes: of a lane | 4, 8 | 4, 8 |" in page
    assert "| `cycles` | of &lt;one&gt; |" in page
    assert "](../images/gpu-one.png)" in page
    assert (into / "images/gpu-one.png").read_bytes() == b"figure"
    assert "| source | a paper, page 3 |" in (into / "benchmarks/rung.md").read_text()
    index = (into / "benchmarks.md").read_text()
    assert index.startswith("# Benchmarks\n")
    assert "[micro/one](benchmarks/one.md)" in index


def test_a_page_of_the_site_links_to_pages_and_names_files(manual: Path) -> None:
    (manual / "README.md").write_text(
        "[a](docs/a.md#a) <!--row:x.y-->4<!--/row--> [results](results) [the runs](results)\n"
        "![i](results/i.png)\n"
    )
    into = manual / "pages"
    into.mkdir()
    site.Layout(manual, into).write(LISTING, LADDER)
    assert (into / "index.md").read_text() == (
        "[a](a.md#a) 4 `results` the runs (`results`)\n![i](images/results-i.png)\n"
    )


def test_each_test_that_the_page_of_attacks_names_is_there() -> None:
    page = (ROOT / "docs/hardening.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    named = {name for row in rows for name in re.findall(r"`([\w.]+)`", row[4])}
    assert len(named) > len(rows)
    texts = [
        path.read_text("utf-8")
        for suffix in ("py", "cpp", "txt")
        for path in (ROOT / "tests").rglob(f"*.{suffix}")
    ]
    assert not [name for name in named if not any(name.split(".")[-1] in text for text in texts)]
