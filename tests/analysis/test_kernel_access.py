"""Runs of `strata access`: the figure of lines of source, of one run and of two."""

from itertools import chain
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from builders import case, context2, count, counts, load2, strata, write_run
from charts import caption_of, data_of
from plots import hollow_of, labels_of, plot_named, plotted, points_of
from strata.figures.kernel_access import MOST
from strata.model.counted import model_check
from strata.run import Run, load_run
from strata.run.validate import findings

FIGURE = plot_named("kernel_access")
METRIC = {
    "sectors": "smsp__sass_sectors_mem_global",
    "wavefronts": "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
}


def access(
    line: int, moved: float | None, *, counted: float | None = None, requests: float = 32,
    ideal: float = 128, launch: str = "before", kernel: str = "energies", nth: int = 1,
    space: str = "global", place: str = "",
) -> list[dict[str, Any]]:  # fmt: skip
    """One access: what was predicted of it, and what was counted."""
    quantity = "wavefronts" if space == "shared" else "sectors"
    numbers = {"requests": requests, quantity: moved, f"ideal_{quantity}": ideal}
    rows = [
        count(name, value, unit=name[:-1], method="exact", provenance="modelled")
        for name, value in numbers.items()
        if moved is not None and value is not None
    ]
    gate = ("model", "unverified" if rows else "not_applicable", "not counted")
    params = {
        "kernel": kernel, "launch": launch, "line": f"inlined.cu-{line}{place}", "nth": nth,
        "instruction": f"ld.{space}.f32", "space": space,
    }  # fmt: skip
    first = case(rows, suite="access", benchmark="kernel_access", params=params, gates=[gate])
    if counted is None:
        return [first]
    same = "not_applicable" if moved is None else "passed" if moved == counted else "failed"
    found = [
        count("executed", requests, unit="instruction", method="smsp__sass_inst_executed"),
        count(quantity, counted, unit=quantity[:-1], method=METRIC[quantity]),
    ]
    gates = [("model", same, f"{counted} counted, {moved} predicted")]
    return [first, counts(first, found, gates=gates)]


def run_of(folder: Path, *accesses: list[dict[str, Any]]) -> Run:
    return load2(folder, [*chain(*accesses)])


def bars_in(ax: Axes, launch: str) -> list[tuple[float, float]]:
    """Place and length of the bars of a launch."""
    return [
        (round(bar.get_y() + bar.get_height() / 2, 3), bar.get_width())
        for bars in ax.containers
        if bars.get_label() == launch
        for bar in bars
    ]


def marks_in(ax: Axes, label: str) -> list[tuple[float, float]]:
    """Place and value of the valid marks of this label."""
    return [(y, x) for line in ax.lines if line.get_label() == label for x, y in points_of(line)]


def test_each_line_has_a_bar_a_diamond_and_the_least(tmp_path: Path) -> None:
    copy = access(50, 64, requests=24, nth=2)
    run = run_of(
        tmp_path, access(35, 896, counted=896, place="+40"), access(41, 128, counted=128),
        access(50, 32, requests=8), copy,
    )  # fmt: skip
    assert not findings(run)
    with plotted(FIGURE, run) as figure:
        (ax,) = figure.axes
        assert [label.get_text() for label in ax.get_yticklabels()] == [
            "inlined.cu:35 ← 40  ld.global.f32", "inlined.cu:41  ld.global.f32",
            "inlined.cu:50  ld.global.f32",
        ]  # fmt: skip
        assert bars_in(ax, "before") == [(0, 28), (1, 4), (2, 3)], "copies of a line are summed"
        assert marks_in(ax, "counted") == [(0, 28), (1, 4)]
        assert marks_in(ax, "ideal")[:2] == [(0, 4), (1, 4)]
        assert labels_of(figure) == ["ideal", "counted", "before"]
    assert "0 of 2 lines differ from the prediction" in caption_of(FIGURE, run)
    assert [line["counted_per_request"] for line in data_of(FIGURE, run)] == ["28.0", "4.0", ""]


