"""Points, counts, tables, sentences and numbers, on runs small enough to work out by hand."""

from pathlib import Path
from typing import Any

import pytest

from builders import (
    case,
    context2,
    count,
    counts,
    layout_case,
    load,
    load2,
    measurement,
    predicted,
    write_run,
)
from strata import model
from strata.model import counted, layouts, units
from strata.run import load_run


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


def test_spread_of_a_curve_is_percentiles_or_else_the_range(tmp_path: Path) -> None:
    line = layout_case("aos", [9, 10, 12], extra=spread(8, 20)[:2], bandwidth=5, cores="all")
    rows = load(tmp_path, [line]).rows
    (cycles,) = layouts.curves(rows, "warp_read_cycles")
    assert (cycles.low, cycles.high) == (8, 20)
    (without,) = layouts.curves([r for r in rows if "_p" not in r.quantity], "warp_read_cycles")
    assert (without.low, without.high) == (9, 12)


def test_invalid_rows_never_enter_a_comparison(tmp_path: Path) -> None:
    gate = [("result", "failed", "sum differs")]
    lines = [layout_case("aos", 100, gates=gate), layout_case("soa", 50), layout_case("aoas", 40)]
    results = layouts.layout_results(load(tmp_path, lines).rows)
    assert [result.layout for result in results] == ["soa", "aoas"]
    assert {result.latency_factor for result in results} == {None}


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


def test_a_sentence_names_what_was_left_out(tmp_path: Path) -> None:
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


OPEN = ("level", "unverified", "level unverified: not counted yet")
PROVED = ("level", "passed", "100 %")


def traffic(generation: str, layout: str, ratio: float, fields: str = "all") -> dict[str, Any]:
    """A case of the model alone: 896 bytes are used."""
    return case(
        [
            predicted("moved_over_used", ratio, unit="1"),
            predicted("bytes_used_per_read", 896, unit="B"),
            predicted("sectors_per_read", 896 * ratio / 32),
            predicted("requests_per_read", 7, unit="request"),
        ],
        benchmark="layout_traffic",
        params={"generation": generation, "layout": layout, "fields": fields},
    )


def read(
    layout: str,
    sectors: float,
    *,
    expected: float | None = None,
    gates: Any = (PROVED,),
    **params: Any,
) -> list[dict[str, Any]]:
    """A case of layout_read, timed and counted, in L2 unless given otherwise."""
    line = layout_case(layout, **({"residency": "l2"} | params), gates=[OPEN])
    found = [count("sectors_per_read", sectors), count("sectors_per_request", sectors / 7)]
    if expected is not None:
        found.append(predicted("sectors_per_read", expected))
        found.append(predicted("sectors_per_request", expected / 7))
    return [line, counts(line, found, gates=gates)]


# --- bytes moved


def test_counts_of_l2_stand_beside_the_newest_generation(tmp_path: Path) -> None:
    lines = [
        traffic("1.0-1.1", "aos", 8),
        traffic("7.x", "aos", 7),
        *read("aos", 196),
        *read("aos", 197, warps_per_sm=8),
        *read("aos", 210, warps_per_sm=64),
        *read("aos", 9, residency="dram"),
    ]
    rules = counted.moved(load2(tmp_path, lines).rows)
    assert [(m.generation, m.ratio, m.counted) for m in rules] == [
        ("1.0-1.1", 8, False),
        ("7.x", 7, False),
        ("7.x", 197 * 32 / 896, True),
    ]
    assert (rules[-1].low, rules[-1].high) == (7, 7.5)
    assert rules[-1].row.params["warps_per_sm"] == "8"


def test_a_valid_count_comes_before_invalid_ones(tmp_path: Path) -> None:
    wrong = ("model", "failed", "not equal")
    lines = [
        traffic("7.x", "aos", 7),
        *read("aos", 500, gates=[wrong]),
        *read("aos", 196, warps_per_sm=8),
        *read("soa", 30, gates=[wrong]),
        traffic("7.x", "soa", 1),
    ]
    found = {m.layout: m for m in counted.moved(load2(tmp_path, lines).rows) if m.counted}
    assert (found["aos"].high, found["aos"].row.valid) == (7, True)
    assert not found["soa"].row.valid


# --- levels


def test_proof_counts_rows_by_the_gate_of_their_case(tmp_path: Path) -> None:
    lines = [
        *read("aos", 196),
        *read("soa", 28, gates=[("level", "failed", "31 %")]),
        layout_case("aoas", gates=[OPEN]),
        layout_case("soaoas", gates=[("level", "not_applicable", "")]),
        layout_case("aosoa32"),
    ]
    assert counted.proof(load2(tmp_path, lines)) == (
        "Level: 3 of 7 rows proved by counters, 1 level unverified, 3 served by another level "
        "than they claim, or by several."
    )
    assert counted.proof(load(tmp_path / "none", [layout_case()])) == (
        "Level: no row reports which memory level served it."
    )


# --- the model


