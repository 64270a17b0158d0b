"""Every figure of the tiny runs: its image, texts, tooltips and colours; odd and empty runs.

What an eye without one kind of cone sees is simulated with the matrices of Machado, Oliveira and
Fernandes (2009), severity 1.0, on linear RGB; a distance is that of CIE 1976 L*a*b*, D65. Two
series of a panel whose colours are nearer than `LEAST` to one another in any eye must differ in
marker, line, hatch or filling too. The smallest distance of all others is printed (`pytest -s`).
"""

import re
import sys
from collections.abc import Collection
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from msgspec.structs import replace

from builders import GPU_RUN, case, count, counts, layout_case, load2, measurement, predicted
from charts import caption_of, data_of
from compare_images import PLOTS
from figure_images import (
    DPI,
    IMAGES,
    RUNS,
    Drawing,
    difference,
    drawings,
    figure_of,
    locked,
    pixels,
    run_of,
    stored,
)
from plots import check_texts_of, labels_of, plot_named, plotted, points_of, silent_of
from plots import drawn as drawn_of
from strata import figures
from strata.figures import _image, _style
from strata.figures._drawing import image
from strata.figures._plot import FORMATS, listed_invalid
from strata.run import load_run
from strata.run.validate import findings

REDRAW = "PYTHONPATH=analysis/src python tests/analysis/figure_images.py"
NAMES = [figure.name for figure in figures.discover()]
each = pytest.mark.parametrize("drawing", stored(), ids=lambda drawing: drawing.path.stem)
same_matplotlib = pytest.mark.skipif(
    mpl.__version__ != locked(), reason=f"the stored images are of matplotlib {locked()}"
)


@cache
def figure_drawn(drawing: Drawing) -> Figure:
    """The drawing, laid out, made once."""
    with plotted(figure_of(drawing), run_of(drawing.run)) as drawn:
        return drawn


# --- images, texts, tooltips ----------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_tiny_run_keeps_the_contract(run: Path) -> None:
    assert findings(load_run(run)) == ()


def test_the_tiny_runs_fill_every_figure_and_each_has_its_image() -> None:
    wanted = set(drawings())
    assert {drawing.figure for drawing in wanted} == {*NAMES}
    assert {drawing.path for drawing in wanted} == set(IMAGES.iterdir()), f"run {REDRAW}"
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < 3e6
    assert sum(file.stat().st_size for run in RUNS.values() for file in run.iterdir()) < 2.6e6


@same_matplotlib
@each
def test_the_figure_looks_as_stored(drawing: Drawing, tmp_path: Path) -> None:
    with _style.styled():
        found = _image.saved(figure_drawn(drawing), "png", dpi=DPI)
    if words := difference(pixels(found), pixels(drawing.path.read_bytes())):
        path = tmp_path / drawing.path.name
        path.write_bytes(found)
        pytest.fail(f"{words}; compare {path} with {drawing.path}; where it is meant: {REDRAW}")


@each
def test_every_mark_has_a_tooltip_and_texts_are_apart(drawing: Drawing) -> None:
    figure = figure_drawn(drawing)
    assert silent_of(figure) == []
    assert all(ax.has_data() or ax.texts for ax in figure.axes)
    with _style.styled():
        figure.draw_without_rendering()  # a saved image left its own places of letters
        check_texts_of(figure)
    axes = [ax.get_xlabel() + ax.get_ylabel() for ax in figure.axes]
    units = r"cycle|B/clk|/s|\(%\)|×|÷|byte|sector|time|per|size|clock|\(W\)|accesses|ratio|share"
    assert any(re.search(units, label) for label in axes)


@each
def test_a_column_of_a_paper_has_room(drawing: Drawing) -> None:
    with plotted(figure_of(drawing), run_of(drawing.run), 3.3) as figure:
        if len(figure.axes) == 1:  # several panels side by side need a page
            check_texts_of(figure, apart=False)


