"""A run in words: one sentence for each thing that it says, every number with the row behind it.

Only valid rows are told, and what the run lacks is left out.
"""

from collections.abc import Callable, Sequence

from strata import model
from strata.ladder import best, seeds, steps
from strata.model import Cited, Sentence, atlas, level_name
from strata.model.units import quantity, size
from strata.run import Row, Run

_KINDS = {
    "fp16x2": "packed fp16",
    "bf16x2": "packed bf16",
    "int8_dp4a": "int8 (dp4a)",
}
_DIRECTIONS = {"to_device": "to the device", "to_host": "to the host", "both": "both ways at once"}


def sentences(run: Run) -> tuple[Sentence, ...]:
    """Everything that the run says in words, the chip first; empty without valid rows."""
    own = (one(run) for one in PARTS)
    return (
        *(sentence for sentence in own if sentence),
        *model.sentences(run.rows),
        *seeds.sentences(run.rows),
        *best.sentences(run),
        *steps.sentences(run),
    )


def kind_name(kind: str) -> str:
    """A kind of arithmetic as people write it: `fp16x2` is packed fp16."""
    return _KINDS.get(kind, kind)


def cited(row: Row) -> Cited:
    """The value of a row with its unit, linked to the row."""
    return Cited(quantity(row.value, row.unit), row)


def percent(row: Row) -> Cited:
    """A ratio as per cent, linked to its row."""
    return Cited(f"{100 * row.value:.0f} %", row)


def joined(parts: Sequence[Sequence[str | Cited]]) -> list[str | Cited]:
    """`a, b and c`, of pieces of a sentence."""
    result: list[str | Cited] = []
    for place, part in enumerate(parts):
        if place:
            result.append(" and " if place == len(parts) - 1 else ", ")
        result += part
    return result


def latency(run: Run) -> Sentence:
    """What a load costs that waits for the one before it, out of each level."""
    found = atlas.latencies(run)
    if not found:
        return ()
    parts: list[list[str | Cited]] = [
        [f"{level_name(one.level)} ", cited(one.row)] for one in found
    ]
    if found[-1].level == "dram":
        far = found[-1]
        parts[-1] += [" (a chain through ", Cited(size(far.footprint), far.row), ")"]
    return ("Latency of a dependent load: ", *joined(parts), ".")


def bandwidth(run: Run) -> Sentence:
    """What each level gives when it is read as fast as it can be, against its limit."""
    parts: list[list[str | Cited]] = []
    for one in atlas.bandwidths(run):
        part: list[str | Cited] = [f"{level_name(one.level)} ", cited(one.row)]
        if one.share and one.level == "dram":
            part += [" (", percent(one.share), " of what its pins allow)"]
        elif one.per_cycle:
            unit = "core" if one.row.backend == "host" else "SM"
            rate = Cited(f"{one.per_cycle.value:.1f} {_per_cycle(one.per_cycle)}", one.per_cycle)
            part += [" (", rate, f" of each {unit}"]
            if one.share:
                part += [", ", percent(one.share), f" of {atlas.L1_BYTES_PER_CYCLE}"]
            part += [")"]
        parts.append(part)
    return ("Bandwidth of reading: ", *joined(parts), ".") if parts else ()


def _per_cycle(row: Row) -> str:
    return "B a TSC cycle" if "tsc" in row.unit else "B a cycle"


def arithmetic(run: Run) -> Sentence:
    """The highest rate of each kind of arithmetic, against lanes times clock."""
    parts = []
    shared = False
    for one in atlas.ceilings(run):
        part: list[str | Cited] = [f"{kind_name(one.kind)} ", cited(one.row)]
        if one.share:
            part += [" (", percent(one.share), ")"]
            shared = True
        parts.append(part)
    told = "; in brackets the share of what lanes and clock allow" if shared else ""
    return ("Arithmetic: ", *joined(parts), f"{told}.") if parts else ()


def l2_partitions(run: Run) -> Sentence:
    """Into how many parts L2 is cut, and what crossing from one to the other costs."""
    found = atlas.partitions(run)
    if found is None:
        return ()
    return (
        "L2 is cut into ", Cited(f"{found.count.value:.0f} parts", found.count),
        ": a load takes ", cited(found.near), " from the part near its SM and ",
        cited(found.far), " from the far one.",
    )  # fmt: skip


def transfer(run: Run) -> Sentence:
    """How fast the host's memory is copied from and to."""
    found = atlas.transfers(run)
    chosen = [one for one in found if one.memory == "pinned"] or list(found)
    if not chosen:
        return ()
    memories = " and ".join(dict.fromkeys(one.memory for one in chosen))
    slow = [one for one in found if one.memory == "pageable" and one not in chosen]
    rest = ["; from pageable memory ", *_directions(slow)] if slow else []
    told = f"Copies between {memories} host memory and the device: "
    return (told, *_directions(chosen), *rest, ".")


def _directions(found: Sequence[atlas.Transfer]) -> list[str | Cited]:
    """`55.4 GB/s to the device and 55.2 GB/s to the host`."""
    return joined(
        [[cited(one.row), f" {_DIRECTIONS.get(one.direction, one.direction)}"] for one in found]
    )


PARTS: tuple[Callable[[Run], Sentence], ...] = (
    latency,
    bandwidth,
    arithmetic,
    l2_partitions,
    transfer,
)
"""What is said of a chip, in this order."""
