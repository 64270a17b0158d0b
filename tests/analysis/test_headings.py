"""The heading of a picture identifies its run, is not cut, and is left out on a page."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from msgspec.structs import replace

from builders import GPU_RUN, HOST_RUN
from strata import figures
from strata.cli import main
from strata.figures import _image, _style
from strata.figures._image import LINES, fitted, sources_of
from strata.run import load_run

FIGURE = next(one for one in figures.discover() if one.name == "layout_latency")
RUN = load_run(GPU_RUN)
ODD = {
    "one long word": "W" * 5000,
    "many words": "a very long name of a device " * 90,
    "letters that control": "H200\x1b[31m\n\r\x00\u202e",
    "markup": "</g></svg><script>alert(1)</script>",
    "nothing": "",
    "dollars": r"$\frac{1}{2}$ _ ^",
    "wide": "漢" * 300,
}


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_no_name_is_cut_or_overlaps_another_word(name: str) -> None:
    figure = Figure(figsize=(5, 3))
    device = replace(RUN.context.device, name=name)
    run = replace(RUN, context=replace(RUN.context, device=device, run=f"run-{name}"))
    with _style.styled(), _image.headed(figure, FIGURE.title, sources_of([run])) as area:
        for text in figure.texts:
            assert text.get_text().count("\n") < LINES
            assert text.get_window_extent().x1 <= figure.bbox.x1
            assert text.get_window_extent().y1 <= area.y1 * figure.dpi
        assert b"<script" not in _image.saved(figure, "svg", area)
    assert not figure.texts


def test_what_does_not_fit_ends_with_a_mark() -> None:
    assert fitted("t " * 900, 350, 10, "bold").endswith("…")
    assert fitted("n" * 900, 350, 7).endswith("…")
    assert fitted("short", 350, 7) == "short"


@pytest.mark.parametrize("command", ["report", "compare"])
def test_an_option_leaves_it_out(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [f"{GPU_RUN}"] if command == "report" else [f"{GPU_RUN}", f"{HOST_RUN}"]
    for name, more in (("with", []), ("without", ["--plain-figures"])):
        with pytest.raises(SystemExit) as left:
            main([command, *runs, "--out", f"{tmp_path / name}", *more])
        assert left.value.code == 0, capsys.readouterr().err
    for kind in ("svg", "png", "pdf"):
        found = {file.relative_to(tmp_path / "with") for file in tmp_path.glob(f"with/**/*.{kind}")}
        assert found
        for file in found:
            one, other = ((tmp_path / name / file).read_bytes() for name in ("with", "without"))
            assert one != other, file
            if kind == "svg":
                assert one.count(b"<text") >= other.count(b"<text") + 2
    if command == "report":  # the page has the same words above each picture
        pages = [(tmp_path / name / "report.html").read_bytes() for name in ("with", "without")]
        assert pages[0] == pages[1]
