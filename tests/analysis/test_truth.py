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


def judged_run(folder: Path, *lines: dict[str, Any], **changes: Any) -> Run:
    return judged(load2(folder, lines, **changes))


def reasons(run: Run) -> dict[str, str]:
    """Quantity -> why its row is not valid."""
    return {row.quantity: row.reasons for row in run.rows if not row.valid}


# --- cases, sound and not -------------------------------------------------------------------------


def loads(
    reads: float, hit: float, reached: float, *, extra: Iterable[dict[str, Any]] = (), **more: Any
) -> dict[str, Any]:
    """A case that claims L2, with the requests of its loads to L1 and to L2."""
    counted = [
        count("l1_load_sectors", reads, method="a"),
        count("l1_load_hit_sectors", hit, method="b"),
        count("l2_load_sectors", reached, method="c"),
    ]
    claim = {"gates": PASSED, "params": {"residency": "l2"}, "facts": {"overhead_sectors": 0}}
    return case([measurement(), *counted, *extra], **claim | more)


MODEL = [*PASSED, ("model", "passed", "9 requests and 990 sectors counted, 9 and 990 predicted")]


def hits(share: float) -> list[dict[str, Any]]:
    return [count("l1_hit_share", share, unit="1"), predicted("l1_hit_share", 0.5, unit="1")]


def from_memory(
    share: float, *, over_l2: float = 2.5, reads: float = 1e6, gates: Any = PASSED
) -> dict[str, Any]:
    """A chase all of whose loads L2 missed; each miss fetched two sectors."""
    rows = [
        measurement("load_cycles"),
        predicted("footprint_over_l2", over_l2, unit="1"),
        count("l2_load_sectors", reads, method="c"),
        count("l2_missed_sectors_per_load", 2),
        count("dram_share", share, unit="1"),
    ]
    params = {"footprint": 4096}
    return case(rows, benchmark="latency_vs_footprint", gates=gates, params=params)


FEW = 2048  # of which half is 64 KiB, what others may have read


def read_by_warps(
    cycles: float, *extra: dict[str, Any], gates: Any = (), **params: Any
) -> dict[str, Any]:
    """64 warps of each of two SMs at 1 GHz, a read of 32 lanes every 10 cycles of each SM."""
    timed = [
        measurement(samples=[cycles]),
        measurement("warp_read_time", [cycles * 1e-9], unit="s"),
        measurement("warp_read_cycles_p95", [900]),
        measurement("reads_per_second", [2 * 32 * 1e8], unit="1/s", method="event_slope"),
        measurement("core_clock", [1e9], unit="Hz", method="clock"),
    ]
    place = {"cores": "all", "warps_per_sm": 64, "residency": "l1"} | params
    return case([*timed, *extra], params=place, gates=gates)


CLOCK = measurement("core_clock", [0.999e9, 1e9, 1.001e9], unit="Hz", method="clock")


def rate(
    quantity: str, *samples: float, beside: Iterable[dict[str, Any]] = (), **params: str
) -> dict[str, Any]:
    return case([measurement(quantity, samples, unit="B/s"), CLOCK, *beside], params=params)


WAVES = predicted("wavefronts_per_access", 8, unit="wavefront")
LANES = count("flops_per_second", 1e12, method="lanes_times_clock", provenance="modelled")


def gather(moved: float) -> dict[str, Any]:
    rows = [
        measurement("useful_bandwidth", [1e11], unit="B/s"),
        measurement("sector_bandwidth", [2e11], unit="B/s"),
        count("memory_bytes_per_used_byte", moved, unit="1"),
    ]
    return case(rows, benchmark="stride_gather", params={"level": "dram"})


def line_of(value: float, name: str = "line", benchmark: str = "cache_geometry") -> dict[str, Any]:
    rows = [measurement(name, [value] * 7, unit="B", method="change_point")]
    return case(rows, benchmark=benchmark, params={"property": f"l2_{name}", "carveout": "0"})


