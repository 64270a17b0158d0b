"""The rules that every run is judged by: what they catch, and what they must leave alone."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import DATA, case, count, load2, measurement, predicted, strata
from strata.model.truth import fallen, judged, load_run
from strata.run import Run
from strata.run.validate import findings

RESULTS = Path(__file__).parents[2] / "results"
RECORDED = sorted(path.parent for path in RESULTS.glob("*/*/context.json"))
NEWEST = {path.parent: path for path in RECORDED}.values()
"""Of each device."""
PASSED = [("level", "passed", "as claimed")]


def judged_run(folder: Path, *lines: dict[str, Any], **device: Any) -> Run:
    return judged(load2(folder, lines, **{f"device__{key}": to for key, to in device.items()}))


def reasons(run: Run) -> dict[str, str]:
    """Quantity -> why its row is not valid."""
    return {row.quantity: row.reasons for row in run.rows if not row.valid}


def rules(run: Run) -> list[str]:
    return [one.rule for one in fallen(run)]


# --- what was counted -----------------------------------------------------------------------------


def loads(
    asked: float, hit: float, reached: float, *, extra: Iterable[dict[str, Any]] = (), **more: Any
) -> dict[str, Any]:
    """A case that claims L2, with the requests of its loads to L1 and to L2."""
    counted = [
        count("l1_load_sectors", asked, method="a"),
        count("l1_load_hit_sectors", hit, method="b"),
        count("l2_load_sectors", reached, method="c"),
    ]
    told = {"gates": PASSED, "params": {"residency": "l2"}, "facts": {"overhead_sectors": 0}}
    return case([measurement(), *counted, *extra], **told | more)


def test_loads_that_were_answered_together_break_the_flow(tmp_path: Path) -> None:
    run = judged_run(tmp_path, loads(1000, 100, 700))
    assert rules(run) == ["flow"]
    told = "re-judged: 77.8 % of what missed L1 reached L2 (bound 1 %)"
    assert {*reasons(run).values()} == {f"flow: {told}"}
    assert not any(row.valid for row in run.rows)
    gates = {gate.name: (gate.verdict, gate.detail) for gate in run.cases[0].gates}
    assert gates == {"flow": ("failed", told), "level": ("failed", told)}


def test_more_than_missed_breaks_the_flow_too(tmp_path: Path) -> None:
    assert rules(judged_run(tmp_path, loads(1000, 0, 1011))) == ["flow"]


@pytest.mark.parametrize(
    "line",
    [
        loads(1000, 0, 991),
        loads(1000, 0, 1009),
        loads(1000, 995, 1),  # from L1: the rest is too little to judge
        loads(1000, 0, 500, gates=[]),  # claims no level
        loads(1000, 0, 500, benchmark="request_merging"),  # asks just that
        loads(1000, 0, 500, facts={}),  # the loads of the launch itself are unknown
        loads(1000, 0, 900, facts={"overhead_sectors": 100}),  # L2 may have seen none of those
    ],
)  # fmt: skip
def test_the_flow_is_judged_only_where_it_can_be_told(tmp_path: Path, line: dict[str, Any]) -> None:
    run = judged_run(tmp_path, line)
    assert run.before is None
    assert fallen(run) == []


def test_the_model_gate_says_what_the_launch_itself_loaded(tmp_path: Path) -> None:
    said = [*PASSED, ("model", "passed", "9 requests and 990 sectors counted, 9 and 990 predicted")]
    assert rules(judged_run(tmp_path / "a", loads(1000, 0, 960, facts={}, gates=said))) == ["flow"]
    assert rules(judged_run(tmp_path / "b", loads(1000, 0, 985, facts={}, gates=said))) == []


def from_memory(share: float, *, over_l2: float = 2.5, asked: float = 1e6) -> dict[str, Any]:
    """A chase all of whose loads L2 missed; each miss fetched two sectors."""
    return case(
        [
            measurement("load_cycles"),
            predicted("footprint_over_l2", over_l2, unit="1"),
            count("l2_load_sectors", asked, method="c"),
            count("l2_missed_sectors_per_load", 2),
            count("dram_share", share, unit="1"),
        ],
        benchmark="latency_vs_footprint", gates=PASSED, params={"footprint": 4096},
    )  # fmt: skip


def test_the_far_half_of_l2_is_not_memory(tmp_path: Path) -> None:
    run = judged_run(tmp_path, from_memory(1.08))
    assert rules(run) == ["level"]
    assert "memory delivered 54 % of the bytes that L2 fetched" in reasons(run)["load_cycles"]
    assert [gate.verdict for gate in run.cases[0].gates] == ["failed"]


def test_a_harness_that_tells_the_far_half_is_believed(tmp_path: Path) -> None:
    absent = ["memory.l2_fabric_miss_sectors: this chip has none"]
    newer = {"counters__absent": absent}
    assert judged(load2(tmp_path / "of what it fetches", [from_memory(1)], **newer)).before is None
    beyond = judged(load2(tmp_path / "more", [from_memory(1.02)], **newer))
    assert rules(beyond) == ["share"]


def test_what_others_read_proves_nothing_of_data_that_fit_in_l2(tmp_path: Path) -> None:
    few = 2048  # of which half is 64 KiB, what others may have read
    assert rules(judged_run(tmp_path / "in", from_memory(2, over_l2=0.9, asked=few))) == ["level"]
    assert rules(judged_run(tmp_path / "beyond", from_memory(2, asked=few))) == []
    assert rules(judged_run(tmp_path / "many", from_memory(2, over_l2=0.9))) == []


@pytest.mark.parametrize(
    ("share", "sound"), [(1.98, True), (2.012, True), (2.02, False), (-0.02, False), (0.0, True)]
)
def test_memory_gives_what_l2_fetches(tmp_path: Path, share: float, *, sound: bool) -> None:
    line = from_memory(share) | {"gates": []}
    run = judged_run(tmp_path, line)
    assert rules(run) == ([] if sound else ["share"])
    assert all(row.valid for row in run.rows if row.quantity != "dram_share")


def test_a_share_is_at_most_what_was_predicted(tmp_path: Path) -> None:
    shares = [count("l1_hit_share", 0.52, unit="1"), predicted("l1_hit_share", 0.5, unit="1")]
    run = judged_run(tmp_path, loads(1000, 0, 1000, extra=shares))
    assert reasons(run) == {
        "l1_hit_share": "share: re-judged: 0.52 is outside 0 to 0.5 by more than 0.01"
    }


# --- what was timed -------------------------------------------------------------------------------


def read_by_warps(cycles: float, **params: Any) -> dict[str, Any]:
    """64 warps of each of two SMs at 1 GHz, a read of 32 lanes every 10 cycles of each SM."""
    place = {"cores": "all", "warps_per_sm": 64, "residency": "l1"} | params
    timed = [
        measurement(samples=[cycles]),
        measurement("warp_read_time", [cycles * 1e-9], unit="s"),
        measurement("warp_read_cycles_p95", [900]),
        measurement("reads_per_second", [2 * 32 * 1e8], unit="1/s", method="event_slope"),
        measurement("core_clock", [1e9], unit="Hz", method="clock"),
    ]
    return case(timed, params=place)


def test_a_median_of_served_warps_is_no_latency_and_says_so(tmp_path: Path) -> None:
    run = judged_run(tmp_path, read_by_warps(205))
    said = {row.quantity: row.reasons for row in run.rows if row.reasons}
    assert said.keys() == {"warp_read_cycles", "warp_read_time"}
    assert "it is 32.0 % of those in flight (bound 5 %)" in said["warp_read_cycles"]
    assert all(row.valid for row in run.rows)
    assert [(gate.name, gate.verdict) for gate in run.cases[0].gates] == [("little", "unverified")]
    assert judged(run) is run  # a rule reports nothing twice


def test_the_rate_of_time_stamps_is_no_clock_of_a_core_and_says_so(tmp_path: Path) -> None:
    clocks = [
        measurement("core_clock", [3.2e9], unit="Hz", method="dependent_adds"),
        measurement("core_clock", [2.4e9], unit="Hz", method="tsc_over_monotonic"),
        measurement("tsc_frequency", [2.4e9], unit="Hz", method="tsc_over_monotonic"),
    ]
    run = judged_run(tmp_path, case(clocks))
    assert [row.valid for row in run.rows] == [True, True, True]
    told = "name: re-judged: the rate of the time-stamp counter, not the clock of a core"
    assert [row.reasons for row in run.rows] == ["", told, ""]
    assert judged(run) is run


def test_a_harness_that_asked_for_the_law_is_not_asked_again(tmp_path: Path) -> None:
    said = read_by_warps(205)
    said["gates"] = [{"gate": "little", "verdict": "unverified", "detail": "served first"}]
    assert rules(judged_run(tmp_path, said)) == []


@pytest.mark.parametrize("cycles", [610, 670])
def test_littles_law_holds_within_five_per_cent(tmp_path: Path, cycles: float) -> None:
    assert rules(judged_run(tmp_path, read_by_warps(cycles))) == []
    one = read_by_warps(cycles, cores="one")  # the rate is twice what one SM would have
    assert rules(judged_run(tmp_path / "one", one)) == ["little"]


def test_a_warp_alone_on_its_sm_waits_for_none(tmp_path: Path) -> None:
    slow = read_by_warps(9.4, warps_per_sm=1)
    assert rules(judged_run(tmp_path / "apart", slow)) == ["little"]
    slow["measurements"].append(measurement("warp_read_cycles_slowest", [10.0]))
    assert rules(judged_run(tmp_path / "farthest", slow)) == []


CLOCK = measurement("core_clock", [0.999e9, 1e9, 1.001e9], unit="Hz", method="clock")
PEAK = {"dram_bytes_per_second_theoretical": 1e12}


@pytest.mark.parametrize(
    ("quantity", "unit", "samples", "params", "sound"),
    [
        ("bandwidth", "B/s", [255.9e9], {"level": "l1"}, True),
        ("bandwidth", "B/s", [256.4e9], {"level": "l1"}, True),  # within the clock's spread
        ("bandwidth", "B/s", [257e9], {"level": "l1"}, False),
        ("bandwidth", "B/s", [255e9, 258e9, 259e9], {"level": "shared"}, True),
        ("bandwidth", "B/s", [257e9, 258e9, 259e9], {"level": "shared"}, False),
        ("useful_bandwidth", "B/s", [129e9], {"residency": "l1", "cores": "one"}, False),
        ("bandwidth_per_sm", "B/cycle", [128.5], {"level": "l1"}, False),
        ("bandwidth_per_sm", "B/cycle", [128.5], {"level": "l2"}, True),
        ("bandwidth", "B/s", [1.01e12], {"level": "dram"}, False),
        ("bandwidth", "B/s", [0.99e12], {"level": "dram"}, True),
        ("operation_throughput", "operation/cycle", [129], {}, False),
        ("share_of_limit", "1", [1.004], {}, False),
        ("share_of_limit", "1", [1.001], {}, True),
        ("share_of_limit", "1", [1.0024], {}, True),  # the clock's spread and the timer's steps
    ],
)
def test_nothing_is_beyond_a_physical_limit(
    tmp_path: Path, quantity: str, unit: str, samples: list[float], params: Any, *, sound: bool
) -> None:
    line = case([measurement(quantity, samples, unit=unit), CLOCK], params=params)
    run = judged_run(tmp_path, line, **PEAK)
    assert rules(run) == ([] if sound else ["limit"])
    assert set(reasons(run)) <= {quantity}


def test_an_access_takes_a_cycle_for_each_wavefront(tmp_path: Path) -> None:
    waves = predicted("wavefronts_per_access", 8, unit="wavefront")
    quick = case([measurement("warp_access_cycles", [7.9]), waves, CLOCK])
    assert rules(judged_run(tmp_path, quick)) == ["limit"]
    slow = case([measurement("warp_access_cycles", [8.3]), waves, CLOCK])
    assert rules(judged_run(tmp_path / "slow", slow)) == []


def test_lanes_times_clock_bound_arithmetic(tmp_path: Path) -> None:
    bound = count("flops_per_second", 1e12, method="lanes_times_clock", provenance="modelled")
    for rate, found in ((1.01e12, ["limit"]), (0.99e12, [])):
        line = case([measurement("flops_per_second", [rate], unit="FLOP/s"), bound, CLOCK])
        assert rules(judged_run(tmp_path / f"{rate}", line)) == found


@pytest.mark.parametrize(("moved", "found"), [(1.0, ["name"]), (1.995, []), (4.0, [])])
def test_what_was_asked_of_memory_is_not_what_it_moved(
    tmp_path: Path, moved: float, found: list[str]
) -> None:
    line = case(
        [
            measurement("useful_bandwidth", [1e11], unit="B/s"),
            measurement("sector_bandwidth", [2e11], unit="B/s"),
            count("memory_bytes_per_used_byte", moved, unit="1"),
        ],
        benchmark="stride_gather", params={"level": "dram"},
    )  # fmt: skip
    assert rules(judged_run(tmp_path, line)) == found


def copies(by: str, rates: Mapping[tuple[str, int], float]) -> list[dict[str, Any]]:
    return [
        case(
            [measurement("bandwidth", [rate], unit="B/s", method="wall")],
            benchmark="peer_copy", params={"by": by, "direction": way, "bytes": size},
        )
        for (way, size), rate in rates.items()
    ]  # fmt: skip


def test_directions_that_follow_each_other_are_not_both_at_once(tmp_path: Path) -> None:
    small = {("read", 4): 1e6, ("both", 4): 1e6}  # whose time is that of their start
    found = {("read", 2**30): 4e11, ("write", 2**30): 3.9e11, ("both", 2**30): 4.1e11} | small
    run = judged_run(tmp_path, *copies("copy_engine", found), *copies("kernel", found))
    fell = [row.params for row in run.rows if not row.valid]
    assert fell == [{"by": "copy_engine", "direction": "both", "bytes": f"{2**30}"}]
    assert "both directions move 1.02 times one direction" in reasons(run)["bandwidth"]
    wide = found | {("both", 2**30): 7e11}
    assert rules(judged_run(tmp_path / "wide", *copies("copy_engine", wide))) == []


def found_line(
    value: float, name: str = "line", benchmark: str = "cache_geometry"
) -> dict[str, Any]:
    rows = [measurement(name, [value] * 7, unit="B", method="change_point")]
    return case(rows, benchmark=benchmark, params={"property": f"l2_{name}", "carveout": "0"})


def test_a_line_is_a_power_of_two(tmp_path: Path) -> None:
    run = judged_run(tmp_path, found_line(160))
    assert reasons(run) == {"line": "line: re-judged: a line of 160 B is no power of two"}
    assert rules(judged_run(tmp_path / "sector", found_line(48, "sector"))) == ["line"]
    others = [found_line(128), found_line(32, "sector")]
    for at, one in enumerate((*others, found_line(160, benchmark="latency"))):
        assert rules(judged_run(tmp_path / f"{at}", one)) == []


# --- rows of earlier builds -----------------------------------------------------------------------

FIXED = {"addresses_in_registers": True}
BULK = {"bytes": 4096, "measure": "latency", "method": "bulk"}
REGISTERS = {"bytes": 32768, "measure": "bandwidth", "method": "registers"}
DRAM = {"level": "dram", "blocks_per_sm": 2}
IN_L1 = {"residency": "l1", "cores": "all", "warps_per_sm": 64}
CONTRADICTS = [("little", "unverified", "served first")]


def of_build(
    benchmark: str, quantity: str, params: Mapping[str, Any], facts: Any = (), **more: Any
) -> dict[str, Any]:
    method = more.pop("method", "clock64_slope")
    row = measurement(quantity, method=method)
    return case([row], benchmark=benchmark, params=dict(params), facts=dict(facts), **more)


@pytest.mark.parametrize(
    ("line", "valid", "words"),
    [
        (of_build("async_copy", "tile_latency", BULK), False, "addresses again"),
        (of_build("async_copy", "bandwidth", REGISTERS), True, "not after eight"),
        (of_build("atomics", "atomic_latency", {"space": "global"}), True, "near or the far"),
        (of_build("bandwidth", "bandwidth", DRAM, {"blocks": 5}), True, "start and end of blocks"),
        (
            of_build("layout_read", "warp_read_cycles", IN_L1, gates=CONTRADICTS,
                     method="clock64_mean"),
            False, "those served later",
        ),
    ],
)  # fmt: skip
def test_rows_of_earlier_builds_say_what_they_are(
    tmp_path: Path, line: dict[str, Any], words: str, *, valid: bool
) -> None:
    run = judged(load2(tmp_path, [line], started="2026-11-27T00:00:00Z"))
    (row,) = run.rows
    assert row.valid == valid
    assert "name: re-judged: " in row.reasons
    assert words in row.reasons
    assert judged(run) is run


@pytest.mark.parametrize(
    "line",
    [
        of_build("async_copy", "tile_latency", BULK, FIXED),
        of_build("async_copy", "tile_latency", BULK | {"method": "tensor"}),
        of_build("async_copy", "bandwidth", REGISTERS, FIXED),
        of_build("async_copy", "bandwidth", REGISTERS | {"bytes": 4096}),
        of_build("atomics", "atomic_latency", {"space": "global"}, {"latency_places": 32}),
        of_build("atomics", "atomic_latency", {"space": "shared"}),
        of_build("bandwidth", "bandwidth", DRAM, {"blocks": 4}),
        of_build("bandwidth", "bandwidth", DRAM | {"level": "l2"}, {"blocks": 5}),
        of_build(
            "layout_read", "warp_read_cycles", IN_L1, gates=CONTRADICTS, method="clock64_span"
        ),
        of_build("layout_read", "warp_read_cycles", IN_L1, method="clock64_mean"),
    ],
)
def test_rows_of_later_builds_are_believed(tmp_path: Path, line: dict[str, Any]) -> None:
    run = load2(tmp_path, [line], started="2026-11-27T00:00:00Z")
    assert judged(run) is run


@pytest.mark.parametrize(
    "changes",
    [
        {"started": "2026-11-26T12:00:00Z"},
        {"started": "2026-11-27T00:00:00Z", "strata__commit": "6b25fb5" + 33 * "0"},
    ],
)
def test_bulk_copies_of_builds_before_the_change_are_right(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    run = load2(tmp_path, [of_build("async_copy", "tile_latency", BULK)], **changes)
    assert judged(run) is run


# --- the run around them --------------------------------------------------------------------------


def test_a_row_that_is_not_valid_gains_nothing(tmp_path: Path) -> None:
    gates = [*PASSED, ("timer", "failed", "apart")]
    assert judged_run(tmp_path, loads(1000, 0, 700, gates=gates)).before is None


def test_the_folder_is_still_sound(tmp_path: Path) -> None:
    run = judged_run(tmp_path, loads(1000, 0, 700))
    assert findings(run) == ()
    assert run.table is run.recorded.rows
    assert all(row.valid for row in run.recorded.rows)


def test_validate_counts_what_fell(tmp_path: Path) -> None:
    run = load2(tmp_path, [loads(1000, 0, 700)])
    done = strata("validate", run.folder)
    assert done.returncode == 0
    assert "flow           4 rows of 1 cases re-judged: not valid" in done.stdout


INTERRUPTED = {
    "nvidia-h200-20261128T133242Z-d153f73",
    "nvidia-h200-20261126T082009Z-12579b9", "nvidia-h200-20261126T111648Z-788744a",
    "nvidia-h200-20261126T155605Z-141f7c8",
}  # fmt: skip
"""Recorded runs that were ended before all of their cases were timed and traced."""


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(path, id=path.name[-16:], marks=[pytest.mark.slow] * (path not in NEWEST))
        for path in RECORDED
    ],
)
def test_recorded_runs_keep_their_contract_and_no_valid_row_breaks_a_rule(folder: Path) -> None:
    """How many rows fell by which rule is known; of a run that is not listed, none may."""
    with (DATA / "rejudged.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["run"] == folder.name]
    run = load_run(folder)
    known = [
        (line["rule"], int(line["rows"]), int(line["cases"]), line["says"] == "True")
        for line in lines
    ]
    assert fallen(run) == known
    assert judged(run) is run
    assert findings(run) == ()
    assert folder.parent.name == run.context.device.slug
    assert run.context.state == ("interrupted" if folder.name in INTERRUPTED else "complete")
