"""Points, tables and sentences on runs small enough to work out by hand."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, layout_case, load, measurement
from strata import model
from strata.model import layouts
from strata.run import Run


def spread(low: float, high: float) -> list[dict[str, Any]]:
    return [
        measurement("warp_read_cycles_p5", [low]),
        measurement("warp_read_cycles_p95", [high]),
        measurement("arithmetic_cycles", [4.0]),
    ]


def loaded(
    layout: str, warps: int, block: int, bandwidth: float, cycles: float = 50
) -> dict[str, Any]:
    """A case with every core at work."""
    return layout_case(
        layout, cycles, bandwidth=bandwidth, warps_per_sm=warps, block_size=block, cores="all"
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two layouts in L1: soa in half the cycles of aos, at up to three times its bandwidth."""
    return load(
        tmp_path,
        [
            layout_case("soa", 50, extra=spread(48, 55)),
            layout_case("aos", 100, extra=spread(95, 110)),
            loaded("aos", 8, 32, 1e12),
            loaded("soa", 8, 32, 2e12),
            loaded("soa", 8, 256, 3e12, cycles=40),
        ],
    )


def test_bars_take_every_core_and_the_smallest_block(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", 1, block_size=256, cores="all"),
        layout_case("aos", 2, block_size=32, cores="all"),
        layout_case("aos", 3, cores="one"),
        layout_case("aos", 4, warps_per_sm=2, cores="all"),
    ]
    (bar,) = layouts.latency_bars(load(tmp_path, lines).rows)
    assert bar.cycles.value == 2


def test_curves_stand_at_the_block_size_of_best_bandwidth(run: Run) -> None:
    points = {p.layout: p for p in layouts.curves(run.rows, "useful_bandwidth")}
    assert (points["soa"].block_size, points["soa"].row.value) == (256, 3e12)
    cycles = {p.layout: p for p in layouts.curves(run.rows, "warp_read_cycles")}
    assert (cycles["soa"].block_size, cycles["soa"].row.value) == (256, 40)


def test_spread_of_a_curve_is_percentiles_or_else_the_range(tmp_path: Path) -> None:
    line = layout_case("aos", [9, 10, 12], extra=spread(8, 20)[:2], bandwidth=5, cores="all")
    rows = load(tmp_path, [line]).rows
    (cycles,) = layouts.curves(rows, "warp_read_cycles")
    assert (cycles.low, cycles.high) == (8, 20)
    (without,) = layouts.curves([r for r in rows if "_p" not in r.quantity], "warp_read_cycles")
    assert (without.low, without.high) == (9, 12)


def test_values_nobody_knows_come_last_and_break_nothing(tmp_path: Path) -> None:
    lines = [
        layout_case("zebra", 5, residency="moon"),
        layout_case("aos", 5, residency="dram", fields="some"),
        case([measurement("warp_read_cycles")], params={"warps_per_sm": 1}),
        case([measurement("warp_read_cycles")], params={"warps_per_sm": "many"}),
        case([measurement("other")], benchmark="other"),
    ]
    rows = load(tmp_path, lines).rows
    bars = layouts.latency_bars(rows)
    assert {bar.layout for bar in bars} == {"aos", "zebra"}
    assert model.level_name("moon") == "moon"
    assert model.ordered(["moon", "dram", "l1", "dram"], model.LEVELS) == ["l1", "dram", "moon"]


def test_factors_compare_with_aos(run: Run) -> None:
    aos, soa = layouts.layout_results(run.rows)
    assert (aos.latency_factor, aos.bandwidth_factor) == (1, 1)
    assert (soa.latency_factor, soa.bandwidth_factor) == (2, 3)


def test_invalid_rows_never_enter_a_comparison(tmp_path: Path) -> None:
    gate = [("result", "failed", "sum differs")]
    lines = [layout_case("aos", 100, gates=gate), layout_case("soa", 50), layout_case("aoas", 40)]
    results = layouts.layout_results(load(tmp_path, lines).rows)
    assert [result.layout for result in results] == ["soa", "aoas"]
    assert {result.latency_factor for result in results} == {None}


def test_every_number_of_a_sentence_knows_its_row(run: Run) -> None:
    (sentence,) = layouts.sentences(run.rows)
    cited = {part.text: part.row.value for part in sentence if isinstance(part, model.Cited)}
    assert set(cited.values()) == {50, 100, 3e12, 1e12}
    loose = "".join(part for part in sentence if isinstance(part, str))
    assert not any(character.isdigit() for character in loose.replace("L1", ""))


def test_sentence_owns_up_to_layouts_it_cannot_tell_apart(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", [50, 51, 52, 53, 54, 55, 56]),
        layout_case("soa", [49, 50, 51, 52, 53, 54, 55]),
        layout_case("aoas", [90, 91, 92, 93, 94, 95, 96]),
    ]
    (sentence,) = layouts.sentences(load(tmp_path, lines).rows)
    words = model.plain(sentence)
    assert "soa is the cheapest" in words
    assert "; aos cannot be distinguished from it)" in words
    assert "aoas cannot" not in words


def test_sentence_says_what_was_left_out(tmp_path: Path) -> None:
    gate = [("timer", "failed", "5 %")]
    lines = [
        layout_case("aos", 100, gates=gate),
        layout_case("soa", 50),
        loaded("aos", 8, 32, 1e12),
        layout_case("aoas", 9, residency="dram", gates=gate),
    ]
    near, far = (model.plain(s) for s in layouts.sentences(load(tmp_path, lines).rows))
    assert near.replace("\u00a0", " ") == (
        "L1: soa takes 50.00 cycles per warp-read. Under load, aos delivers 1.00 TB/s of useful "
        "data. Left out, invalid: aos alone."
    )
    assert far == "DRAM: Left out, invalid: every layout alone."


def test_agreement_is_the_ratio_to_the_in_kernel_clock(tmp_path: Path) -> None:
    line = case(
        [
            measurement("load_cycles", [200], method="event_slope"),
            measurement("load_cycles", [100], method="clock64_slope"),
            measurement("load_cycles", [101], method="graph_slope", noise="failed"),
            measurement("load_cycles", [5], method="wall", unit="s"),
            measurement("other", [5], method="wall"),
        ],
        benchmark="timer_check",
        params={"residency": "l2"},
    )
    event, graph = model.agreements(load(tmp_path, [line]).rows)
    assert (event.ratio, event.valid, event.level) == (2, True, "l2")
    assert (graph.ratio, graph.valid) == (1.01, False)
