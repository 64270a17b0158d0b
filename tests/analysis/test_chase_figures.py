"""The figures of pointer chases: what is drawn, what is hollow, what is left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Annotation

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import hollow_of, labels_of, lines_of, plot_named, plotted, points_of
from strata.model.plateaus import STEP

FIGURE, TLB = plot_named("latency_vs_footprint"), plot_named("tlb")
KIB = 1024
SIZES = tuple(KIB * 4**power for power in range(12))
CLOCK = 2e9


def chase(
    footprint: int, cycles: float, *, failed: bool = False, time: float | None = None,
    beside: Sequence[dict[str, Any]] = (), **params: Any,
) -> dict[str, Any]:  # fmt: skip
    """One case of a chase; `beside` are further rows of it."""
    rows = [
        measurement("load_cycles", [cycles, 1.1 * cycles]),
        measurement("load_cycles", [2 * cycles], method="event_slope"),
        *beside,
    ]
    if time is not None:
        rows.append(measurement("load_time", [time], unit="s", method="event_slope"))
    axes = {"stride": 128, "footprint": footprint, "space": "global_ca", "cores": "one"} | params
    gates = [("result", "failed" if failed else "passed", "a walk")]
    return case(rows, benchmark="latency_vs_footprint", params=axes, gates=gates)


def modelled(quantity: str, value: float) -> dict[str, Any]:
    return measurement(quantity, [value], unit="1", method="driver") | {"provenance": "modelled"}


def test_points_stand_at_their_footprint_by_the_clock_inside(tmp_path: Path) -> None:
    lines = [chase(size, 30.0 * 2**i) for i, size in enumerate(SIZES)]
    run = load(tmp_path, [*lines, chase(4 * KIB, 99, stride=256)])  # the common stride is drawn
    with plotted(FIGURE, run) as figure:
        assert [x for line in lines_of(figure) for x, _ in points_of(line)] == [*SIZES]
    data = data_of(FIGURE, run)
    assert [data[0][name] for name in ("load_cycles", "low", "high")] == ["31.5", "30.0", "33.0"]
    assert {(line["stride_bytes"], line["load_seconds"]) for line in data} == {("128", "")}


def test_where_every_sm_walks_the_band_is_over_sms(tmp_path: Path) -> None:
    edges = [
        measurement("load_cycles_nearest", [35]),
        measurement("load_cycles_farthest", [55]),
        measurement("load_cycles_farthest", [999], method="event_slope"),
    ]
    lines = [chase(KIB, 30), chase(KIB, 40, beside=edges, cores="several")]
    run = load(tmp_path, lines)
    with plotted(FIGURE, run) as figure:
        assert labels_of(figure) == ["global, cached in L1", "every SM at once"]
        assert [line.get_linestyle() for line in lines_of(figure)] == ["-", "--"]
    edges_of = [(line["low"], line["high"]) for line in data_of(FIGURE, run)]
    assert edges_of == [("30.0", "33.0"), ("35.0", "55.0")]
    assert "nearest to farthest SM" in caption_of(FIGURE, run)


def test_a_plateau_is_of_what_one_core_walked(tmp_path: Path) -> None:
    lines = [chase(size, 30) for size in SIZES] + [chase(KIB, 90, cores="several")]
    cells = {(line["cores"], line["plateau"]) for line in data_of(FIGURE, load(tmp_path, lines))}
    assert cells == {("one", "31.5"), ("several", "")}


def test_reported_sizes_and_the_change_of_preparation_are_marked(tmp_path: Path) -> None:
    def beside(size: int, *, walked: bool) -> Sequence[dict[str, Any]]:
        over = {"footprint_over_l2": 61440, "footprint_over_shared_memory": 2**50}
        rows = [modelled(name, size / bytes_) for name, bytes_ in over.items()]
        return [*rows, modelled("walked_before", float(walked))]

    lines = [
        chase(size, 30 + 9 * place, beside=beside(size, walked=size <= 4 * 61440))
        for place, size in enumerate(SIZES)
    ]
    run = load(tmp_path / "once", lines)
    found = FIGURE.data(run).attrs["marks"]
    assert found == {"L2": 61440, "evicted before": (64 * KIB * 256 * KIB) ** 0.5}
    assert "everything was evicted" in caption_of(FIGURE, run)
    lines = [
        chase(size, 30, beside=beside(size, walked=n % 2 == 1)) for n, size in enumerate(SIZES)
    ]
    assert "evicted" not in caption_of(FIGURE, load(tmp_path / "often", lines))


def test_what_failed_a_gate_is_hollow_on_no_plateau_and_named(tmp_path: Path) -> None:
    lines = [chase(size, 30, failed=size == SIZES[3]) for size in SIZES]
    run = load(tmp_path, lines)
    with plotted(FIGURE, run) as figure:
        assert [x for x, _ in hollow_of(figure.axes[0])] == [SIZES[3]]
        assert len(points_of(lines_of(figure)[0])) == len(SIZES) - 1
    assert data_of(FIGURE, run)[3]["plateau"] == ""
    words = caption_of(FIGURE, run).replace("\N{NO-BREAK SPACE}", " ")
    assert "Invalid, drawn hollow (1): global_ca, 64 KiB" in words


def test_plateaus_are_labelled_with_cycles_time_and_size(tmp_path: Path) -> None:
    steps = [("global_ca", 33, 128 * KIB, 32, 280), ("global_cg", 33, 32 << 20, 280, 700)]
    walks = [
        chase(2**power, cycles / 1.05, space=space, time=cycles / CLOCK)
        for space, last, end, low, high in [*steps, ("shared", 17, 64 * KIB, 24, 24)]
        for power in range(10, last)
        for cycles in [low if 2**power <= end else high]
    ]
    run = load(tmp_path, walks)
    with plotted(FIGURE, run) as figure:
        texts = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
        words = {text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in texts}
        assert words == {"32 cycles\n(16.0 ns)", "280 cycles\n(140 ns)"}
    caption = caption_of(FIGURE, run).replace("\N{NO-BREAK SPACE}", " ")
    assert "past L1 280 cycles (140 ns) to 32 MiB, 700 cycles (350 ns) from 64 MiB on" in caption
    assert "shared 24 cycles (12.0 ns) throughout" in caption
    for line in data_of(FIGURE, run):
        cycles = float(line["load_cycles"])
        assert float(line["load_seconds"]) == pytest.approx(cycles / CLOCK)
        assert abs(float(line["plateau"]) / cycles - 1) < STEP


# --- translations ---------------------------------------------------------------------------------


def translation(
    allocation: str, stride: int, footprint: int, backend: str = "cuda"
) -> dict[str, Any]:
    method = "tsc_slope" if backend == "host" else "clock64_slope"
    axes = {"allocation": allocation, "stride": stride, "footprint": footprint}
    rows = [measurement("load_cycles", [4.0], method=method)]
    return case(rows, benchmark="tlb", backend=backend, params=axes)


def test_tlb_has_a_curve_for_each_allocation_and_stride(tmp_path: Path) -> None:
    page = 2 << 20
    lines = [
        translation(allocation, stride, 16 * page * 2**i)
        for i in range(6)
        for stride in (page, 2 * page)
        for allocation in ("malloc", "vmm")
    ]
    with plotted(TLB, load(tmp_path, lines)) as figure:
        assert [label.replace("\N{NO-BREAK SPACE}", " ") for label in labels_of(figure)] == [
            f"{allocation}, a load every {every} MiB"
            for every in (2, 4)
            for allocation in ("cuMemMap", "cudaMalloc")
        ]
        assert [len(points_of(line)) for line in lines_of(figure)] == [6, 6, 6, 6]
        assert figure.axes[0].get_yscale() == "linear"  # cycles of one magnitude begin at 0
        assert figure.axes[0].get_ylim()[0] == 0


def test_translations_of_a_cpu_are_named_by_their_pages(tmp_path: Path) -> None:
    lines = [translation(pages, 4096, 65536, "host") for pages in ("small_pages", "huge_pages")]
    run = load(tmp_path, lines, backend="host")
    curves = [line["curve"].replace("\N{NO-BREAK SPACE}", " ") for line in data_of(TLB, run)]
    assert [curve.split(",")[0] for curve in curves] == ["pages of 2 MiB", "pages of 4 KiB"]
    assert "same lines" in caption_of(TLB, run)
