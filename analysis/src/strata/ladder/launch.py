"""How a rung of n-body cuts its work into blocks, and what that says of SMs and of reads."""

import math

from strata.ladder.rungs import ONCE, Cases, gpus, size
from strata.run import Row

LANES = 32
BODY_BYTES = 16
"""Of a body that pulls: its position and its mass."""
POSITION_BYTES = 12
SECTOR_BYTES = 32


def block_bodies(row: Row, cases: Cases) -> int:
    """Bodies that a block of the case computes the pulls upon; 0 where that is not known."""
    axis = row.count("block_size") or LANES * (row.count("per_thread") or 0)
    return cases.rungs[row.benchmark].bodies_of_block or axis


def blocks_at_once(row: Row, cases: Cases) -> int:
    """Blocks of the launch that does the work, on each GPU; 0 where that is not known.

    The case says so where they hang on the occupancy that a kernel gets. Of `pair_once` in older
    runs they are what was counted, less the harness's own one and those of its first and its last
    kernel (256 bodies each).
    """
    systems, bodies = size(row)
    told = cases.facts[row.case].get("blocks")
    if isinstance(told, int):
        return told
    each = block_bodies(row, cases)
    if not each:
        return 0
    blocks = math.ceil(bodies / each)
    if row.benchmark == ONCE:
        launched = cases.get(row, "launched_blocks")
        others = 1 + systems * 2 * math.ceil(blocks * each / 256)
        return max(0, round(launched.value) - others) if launched else 0
    if cases.rungs[row.benchmark].launch_for_each_system:
        systems = 1
    if row.text("problem") == "galaxies":
        return blocks * math.ceil(systems / gpus(row))
    return systems * math.ceil(bodies / (gpus(row) * each))


def share_at_work(blocks: int, sms: int) -> float:
    """Share of the SMs at work over the time of a launch of equal blocks; 0 without any.

    Blocks are dealt out evenly, and the SMs that have the most of them decide when the launch ends:
    16 blocks on 132 SMs are 0.12, 256 are 256 / (2 x 132) = 0.97.
    """
    return blocks / (sms * math.ceil(blocks / sms)) if blocks and sms else 0


def bytes_used_per_sector(row: Row, cases: Cases) -> float | None:
    """Bytes that threads use of each 32-byte sector that they ask L1 for; None where not known.

    Modelled over counted: a rung reads the 16 bytes of every body that pulls once for each warp or
    each block, as its code says, and each thread the 12 of its own position; the sectors of all
    global loads are counted, those of velocities too, of which a step of `galaxies` has a few.
    """
    sectors, rung = cases.get(row, "l1_load_sectors"), cases.rungs[row.benchmark]
    # A block of known size, but reads that no known number of threads shares: no simple model.
    each = rung.threads_of_read or (0 if rung.bodies_of_block else block_bodies(row, cases))
    if sectors is None or sectors.value <= 0 or not each or rung.name == ONCE:
        return None
    systems, bodies = size(row)
    walked = BODY_BYTES * math.ceil(bodies / each)
    used = systems * bodies * (walked + POSITION_BYTES) / sectors.value
    # More than there is would be another code than the one that is told of here.
    return used if used <= SECTOR_BYTES * (1 + 1e-9) else None