SOUND = ""
JUDGED: list[tuple[str, dict[str, Any]]] = [
    ("flow", loads(1000, 100, 700)),
    ("flow", loads(1000, 0, 1011)),
    (SOUND, loads(1000, 0, 991)),
    (SOUND, loads(1000, 0, 1009)),
    (SOUND, loads(1000, 995, 1)),  # from L1: the rest is too little to judge
    (SOUND, loads(1000, 0, 500, gates=[])),  # claims no level
    (SOUND, loads(1000, 0, 500, extra=[count("l2_sectors_per_missed_sector", 0.5, unit="1")])),
    (SOUND, loads(1000, 0, 500, facts={})),  # the loads of the launch itself are unknown
    (SOUND, loads(1000, 0, 900, facts={"overhead_sectors": 100})),  # L2 may have seen none of them
    (SOUND, loads(1000, 0, 700, gates=[*PASSED, ("timer", "failed", "apart")])),  # not valid anyway
    ("flow", loads(1000, 0, 960, facts={}, gates=MODEL)),
    (SOUND, loads(1000, 0, 985, facts={}, gates=MODEL)),
    ("share", loads(1000, 0, 1000, extra=hits(0.52))),
    (SOUND, loads(1000, 0, 1000, extra=hits(0.505))),
    ("level", from_memory(1.08)),  # the far half of L2 is not memory
    ("level", from_memory(2, over_l2=0.9, reads=FEW)),
    (SOUND, from_memory(2, reads=FEW)),
    (SOUND, from_memory(2, over_l2=0.9)),
    *((SOUND, from_memory(share, gates=())) for share in (1.98, 2.012, 0.0)),
    *(("share", from_memory(share, gates=())) for share in (2.02, -0.02)),
    (SOUND, read_by_warps(205, gates=[("little", "unverified", "served first")])),
    *((SOUND, read_by_warps(cycles)) for cycles in (610, 670)),
    ("little", read_by_warps(670, cores="one")),  # the rate is twice what one SM would have
    ("little", read_by_warps(9.4, warps_per_sm=1)),
    (SOUND, read_by_warps(9.4, measurement("warp_read_cycles_slowest", [10.0]), warps_per_sm=1)),
    (SOUND, rate("bandwidth", 255.9e9, level="l1")),
    (SOUND, rate("bandwidth", 256.4e9, level="l1")),  # within the clock's spread
    ("limit", rate("bandwidth", 257e9, level="l1")),
    (SOUND, rate("bandwidth", 255e9, 258e9, 259e9, level="shared")),
    ("limit", rate("bandwidth", 257e9, 258e9, 259e9, level="shared")),
    ("limit", rate("useful_bandwidth", 129e9, residency="l1", cores="one")),
    ("limit", rate("bandwidth_per_sm", 128.5, level="l1")),
    (SOUND, rate("bandwidth_per_sm", 128.5, level="l2")),
    ("limit", rate("bandwidth", 1.01e12, level="dram")),
    (SOUND, rate("bandwidth", 0.99e12, level="dram")),
    ("limit", rate("operation_throughput", 129)),
    ("limit", rate("share_of_limit", 1.004)),
    *((SOUND, rate("share_of_limit", share)) for share in (1.001, 1.0024)),  # clock and timer
    ("limit", rate("warp_access_cycles", 7.9, beside=[WAVES])),
    (SOUND, rate("warp_access_cycles", 8.3, beside=[WAVES])),
    ("limit", rate("flops_per_second", 1.01e12, beside=[LANES])),
    (SOUND, rate("flops_per_second", 0.99e12, beside=[LANES])),
    ("name", gather(1.0)),
    *((SOUND, gather(moved)) for moved in (1.995, 4.0)),
    *(("line", line_of(value, name)) for value, name in ((160, "line"), (48, "sector"))),
    *((SOUND, line_of(value, name)) for value, name in ((128, "line"), (32, "sector"))),
    (SOUND, line_of(160, benchmark="latency")),
]


