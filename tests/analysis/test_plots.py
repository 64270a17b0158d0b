"""Files of figures drawn with Matplotlib: reproducible, with fonts that publishers accept."""

import re
from pathlib import Path

import pytest
from test_chase_figures import translation

from builders import write_run
from figure_images import RUNS, run_of
from plots import plot_named
from strata.cli import main
from strata.figures._drawing import image

TLB = plot_named("tlb")
H200 = "nvidia-h200-0683d2f"


def exit_code(*arguments: object) -> object:
    with pytest.raises(SystemExit) as left:
        main([f"{one}" for one in arguments])
    return left.value.code


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_figure_is_the_same_each_time_and_bears_no_date(kind: str) -> None:
    first = image(TLB, run_of(H200), kind)
    assert image(TLB, run_of(H200), kind) == first
    assert b"Date" not in first
    assert b"atplotlib v" not in first


def test_fonts_are_truetype() -> None:
    pdf = image(TLB, run_of(H200), "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_an_svg_has_text_and_no_style_for_its_page() -> None:
    svg = image(TLB, run_of(H200), "svg").decode()
    assert ">footprint of the chain</text>" in svg
    assert "<style" not in svg
    assert set(re.findall(r'https?://[^/"]+', svg)) == {"http://www.w3.org"}


def test_one_figure_is_written_by_a_command(tmp_path: Path) -> None:
    pdf, run = tmp_path / "a.pdf", RUNS[H200]
    assert exit_code("figure", "tlb", run, "--format", "pdf", "--width", "3.3", "-o", pdf) == 0
    assert b"/MediaBox [ 0 0 237.6 " in pdf.read_bytes()
    assert exit_code("figure", "roofline", run, "--out", tmp_path / "b.svg") == 0
    assert (tmp_path / "b.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tlbs"], "found no figure 'tlbs'; expected one of"),
        (["fstat_ladder"], "found no rows for the figure fstat_ladder"),
        (["tlb", "--format", "gif"], "found the format 'gif'; expected one of svg, png"),
        (["tlb", "--width", "99"], "a width of 2 to 20 inches"),
    ],
)
def test_a_figure_that_cannot_be_written_is_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("figure", words[0], RUNS[H200], *words[1:]) == 2
    assert message in capsys.readouterr().err


def test_a_report_writes_the_formats_of_its_option(tmp_path: Path) -> None:
    run = write_run(tmp_path, [translation("malloc", 4096, 65536 * 2**i) for i in range(4)])
    assert exit_code("report", run, "--formats", "png", "--out", tmp_path / "out") == 0
    found = [path.name for path in (tmp_path / "out/figures").iterdir()]
    assert sorted(found) == ["hierarchy_map.png", "tlb.png"]
    assert "<svg" in (tmp_path / "out/report.html").read_text(encoding="utf-8")
