"""The figures of ceilings: the row of each, and its doubts."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from builders import case, load, measurement
from charts import (
    caption_of,
    chart_of,
    check_drawing,
    data_of,
    labels,
    marks,
    panels,
    points,
    timed,
    values,
)
from charts import shown_words as words_of
from strata.figures import _chart as c
from strata.figures.ceilings import FIGURES

ARITHMETIC, BANDWIDTH = FIGURES
TERA = 1e12
PINS = 4.8


def arithmetic(
    kind: str, rate: float, limit: float | None, *, form: str = "steady", valid: bool = True
) -> dict[str, Any]:
    rows = [measurement("flops_per_second", [rate], unit="FLOP/s", method="event_slope")]
    if limit is not None:
        rows.append(
            measurement("flops_per_second", [limit], unit="FLOP/s", method="lanes_times_clock")
            | {"provenance": "modelled"}
        )
    return case(
        rows,
        benchmark="ceilings",
        params={"arithmetic": kind, "form": form, "warps_per_sm": "32"},
        gates=[("clock", "passed" if valid else "failed", "1980 MHz")],
    )


def launch(
    best: float, *, limit: float | None = PINS, valid: bool = True, **params: Any
) -> dict[str, Any]:
    """One case of bandwidth, in TB/s."""
    rows = [measurement("bandwidth", [best * TERA], unit="B/s", method="event_slope")]
    if limit is not None:
        rows.append(measurement("share_of_limit", [best / limit], unit="1", method="event_slope"))
    place = {
        "block_size": 256, "blocks_per_sm": 8, "in_flight": 2, "level": "dram",
        "operation": "read", "width": 16,
    }  # fmt: skip
    gates = [("timer", "passed" if valid else "failed", "")]
    return case(rows, benchmark="bandwidth", params=place | params, gates=gates)


def strided(useful: float, *, valid: bool = True, **params: Any) -> dict[str, Any]:
    """One case of stride_gather, in TB/s."""
    place = {"level": "dram", "pattern": "strided", "stride": 1, "width": 4}
    return case(
        [measurement("useful_bandwidth", [useful * TERA], unit="B/s", method="event_slope")],
        benchmark="stride_gather",
        params=place | params,
        gates=[("timer", "passed" if valid else "failed", "")],
    )


SOME = [
    launch(4.6),
    launch(4.7, in_flight=4),
    launch(4.9, in_flight=8, valid=False),
    launch(4.75, operation="write"),
    launch(3.0, width=4),
    strided(4.5),
    strided(4.4, width=16),
    strided(2.0, stride=2),
    strided(0.2, stride=64),
    strided(0.7, width=16, stride=64, valid=False),
    strided(9.9, pattern="gather"),
    launch(9.0, level="l2", limit=None),
    launch(33.0, level="l1", width=8, limit=33.4),
    launch(32.0, level="l1", limit=33.4),
    launch(26.0, level="l1", width=4, limit=33.4),
    launch(33.0, level="shared", limit=33.4),
]


def test_measured_arithmetic_has_its_limit_beside_it(tmp_path: Path) -> None:
    run = load(tmp_path, [arithmetic("int8_dp4a", 9e12, None), arithmetic("fp32", 66e12, 66.9e12)])
    first, second = data_of(ARITHMETIC, run)
    assert first["arithmetic"] == "fp32"
    assert float(first["share_of_limit"]) == pytest.approx(66 / 66.9)
    assert second["limit"] == second["share_of_limit"] == ""
    assert "No limit is published for int8, dp4a." in caption_of(ARITHMETIC, run)
    chart = chart_of(ARITHMETIC, run)
    check_drawing(chart)
    (panel,) = panels(chart)
    assert values(panel, "best measured") == [66, 9]
    assert values(panel, "what lanes or pins allow") == [66.9]
    assert words_of(panel) == ["66.0\u00a0TFLOP/s  (98.7\u00a0%)", "9.00\u00a0TFLOP/s"]


def test_the_ceiling_is_the_best_valid_form(tmp_path: Path) -> None:
    lines = [
        arithmetic("fp64", 27e12, 33.5e12, form="alternating"),
        arithmetic("fp64", 32e12, 33.4e12, form="square"),
        arithmetic("fp64", 33e12, 33.5e12, form="uniform", valid=False),
    ]
    run = load(tmp_path, lines)
    (line,) = data_of(ARITHMETIC, run)
    assert line["form"] == "square"
    assert float(line["share_of_limit"]) == pytest.approx(32 / 33.4)
    (panel,) = panels(chart_of(ARITHMETIC, run))
    assert values(panel, "other forms and numbers of warps") == [27]
    assert words_of(panel) == ["32.0\u00a0TFLOP/s  (95.8\u00a0%)  square"]


def test_invalid_arithmetic_is_hollow_and_named(tmp_path: Path) -> None:
    run = load(tmp_path, [arithmetic("fp64", 33e12, 33.5e12, valid=False)])
    (panel,) = panels(chart_of(ARITHMETIC, run))
    assert values(panel, "best measured", valid=False) == [33]
    assert "(1): ceilings/cuda/arithmetic=fp64" in caption_of(ARITHMETIC, run)


def test_ceilings_of_a_cpu_have_no_limit(tmp_path: Path) -> None:
    line = case(
        [
            measurement("flops_per_second", [4e11], unit="FLOP/s", method="monotonic_slope"),
            measurement("flops_per_second_of_one_core", [2e11], unit="FLOP/s"),
        ],
        benchmark="ceilings",
        backend="host",
        params={"arithmetic": "fp32", "form": "steady", "warps_per_sm": "32"},
    )
    run = load(tmp_path, [line], backend="host")
    chart = chart_of(ARITHMETIC, run)
    assert values(panels(chart)[0], "best measured") == [0.4]
    assert labels(chart) == ["best measured"]
    assert "every core" in caption_of(ARITHMETIC, run)


@pytest.mark.parametrize("line", [launch(4.7, operation="copy"), launch(33.0, level="shared")])
def test_without_reads_of_its_levels_there_is_no_figure(
    line: dict[str, Any], tmp_path: Path
) -> None:
    assert not BANDWIDTH.items(load(tmp_path, [line]))


def test_each_ceiling_is_the_best_valid_row_of_its_kind(tmp_path: Path) -> None:
    run = load(tmp_path, SOME)
    found = {(line["level"], line["ceiling"]): line for line in data_of(BANDWIDTH, run)}
    assert {place: float(line["bytes_per_second"]) / TERA for place, line in found.items()} == {
        ("dram", "grouped and coalesced"): 4.7,
        ("dram", "ungrouped"): 4.5,
        ("dram", "uncoalesced"): 0.7,
        ("dram", "uncoalesced and ungrouped"): 0.2,
        ("l2", "grouped and coalesced"): 9.0,
        ("l1", "grouped and coalesced"): 33.0,
        ("l1", "ungrouped"): 26.0,
    }
    ungrouped = found["dram", "ungrouped"]
    assert ungrouped["benchmark"] == "stride_gather"
    share = "share_of_grouped_and_coalesced"
    assert float(ungrouped[share]) == pytest.approx(4.5 / 4.7)
    assert found["dram", "uncoalesced"][share] == ""
    *_, l1 = panels(chart_of(BANDWIDTH, run))
    assert l1.places.names
    assert l1.places.names[0] == "grouped and coalesced\n(8 B, 2 in flight, 8 × 256 threads)"


def test_nothing_is_a_share_of_an_invalid_ceiling(tmp_path: Path) -> None:
    run = load(tmp_path, [launch(4.7, valid=False), strided(4.5)])
    shares = [line["share_of_grouped_and_coalesced"] for line in data_of(BANDWIDTH, run)]
    assert shares == ["", ""]


def test_the_limit_is_the_median_over_launches(tmp_path: Path) -> None:
    limits = {1: 4.6, 2: PINS, 4: 5.9}
    run = load(tmp_path, [launch(4.5, limit=limits[n], in_flight=n) for n in limits])
    (line,) = data_of(BANDWIDTH, run)
    assert float(line["limit_bytes_per_second"]) == pytest.approx(PINS * TERA)


def test_a_narrow_stride_is_no_ceiling_of_what_is_uncoalesced(tmp_path: Path) -> None:
    lines = [strided(2.0, stride=2), strided(0.2, stride=64), strided(4.5)]
    found = data_of(BANDWIDTH, load(tmp_path, lines))
    assert [(line["ceiling"], float(line["bytes_per_second"])) for line in found] == [
        ("ungrouped", 4.5e12),
        ("uncoalesced and ungrouped", 0.2e12),
    ]


def test_bars_are_hollow_where_invalid_and_limits_stand_where_known(tmp_path: Path) -> None:
    run = load(tmp_path, SOME)
    chart = chart_of(BANDWIDTH, run)
    check_drawing(chart)
    dram, l2, l1 = panels(chart)
    assert values(dram, "best measured") == pytest.approx([4.7, 4.5, 0.2])
    assert values(dram, "best measured", valid=False) == pytest.approx([0.7])
    allowed = [values(panel, "what lanes or pins allow") for panel in (dram, l2, l1)]
    assert allowed == [pytest.approx([PINS] * 4), [], pytest.approx([33.4] * 2)]
    titles = [panel.title.replace("\u00a0", " ") for panel in (dram, l2, l1)]
    assert titles == ["DRAM, at most 4.80 TB/s", "L2", "L1, at most 33.4 TB/s"]
    assert words_of(dram)[1].replace("\u00a0", " ") == "4.50 TB/s  (95.7 %)"
    words = caption_of(BANDWIDTH, run).replace("\u00a0", " ")
    assert "Invalid, drawn hollow (1): DRAM, uncoalesced (16 B, stride of 64)." in words
    assert "bus width times clock for device memory (4.80 TB/s)" in words


@pytest.mark.parametrize("line", [launch(9.0, level="l2", limit=None), strided(0.01)])
def test_a_single_ceiling_can_be_drawn(line: dict[str, Any], tmp_path: Path) -> None:
    check_drawing(chart_of(BANDWIDTH, load(tmp_path, [line])))


def test_whiskers_end_at_the_limit_and_never_below_the_median() -> None:
    row = timed("bandwidth", {"level": "dram"}, "bandwidth", 4.7e12)  # samples up to 4.747e12
    assert c.mark(0, row, 1e12).high == pytest.approx(4.747)
    assert c.mark(0, row, 1e12, most=4.72e12).high == pytest.approx(4.72)
    assert c.mark(0, row, 1e12, most=4.6e12).high == pytest.approx(4.7)
    assert c.mark(0, row, 1e12, most=4.72e12).low == pytest.approx(4.653)


def test_the_range_of_a_ceiling_ends_at_its_limit(tmp_path: Path) -> None:
    (one,) = BANDWIDTH.items(load(tmp_path, [launch(4.7)]))
    wide = one._replace(row=replace(one.row, maximum=5e12))
    (panel,) = panels(BANDWIDTH.chart([wide]))
    (bar,) = marks(panel, "best measured")
    assert bar.high == pytest.approx(PINS)


def test_forms_of_near_rates_stand_beside_each_other(tmp_path: Path) -> None:
    lines = [
        arithmetic("fp64", rate * 1e12, 33.4e12, form=f"{rate}")
        for rate in (20.0, 32.0, 32.1, 32.2, 33.0)
    ]
    (panel,) = panels(chart_of(ARITHMETIC, load(tmp_path, lines)))
    found = sorted(points(panel, "other forms and numbers of warps"), key=lambda one: one[1])
    assert [value for _, value in found] == pytest.approx([20, 32, 32.1, 32.2])
    assert found[0][0] == found[1][0] == 0
    assert len({place for place, _ in found[1:]}) == 3
