"""The numbers that come first, and what is said of a chip: from runs small enough to read."""

from pathlib import Path
from typing import Any

import pytest

from builders import COUNTED_RUN, GPU_RUN, HOST_RUN, case, layout_case, load, measurement
from strata.model import Cited, atlas, layouts, plain
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


def stream(level: str, width: int, rate: float, share: float | None = None) -> dict[str, Any]:
    """A case of bandwidth."""
    found = [
        measurement("bandwidth", [rate], unit="B/s", method="event_slope"),
        measurement("bandwidth_per_sm", [rate / 1e12], unit="B/cycle", method="event_slope"),
    ]
    if share:
        found.append(measurement("share_of_limit", [share], unit="1", method="event_slope"))
    params = {"level": level, "operation": "read", "width": width}
    return case(found, benchmark="bandwidth", params=params)


def ceiling(kind: str, form: str, rate: float, share: float) -> dict[str, Any]:
    """A case of ceilings."""
    found = [
        measurement("flops_per_second", [rate], unit="FLOP/s", method="event_slope"),
        measurement("share_of_limit", [share], unit="1", method="event_slope"),
    ]
    params = {"arithmetic": kind, "form": form}
    return case(found, benchmark="ceilings", params=params)


def copy(direction: str, memory: str, rate: float) -> dict[str, Any]:
    """A case of transfers."""
    found = [measurement("bandwidth", [rate], unit="B/s", method="wall")]
    params = {"direction": direction, "memory": memory, "bytes": 1 << 28, "pieces": 1}
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
    assert atlas.tlb_knee(chip) == 16 * L2


def test_without_a_knee_main_memory_is_up_to_sixteen_times_the_l2(tmp_path: Path) -> None:
    sizes = {1.5: 500, 2: 670, 16: 690, 17: 900, 18: 900}
    lines = [chase("global_cg", int(size * L2), cycles) for size, cycles in sizes.items()]
    run = load(tmp_path, lines, device__l2_bytes=L2)
    assert atlas.tlb_knee(run) is None
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


def test_a_cpu_has_its_caches(tmp_path: Path) -> None:
    sizes = {"l1d_bytes": 32768, "l2_bytes": 1 << 20, "l3_bytes": 1 << 25}
    facts = {f"device__{name}": size for name, size in sizes.items()}
    lines = [
        chase("memory", footprint, cycles, backend="host")
        for footprint, cycles in ((8192, 4), (1 << 18, 12), (1 << 22, 60), (1 << 27, 300))
    ]
    found = atlas.latencies(load(tmp_path, lines, backend="host", **facts))
    values = {level: one.row.value for level, one in found.items()}
    assert values == {"l1": 4, "l2": 12, "l3": 60, "dram": 300}


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
Bandwidth of reading: L1 33.0 TB/s (33.0 B a cycle of each SM, 99 % of 128), L2 9.00 TB/s (9.0 B a \
cycle of each SM) and DRAM 4.70 TB/s (98 % of what its pins allow).
Arithmetic: fp32 66.0 TFLOP/s (99 %) and fp64 33.0 TFLOP/s (100 %); in brackets the share of what \
lanes and clock allow.
L2 is cut into 2 parts: a load takes 290.0 cycles from the part near its SM and 488.0 cycles from \
the far one.
Copies between pinned host memory and the device: 55.0 GB/s to the device and 54.0 GB/s to the \
host; from pageable memory 9.00 GB/s to the device.
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
    assert [one.what for one in headlines.headlines(run)] == ["valid rows", "cases measured"]


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


def test_exchanges_are_not_called_loads(tmp_path: Path) -> None:
    before = case(PARTITION["measurements"][:3], benchmark="l2_partition")
    (said,) = words(load(tmp_path, [before]))
    assert said.startswith("L2 is cut into 2 parts: an atomic exchange takes 300.0 cycles from")


def test_the_first_numbers_of_a_chip(chip: Run) -> None:
    found = {one.what: (plain(one.value), plain(one.remark)) for one in headlines.headlines(chip)}
    shown = {key: tuple(word.replace("\u00a0", " ") for word in two) for key, two in found.items()}
    assert shown == {
        "L1 latency": ("32.00 cycles", "shared memory 23.00 cycles"),
        "L2 latency": ("281.0 cycles", "a load: near part 290.0, far part 488.0"),
        "DRAM latency": ("690.0 cycles (345 ns)", "chains of 128 MiB to 512 MiB"),
        "L1 bandwidth, reading": ("33.0 TB/s", "33.0 B a cycle of each SM"),
        "L2 bandwidth, reading": ("9.00 TB/s", "9.0 B a cycle of each SM"),
        "DRAM bandwidth, reading": ("4.70 TB/s", "98 % of what its pins allow"),
        "fp32 multiply-adds": ("66.0 TFLOP/s", "99 % of lanes × clock"),
        "valid rows": ("44 of 44", "no gate failed"),
        "cases measured": ("27 of 27", "0 skipped, 0 failed"),
    }


def test_shared_memory_stands_alone_where_l1_was_not_walked(tmp_path: Path) -> None:
    run = load(tmp_path, [chase("shared", 4096, 23)])
    assert headlines.headlines(run)[0].what == "shared latency"


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_headlines_are_at_most_ten_and_the_cases(folder: Path) -> None:
    found = headlines.headlines(load_run(folder))
    assert len(found) <= headlines.MOST + 1
    assert found[0].what == "L1 latency, cheapest layout"
    assert [one.what for one in found[-3:]] == [
        "timers, largest disagreement",
        "valid rows",
        "cases measured",
    ]


def test_headlines_of_layouts_where_the_chip_was_not_asked() -> None:
    *_, timers, rows, cases = headlines.headlines(load_run(GPU_RUN))
    assert plain(timers.remark) == "1 of 109 pairs beyond 2 %"
    assert plain(rows.value) == "1072 of 1084"
    assert plain(cases.remark) == "1 skipped, 1 failed"


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
