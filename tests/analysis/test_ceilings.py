"""The figures of ceilings: the row of each, and its doubts."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, labels_of, lines_of, plot_named, plotted, points_of
from strata.figures._plot import Plot
from strata.run import Run

ARITHMETIC, BANDWIDTH = plot_named("ceilings"), plot_named("bandwidth_ceilings")
TERA = 1e12
PINS = 4.8


def arithmetic(
    kind: str, rate: float, limit: float | None, *, form: str = "steady", valid: bool = True
) -> dict[str, Any]:
    rows = [measurement("flops_per_second", [rate], unit="FLOP/s", method="event_slope")]
    if limit is not None:
        of_lanes = {"unit": "FLOP/s", "method": "lanes_times_clock", "provenance": "modelled"}
        rows.append(measurement("flops_per_second", [limit], **of_lanes))
    axes = {"arithmetic": kind, "form": form, "warps_per_sm": "32"}
    gates = [("clock", "passed" if valid else "failed", "1980 MHz")]
    return case(rows, benchmark="ceilings", params=axes, gates=gates)


def bandwidth(
    benchmark: str, quantity: str, rate: float, params: dict[str, Any], *, valid: bool,
    limit: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    samples = [0.99 * rate * TERA, rate * TERA, 1.01 * rate * TERA]
    rows = [measurement(quantity, samples, unit="B/s", method="event_slope")]
    if limit is not None:
        rows.append(measurement("share_of_limit", [rate / limit], unit="1", method="event_slope"))
    gates = [("timer", "passed" if valid else "failed", "")]
    return case(rows, benchmark=benchmark, params=params, gates=gates)


def launch(
    rate: float, *, limit: float | None = PINS, valid: bool = True, **params: Any
) -> dict[str, Any]:
    """One case of bandwidth, in TB/s."""
    place = {"block_size": 256, "blocks_per_sm": 8, "in_flight": 2, "level": "dram"}
    place |= {"operation": "read", "width": 16}
    return bandwidth("bandwidth", "bandwidth", rate, place | params, valid=valid, limit=limit)


def strided(rate: float, *, valid: bool = True, **params: Any) -> dict[str, Any]:
    """One case of stride_gather, in TB/s."""
    place = {"level": "dram", "pattern": "strided", "stride": 1, "width": 4} | params
    return bandwidth("stride_gather", "useful_bandwidth", rate, place, valid=valid)


def drawn(figure: Plot, run: Run) -> dict[str, list[Any]]:
    """The values of the lines of each label, over all panels; those of texts and titles."""
    found: dict[str, list[Any]] = defaultdict(list)
    with plotted(figure, run) as shown:
        check_texts_of(shown)
        for line in lines_of(shown):
            found[f"{line.get_label()}"] += [x for x, _ in points_of(line)]
        found["hollow"] = [x for ax in shown.axes for x, _ in hollow_of(ax)]
        found["titles"] = [ax.get_title(loc="left") for ax in shown.axes]
        texts = [text.get_text() for ax in shown.axes for text in ax.texts]
        found["words"] = [text.replace("\u00a0", " ") for text in texts]
        ends: list[Any] = [whisker for ax in shown.axes for whisker in ax.collections]
        ends = [whisker.get_segments() for whisker in ends]
        found["ends"] = [segments[0][1][0] for segments in ends if len(segments)]
    return found


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


def test_the_ceiling_is_the_best_valid_form(tmp_path: Path) -> None:
    lines = [
        arithmetic("fp64", 27e12, 33.5e12, form="alternating"),
        arithmetic("fp64", 32e12, 33.4e12, form="square"),
        arithmetic("fp64", 33e12, 33.5e12, form="uniform", valid=False),
        arithmetic("fp32", 60e12, 66e12, valid=False),
    ]
    run = load(tmp_path, lines)
    _, line = data_of(ARITHMETIC, run)
    assert line["form"] == "square"
    found = drawn(ARITHMETIC, run)
    assert found["other forms and numbers of warps"] == [27]
    assert found["hollow"] == [60]
    assert found["words"] == ["60.0 TFLOP/s (90.9 %)", "32.0 TFLOP/s (95.8 %)"]
    assert "(1): ceilings/cuda/arithmetic=fp32" in caption_of(ARITHMETIC, run)


def test_ceilings_of_a_cpu_have_no_limit(tmp_path: Path) -> None:
    rows = [
        measurement("flops_per_second", [4e11], unit="FLOP/s", method="monotonic_slope"),
        measurement("flops_per_second_of_one_core", [2e11], unit="FLOP/s"),
    ]
    axes = {"arithmetic": "fp32", "form": "steady", "warps_per_sm": "32"}
    line = case(rows, benchmark="ceilings", backend="host", params=axes)
    run = load(tmp_path, [line], backend="host")
    with plotted(ARITHMETIC, run) as figure:
        assert labels_of(figure) == ["best measured"]
    assert "every core" in caption_of(ARITHMETIC, run)


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
    form = found["l1", "grouped and coalesced"]["form"]
    assert form == "8 B, 2 in flight, 8 × 256 threads"


def test_the_limit_is_the_median_over_launches(tmp_path: Path) -> None:
    limits = {1: 4.6, 2: PINS, 4: 5.9}
    run = load(tmp_path, [launch(4.5, limit=limits[n], in_flight=n) for n in limits])
    (line,) = data_of(BANDWIDTH, run)
    assert float(line["limit_bytes_per_second"]) == pytest.approx(PINS * TERA)


def test_marks_are_hollow_where_invalid_and_limits_stand_where_known(tmp_path: Path) -> None:
    run = load(tmp_path, SOME)
    found = drawn(BANDWIDTH, run)
    assert found["best measured"] == pytest.approx([4.7, 4.5, 0.2, 9, 33, 26])
    assert found["hollow"] == pytest.approx([0.7])
    assert found["limit"] == pytest.approx([PINS] * 4 + [33.4] * 2)
    assert found["titles"] == ["DRAM", "L2", "L1"]
    assert found["words"][1] == "4.50 TB/s (95.7 %)"
    words = caption_of(BANDWIDTH, run).replace("\u00a0", " ")
    assert "Invalid, drawn hollow (1): DRAM, uncoalesced (16 B, stride of 64)." in words
    assert "bus width times clock for device memory (4.80 TB/s)" in words


@pytest.mark.parametrize(("limit", "high"), [(None, 4.747), (4.72, 4.72), (4.6, 4.7)])
def test_ranges_end_at_the_limit_and_never_below_the_median(
    tmp_path: Path, limit: float | None, high: float
) -> None:
    found = drawn(BANDWIDTH, load(tmp_path, [launch(4.7, limit=limit)]))
    assert found["ends"] == pytest.approx([high])
