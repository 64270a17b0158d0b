"""The figures of van den Braak et al. (2010): times then and now, rotations, and their roofline."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from builders import case, load2, measurement
from charts import caption_of, data_of, run_with, timed
from plots import hollow_of, plot_named, plotted, points_of, solid_of, texts_of
from strata import reference
from strata.figures.papers.vandenbraak import ORANGE
from strata.run import Row, Run
from test_published_figures import ADDITIONS, BYTES, MIB

KERNELS, ROOFLINE = plot_named("vandenbraak_kernels"), plot_named("vandenbraak_roofline")


def kernel(
    name: str, form: str, seconds: float, size: str = "seed", angle: int | None = None,
    *, valid: bool = True,
) -> list[Row]:  # fmt: skip
    """Rows of one kernel, by events and by graphs."""
    params = {"form": form, "size": size} | ({} if angle is None else {"angle": angle})
    return [
        timed(name, params, "kernel_time", seconds, unit="s", valid=valid),
        timed(name, params, "kernel_time", 3 * seconds, unit="s", method="graph_slope"),
        timed(name, params, "useful_bandwidth", 1e3 / seconds, valid=valid),
    ]


def every() -> list[Row]:
    """Some of each kernel."""
    return [
        *kernel("sobel", "best", 1e-6),
        *kernel("sobel", "original", 4e-6),
        *kernel("dct", "original", 1e-3),
        *kernel("dct", "separable", 1e-5),
        *(
            row
            for size in ("seed", "large")
            for angle in (0, 30)
            for row in kernel("rotation_forward", "original", (1 + angle) * 1e-6, size, angle)
        ),
    ]


def test_kernels_are_in_the_order_of_the_paper_each_with_its_forms() -> None:
    lines = data_of(KERNELS, run_with(every()))
    names = ("kernel", "form", "size", "angle_degrees", "published_seconds")
    assert [tuple(line[name] for name in names) for line in lines] == [
        ("dct", "original", "seed", "", "3.0"),
        ("dct", "separable", "seed", "", ""),
        ("sobel", "original", "seed", "", "0.0121"),
        ("sobel", "best", "seed", "", ""),
        ("rotation_forward", "original", "seed", "0", "0.00329"),
        ("rotation_forward", "original", "seed", "30", "0.00329"),
        ("rotation_forward", "original", "large", "0", ""),
        ("rotation_forward", "original", "large", "30", ""),
    ]
    assert lines[0]["kernel_seconds"] == "0.001"


@pytest.mark.parametrize(
    "rows",
    [
        [], [row for row in every() if row.quantity == "kernel_time"],
        kernel("rotation_forward", "original", 1e-6, angle=45),
    ],
)  # fmt: skip
def test_without_what_is_drawn_there_is_no_figure(rows: Sequence[Row]) -> None:
    assert not KERNELS.has(run_with(rows))


def test_times_are_beside_the_published_ones_on_the_papers_sizes_alone() -> None:
    with plotted(KERNELS, run_with(every())) as figure:
        times, turned = figure.axes
        assert [[x for x, _ in line] for line in solid_of(times)] == [
            [1e-3, 1e-5, 4e-6, 1e-6, 31e-6]
        ]
        assert [x for x, _ in hollow_of(times)] == [3.0, 12.1e-3, 3.29e-3], "published"
        assert [[y for _, y in line] for line in solid_of(turned)] == [
            pytest.approx([1e9, 1e9 / 31])
        ]
    caption = caption_of(KERNELS, run_with(every()))
    assert "Table II" in caption
    assert "by 30°" in caption
    assert "Bandwidth" in caption
    plain = run_with(
        [*kernel("sobel", "separable", 1e-6), *kernel("sobel", "best", 1, valid=False)]
    )
    assert "Bandwidth" not in caption_of(KERNELS, plain)
    assert "Sobel, today" in caption_of(KERNELS, plain)
    with plotted(KERNELS, plain) as figure:
        (ax,) = figure.axes
        assert [x for x, _ in hollow_of(ax)] == [1]


# --- Figure 3 -------------------------------------------------------------------------------------


def rate(quantity: str, value: float, unit: str = "B/s", noise: str = "passed") -> dict[str, Any]:
    samples = [0.99 * value, value, 1.01 * value]
    return measurement(quantity, samples, unit=unit, method="event_slope", noise=noise)


def additions(
    invalid: tuple[int, str, int] | None = None, backend: str = "cuda"
) -> list[dict[str, Any]]:
    lines = []
    for key, seconds in ADDITIONS.items():
        noise = "failed" if key == invalid else "passed"
        rows = [rate("useful_bandwidth", BYTES / seconds, noise=noise)]
        params = dict(zip(("element", "order", "group", "access"), (*key, "together"), strict=True))
        lines.append(case(rows, benchmark="short_words", backend=backend, params=params))
    return lines


def roofs() -> list[dict[str, Any]]:
    cost = [measurement("operation_cycles", [4.0]), rate("operation_rate", 8e12, "1/s")]
    full = {"operation": "iadd3", "ilp": 4, "warps_per_sm": 32}
    read = {"level": "dram", "operation": "read", "width": 16}
    sector = measurement("sector", [32.0], unit="B", method="change_point")
    return [
        case([sector], benchmark="cache_geometry", params={"property": "l1_sector"}),
        case(cost, benchmark="instruction_cost", params=full),
        *(
            case([rate(quantity, value)], benchmark=benchmark, params=params)
            for benchmark, quantity, value, params in (
                ("bandwidth", "bandwidth", 3.8e12, read),
                ("bandwidth", "bandwidth", 4e12, read | {"operation": "copy"}),
            )
        ),
    ]


def items(run: Run) -> dict[Any, Any]:
    return {one.name: one for one in ROOFLINE.data(run).itertuples()}


def test_kernels_are_at_their_additions_beside_the_paper(tmp_path: Path) -> None:
    run = load2(tmp_path, additions())
    found = items(run)
    line = found["32 bits, coalesced"]
    assert line.additions_per_byte == pytest.approx(1 / 12)
    assert line.additions_per_second == pytest.approx(32 * MIB / 120e-6)
    grouped = found["8 bits, coalesced, grouped"]
    assert grouped.additions_per_second == pytest.approx(128 * MIB / 120e-6)
    rates = {name: line.published_additions_per_second for name, line in found.items()}
    assert rates["32 bits, coalesced"] == pytest.approx(512 * 512 / 0.067e-3)
    assert pd.isna(rates["8 bits, uncoalesced, grouped"]), "not printed"
    fast = rates["8 bits, coalesced, grouped"]
    assert rates["32 bits, coalesced"] / rates["32 bits, uncoalesced"] == pytest.approx(31, 0.02)
    assert fast / rates["8 bits, uncoalesced, ungrouped"] == pytest.approx(43, 0.02)
    assert fast / rates["8 bits, coalesced, ungrouped"] == pytest.approx(26, 0.02)
    caption = caption_of(ROOFLINE, run)
    assert "Lines:" not in caption, "without roofs"
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", caption)}
    assert cited <= {source.number for source in reference.bibliography()}


def test_roofs_are_arithmetic_and_what_is_left_of_dram(tmp_path: Path) -> None:
    run = load2(tmp_path, [*additions(), *roofs()])
    found = {name: line.additions_per_second for name, line in items(run).items() if line.is_roof}
    assert found == {
        "integer additions": 8e12,
        "DRAM": 3.8e12,  # as in the map of the levels: read alone
        "DRAM, 4 B of each sector": 3.8e12 / 8,
        "DRAM, 1 B of each sector": 3.8e12 / 32,
    }
    assert [line["is_roof"] for line in data_of(ROOFLINE, run)] == ["false"] * 6 + ["true"] * 4
    host = load2(tmp_path / "c", additions(backend="host"), backend="host")
    assert not ROOFLINE.has(host)
    assert not ROOFLINE.has(load2(tmp_path / "b", roofs()))


def test_an_invalid_kernel_is_hollow(tmp_path: Path) -> None:
    run = load2(tmp_path, additions(invalid=(4, "coalesced", 4)))
    with plotted(ROOFLINE, run) as figure:
        marks = [line for line in figure.axes[0].lines if points_of(line)]
        own = [line.get_markerfacecolor() for line in marks if line.get_color() != ORANGE]
        assert (len(own), len(marks)) == (6, 11)
        assert own.count("none") == 1
        assert sum("(invalid)" in text.get_text() for text in texts_of(figure)) == 1
    assert "Invalid, drawn hollow (1): 32 bits, coalesced." in caption_of(ROOFLINE, run)
