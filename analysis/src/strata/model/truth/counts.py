"""Rules for counts: what leaves a level reaches the next, and shares are shares."""

import re
from collections.abc import Iterator

from strata.model.counted import SECTOR_BYTES, SHARES
from strata.model.truth.here import Broken, Here, broken
from strata.run import BOUNDS

BOUND = BOUNDS["level"]
"""Of the sectors that L1 missed, and of a share: as the level gate of the harness has it."""

STRAY_BYTES = 64 * 1024
"""What others read from memory while work is counted (`stray_bytes` in harness/measure)."""

FROM_MEMORY = 0.75
"""Of the bytes that misses of L2 fetch: if the far half of L2 answers some, memory gives half."""

MERGING = ("request_merging",)
"""Benchmarks of which requests are answered as one."""

_NET = re.compile(r"requests and (\d+) sectors counted")
"""The detail of the model gate about the sectors of the work alone."""


def flow(here: Here) -> Iterator[Broken]:
    """What L1 missed reached L2, each sector once.

    L2 merges requests of several SMs for one sector that are close in time: then the SMs received
    more than L2 served. The counts include the launch's own loads (`overhead`); whether those
    reached L2 is not recorded, so the rule assumes what favours the case.
    """
    if here.case.benchmark in MERGING:
        return
    requested, hit = here.value("l1_load_sectors"), here.value("l1_load_hit_sectors")
    reached = here.value("l2_load_sectors")
    if not here.level or requested is None or hit is None or reached is None:
        return
    own = _net_sectors(here)
    if own is None or requested - own >= (missed := requested - hit):
        return
    overhead = requested - own
    if missed - overhead <= BOUND * own:
        return  # L1 served them
    least = (reached - overhead) / missed
    most = reached / (missed - overhead)
    if most < 1 - BOUND or least > 1 + BOUND:
        detail = f"{100 * reached / missed:.1f} % of what missed L1 reached L2"
        yield Broken("flow", f"{detail} (bound {100 * BOUND:g} %)")


def _net_sectors(here: Here) -> float | None:
    """Sectors requested from L1 minus those of an empty launch; None if the run lacks them."""
    overhead, asked = here.case.facts.get("overhead_sectors"), here.value("l1_load_sectors")
    if isinstance(overhead, int) and asked is not None:
        return asked - overhead
    details = (gate.detail for gate in here.case.gates if gate.name == "model")
    net = next(filter(None, map(_NET.search, details)), None)
    return float(net[1]) if net else None


def far_l2(here: Here) -> Iterator[Broken]:
    """Loads that memory served, by the level gate: it delivered what L2 fetched for them.

    The far half of a divided L2 also serves loads, and counts as a miss of the near one. If the
    data fit in L2 as a whole, bytes read by others must not hide the missing ones. A newer harness
    counts what came from behind the far half, and judges that itself.
    """
    if here.around.tells_far_l2:
        return
    missed, share = here.value("l2_missed_sectors_per_load"), here.value("dram_share")
    asked = here.value("l2_load_sectors")
    if here.level != "passed" or not missed or missed < 0.5 or share is None:
        return
    in_l2 = (here.value("footprint_over_l2") or 2) <= 1
    stray = STRAY_BYTES / (asked * SECTOR_BYTES) if in_l2 and asked else 0
    if share - stray < FROM_MEMORY * missed:
        detail = f"memory delivered {100 * share / missed:.0f} % of the bytes that L2 fetched"
        perhaps = ", perhaps to others" if share >= FROM_MEMORY * missed else ""
        yield Broken("level", f"{detail}{perhaps}: the far half of L2 may have delivered the rest")


def shares(here: Here) -> Iterator[Broken]:
    """A counted share is between 0 and its prediction, or 1, within its own uncertainty.

    Memory delivers as many bytes as L2 fetches for its missed sectors, and others read some.
    """
    for name in (*SHARES, "dram_far_share"):
        row = here.first.get(name)
        if row is None or row.provenance != "counted":
            continue
        most, uncertain = _most(here, name), BOUND
        if name == "dram_share" and (asked := here.value("l2_load_sectors")):
            uncertain += STRAY_BYTES / (asked * SECTOR_BYTES)
        if row.valid and not -uncertain <= row.value <= most + uncertain:
            detail = f"{row.value:.4g} is outside 0 to {most:.4g} by more than {uncertain:.2g}"
            yield broken("share", detail, row)


def _most(here: Here, quantity: str) -> float:
    """The maximum of a share: its prediction, or for memory bytes what L2 fetches on misses."""
    if quantity == "dram_share" and not here.around.tells_far_l2:
        per_load = here.value("l2_missed_sectors_per_load")
        if per_load is not None:
            return per_load
        asked, missed = here.value("l2_load_sectors"), here.value("l2_load_miss_sectors")
        return missed / asked if asked and missed is not None else 1.0
    predicted = (r.value for r in here.rows if (r.quantity, r.provenance) == (quantity, "modelled"))
    return next(predicted, 1.0)


RULES = (flow, far_l2, shares)