@pytest.mark.parametrize(("rule", "line"), JUDGED)
def test_a_rule_catches_what_cannot_be_true_and_nothing_else(
    tmp_path: Path, rule: str, line: dict[str, Any]
) -> None:
    run = judged_run(tmp_path, line, device__dram_bytes_per_second_theoretical=1e12)
    assert [one.rule for one in fallen(run)] == ([rule] if rule else [])
    assert bool(run.before) == bool(rule)
    assert judged(run) is run  # a rule reports nothing twice
    if rule in ("share", "limit", "name", "line"):
        assert len(reasons(run)) == 1


# --- what becomes of the rows ---------------------------------------------------------------------


def test_a_broken_flow_fails_all_rows_and_the_level(tmp_path: Path) -> None:
    run = judged_run(tmp_path, loads(1000, 100, 700))
    detail = "re-judged: 77.8 % of what missed L1 reached L2 (bound 1 %)"
    assert {*reasons(run).values()} == {f"flow: {detail}"}
    assert not any(row.valid for row in run.rows)
    gates = {gate.name: (gate.verdict, gate.detail) for gate in run.cases[0].gates}
    assert gates == {"flow": ("failed", detail), "level": ("failed", detail)}
    assert findings(run) == ()
    assert run.table is run.recorded.rows
    assert all(row.valid for row in run.recorded.rows)
    done = strata("validate", run.folder)
    assert done.returncode == 0
    assert "flow           4 rows of 1 cases re-judged: not valid" in done.stdout


def test_a_harness_that_knows_the_far_half_is_believed(tmp_path: Path) -> None:
    newer = {"counters__absent": ["memory.l2_fabric_miss_sectors: this chip has none"]}
    assert judged_run(tmp_path / "of what it fetches", from_memory(1), **newer).before is None
    beyond = judged_run(tmp_path / "more", from_memory(1.02), **newer)
    assert [one.rule for one in fallen(beyond)] == ["share"]


def test_a_median_of_served_warps_gets_a_note(tmp_path: Path) -> None:
    run = judged_run(tmp_path, read_by_warps(205))
    notes = {row.quantity: row.reasons for row in run.rows if row.reasons}
    assert notes.keys() == {"warp_read_cycles", "warp_read_time"}
    assert "it is 32.0 % of those in flight (bound 5 %)" in notes["warp_read_cycles"]
    assert all(row.valid for row in run.rows)
    assert [(gate.name, gate.verdict) for gate in run.cases[0].gates] == [("little", "unverified")]


def test_the_rate_of_time_stamps_as_a_clock_of_a_core_gets_a_note(tmp_path: Path) -> None:
    clocks = [
        measurement("core_clock", [3.2e9], unit="Hz", method="dependent_adds"),
        measurement("core_clock", [2.4e9], unit="Hz", method="tsc_over_monotonic"),
        measurement("tsc_frequency", [2.4e9], unit="Hz", method="tsc_over_monotonic"),
    ]
    run = judged_run(tmp_path, case(clocks))
    note = "name: re-judged: the rate of the time-stamp counter, not the clock of a core"
    assert [(row.valid, row.reasons) for row in run.rows] == [(True, ""), (True, note), (True, "")]


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
    assert fallen(judged_run(tmp_path / "wide", *copies("copy_engine", wide))) == []


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
def test_rows_of_earlier_builds_get_a_note(
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


# --- recorded runs ------------------------------------------------------------------------------

INTERRUPTED = {
    "nvidia-h200-20261128T133242Z-d153f73",
    "nvidia-h200-20261126T082009Z-12579b9", "nvidia-h200-20261126T111648Z-788744a",
    "nvidia-h200-20261126T155605Z-141f7c8",
    "nvidia-h200-20261128T181200Z-1921cfd",
    "nvidia-h200-20261128T181201Z-1921cfd",
    "nvidia-h200-20261129T011536Z-4268110-ed8a",
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
        (line["rule"], int(line["rows"]), int(line["cases"]), line["is_note"] == "True")
        for line in lines
    ]
    assert fallen(run) == known
    assert judged(run) is run
    assert findings(run) == ()
    assert folder.parent.name == run.context.device.slug
    assert run.context.state == ("interrupted" if folder.name in INTERRUPTED else "complete")
