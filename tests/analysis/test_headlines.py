"""The numbers that come first, and the sentences about a chip: from runs small enough to read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from builders import COUNTED_RUN, GPU_RUN, HOST_RUN, case, layout_case, load, load2, measurement
from ladder_run import SINGLE, rung_case, some
from strata.model import Sentence, atlas, plain
from strata.report import headlines, sentences
from strata.run import Run, load_run

L2 = 64 * 2**20


LOAD_TIME = measurement("load_time", [345e-9], unit="s", method="event_slope")


def chase(
    space: str, footprint: int, cycles: float, *, extra: Any = (), **changes: Any
) -> dict[str, Any]:
    """A case of latency_vs_footprint."""
    params = {"space": space, "footprint": footprint, "stride": 128, "cores": "one"}
    found = [measurement("load_cycles", [cycles]), *extra]
    return case(found, benchmark="latency_vs_footprint", params=params, **changes)


def tlb(footprint: int, cycles: float) -> dict[str, Any]:
    """A case of tlb."""
    params = {"allocation": "malloc", "footprint": footprint, "stride": 2 << 20}
    return case([measurement("load_cycles", [cycles])], benchmark="tlb", params=params)


def stream(
    level: str, width: int, rate: float, share: float | None = None, **changes: Any
) -> dict[str, Any]:
    """A case of bandwidth."""
    found = [
        measurement("bandwidth", [rate], unit="B/s", method="event_slope"),
        measurement("bandwidth_per_sm", [rate / 1e12], unit="B/cycle", method="event_slope"),
    ]
    if share:
        found.append(measurement("share_of_limit", [share], unit="1", method="event_slope"))
    params = {"level": level, "operation": changes.pop("operation", "read"), "width": width}
    return case(found, benchmark="bandwidth", params=params, **changes)


def ceiling(kind: str, form: str, rate: float, share: float) -> dict[str, Any]:
    """A case of ceilings."""
    found = [
        measurement("flops_per_second", [rate], unit="FLOP/s", method="event_slope"),
        measurement("share_of_limit", [share], unit="1", method="event_slope"),
    ]
    params = {"arithmetic": kind, "form": form}
    return case(found, benchmark="ceilings", params=params)


def copy(
    direction: str, memory: str, rate: float, *, pieces: int = 1, method: str = "wall"
) -> dict[str, Any]:
    """A case of transfers."""
    found = [measurement("bandwidth", [rate], unit="B/s", method=method)]
    params = {"direction": direction, "memory": memory, "bytes": 1 << 28, "pieces": pieces}
    return case(found, benchmark="transfers", params=params)


PARTITION = case(
    [
        measurement("partitions", [2], unit="1", method="split"),
        measurement("near_cycles", [300], method="split"),
        measurement("far_cycles", [500], method="split"),
        measurement("near_load_cycles", [290], method="single_loads"),
        measurement("far_load_cycles", [488], method="single_loads"),
    ],
    benchmark="l2_partition",
)

CHIP = [
    chase("global_ca", 4096, 32),
    chase("global_ca", 8192, 33),
    chase("global_ca", 1 << 24, 280),
    chase("shared", 4096, 23),
    chase("global_cg", 4096, 270),
    chase("global_cg", 1 << 20, 281),
    chase("global_cg", L2, 500),
    chase("global_cg", 2 * L2, 670, extra=[LOAD_TIME]),
    chase("global_cg", 4 * L2, 690, extra=[LOAD_TIME]),
    chase("global_cg", 8 * L2, 710, extra=[LOAD_TIME]),
    chase("global_cg", 32 * L2, 900),  # beyond the reach of the TLB
    *(tlb(size * L2, 280 if size <= 16 else 500) for size in (2, 4, 8, 16, 64)),
    stream("l1", 4, 20e12, 0.6),
    stream("l1", 16, 33e12, 0.99),
    stream("l2", 16, 9e12),
    stream("dram", 16, 4.7e12, 0.98),
    ceiling("fp32", "steady", 60e12, 0.9),
    ceiling("fp32", "square", 66e12, 0.99),
    ceiling("fp64", "steady", 33e12, 1.0),
    PARTITION,
    copy("to_device", "pinned", 55e9),
    copy("to_host", "pinned", 54e9),
    copy("to_device", "pageable", 9e9),
]


@pytest.fixture
def chip(tmp_path: Path) -> Run:
    """A chip with a level or two of everything."""
    return load(tmp_path, CHIP, device__l2_bytes=L2)


def words(run: Run) -> list[str]:
    return [plain(one).replace("\u00a0", " ") for one in sentences.sentences(run)]


GATE = [("level", "failed", "from elsewhere")]
LEVELS = {
    "the middle of what a level alone serves": (
        {"global_ca": {4096: 32, 8192: 33, 1 << 24: 280}, "shared": {4096: 23},
         "global_cg": {4096: 270, 1 << 20: 281, L2: 500, 2 * L2: 670, 4 * L2: 690, 8 * L2: 710,
                       32 * L2: 900}},
        {times * L2: 280 if times <= 16 else 500 for times in (2, 4, 8, 16, 64)},
        {"": {"shared": 23, "l1": 32, "l2": 281, "dram": 690}},
    ),
    "no knee: memory is up to sixteen times L2": (
        {"global_cg": {3 * L2 // 2: 500, 2 * L2: 670, 16 * L2: 690, 17 * L2: 900, 18 * L2: 900}},
        {}, {"global_cg": {"dram": 670}},
    ),
    "memory is up to the reach of the TLB": (
        {"global_cg": {times * L2: 100 * times for times in (2, 4, 8, 12, 16)}},
        {times * L2: 280 if times <= 8 else 500 for times in (1, 2, 4, 8, 16, 32)},
        {"global_cg": {"dram": 400}},
    ),
    "each kind of load has its own latencies": (
        {"global_ca": {4 * L2: 695, 4096: 32}, "global_cg": {4 * L2: 690, 4096: 280}},
        {}, {"global_ca": {"l1": 32, "dram": 695}, "global_cg": {"dram": 690}},
    ),
    "nothing near the edge of a level": (
        {"global_ca": {4096: 32, 1 << 16: 40, 1 << 17: 41},
         "global_cg": {4096: 100, 8192: 101, 1 << 20: 281, L2 // 2: 400, L2 * 3 // 4: 401}},
        {}, {"": {"l1": 32, "l2": 281}},
    ),
}  # fmt: skip
"""Chains by load and footprint, pages by footprint, and the latency of each level by load."""


@pytest.mark.parametrize(("walks", "pages", "expected"), LEVELS.values(), ids=LEVELS)
def test_a_level_is_what_it_alone_serves(
    tmp_path: Path, walks: dict[str, dict[int, float]], pages: dict[int, float], expected: Any
) -> None:
    lines = [chase(space, *one) for space in walks for one in walks[space].items()]
    lines += [tlb(*one) for one in pages.items()]
    run = load(tmp_path, lines, device__l2_bytes=L2)
    assert {
        space: {level: one.row.value for level, one in atlas.latencies(run, space).items()}
        for space in expected
    } == expected


@pytest.mark.parametrize(
    ("l3_bytes", "cycles", "expected"),
    [
        (1 << 25, {8192: 4, 1 << 18: 12, 1 << 22: 60, 1 << 27: 300, 1 << 28: 301},
         {"l1": 4, "l2": 12, "l3": 60, "dram": 300}),
        # Four times L2.
        (4 << 20, {1 << 20: 40, 2 << 20: 60, 4 << 20: 90, 8 << 20: 300}, {"l3": 60, "dram": 300}),
    ],
)  # fmt: skip
def test_a_cpu_has_its_caches(
    tmp_path: Path, l3_bytes: int, cycles: dict[int, float], expected: dict[str, float]
) -> None:
    sizes = {"l1d_bytes": 32768, "l2_bytes": 1 << 20, "l3_bytes": l3_bytes}
    facts = {f"device__{name}": size for name, size in sizes.items()}
    lines = [chase("memory", *one, backend="host") for one in cycles.items()]
    found = atlas.latencies(load(tmp_path, lines, backend="host", **facts))
    assert {level: one.row.value for level, one in found.items()} == expected


def test_an_invalid_row_several_cores_or_an_unknown_size_give_no_latency(tmp_path: Path) -> None:
    several = chase("shared", 4096, 9)
    several["params"]["cores"] = "several"
    several["case"] = several["case"].replace("cores=one", "cores=several")
    lines = [chase("shared", 4096, 1, gates=GATE), several, chase("global_ca", 4096, 32)]
    assert list(atlas.latencies(load(tmp_path / "a", lines))) == ["l1"]
    lines = [chase("global_cg", 1 << 30, 690), chase("global_cg", 1 << 20, 280)]
    assert not atlas.latencies(load(tmp_path / "b", lines))


def test_what_is_no_read_no_measurement_or_no_whole_copy_is_not_used(tmp_path: Path) -> None:
    model = ceiling("fp32", "model", 9e13, 1.0)
    for one in model["measurements"]:
        one["provenance"] = "modelled"
    lines = [
        stream("dram", 16, 4e12),
        stream("dram", 16, 5e12, operation="write"),
        ceiling("fp32", "steady", 6e13, 0.9),
        model,
        copy("to_device", "pinned", 55e9),
        copy("to_device", "pinned", 99e9, pieces=8),
        copy("to_device", "mapped", 99e9, method="event"),
    ]
    run = load(tmp_path, lines)
    assert atlas.bandwidths(run)["dram"].row.value == 4e12
    assert atlas.ceilings(run)["fp32"].row.value == 6e13
    assert {key: row.value for key, row in atlas.transfers(run).items()} == {
        ("to_device", "pinned"): 55e9
    }


IN_WORDS = """\
Latency of a dependent load: shared 23.00 cycles, L1 32.00 cycles, L2 281.0 cycles and DRAM 690.0 \
cycles (345 ns), chains of 128 MiB to 512 MiB.
Read bandwidth at most: L1 33.0 TB/s (33.00 B/cycle per SM, 99.0 % of 128), L2 9.00 TB/s (9.00 \
B/cycle per SM) and DRAM 4.70 TB/s (98.0 % of the pin bandwidth).
Arithmetic: fp32 66.0 TFLOP/s for x·x − c (99.0 %) and fp64 33.0 TFLOP/s with operands that stay \
(100.0 %); in brackets the share of the limit by lanes and clock.
L2 is cut into 2 parts: a load takes 290.0 cycles from the part near its SM and 488.0 cycles from \
the far one, on average 389.0 at first touch.
The TLB reaches 1 GiB: a load that L2 serves takes 280.0 cycles over such a chain, and 500.0 \
cycles over 4 GiB.
Copies between pinned host memory and the device: 55.0 GB/s to the device (256 MiB) and 54.0 GB/s \
to the host (256 MiB); from pageable memory 9.00 GB/s to the device (256 MiB).
"""


def test_a_chip_in_words_whose_numbers_know_their_rows(chip: Run) -> None:
    assert words(chip) == IN_WORDS.splitlines()
    for sentence in sentences.sentences(chip):
        loose = "".join(part for part in sentence if isinstance(part, str))
        for name in ("L1", "L2", "fp32", "fp64", "of 128"):
            loose = loose.replace(name, "")
        assert not any(letter.isdigit() for letter in loose), loose


def test_what_else_is_said_of_an_l2_a_cpu_and_an_empty_run(tmp_path: Path) -> None:
    run = load(tmp_path / "none", [])
    assert words(run) == []
    assert [one.what for one in headlines.headlines(run)] == ["valid timed rows", "cases measured"]
    rows = PARTITION["measurements"]
    whole = case([measurement("partitions", [1], unit="1"), *rows[1:]], benchmark="l2_partition")
    assert words(load(tmp_path / "whole", [whole])) == []
    (sentence,) = words(load(tmp_path / "old", [case(rows[:3], benchmark="l2_partition")]))
    assert sentence.startswith("L2 is cut into 2 parts: an atomic exchange takes 300.0 cycles from")
    memory = [
        measurement(f"{side}_dram_cycles", [cycles], method="single_loads")
        for side, cycles in (("near", 563), ("far", 750))
    ]
    (sentence,) = words(load(tmp_path / "far", [case(rows + memory, benchmark="l2_partition")]))
    assert sentence.endswith(
        "first touch. A load from memory takes 563.0 cycles behind the near part and 750.0 cycles "
        "behind the far one."
    )
    memory[1]["noise"]["verdict"] = "failed"
    (sentence,) = words(load(tmp_path / "one", [case(rows + memory, benchmark="l2_partition")]))
    assert sentence.endswith("far one, on average 389.0 at first touch.")
    run = load(tmp_path / "cpu", [stream("l1", 16, 5e11, backend="host")], backend="host")
    assert words(run) == ["Read bandwidth at most: L1 500 GB/s (0.50 B/cycle per core)."]


def texts(found: Iterable[headlines.Headline]) -> list[tuple[str, str, str]]:
    def words(sentence: Sentence) -> str:
        return plain(sentence).replace("\u00a0", " ")

    return [(one.what, words(one.value), words(one.remark)) for one in found]


def test_the_first_numbers_of_a_chip(chip: Run, tmp_path: Path) -> None:
    assert texts(headlines.headlines(chip)) == [
        ("L1 latency", "32.00 cycles", "shared memory 23.00 cycles"),
        ("L2 latency", "281.0 cycles", "near 290.0, far 488.0, mean 389.0"),
        ("DRAM latency", "690.0 cycles (345 ns)", "chains of 128 MiB to 512 MiB"),
        ("L1 bandwidth, reading", "33.0 TB/s", "33.00 B/cycle per SM"),
        ("L2 bandwidth, reading", "9.00 TB/s", "9.00 B/cycle per SM"),
        ("DRAM bandwidth, reading", "4.70 TB/s", "98.0 % of the pin bandwidth"),
        ("fp32 multiply-adds", "66.0 TFLOP/s", "99.0 % of lanes × clock"),
        ("valid timed rows", "44 of 44 (100.0 %)", "no gate failed"),
        ("cases measured", "27 of 27", "0 skipped, 0 failed"),
    ]
    others = [
        case(
            [measurement("load_cycles", [cycles], method="clock64_slope")],
            benchmark="distributed_shared",
            params={"measure": "latency", "cluster": cluster, "distance": distance, "warps": 1},
        )
        for cluster, distance, cycles in ((2, 1, 192), (8, 0, 33), (8, 4, 205), (8, 1, 193))
    ]
    first, *_ = texts(headlines.headlines(load(tmp_path / "clusters", CHIP + others)))
    assert first[2] == "shared memory 23.00 cycles, another SM's 205.0 cycles"


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_headlines_are_at_most_ten_and_how_far_to_trust_them(folder: Path) -> None:
    found = headlines.headlines(load_run(folder))
    assert [one.trust for one in found] == [False] * (len(found) - 3) + [True] * 3
    assert len(found) <= 13
    table = headlines.table(load_run(folder))
    assert [plain(row[1]) for row in table.rows] == [plain(one.value) for one in found]
    assert found[0].what == "L1 latency, cheapest layout"
    assert [one.what for one in found[-3:]] == [
        "timers, largest disagreement",
        "valid timed rows",
        "cases measured",
    ]


def pair(ratio: float, clock: float, *, noise: str = "passed", n: int = 0) -> dict[str, Any]:
    """A case that two timers timed, at a clock in GHz."""
    found = [
        measurement("load_cycles", [100]),
        measurement("load_cycles", [100 * ratio], method="event_slope"),
        measurement("core_clock", [clock * 1e9], unit="Hz", noise=noise),
    ]
    return case(found, benchmark="timer_check", params={"n": n})


def test_the_eleventh_number_is_left_out(tmp_path: Path) -> None:
    lines = [*CHIP, pair(1.01, 1.9), rung_case("naive", 1e12, SINGLE, layout="aos")]
    lines += [layout_case("soa", 50, bandwidth=2e12), geometry("l1", 217, 256)]
    run = load2(tmp_path / "eleven", lines, device__l2_bytes=L2)
    assert [one.what for one in headlines.headlines(run)][6:] == [
        "cache sizes", "best layout in L1", "fp32 multiply-adds", "n-body interactions",
        "timers, largest disagreement", "valid timed rows", "cases measured",
    ]  # fmt: skip
    lines += [stream("shared", 16, 33e12), stream("l3", 16, 3e12)]
    run = load2(tmp_path / "twelve", lines, device__l2_bytes=L2)
    # core clock and n-body had no place left
    assert headlines.headlines(run)[-4].what == "fp32 multiply-adds"


def geometry(level: str, kib: float, reported: float, *, noise: str = "passed") -> dict[str, Any]:
    """A cache as loads found it, and as it is reported."""
    found = [
        measurement("size", [1024 * kib], unit="B", method="change_point", noise=noise),
        measurement("reported", [1024 * reported], unit="B", method="guide",
                    provenance="reported"),
    ]  # fmt: skip
    return case(found, benchmark="cache_geometry",
                params={"property": f"{level}_size", "carveout": 0})  # fmt: skip


@pytest.mark.parametrize(
    ("noise", "value", "remark"),
    [
        ("passed", "L1 217 KiB, L2 50 MiB", "L2 by the driver; one SM 25 MiB"),
        ("failed", "L1 256 KiB, L2 50 MiB", "L2 by the driver"),
    ],
)
def test_sizes_are_those_that_loads_found_of_an_l2_in_parts_the_whole(
    tmp_path: Path, noise: str, value: str, remark: str
) -> None:
    lines = [geometry("l1", 217, 256, noise=noise), geometry("l2", 25600, 51200, noise=noise)]
    run = load(tmp_path, lines)
    assert texts(headlines.cache_sizes(run)) == [("cache sizes", value, remark)]
    (sentence, *_) = words(run)
    assert ("by latency" in sentence) == (noise == "passed")
    assert "L1 256 KiB reported" in sentence


def test_the_best_layout_of_a_chip_is_that_of_its_farthest_level(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", 100, residency="dram", bandwidth=1e12),
        layout_case("soa", 150, residency="dram", bandwidth=2e12),
        layout_case("soa", 20, residency="l1", bandwidth=9e12),
    ]
    remark = "2.00 TB/s of useful data, 2.00× aos; alone: aos"
    assert texts(headlines.best_layout(load(tmp_path, lines))) == [
        ("best layout in DRAM", "soa", remark)
    ]
    assert texts(headlines.best_layout(load(tmp_path / "none", []))) == []
    (near,) = texts(headlines.best_layout(load(tmp_path / "near", lines[2:])))
    assert near[1:] == ("soa", "9.00 TB/s of useful data; alone: soa; none of DRAM")


def test_the_headline_of_the_ladder_is_the_fastest_valid_rung_of_one_gpu(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SINGLE, layout="aos"),
        rung_case("tiled", 2e12, SINGLE, layout="aos"),
        rung_case("fast_math", 9e12, SINGLE, layout="aos", noise="failed"),
        rung_case("several_gpus", 5e12, SINGLE, layout="soaoas", gpus=2),
    )
    ((what, _, remark),) = texts(headlines.nbody(run))
    assert (what, remark.partition(",")[0]) == ("n-body interactions", "tiled")


def test_the_best_layout_is_that_of_fewest_cycles_and_of_most_bandwidth(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", 100, bandwidth=1e12),
        layout_case("soa", 50, bandwidth=2e12),
        layout_case("aoas", 80, bandwidth=1.5e12),
    ]
    found = texts(headlines.best_layouts(load(tmp_path, lines)))
    assert [(value, remark) for _, value, remark in found] == [
        ("50.00 cycles", "soa, 2.00× aos"),
        ("2.00 TB/s", "soa, 2.00× aos"),
    ]


def test_timers_clocks_and_cases(tmp_path: Path) -> None:
    clocks = [(1.9, "passed"), (1.5, "passed"), (1.8, "passed"), (9.9, "failed")]
    lines = [
        pair(ratio, clock, noise=noise, n=n)
        for n, (ratio, (clock, noise)) in enumerate(zip((1.01, 0.97, 1, 1), clocks, strict=True))
    ]
    lines += [
        case([], params={"n": 5 + n}, status=status, reason="why")
        for n, status in enumerate(("skipped", "skipped", "failed"))
    ]
    run = load(tmp_path / "gpu", lines)
    what, worst = "timers, largest disagreement", "\N{MINUS SIGN}3.00 %"
    assert texts(headlines.timers(run)) == [(what, worst, "1 of 4 pairs beyond 2 %")]
    assert texts(headlines.core_clock(run)) == [("core clock", "1.80 GHz", "1.50 GHz to 1.90 GHz")]
    assert texts(headlines.cases(run)) == [("cases measured", "4 of 7", "2 skipped, 1 failed")]
    # Time stamps are no clock of a core.
    time_stamps = measurement("core_clock", [2.4e9], unit="Hz", method="tsc_over_monotonic")
    additions = measurement("core_clock", [3.2e9], unit="Hz", method="dependent_adds")
    lines = [case([time_stamps], n=1), case([time_stamps, additions], n=2)]
    run = load(tmp_path / "cpu", lines, backend="host")
    assert texts(headlines.core_clock(run)) == [("core clock", "3.20 GHz", "3.20 GHz to 3.20 GHz")]