def test_what_a_device_moved_beyond_the_prediction_is_hollow(tmp_path: Path) -> None:
    run = run_of(tmp_path, access(35, 896, counted=900), access(41, 128, counted=128))
    check = model_check(run)
    assert (check.verdicts["passed"], check.verdicts["failed"]) == (1, 1)
    ((predicted, counted),) = check.differences
    assert (predicted.value, counted.value) == (896, 900)
    assert not predicted.valid
    with plotted(FIGURE, run) as figure:
        assert hollow_of(figure.axes[0]) == [(900 / 32, 0)]
        assert marks_in(figure.axes[0], "counted") == [(1, 4)]
    words = caption_of(FIGURE, run)
    assert "1 of 2 lines differ" in words
    assert "inlined.cu:35  ld.global.f32 in before" in words


def test_launches_are_side_by_side_and_shared_memory_has_its_own_panel(tmp_path: Path) -> None:
    other = access(9, 1024, space="shared", ideal=32, launch="after", kernel="x" * 70)
    run = run_of(tmp_path, access(7, 896), access(7, 128, launch="after"), other)
    with plotted(FIGURE, run) as figure:
        sectors, passes = figure.axes
        ((before, most),), ((after, least),) = (bars_in(sectors, at) for at in ("before", "after"))
        assert (most, least) == (28, 4)
        assert before < 0 < after
        assert sectors.get_xlabel() == "sectors of 32 bytes a request"
        assert passes.get_xlabel() == "passes through the banks"
        assert bars_in(passes, "after") == [(0, 32)]
        colours = [ax.containers[-1][0].get_facecolor() for ax in figure.axes]
        assert colours[0] == colours[1], "of one launch"
        assert passes.get_yticklabels()[0].get_text().startswith("x" * 14 + "…" + "x" * 15)


def test_a_count_without_a_prediction_has_no_bar(tmp_path: Path) -> None:
    run = run_of(tmp_path, access(7, None, counted=64), access(8, 128))
    with plotted(FIGURE, run) as figure:
        assert bars_in(figure.axes[0], "before") == [(1, 4)]
        assert marks_in(figure.axes[0], "counted") == [(0, 2)]


def test_a_line_that_no_warp_reached_or_that_moved_nothing_is_left_out(tmp_path: Path) -> None:
    assert not FIGURE.has(run_of(tmp_path, access(7, 0, requests=0, ideal=0)))
    (line,) = access(7, 128)
    line["measurements"] = line["measurements"][:1]
    assert not FIGURE.has(load2(tmp_path / "b", [line])), "it has only its requests"


def test_of_many_lines_those_are_drawn_that_waste_most(tmp_path: Path) -> None:
    run = run_of(tmp_path, *(access(line, 128 + line) for line in range(1, MOST + 6)))
    with plotted(FIGURE, run) as figure:
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert len(names) == MOST
        assert names[0].startswith("inlined.cu:6 ")
    assert "Not drawn: 5 lines" in caption_of(FIGURE, run)


def test_two_runs_are_compared_before_and_after(tmp_path: Path) -> None:
    folders = []
    for name, moved in (("one", 896), ("two", 128)):
        header = context2(run=name, sweep__name="access")
        found = access(35, moved, counted=moved, launch="energies")
        folders.append(write_run(tmp_path / name, found, header=header))
    done = strata("compare", *folders, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "3 same, 2 changed" in done.stdout.replace("\u00a0", " ")
    assert FIGURE.beside
    both = FIGURE.beside([load_run(folder) for folder in folders])
    assert [*both.launch] == ["before", "after"]
    assert [*both.counted_per_request] == [28, 4]
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert FIGURE.title in page
    for kind in ("csv", "svg", "pdf", "png"):
        assert (tmp_path / "out" / f"kernel_access.{kind}").stat().st_size > 0
