"""L2 of a GPU: its halves, what one SM and all SMs use of it, and the chains that are half DRAM."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_headlines import PARTITION, chase

from builders import count, counts, load, load2, measurement
from strata.compare import devices
from strata.model.l2 import l2
from strata.run import Row, Run

MIB = 2**20
L2_BYTES = 64 * MIB

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


def test_compare_sets_devices_side_by_side_by_all_their_sms(tmp_path: Path) -> None:
    first, other = chip(tmp_path / "a"), chip(tmp_path / "b")
    alone = [one for one in lines() if "cores=several" not in one["case"]]
    numbers = devices.side_by_side([first, other]).numbers.set_index(["panel", "label", "at"])
    loads = numbers.value["load"]
    assert loads["L2", 0] == 282
    assert ("half L2, half DRAM", 1) in loads
    sizes = (numbers.value["sizes"].xs(0, level="at") / 1024).to_dict()
    assert sizes == pytest.approx(
        {
            "L2, used by one SM, ≥": 28, "L2, used by all SMs, ≥": 32,
            "half L2, half DRAM, from": 40, "half L2, half DRAM, up to": 48,
        }
    )  # fmt: skip
    mean: Any = numbers.xs(("load", "L2, mean of first touches", 0))
    assert (mean.value, mean.row.quantity) == (389, "first_touch_cycles")
    assert "L2, one SM" not in loads
    side = devices.side_by_side([first, chip(tmp_path / "c", alone)])
    loads = side.numbers.set_index(["panel", "label", "at"]).value["load"]
    assert ("L2", 1) not in loads
    assert ("L2, one SM", 0) not in loads
    assert devices.ONE_SM in devices.notes(side)[0]