@each
def test_captions_name_what_is_invalid_and_numbers_have_their_rows(drawing: Drawing) -> None:
    figure, run = figure_of(drawing), run_of(drawing.run)
    data, words = figure.data(run), caption_of(figure, run)
    assert f"{run.context.device.name}, commit {run.context.build.commit[:12]}" in words
    bad = data[~data.valid.astype(bool)]
    names = [name for name in (bad["_label"] if "_label" in data else bad["case"]) if name]
    assert ("Invalid, drawn hollow" in words) == bool(names)
    assert {"valid", "case"} <= data_of(figure, run)[0].keys()
    known = {row.key for row in run.rows}
    assert all(row.key in known for row in data["_row"] if row)


@pytest.mark.parametrize("name", PLOTS)
def test_every_mark_of_a_comparison_has_a_tooltip(name: str) -> None:
    with drawn_of(PLOTS[name]()) as figure:
        assert silent_of(figure) == []


def test_a_bar_or_a_marker_that_moved_is_noticed() -> None:
    wanted = np.ones((200, 500, 3))
    wanted[50:55, 100:105] = (0.0, 0.45, 0.70)
    # Edges of letters and lines may differ a little between processors.
    assert difference(wanted - 0.1 * (wanted == 1), wanted) is None
    assert "50 of 100000 pixels differ, between (100, 50) and (109, 54)" in str(
        difference(np.roll(wanted, 5, axis=1), wanted)
    )
    assert "500 × 190 pixels, not 500 × 200" in str(difference(wanted[10:], wanted))


# --- odd and empty runs ---------------------------------------------------------------------------


def test_every_module_is_a_figure_and_names_are_unique() -> None:
    folder = Path(figures.__file__).parent
    names = {path.stem for path in folder.glob("[a-z]*.py")}
    names |= {f"papers.{path.stem}" for path in folder.glob("papers/[a-z]*.py")}
    assert names == figures.by_module().keys()
    assert len({*NAMES}) == len(NAMES)


def test_nothing_measured_means_no_figure() -> None:
    empty = replace(load_run(GPU_RUN), rows=())
    assert not [name for name in NAMES if plot_named(name).has(empty)]


def test_odd_names_of_a_single_case_can_be_drawn(tmp_path: Path) -> None:
    slowest = measurement("warp_read_cycles_slowest", [5], method="event_slope")
    both = [measurement("warp_read_cycles_slowest", [5]), slowest]
    odd = layout_case("zebra", 5, extra=both, bandwidth=7, residency="l2", fields="few")
    moved = [
        predicted("moved_over_used", 2, unit="1"),
        predicted("bytes_used_per_read", 48, unit="B"),
    ]
    place = {"generation": "11.x", "layout": "zebra", "fields": "few"}
    lines = [
        layout_case("zebra", 5, bandwidth=7, residency="moon", fields="few"), odd,
        counts(odd, [count("sectors_per_read", 3), count("l1_hit_share", 0.5, unit="1")]),
        case(moved, benchmark="layout_traffic", params=place),
        *(case([predicted("sectors_per_request", 33)], benchmark="coalescing",
               params={"width": 32, "stride": 1, "misalignment": at}) for at in (0, 5)),
    ]  # fmt: skip
    run = load2(tmp_path, lines)
    drawn = {name for name in NAMES if image(plot_named(name), run, "png")}
    assert drawn == {
        "layout_latency", "latency_vs_warps", "bandwidth_vs_warps", "bytes_moved", "level_proof",
        "coalescing", "misalignment", "timer_agreement",
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["$\\frac{1}{", "_x^", "\x1b[31m\u202e", "</svg><script>", "漢" * 9]
)
def test_odd_letters_are_drawn_as_they_are(word: str) -> None:
    tlb = plot_named("tlb")
    with _style.styled():
        figure = tlb.plot(tlb.data(run_of("nvidia-h200-0683d2f")).assign(curve=word))
        assert len(labels_of(figure)) == 1
        assert b"<script" not in _image.saved(figure, "svg")
        assert _image.saved(figure, "pdf")


def test_captions_name_uncommitted_changes_and_four_invalid_lines() -> None:
    words = caption_of(plot_named("layout_latency"), load_run(GPU_RUN))
    assert "commit unknown with uncommitted changes." in words
    assert listed_invalid("abcd") == " Invalid, drawn hollow (4): a; b; c; d."
    assert listed_invalid("abcdef") == " Invalid, drawn hollow (6): a; b; c; d; and 2 more."


