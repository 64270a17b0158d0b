"""L2 of a GPU: its halves, what one SM and all SMs use of it, and the chains that are half DRAM."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_headlines import PARTITION, chase, geometry, told, words
from test_hierarchy import texts

from builders import count, counts, load, load2, measurement, strata
from strata.compare import devices
from strata.model import atlas
from strata.model.hierarchy import hierarchy
from strata.model.l2 import l2
from strata.report import headlines, map_text
from strata.run import Row, Run, load_run

MIB = 2**20
L2_BYTES = 64 * MIB
RESULTS = Path(__file__).parents[2] / "results"
H200 = RESULTS / "nvidia-h200/nvidia-h200-20261126T191502Z-f212fcd"
H100 = RESULTS / "nvidia-h100-80gb-hbm3/nvidia-h100-80gb-hbm3-20261126T184247Z-f212fcd"

CURVE = {1: 280, 4: 280, 8: 280.2, 16: 280, 28: 281, 32: 400, 40: 526, 48: 525, 56: 600, 128: 690}
"""Cycles of one SM by MiB."""
ALL = {8: 282, 16: 282.5, 32: 283, 45: 580, 64: 714}
HITS = {32: 0.4, 40: 0.0, 48: 0.0, 56: 0.0, 128: 0.0}
FAR = {56: 0.3, 128: 0.5}
"""Shares of hits in the near half (1 elsewhere) and of memory behind the far one (0 elsewhere)."""


def counted(line: dict[str, Any], mib: int, memory: float) -> dict[str, Any]:
    """The counts of a chain of one SM, with bytes from memory for each sector."""
    return counts(
        line,
        [
            count("l2_hit_share", HITS.get(mib, 1.0), unit="1"),
            count("dram_far_share", FAR.get(mib, 0.0), unit="1"),
            count("dram_read_bytes", 1000 * memory, unit="B"),
            count("l2_load_sectors", 1000),
        ],
    )


def several(mib: int, cycles: float) -> dict[str, Any]:
    clock = measurement("core_clock", [2e9], unit="Hz", method="clock64_over_globaltimer")
    line = chase("global_cg", mib * MIB, cycles, extra=[clock])
    line["params"]["cores"] = "several"
    return line | {"case": line["case"].replace("cores=one", "cores=several")}


def lines(half: float = 32.0) -> list[dict[str, Any]]:
    """A chip; `half` are the bytes from memory for each sector of the chains beyond."""
    one = {mib: chase("global_cg", mib * MIB, cycles) for mib, cycles in CURVE.items()}
    memory = {mib: 64.0 if mib == 128 else half if mib in (40, 48) else 1.0 for mib in CURVE}
    counts = [counted(line, mib, memory[mib]) for mib, line in one.items()]
    return [*one.values(), *(several(*at) for at in ALL.items()), PARTITION, *counts]


def chip(folder: Path, found: Sequence[dict[str, Any]] | None = None) -> Run:
    return load2(folder, lines() if found is None else found, device__l2_bytes=L2_BYTES)


def mib(row: Row | None) -> float:
    assert row
    return (row.count("footprint") or 0) / MIB


def test_l2_is_the_median_of_the_sms_and_has_its_ends(tmp_path: Path) -> None:
    found = l2(chip(tmp_path))
    assert found
    assert found.load
    assert found.one
    assert found.all
    assert found.load.over
    assert (found.load.row.value, found.load.shown.value) == (280, 282)
    assert (mib(found.one.last), mib(found.one.next)) == (28, 32)
    assert (mib(found.all.last), mib(found.all.next)) == (32, 45)
    assert found.first_touch == (290 + 488) / 2


def test_chains_that_are_half_dram_are_those_that_counters_prove(tmp_path: Path) -> None:
    found = l2(chip(tmp_path / "half"))
    assert found
    assert found.beyond
    assert (mib(found.beyond.first), mib(found.beyond.last)) == (40, 48)
    assert found.beyond.row.value == 525  # the lower one of two in the middle
    assert found.beyond.share == pytest.approx(0.5)
    for name, bytes_ in (("none", 2.0), ("all", 62.0)):
        other = l2(chip(tmp_path / name, lines(bytes_)))
        assert other
        assert other.beyond is None
    uncounted = l2(
        chip(tmp_path / "uncounted", [one for one in lines() if one.get("kind") != "counts"])
    )
    assert uncounted
    assert uncounted.beyond is None
    assert uncounted.one


def test_a_coarse_scan_bounds_no_size(tmp_path: Path) -> None:
    coarse = [chase("global_cg", at * MIB, CURVE[at]) for at in (1, 8, 40)]
    found = l2(load(tmp_path, coarse, device__l2_bytes=L2_BYTES))
    assert found
    assert found.load
    assert found.one is None


def test_nothing_that_is_half_dram_is_called_l2(tmp_path: Path) -> None:
    run = chip(tmp_path)
    latency, *_ = (one for one in told(headlines.headlines(run)) if one[0] == "L2 latency")
    assert latency[1] == "282.0 cycles"
    assert latency[2].endswith("near 290.0, far 488.0, mean 389.0")
    text = "\n".join(words(run))
    assert "L2 282.0 cycles (median of the SMs)" in text
    assert (
        "One SM's repeated loads from L2 take 280.0 cycles up to chains of 28 MiB, because the "
        "part near it keeps copies; 525.0 cycles over chains of 40 MiB to 48 MiB, of whose loads "
        "memory serves 50 % and the far part the rest."
    ) in text
    assert (
        "≥ 28 MiB of L2 used by one SM and ≥ 32 MiB used by all SMs (45 MiB no longer fit)" in text
    )


def test_the_map_has_each_size_of_l2_under_its_name(tmp_path: Path) -> None:
    run = chip(tmp_path, [*lines(), geometry("l2", 27 * 1024, 64 * 1024)])
    found = hierarchy(run)
    shown = texts(found, "l2")
    assert shown["size"] == "64 MiB"
    assert shown["one_sm"] == "27 MiB"
    assert shown["all_sms"] == "≥ 32 MiB"
    assert (shown["cycles"], shown["time"]) == ("282.0 cycles", "≈ 141 ns")
    assert shown["first_touch"] == "389.0 cycles"
    dram = texts(found, "dram")
    assert dram["half_l2"] == "525.0 cycles"
    assert (dram["half_first"], dram["half_last"]) == ("40 MiB", "48 MiB")
    boxes = map_text.text([found]).splitlines()
    (line,) = (line for line in boxes if "half from L2" in line)
    assert "525.0" in line.split()
    for name, size in (
        ("used by one SM", "27\u00a0MiB"),
        ("used by all SMs", "≥\u00a032\u00a0MiB"),
        ("mean, first touch", "389.0"),
        ("half L2, from", "40\u00a0MiB"),
        ("half L2, up to", "48\u00a0MiB"),
    ):
        (line,) = (line for line in boxes if name in line)
        assert size in line


def test_compare_sets_devices_side_by_side_by_all_their_sms(tmp_path: Path) -> None:
    first, other = chip(tmp_path / "a"), chip(tmp_path / "b")
    alone = [one for one in lines() if "cores=several" not in one["case"]]
    groups = devices.side_by_side([first, other]).groups
    load_of = dict(groups[0].lines)
    assert load_of["L2"][0]
    assert load_of["L2"][0].value == 282
    assert load_of["half L2, half DRAM"][1]
    sizes = next(dict(group.lines) for group in groups if group.panel.name == "sizes")
    shown = {label: one.value / 1024 for label, (one, _) in sizes.items() if one}
    assert shown == pytest.approx(
        {
            "L2, used by one SM, ≥": 28, "L2, used by all SMs, ≥": 32,
            "half L2, half DRAM, from": 40, "half L2, half DRAM, up to": 48,
        }
    )  # fmt: skip
    mean = load_of["L2, mean of first touches"][0]
    assert mean
    assert mean.row
    assert (mean.value, mean.row.quantity) == (389, "first_touch_cycles")
    assert "L2, one SM" not in load_of
    side = devices.side_by_side([first, chip(tmp_path / "c", alone)])
    load_of = dict(side.groups[0].lines)
    assert load_of["L2"][1] is None
    assert load_of["L2, one SM"][0] is None
    assert devices.ONE_SM in devices.notes(side)[0]


def test_json_has_every_number_of_l2(tmp_path: Path) -> None:
    found = headlines.as_data(chip(tmp_path))["l2"]
    assert isinstance(found, dict)
    assert {name: one["value"] for name, one in found.items() if "value" in one} == {
        "near": 290, "far": 488, "one_sm": 280, "median_of_sms": 282, "first_touch": 389,
        "half_dram": 525,
    }  # fmt: skip
    assert found["one_sm_plateau"] == {"last_bytes": 28 * MIB, "next_bytes": 32 * MIB}
    assert found["all_sms_plateau"] == {"last_bytes": 32 * MIB, "next_bytes": 45 * MIB}
    half = found["half_dram"]
    assert (half["first_bytes"], half["last_bytes"]) == (40 * MIB, 48 * MIB)
    assert half["memory_share"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("folder", "one", "every", "latency", "beyond"),
    [(H200, 26.9, 32, 281.8, 524.1), (H100, 22.6, 22.6, 282.6, 527.2)],
)
def test_l2_of_the_recorded_chips(
    folder: Path, one: float, every: float, latency: float, beyond: float
) -> None:
    run = load_run(folder)
    found = l2(run)
    assert found
    assert found.load
    assert found.one
    assert found.all
    assert found.beyond
    assert mib(found.one.last) == pytest.approx(one, abs=0.1)
    assert mib(found.all.last) == pytest.approx(every, abs=0.1)
    assert found.load.shown.value == pytest.approx(latency, abs=0.1)
    assert found.beyond.row.value == pytest.approx(beyond, abs=0.1)
    assert 0.48 < found.beyond.share < 0.53
    assert found.first_touch == pytest.approx(363, abs=1)
    assert atlas.bandwidths(run)["l2"].source in ("layout_read", "async_copy")


def test_notes_belong_to_the_map(tmp_path: Path) -> None:
    done = strata("summary", "--notes", chip(tmp_path).folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--notes without --map" in done.stderr
    done = strata("summary", "--json", chip(tmp_path).folder)
    assert set(json.loads(done.stdout)["l2"]) >= {"near", "far", "half_dram"}
