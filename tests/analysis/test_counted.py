"""The counters of runs that are small enough to work out by hand."""

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
    predicted,
    write_run,
)
from strata.model import counted
from strata.run import load_run

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


def test_a_valid_count_stands_before_invalid_ones(tmp_path: Path) -> None:
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


def test_the_net_count_stands_where_the_chip_has_the_quantity_too(tmp_path: Path) -> None:
    line = layout_case("aos", residency="l2", gates=[OPEN])
    gross = count("sectors_per_read", 300, method="l1tex__t_sectors.ratio")
    for place, found in enumerate([[gross, count(value=196)], [count(value=196), gross]]):
        run = load2(tmp_path / f"{place}", [line, counts(line, found), traffic("7.x", "aos", 7)])
        (mark,) = [m for m in counted.moved(run.rows) if m.counted]
        assert mark.ratio == 7


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


def test_shares_need_not_equal_the_prediction_to_the_last_digit(tmp_path: Path) -> None:
    line = layout_case(gates=[OPEN])
    shares = [count("l1_hit_share", 0.999, unit="1"), predicted("l1_hit_share", 1, unit="1")]
    assert counted.model_check(load2(tmp_path, [line, counts(line, shares)])).differences == ()


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
def test_state_says_whether_and_why(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    inner = {f"counters__{key}": value for key, value in changes.items()}
    run = load_run(write_run(tmp_path, [layout_case()], header=context2(**inner)))
    assert words in counted.state(run.context.counters).replace("\u00a0", " ")
