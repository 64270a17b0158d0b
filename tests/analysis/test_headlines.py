"""The numbers that come first, and what is said of a chip: from runs small enough to read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from builders import COUNTED_RUN, GPU_RUN, HOST_RUN, case, layout_case, load, load2, measurement
from ladder_run import SINGLE, rung_case, some
from strata.model import Cited, Sentence, atlas, layouts, plain
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


def test_a_level_is_the_middle_of_what_it_alone_serves(chip: Run) -> None:
    found = atlas.latencies(chip)
    rows = {level: one.row for level, one in found.items()}
    assert {level: (row.value, row.count("footprint")) for level, row in rows.items()} == {
        "shared": (23, 4096),
        "l1": (32, 4096),
        "l2": (281, 1 << 20),
        "dram": (690, 4 * L2),
    }
    reach = atlas.tlb_reach(chip)
    assert reach
    assert reach.bytes == 16 * L2


def test_without_a_knee_main_memory_is_up_to_sixteen_times_the_l2(tmp_path: Path) -> None:
    sizes = {1.5: 500, 2: 670, 16: 690, 17: 900, 18: 900}
    lines = [chase("global_cg", int(size * L2), cycles) for size, cycles in sizes.items()]
    run = load(tmp_path, lines, device__l2_bytes=L2)
    assert atlas.tlb_reach(run) is None
    found = atlas.latencies(run)["dram"]
    assert [one.value for one in (found.row, found.first, found.last)] == [670, 670, 690]


def test_other_loads_of_the_same_memory_have_their_own_latency(tmp_path: Path) -> None:
    lines = [chase("global_ca", 4 * L2, 695), chase("global_cg", 4 * L2, 690)]
    lines += [chase("global_cg", 4096, 280), chase("global_ca", 4096, 32)]
    run = load(tmp_path, lines, device__l2_bytes=L2)
    values = {
        space: {level: one.row.value for level, one in atlas.latencies(run, space).items()}
        for space in ("global_ca", "global_cg")
    }
    assert values == {"global_ca": {"l1": 32, "dram": 695}, "global_cg": {"dram": 690}}


def test_memory_is_walked_up_to_the_reach_of_the_tlb(tmp_path: Path) -> None:
    lines = [chase("global_cg", times * L2, 100 * times) for times in (2, 4, 8, 12, 16)]
    lines += [tlb(times * L2, 280 if times <= 8 else 500) for times in (1, 2, 4, 8, 16, 32)]
    found = atlas.latencies(load(tmp_path, lines, device__l2_bytes=L2))
    assert (found["dram"].row.value, found["dram"].last.value) == (400, 800)


@pytest.mark.parametrize(
    ("l3_bytes", "cycles", "expected"),
    [
        (
            1 << 25,
            {8192: 4, 1 << 18: 12, 1 << 22: 60, 1 << 27: 300, 1 << 28: 301},
            {"l1": 4, "l2": 12, "l3": 60, "dram": 300},
        ),
        # Four times L2.
        (4 << 20, {1 << 20: 40, 2 << 20: 60, 4 << 20: 90, 8 << 20: 300}, {"l3": 60, "dram": 300}),
    ],
)
def test_a_cpu_has_its_caches(
    tmp_path: Path, l3_bytes: int, cycles: dict[int, float], expected: dict[str, float]
) -> None:
    sizes = {"l1d_bytes": 32768, "l2_bytes": 1 << 20, "l3_bytes": l3_bytes}
    facts = {f"device__{name}": size for name, size in sizes.items()}
    lines = [chase("memory", *one, backend="host") for one in cycles.items()]
    found = atlas.latencies(load(tmp_path, lines, backend="host", **facts))
    assert {level: one.row.value for level, one in found.items()} == expected


def test_nothing_near_the_edge_of_a_level_or_by_several_cores_stands_for_it(tmp_path: Path) -> None:
    walks = {
        "global_ca": {4096: 32, 1 << 16: 40, 1 << 17: 41},
        "global_cg": {4096: 100, 8192: 101, 1 << 20: 281, L2 // 2: 400, L2 * 3 // 4: 401},
    }
    lines = [chase(space, at, walks[space][at]) for space in walks for at in walks[space]]
    several = chase("shared", 4096, 9)
    several["params"]["cores"] = "several"
    lines.append(several | {"case": several["case"].replace("cores=one", "cores=several")})
    found = atlas.latencies(load(tmp_path, lines, device__l2_bytes=L2))
    assert {level: one.row.value for level, one in found.items()} == {"l1": 32, "l2": 281}


def test_what_is_no_read_no_measurement_or_no_whole_copy_stands_for_nothing(tmp_path: Path) -> None:
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


def test_an_invalid_row_stands_for_nothing(tmp_path: Path) -> None:
    gate = [("level", "failed", "from elsewhere")]
    lines = [chase("shared", 4096, 1, gates=gate), chase("global_ca", 4096, 32)]
    assert list(atlas.latencies(load(tmp_path, lines))) == ["l1"]


def test_a_device_that_does_not_say_its_sizes_has_no_latency_of_main_memory(tmp_path: Path) -> None:
    run = load(tmp_path, [chase("global_cg", 1 << 30, 690), chase("global_cg", 1 << 20, 280)])
    assert not atlas.latencies(run)


def test_the_best_read_of_a_level_stands_for_it_with_what_is_beside_it(chip: Run) -> None:
    found = atlas.bandwidths(chip)
    assert found["l1"].row.value == 33e12
    assert found["l1"].share is not None
    assert found["l1"].share.value == 0.99
    assert found["l2"].share is None
    assert list(found) == ["l1", "l2", "dram"]


IN_WORDS = """\
Latency of a dependent load: shared 23.00 cycles, L1 32.00 cycles, L2 281.0 cycles and DRAM 690.0 \
cycles (345 ns), chains of 128 MiB to 512 MiB.
Read bandwidth at most: L1 33.0 TB/s (33.0 B/cycle per SM, 99 % of 128), L2 9.00 TB/s (9.0 \
B/cycle per SM) and DRAM 4.70 TB/s (98 % of the pin bandwidth).
Arithmetic: fp32 66.0 TFLOP/s for x·x − c (99 %) and fp64 33.0 TFLOP/s with operands that stay \
(100 %); in brackets the share of the limit by lanes and clock.
L2 is cut into 2 parts: a load takes 290.0 cycles from the part near its SM and 488.0 cycles from \
the far one, on average 389.0 at first touch.
The TLB reaches 1 GiB: a load that L2 serves takes 280.0 cycles over such a chain, and 500.0 \
cycles over 4 GiB.
Copies between pinned host memory and the device: 55.0 GB/s to the device (256 MiB) and 54.0 GB/s \
to the host (256 MiB); from pageable memory 9.00 GB/s to the device (256 MiB).
"""


def test_a_chip_in_words(chip: Run) -> None:
    assert words(chip) == IN_WORDS.splitlines()


def test_every_number_of_a_sentence_knows_its_row(chip: Run) -> None:
    for sentence in sentences.sentences(chip):
        loose = "".join(part for part in sentence if isinstance(part, str))
        for name in ("L1", "L2", "fp32", "fp64", "of 128"):
            loose = loose.replace(name, "")
        assert not any(letter.isdigit() for letter in loose), loose


def test_a_run_without_any_of_it_says_nothing(tmp_path: Path) -> None:
    run = load(tmp_path, [])
    assert words(run) == []
    assert [one.what for one in headlines.headlines(run)] == ["valid timed rows", "cases measured"]


def test_an_l2_in_one_piece_is_not_worth_a_sentence(tmp_path: Path) -> None:
    whole = case(
        [measurement("partitions", [1], unit="1"), *PARTITION["measurements"][1:]],
        benchmark="l2_partition",
    )
    assert words(load(tmp_path, [whole])) == []


def test_shared_memory_of_another_sm_stands_beside_that_of_the_own(tmp_path: Path) -> None:
    others = [
        case(
            [measurement("load_cycles", [cycles], method="clock64_slope")],
            benchmark="distributed_shared",
            params={"measure": "latency", "cluster": cluster, "distance": distance, "warps": 1},
        )
        for cluster, distance, cycles in ((2, 1, 192), (8, 0, 33), (8, 4, 205), (8, 1, 193))
    ]
    found = {one.what: one for one in headlines.headlines(load(tmp_path, CHIP + others))}
    remark = plain(found["L1 latency"].remark).replace("\u00a0", " ")
    assert remark == "shared memory 23.00 cycles, another SM's 205.0 cycles"


def test_memory_behind_the_far_part_is_told_beside_it(tmp_path: Path) -> None:
    def told(folder: str, **noise: str) -> str:
        memory = [
            measurement(f"{side}_dram_cycles", [cycles], method="single_loads", noise=noise[side])
            for side, cycles in (("near", 563), ("far", 750))
        ]
        line = case(PARTITION["measurements"] + memory, benchmark="l2_partition")
        (said,) = words(load(tmp_path / folder, [line]))
        return said

    assert told("both", near="passed", far="passed").endswith(
        "488.0 cycles from the far one, on average 389.0 at first touch. A load from memory takes "
        "563.0 cycles behind the near part "
        "and 750.0 cycles behind the far one."
    )
    assert told("one", near="passed", far="failed").endswith(
        "far one, on average 389.0 at first touch."
    )


def test_exchanges_are_not_called_loads(tmp_path: Path) -> None:
    before = case(PARTITION["measurements"][:3], benchmark="l2_partition")
    (said,) = words(load(tmp_path, [before]))
    assert said.startswith("L2 is cut into 2 parts: an atomic exchange takes 300.0 cycles from")


def test_the_first_numbers_of_a_chip(chip: Run) -> None:
    found = {one.what: (plain(one.value), plain(one.remark)) for one in headlines.headlines(chip)}
    shown = {key: tuple(word.replace("\u00a0", " ") for word in two) for key, two in found.items()}
    assert shown == {
        "L1 latency": ("32.00 cycles", "shared memory 23.00 cycles"),
        "L2 latency": ("281.0 cycles", "near 290.0, far 488.0, mean 389.0"),
        "DRAM latency": ("690.0 cycles (345 ns)", "chains of 128 MiB to 512 MiB"),
        "L1 bandwidth, reading": ("33.0 TB/s", "33.0 B/cycle per SM"),
        "L2 bandwidth, reading": ("9.00 TB/s", "9.0 B/cycle per SM"),
        "DRAM bandwidth, reading": ("4.70 TB/s", "98 % of the pin bandwidth"),
        "fp32 multiply-adds": ("66.0 TFLOP/s", "99 % of lanes × clock"),
        "valid timed rows": ("44 of 44 (100.0 %)", "no gate failed"),
        "cases measured": ("27 of 27", "0 skipped, 0 failed"),
    }


def test_shared_memory_stands_alone_where_l1_was_not_walked(tmp_path: Path) -> None:
    run = load(tmp_path, [chase("shared", 4096, 23)])
    assert headlines.headlines(run)[0].what == "shared latency"


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_headlines_are_at_most_ten_and_how_far_to_trust_them(folder: Path) -> None:
    found = headlines.headlines(load_run(folder))
    assert [one.trust for one in found] == [False] * (len(found) - 3) + [True] * 3
    assert len(found) <= 13
    assert found[0].what == "L1 latency, cheapest layout"
    assert [one.what for one in found[-3:]] == [
        "timers, largest disagreement",
        "valid timed rows",
        "cases measured",
    ]


def test_headlines_of_layouts_where_the_chip_was_not_asked() -> None:
    *_, timers, rows, cases = headlines.headlines(load_run(GPU_RUN))
    assert plain(timers.remark) == "1 of 109 pairs beyond 2 %"
    assert plain(rows.value) == "1072 of 1084 (98.9 %)"
    assert plain(cases.remark) == "1 skipped, 1 failed"


def told(found: Iterable[headlines.Headline]) -> list[tuple[str, str, str]]:
    def words(sentence: Sentence) -> str:
        return plain(sentence).replace("\u00a0", " ")

    return [(one.what, words(one.value), words(one.remark)) for one in found]


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
    found = [one.what for one in headlines.headlines(load2(tmp_path, lines, device__l2_bytes=L2))]
    assert found[6:] == [
        "cache sizes", "best layout in L1", "fp32 multiply-adds", "n-body interactions",
        "timers, largest disagreement", "valid timed rows", "cases measured",
    ]  # fmt: skip
    lines.append(stream("shared", 16, 33e12))
    lines.append(stream("l3", 16, 3e12))
    found = [one.what for one in headlines.headlines(load2(tmp_path, lines, device__l2_bytes=L2))]
    assert found[-4:-3] == ["fp32 multiply-adds"]  # core clock and n-body had no place left


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
    assert told(headlines.cache_sizes(run)) == [("cache sizes", value, remark)]
    (said, *_) = words(run)
    assert ("by latency" in said) == (noise == "passed")
    assert "L1 256 KiB reported" in said


def test_the_best_layout_of_a_chip_is_that_of_its_farthest_level(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", 100, residency="dram", bandwidth=1e12),
        layout_case("soa", 150, residency="dram", bandwidth=2e12),
        layout_case("soa", 20, residency="l1", bandwidth=9e12),
    ]
    remark = "2.00 TB/s of useful data, 2.00× aos; alone: aos"
    assert told(headlines.best_layout(load(tmp_path, lines))) == [
        ("best layout in DRAM", "soa", remark)
    ]
    assert told(headlines.best_layout(load(tmp_path / "none", []))) == []
    (near,) = told(headlines.best_layout(load(tmp_path / "near", lines[2:])))
    assert near == (
        "best layout in L1",
        "soa",
        "9.00 TB/s of useful data; alone: soa; none of DRAM",
    )


def answer(tmp_path: Path, benchmark: str, *cases: tuple[dict[str, Any], dict[str, float]]) -> str:
    """What a run of one benchmark says: of each case its axes, and values by quantity."""
    lines = [
        case([measurement(name, [value]) for name, value in values.items()],
             benchmark=benchmark, params=axes)
        for axes, values in cases
    ]  # fmt: skip
    (said,) = words(load(tmp_path, lines))
    return said


def test_an_access_pattern_is_told_at_its_best_and_at_its_worst(tmp_path: Path) -> None:
    def stride(apart: int, **values: float) -> tuple[dict[str, Any], dict[str, float]]:
        return {"width": 4, "stride": apart, "misalignment": 0}, values

    said = answer(
        tmp_path, "coalescing",
        stride(1, sectors_per_request=4, warp_load_cycles=4.5),
        stride(2, sectors_per_request=8, warp_load_cycles=9),
        stride(32, sectors_per_request=32, warp_load_cycles=58),
    )  # fmt: skip
    assert said == (
        "A warp's load of words moves 4 sectors in 4.50 cycles at a stride of 1 and 32 sectors in "
        "58.00 cycles at a stride of 32."
    )


def test_a_bank_conflict_is_told_alone_and_among_others(tmp_path: Path) -> None:
    axes = {"operation": "load", "pattern": "stride", "width": 4}
    said = answer(
        tmp_path, "bank_conflicts",
        ({**axes, "stride": 1}, {"shared_load_latency": 23, "warp_access_cycles": 1}),
        ({**axes, "stride": 32}, {"shared_load_latency": 85, "warp_access_cycles": 32}),
        ({**axes, "operation": "store", "stride": 1}, {"warp_access_cycles": 2}),
    )  # fmt: skip
    assert said.partition("takes ")[2] == (
        "23.00 cycles alone and 1.00 cycles among others at a stride of 1 and 85.00 cycles alone "
        "and 32.00 cycles among others at a stride of 32."
    )


def test_instructions_and_atomics_are_told_by_their_latencies(tmp_path: Path) -> None:
    said = answer(
        tmp_path / "a", "instruction_cost",
        ({"operation": "ffma", "ilp": 4, "warps_per_sm": 32}, {"operation_cycles": 1}),
        ({"operation": "ffma", "ilp": 1, "warps_per_sm": 1}, {"operation_cycles": 4}),
        ({"operation": "dfma", "ilp": 1, "warps_per_sm": 1}, {"operation_cycles": 8}),
    )  # fmt: skip
    assert said == (
        "Latency of a dependent instruction: fp32 multiply-add 4.00 cycles and fp64 multiply-add "
        "8.00 cycles."
    )
    axes = {"operation": "add_int", "returns": "yes", "space": "shared"}
    said = answer(
        tmp_path / "b", "atomics",
        ({**axes, "target": "same"}, {"atomic_latency": 94}),
        ({**axes, "target": "disjoint"}, {"atomic_latency": 32}),
        ({**axes, "returns": "no", "target": "same"}, {"atomic_latency": 1}),
    )  # fmt: skip
    assert said == (
        "Latency of an atomic addition: in shared memory 32.00 cycles on a separate word and "
        "94.00 cycles where all use one word."
    )


def test_the_headline_of_the_ladder_is_the_fastest_valid_rung_of_one_gpu(tmp_path: Path) -> None:
    run = some(
        tmp_path,
        rung_case("naive", 1e12, SINGLE, layout="aos"),
        rung_case("tiled", 2e12, SINGLE, layout="aos"),
        rung_case("fast_math", 9e12, SINGLE, layout="aos", noise="failed"),
        rung_case("several_gpus", 5e12, SINGLE, layout="soaoas", gpus=2),
    )
    ((what, _, remark),) = told(headlines.nbody(run))
    assert (what, remark.partition(",")[0]) == ("n-body interactions", "tiled")


def test_the_best_layout_is_that_of_fewest_cycles_and_of_most_bandwidth(tmp_path: Path) -> None:
    lines = [
        layout_case("aos", 100, bandwidth=1e12),
        layout_case("soa", 50, bandwidth=2e12),
        layout_case("aoas", 80, bandwidth=1.5e12),
    ]
    found = told(headlines.best_layouts(load(tmp_path, lines)))
    assert [(value, remark) for _, value, remark in found] == [
        ("50.00 cycles", "soa, 2.00× aos"),
        ("2.00 TB/s", "soa, 2.00× aos"),
    ]


def test_timers_are_told_by_the_pair_that_agrees_least_and_clocks_by_the_middle(
    tmp_path: Path,
) -> None:
    clocks = [(1.9, "passed"), (1.5, "passed"), (1.8, "passed"), (9.9, "failed")]
    lines = [
        pair(ratio, clock, noise=noise, n=n)
        for n, (ratio, (clock, noise)) in enumerate(zip((1.01, 0.97, 1, 1), clocks, strict=True))
    ]
    run = load(tmp_path, lines)
    what = "timers, largest disagreement"
    worst = "\N{MINUS SIGN}3.00 %"
    assert told(headlines.timers(run)) == [(what, worst, "1 of 4 pairs beyond 2 %")]
    assert told(headlines.core_clock(run)) == [("core clock", "1.80 GHz", "1.50 GHz to 1.90 GHz")]


def test_time_stamps_are_no_clock_of_a_core(tmp_path: Path) -> None:
    time_stamps = measurement("core_clock", [2.4e9], unit="Hz", method="tsc_over_monotonic")
    additions = measurement("core_clock", [3.2e9], unit="Hz", method="dependent_adds")
    lines = [case([time_stamps], n=1), case([time_stamps, additions], n=2)]
    run = load(tmp_path, lines, backend="host")
    assert told(headlines.core_clock(run)) == [("core clock", "3.20 GHz", "3.20 GHz to 3.20 GHz")]


def test_cases_are_told_by_what_became_of_them(tmp_path: Path) -> None:
    fates = ["measured", "skipped", "skipped", "failed"]
    lines = [
        case([measurement()] if fate == "measured" else [], params={"n": n}, status=fate,
             reason="" if fate == "measured" else "why")
        for n, fate in enumerate(fates)
    ]  # fmt: skip
    found = told(headlines.cases(load(tmp_path, lines)))
    assert found == [("cases measured", "1 of 4", "2 skipped, 1 failed")]


def test_a_cpu_reads_bytes_a_cycle_of_each_core(tmp_path: Path) -> None:
    run = load(tmp_path, [stream("l1", 16, 5e11, backend="host")], backend="host")
    assert words(run) == ["Read bandwidth at most: L1 500 GB/s (0.5 B/cycle per core)."]


def test_headlines_are_a_table_whose_numbers_know_their_rows(chip: Run) -> None:
    table = headlines.table(chip)
    assert len(table.rows) == len(headlines.headlines(chip))
    cited = [part for row in table.rows for part in row[1] if isinstance(part, Cited)]
    assert len(cited) == len(table.rows) - 2 + 1  # that of DRAM in seconds too
    assert all(part.row in chip.rows for part in cited)


def test_layout_sentences_follow_those_of_the_chip(tmp_path: Path) -> None:
    lines = [layout_case("aos", 100), layout_case("soa", 50), PARTITION]
    run = load(tmp_path, lines)
    first, *rest = sentences.sentences(run)
    assert plain(first).startswith("L2 is cut into")
    assert tuple(rest) == layouts.sentences(run.rows)
