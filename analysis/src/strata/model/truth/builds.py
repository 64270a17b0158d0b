"""Rows of earlier builds that are not what their name promises.

Decided by what a run records: a fact or a method that only later builds record, its launch shape,
or its start. Numbers decide nothing here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from strata.model.truth.here import Broken, Here, broken
from strata.model.truth.rates import little
from strata.run import Row


class Old(NamedTuple):
    """Rows of a benchmark, how to recognise those of earlier builds, and what these are.

    With `says` they stay valid with a note: right numbers of something else than expected.
    """

    benchmark: str
    params: Mapping[str, str]
    quantities: tuple[str, ...]
    is_old: Callable[[Here, Row], bool]
    detail: str
    says: bool = True


def _recomputes_addresses(here: Here, _: Row) -> bool:
    """Builds from 1e4793b on, until they record that they do not.

    One recorded run of an older build is from a later time.
    """
    build = here.around.build.commit
    is_older = here.around.started < "2026-11-26T12:01:43Z" or build.startswith("6b25fb5")
    return ADDRESSES not in here.case.facts and not is_older


def _stores_early(here: Here, row: Row) -> bool:
    """Tiles of so many bytes have eight loads for each thread; smaller ones are as declared."""
    return ADDRESSES not in here.case.facts and (row.count("bytes") or 0) >= EIGHT_LOADS


def _has_turnover(here: Here, row: Row) -> bool:
    """More blocks than are resident: each read one piece of memory and ended."""
    blocks, resident = here.case.facts.get("blocks"), row.count("blocks_per_sm")
    return bool(here.sms and resident and isinstance(blocks, int) and blocks > here.sms * resident)


def _omits_wait(here: Here, row: Row) -> bool:
    """By the clocks of warps, where rate and latency contradict Little's law."""
    verdicts = [gate.verdict for gate in here.case.gates if gate.name == "little"]
    breaks = "unverified" in verdicts or any(little(here))
    return breaks and row.method == "clock64_mean"


ADDRESSES = "addresses_in_registers"
"""A fact of `async_copy` whose timed loops compute no address again and load before they store."""
EIGHT_LOADS = 16384

OLD = (
    Old("async_copy", {"method": "bulk", "measure": "latency"}, ("tile_latency",),
        _recomputes_addresses, "the loop computes the tile's addresses again for each copy",
        says=False),
    Old("async_copy", {"method": "registers", "measure": "bandwidth"},
        ("tile_cycles", "bandwidth", "bandwidth_per_sm"),
        _stores_early, "a thread stores after two or four loads, not after eight"),
    Old("atomics", {"space": "global"}, ("atomic_latency",),
        lambda here, _: "latency_places" not in here.case.facts,
        "of one word, which may be in the near or the far part of L2"),
    Old("bandwidth", {"level": "dram"}, ("bandwidth", "bandwidth_per_sm", "share_of_limit"),
        _has_turnover, "the start and end of blocks is timed, too"),
    Old("layout_read", {"residency": "l1"}, ("warp_read_cycles", "warp_read_time"),
        _omits_wait, "warps' own clocks, which leave out the wait of those served later",
        says=False),
)  # fmt: skip


def builds(here: Here) -> Iterator[Broken]:
    """Rows of `OLD`, unless the case has its note already."""
    case = here.case
    if case.backend != "cuda" or any(gate.name == "name" for gate in case.gates):
        return
    for old in OLD:
        if case.benchmark == old.benchmark and old.params.items() <= case.params.items():
            rows = [r for r in here.rows if r.valid and r.quantity in old.quantities]
            if found := [row for row in rows if old.is_old(here, row)]:
                yield broken("name", old.detail, *found, says=old.says)


RULES = (builds,)
