"""How an n-body rung divides its work into blocks, and the consequences for SMs and reads."""

import math

from strata.ladder.rungs import ONCE, Cases, gpus, size
from strata.run import Row

LANES = 32
BODY_BYTES = 16
"""Of a body that pulls: its position and its mass."""
POSITION_BYTES = 12
SECTOR_BYTES = 32


def block_bodies(row: Row, cases: Cases) -> int:
    """The number of bodies computed by a block of the case; 0 if unknown."""
    axis = row.count("block_size") or LANES * (row.count("per_thread") or 0)
    return cases.rungs[row.benchmark].bodies_of_block or axis


def blocks_at_once(row: Row, cases: Cases) -> int:
    """Blocks of the main launch on each GPU; 0 if unknown.

    The case reports them if they depend on the kernel's occupancy. For `pair_once` in older runs
    they are the counted blocks, minus one of the harness and those of its first and last kernel
    (256 bodies each).
    """
    systems, bodies = size(row)
    blocks = cases.facts[row.case].get("blocks")
    if isinstance(blocks, int):
        return blocks
    if not (each := block_bodies(row, cases)):
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
    """The share of busy SMs during a launch of equal blocks; 0 without any.

    Blocks are distributed evenly, and the SMs with most of them determine the end of the launch: 16
    blocks on 132 SMs give 0.12, 256 give 256 / (2 x 132) = 0.97.
    """
    return blocks / (sms * math.ceil(blocks / sms)) if blocks and sms else 0


def bytes_used_per_sector(row: Row, cases: Cases) -> float | None:
    """Bytes that threads use of each 32-byte sector requested from L1; None if unknown.

    Modelled over counted: by its code, a rung reads the 16 bytes of every source body once per warp
    or per block, and each thread the 12 bytes of its own position. The sectors of all global loads
    are counted, including the few for velocities in a step of `galaxies`.
    """
    sectors, rung = cases.get(row, "l1_load_sectors"), cases.rungs[row.benchmark]
    # A block of known size, but reads shared by an unknown number of threads: no simple model.
    each = rung.threads_of_read or (0 if rung.bodies_of_block else block_bodies(row, cases))
    if sectors is None or sectors.value <= 0 or not each or rung.name == ONCE:
        return None
    systems, bodies = size(row)
    walked = BODY_BYTES * math.ceil(bodies / each)
    used = systems * bodies * (walked + POSITION_BYTES) / sectors.value
    # More than all would mean that the model describes different code.
    return used if used <= SECTOR_BYTES * (1 + 1e-9) else None