def test_the_style_of_a_user_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for size in (8.0, 20.0):
        monkeypatch.setitem(mpl.rcParams, "font.size", size)
        of = plot_named("layout_latency"), load_run(GPU_RUN)
        pictures.append([image(*of, kind) for kind in FORMATS])
    assert pictures[0] == pictures[1]


# --- colours --------------------------------------------------------------------------------------

PROTANOPIA = [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
]  # fmt: skip
DEUTERANOPIA = [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881,
]  # fmt: skip
TO_XYZ = [
    0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.0721750, 0.0193339, 0.1191920,
    0.9503041,
]  # fmt: skip
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.reshape(PROTANOPIA, (3, 3)),
    "deuteranopia": np.reshape(DEUTERANOPIA, (3, 3)),
}
LEAST = 15.0
"""Of CIE L*a*b*, where 2.3 can just be distinguished side by side."""


@cache
def lab(colour: str, eye: str) -> npt.NDArray[np.float64]:
    """The colour as the eye sees it."""
    rgb = np.asarray(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(EYES[eye] @ linear, 0, 1)
    t = np.reshape(TO_XYZ, (3, 3)) @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen_in(ax: Axes) -> set[tuple[str, tuple[object, ...]]]:
    """The colour and the shape of every series that is drawn in a panel."""
    lines = {
        (to_hex(one.get_color()),
         (one.get_marker(), one.get_linestyle(), to_hex(one.get_markerfacecolor()) == "#ffffff"))
        for one in ax.lines
        if points_of(one)
    }  # fmt: skip
    bars = {
        (to_hex(one.get_facecolor()), ("bars", one.get_hatch(), one.get_linestyle()))
        for one in ax.patches
        if isinstance(one, Rectangle) and one in _style.tooltips and one.get_gid() != "shade"
    }
    return {*lines, *bars}


def pairs(figure: Figure, eyes: Collection[str] = EYES) -> list[tuple[float, str, str]]:
    """The distances of all pairs that only colour distinguishes, in the worst eye."""
    with _style.styled():  # "C0" is a colour of the style
        shown = [seen_in(ax) for ax in figure.axes]
    return [
        (min(float(np.linalg.norm(lab(one, eye) - lab(other, eye))) for eye in eyes), one, other)
        for series in shown
        for (one, shape), (other, same) in combinations(sorted(series, key=str), 2)
        if shape == same and one != other
    ]


@cache
def charts() -> list[tuple[str, Figure]]:
    """Every figure of the tiny runs and of their comparisons."""
    every = [(one.path.stem, figure_drawn(one)) for one in stored()]
    for name, plot in PLOTS.items():
        with drawn_of(plot()) as drawn:
            every.append((f"compare {name}", drawn))
    return every


def test_series_are_distinguished_by_every_eye() -> None:
    found = {name: min(here) for name, chart in charts() if (here := pairs(chart))}
    for name, (least, *colours) in sorted(found.items(), key=lambda item: item[1]):
        sys.stdout.write(f"{least:6.1f}  {name}  {' '.join(colours)}\n")
    assert not {name: pair for name, pair in found.items() if pair[0] < LEAST}


def test_the_manual_states_the_smallest_distances() -> None:
    text = (Path(__file__).parents[2] / "docs/figures.md").read_text(encoding="utf-8")
    stated = re.findall(r"^- with ([a-z ]+): ([\d.]+) apart \(`(\w+)`\)", text, re.MULTILINE)
    assert [eye for eye, *_ in stated] == list(EYES)
    for eye, words, figure in stated:
        near = [(min(found)[0], name) for name, one in charts() if (found := pairs(one, [eye]))]
        assert f"{min(near)[0]:.1f}" == words, eye
        assert figure in {name.partition("-")[0] for least, name in near if least == min(near)[0]}
    assert f"at least {LEAST:g};" in text


def test_a_pair_that_only_colour_distinguishes_is_found() -> None:
    figure = Figure()
    for ax, other in zip(figure.subplots(2), "os", strict=True):
        ax.plot([1], [1], "o", color="#ff0000")
        ax.plot([1], [1], other, color="#8f7f00")
    ((least, *colours),) = pairs(figure)
    assert least < LEAST < pairs(figure, ["all cones"])[0][0] / 4, "alike without long waves"
    assert {*colours} == {"#ff0000", "#8f7f00"}
