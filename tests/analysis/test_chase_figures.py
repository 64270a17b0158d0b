"""The figures of pointer chases: what is drawn, what is hollow, what is left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from builders import case, load, measurement
from strata import figures
from strata.figures import latency_vs_footprint, tlb
from strata.figures._chase import Point

KIB = 1024
SIZES = tuple(KIB * 4**power for power in range(12))


def chase(
    footprint: int,
    cycles: float,
    *,
    failed: bool = False,
    benchmark: str = "latency_vs_footprint",
    stride: int = 128,
    edges: tuple[float, float] | None = None,
    **params: Any,
) -> dict[str, Any]:
    """One case of a chase; `edges` are the nearest SM and the farthest."""
    rows = [
        measurement("load_cycles", [cycles, 1.1 * cycles]),
        measurement("load_cycles", [2 * cycles], method="event_slope"),
    ]
    if edges:
        rows.append(measurement("load_cycles_nearest", [edges[0]]))
        rows.append(measurement("load_cycles_farthest", [edges[1]]))
        rows.append(measurement("load_cycles_farthest", [9 * cycles], method="event_slope"))
    axes: dict[str, Any] = {"stride": stride, "footprint": footprint}
    if benchmark == "latency_vs_footprint":
        axes |= {"space": "global_ca", "cores": "one"}
    gates = [("result", "failed" if failed else "passed", "a walk")]
    return case(rows, benchmark=benchmark, params=axes | params, gates=gates)


def prepared(tmp_path: Path, lines: Sequence[dict[str, Any]], name: str) -> Sequence[Point]:
    figure = {"latency_vs_footprint": latency_vs_footprint.FIGURE, "tlb": tlb.FIGURE}[name]
    return figure.prepare(load(tmp_path, lines).rows)


def hollow(panel: Any) -> list[float]:
    return [
        float(x)
        for line in panel.lines
        if line.get_label() == "_invalid" and line.get_markerfacecolor() == "white"
        for x in np.atleast_1d(line.get_xdata())
    ]


def solid(panel: Any) -> list[float]:
    return [
        float(x)
        for line in panel.lines
        if line.get_label() == "_valid"
        for x in np.atleast_1d(line.get_xdata())
    ]


def test_nothing_is_drawn_without_rows(tmp_path: Path) -> None:
    other = [case([measurement()], params={"layout": "aos"})]
    assert not prepared(tmp_path, other, "latency_vs_footprint")
    assert not prepared(tmp_path, other, "tlb")


def test_points_stand_at_their_footprint_by_the_clock_inside(tmp_path: Path) -> None:
    lines = [chase(size, 30.0 + i) for i, size in enumerate(SIZES)]
    points = prepared(tmp_path, lines, "latency_vs_footprint")
    assert [point.footprint for point in points] == list(SIZES)
    assert {point.row.method for point in points} == {"clock64_slope"}
    assert points[0].low == 30.0
    assert points[0].high == 33.0


def test_where_every_sm_walks_the_band_is_over_sms(tmp_path: Path) -> None:
    lines = [chase(KIB, 30), chase(KIB, 40, cores="several", edges=(35, 55))]
    one, several = prepared(tmp_path, lines, "latency_vs_footprint")
    assert (one.cores, several.cores) == ("one", "several")
    assert (several.low, several.high) == (35, 55)


def test_reported_sizes_and_the_change_of_preparation_are_marked(tmp_path: Path) -> None:
    def beside(size: int) -> list[dict[str, Any]]:
        def row(quantity: str, value: float) -> dict[str, Any]:
            return measurement(quantity, [value], unit="1", method="driver") | {
                "provenance": "modelled"
            }

        return [
            row("footprint_over_l2", size / 61440),
            row("walked_before", 1.0 if size <= 4 * 61440 else 0.0),
        ]

    lines = [
        case(
            [measurement("load_cycles", [30.0]), *beside(size)],
            benchmark="latency_vs_footprint",
            params={"stride": 128, "footprint": size, "space": "global_cg", "cores": "one"},
        )
        for size in SIZES
    ]
    points = prepared(tmp_path, lines, "latency_vs_footprint")
    with figures.style():
        (panel,) = figures.render(latency_vs_footprint.FIGURE, points).axes
    marked = [
        np.asarray(line.get_xdata())[0] for line in panel.lines if line.get_label() == "_mark"
    ]
    assert marked == [61440, (64 * KIB * 256 * KIB) ** 0.5]
    assert {text.get_text() for text in panel.texts} >= {"L2", "evicted before"}
    caption = latency_vs_footprint.caption(points)
    assert "as the driver reports them" in caption
    assert "all was evicted" in caption


def test_one_stride_is_drawn(tmp_path: Path) -> None:
    lines = [chase(size, 30) for size in SIZES] + [chase(4 * KIB, 99, stride=256)]
    points = prepared(tmp_path, lines, "latency_vs_footprint")
    assert {point.stride for point in points} == {128}


def test_what_failed_a_gate_is_hollow_and_off_the_line(tmp_path: Path) -> None:
    lines = [chase(size, 30, failed=size == SIZES[3]) for size in SIZES]
    points = prepared(tmp_path, lines, "latency_vs_footprint")
    with figures.style():
        canvas = figures.render(latency_vs_footprint.FIGURE, points)
    (panel,) = canvas.axes
    assert hollow(panel) == [SIZES[3]]
    assert SIZES[3] not in solid(panel)
    assert len(solid(panel)) == len(SIZES) - 1
    assert "Invalid" in latency_vs_footprint.FIGURE.caption(points)


def test_tlb_has_a_curve_for_each_allocation_and_stride(tmp_path: Path) -> None:
    page = 2 << 20
    lines = [
        chase(16 * page * 2**i, 300, benchmark="tlb", stride=stride, allocation=allocation)
        for i in range(6)
        for stride in (page, 2 * page)
        for allocation in ("malloc", "vmm")
    ]
    points = prepared(tmp_path, lines, "tlb")
    assert len({point.curve for point in points}) == 4
    with figures.style():
        canvas = figures.render(tlb.FIGURE, points)
    (panel,) = canvas.axes
    assert len(solid(panel)) == 24


def test_data_files_have_a_cell_for_each_column(tmp_path: Path) -> None:
    points = prepared(tmp_path, [chase(KIB, 30)], "latency_vs_footprint")
    for module in (latency_vs_footprint, tlb):
        figure = module.FIGURE
        assert len(figure.columns) == len(figure.cells(points[0]))