def test_model_check_counts_gates_and_finds_every_difference(tmp_path: Path) -> None:
    equal, wrong = ("model", "passed", ""), ("model", "failed", "197, not 196")
    lines = [
        *read("aos", 197, expected=196, gates=[wrong]),
        *read("soa", 28, expected=28, gates=[equal]),
        *read("aoas", 64, expected=64, gates=[("model", "failed", "1 request too many")]),
        *read("soaoas", 33, expected=32, gates=[equal]),  # a gate that slept
        *read("aosoa32", 31, expected=32, gates=[("model", "failed", "31, not 32")]),
    ]
    check = counted.model_check(load2(tmp_path, lines))
    assert check.verdicts == {"passed": 2, "failed": 3}
    assert [
        (one.params["layout"], one.quantity, one.value, two.value)
        for one, two in check.differences
        if one.quantity == "sectors_per_read"
    ] == [
        ("aos", "sectors_per_read", 196, 197),
        ("soaoas", "sectors_per_read", 32, 33),
        ("aosoa32", "sectors_per_read", 32, 31),
    ]
    ((case_id, detail),) = check.silent
    assert "layout=aoas" in case_id
    assert detail == "1 request too many"
    assert counted.model_words(check) == (
        "Model: prediction and count agree in 2 of 5 cases; 3 not equal."
    )


def test_a_last_digit_is_no_difference_and_one_sector_in_a_million_is(tmp_path: Path) -> None:
    near = read("aos", 28 * (1 + 1e-15), expected=28)
    far = read("soa", 28.000028, expected=28)
    run = load2(tmp_path, near + far)
    check = counted.model_check(run)
    assert {found.params["layout"] for _, found in check.differences} == {"soa"}
    table = counted.difference_table(check)
    assert table is not None
    assert len(table.rows) == 2


# --- the table of layouts


# --- words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Counted on GX000: 1 quantity (memory) in 3 passes. Counting took 1.50 s, timing"),
        ({"passes": 1, "sets": []}, "1 quantity (raw metrics) in 1 pass."),
        ({"state": "not_asked"}, "Nothing was counted: counters were not requested."),
        (
            {"state": "unavailable", "reason": "held by DCGM", "mend": "dcgmi profile --pause"},
            "Nothing was counted: held by DCGM. To fix: dcgmi profile --pause.",
        ),
        ({"state": "external", "reason": "ncu"}, "the run holds no counts: ncu."),
        ({"state": "external"}, "An external profiler was to count; the run holds no"),
    ],
)
def test_the_state_of_counters_has_its_reason(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    inner = {f"counters__{key}": value for key, value in changes.items()}
    run = load_run(write_run(tmp_path, [layout_case()], header=context2(**inner)))
    assert words in counted.state(run.context.counters).replace("\u00a0", " ")


NB = units.SPACE


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.36e12, "B/s", f"4.36{NB}TB/s"),
        (312e9, "B/s", f"312{NB}GB/s"),
        (999.96e9, "B/s", f"1.00{NB}TB/s"),
        (12.0, "B/s", f"12.0{NB}B/s"),
        (1.98e9, "Hz", f"1.98{NB}GHz"),
        (2.5e9, "1/s", f"2.50{NB}G/s"),
        (12.34e-6, "s", f"12.3{NB}µs"),
        (2.0, "s", f"2.00{NB}s"),
        (61.04, "cycle", f"61.04{NB}cycles"),
        (12345.6, "tsc_cycle", f"12{units.THIN}346{NB}TSC cycles"),
        (0.0, "cycle", f"0{NB}cycles"),
        (7.0, "sector", f"7.00{NB}sector"),
        (7.0, "1", "7.00"),
        (0.99852, "1", "0.9985"),
        (1.0, "1", "1"),
        (-2.5e9, "B/s", f"-2.50{NB}GB/s"),
    ],
)
def test_quantity(value: float, unit: str, text: str) -> None:
    assert units.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (0.99e12, 1.02e12, "B/s", f"0.99–1.02{NB}TB/s"),
        (44.9, 49.1, "cycle", f"44.90–49.10{NB}cycles"),
        (0.9985, 1, "1", "0.9985–1"),
        (2e-10, 4e-10, "s", f"0.20–0.40{NB}ns"),
        (0.0, 0.0, "s", f"0–0{NB}s"),
        (None, None, "s", "–"),
    ],
)
def test_an_interval_has_the_unit_of_its_upper_end(
    low: float | None, high: float | None, unit: str, text: str
) -> None:
    assert units.interval(low, high, unit) == text


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("l2_bytes", 62914560, f"60{NB}MiB"),
        ("sm_clock_hz", 1980000000, f"1.98{NB}GHz"),
        ("globaltimer_step_seconds", 3.2e-08, f"32.0{NB}ns"),
        ("ecc", True, "yes"),
        ("serial", None, "unknown"),
        ("reasons", ["idle", "power"], "idle, power"),
        ("limits", {"max_hz": 2e9}, f"max_hz 2.00{NB}GHz"),
    ],
)
def test_fact_takes_its_unit_from_its_name(key: str, value: object, text: str) -> None:
    assert units.fact(key, value) == text
