"""A run in words: one sentence per result, every number with its row.

Only valid rows are used, and what the run lacks is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from strata.ladder import best, fstat, seeds, steps
from strata.model import atlas, clocks, layouts
from strata.model.l2 import L2, Beyond, l2
from strata.model.names import level_name
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import number, size
from strata.report import answers
from strata.report.attempt import attempt
from strata.run import Row, Run

_KINDS = {"fp16x2": "packed fp16", "bf16x2": "packed bf16", "int8_dp4a": "int8 (dp4a)"}
_FORMS = {
    "alternating": "with operands that change",
    "steady": "with operands that stay",
    "square": "for x·x − c",
    "uniform": "with a factor of all lanes",
}
"""The operands of a multiply-add: the same arithmetic may be slower with others."""
_DIRECTIONS = {"to_device": "to the device", "to_host": "to the host", "both": "both ways at once"}


def sentences(run: Run, notices: list[str] | None = None) -> tuple[Sentence, ...]:
    """All sentences of the run, the chip first; empty without valid rows."""
    return tuple(one for said in by_part(run, notices).values() for one in said)


def by_part(run: Run, notices: list[str] | None = None) -> Mapping[str, list[Sentence]]:
    """The sentences of each of `PARTS`; a part that fails is left out and named."""
    told: dict[str, list[Sentence]] = {}
    for what, say in PARTS.items():
        with attempt(f"What the run shows about {what}", notices):
            told[what] = list(say(run))
    return told


def percent(row: Row) -> Cited:
    """A ratio as a percentage, linked to its row."""
    return Cited(f"{100 * row.value:.0f} %", row)


def against_limit(level: str, best: atlas.Best) -> Sentence:
    """A bandwidth relative to its limit: a share of the pins, or bytes per cycle and core."""
    if level == "dram" and best.share:
        return (percent(best.share), " of the pin bandwidth")
    if best.per_cycle is None:
        return ()
    clock = "B/TSC cycle" if "tsc" in best.per_cycle.unit else "B/cycle"
    core = "core" if best.row.backend == "host" else "SM"
    return (Cited(f"{best.per_cycle.value:.1f} {clock}", best.per_cycle), f" per {core}")


def latency_words(one: atlas.Latency) -> Sentence:
    """In cycles, and in seconds if timed: `667 cycles (337 ns)`."""
    if one.time and not one.over:
        return (cited(one.row), " (", cited(one.time), ")")
    return (cited(one.shown),)


def walked(first: Row, last: Row, start: str = ", ") -> Sentence:
    """The footprints of chains."""
    low, high = (Cited(size(row.count("footprint") or 0), row) for row in (first, last))
    return (start, "chains of ", low, *((" to ", high) if low.text != high.text else ()))


def over_sms(one: atlas.Latency) -> str:
    """The qualifier of a latency that is a median over SMs."""
    return " (median of the SMs)" if one.over else ""


def beside(best: atlas.Best) -> Sentence:
    """The benchmark of a best rate, and a higher rate that only the noise gate rejected."""
    source: Sentence = (f"by {best.source}",) if best.source else ()
    noisy = ("up to ", cited(best.noisy), " in a noisy row") if best.noisy else ()
    return (*source, *((", ",) if source and noisy else ()), *noisy)


def bracketed(*parts: Sentence) -> Sentence:
    """The parts that are not empty, in one pair of brackets."""
    known = [part for part in parts if part]
    commas = (words for part in known for words in ((", ",), part))
    inside = [word for words in commas for word in words][1:]
    return (" (", *inside, ")") if inside else ()


def latency(run: Run) -> Iterator[Sentence]:
    """The latency of a dependent load from each level."""
    parts = [
        (
            f"{level_name(level)} ", *latency_words(one), over_sms(one),
            *(walked(one.first, one.last) if level == "dram" else ()),
        )
        for level, one in atlas.latencies(run).items()
    ]  # fmt: skip
    if parts:
        yield ("Latency of a dependent load: ", *joined(parts), ".")


def bandwidth(run: Run) -> Iterator[Sentence]:
    """The peak read bandwidth of each level, relative to its limit."""
    parts = []
    for level, found in atlas.bandwidths(run).items():
        limit = against_limit(level, found)
        if limit and found.share and level != "dram":
            limit += (", ", percent(found.share), f" of {atlas.L1_BYTES_PER_CYCLE}")
        shown = bracketed(limit, beside(found))
        parts.append((f"{level_name(level)} ", cited(found.row), *shown))
    if parts:
        yield ("Read bandwidth at most: ", *joined(parts), ".")


def arithmetic(run: Run) -> Iterator[Sentence]:
    """The highest rate of each kind of arithmetic, relative to lanes times clock."""
    found = atlas.ceilings(run)
    parts = []
    for kind, rate in found.items():
        row = rate.row
        form = _FORMS.get(row.text("form", ""), "") if row.backend == "cuda" else ""
        part: Sentence = (f"{_KINDS.get(kind, kind)} ", cited(row), f" {form}".rstrip())
        share: Sentence = (percent(rate.share),) if rate.share else ()
        parts.append((*part, *bracketed(share, beside(rate))))
    shared = any(one.share for one in found.values())
    told = "; in brackets the share of the limit by lanes and clock" if shared else ""
    if parts:
        yield ("Arithmetic: ", *joined(parts), f"{told}.")


def l2_loads(run: Run) -> Iterator[Sentence]:
    """The parts of L2, what one SM finds in it, and the region beyond, which is half DRAM."""
    found = l2(run)
    if found and found.parts:
        count, near, far, access, memory = found.parts
        behind: Sentence = ()
        if memory:
            own, other = map(cited, memory)
            behind = (" A load from memory takes ", own, " behind the near part and ", other,
                      " behind the far one.")  # fmt: skip
        yield (
            "L2 is cut into ", Cited(f"{count.value:.0f} parts", count), f": {access} takes ",
            cited(near), " from the part near its SM and ", cited(far), " from the far one",
            *first_touch(found), ".", *behind,
        )  # fmt: skip
    if found and found.load and found.one:
        one, last = found.load.row, found.one.last
        yield (
            "One SM's repeated loads from L2 take ", cited(one), " up to chains of ", _chain(last),
            ", because the part near it keeps copies", *_half_dram(found.beyond), ".",
        )  # fmt: skip


def first_touch(found: L2) -> Sentence:
    """The mean of a near and a far load."""
    if found.parts is None or found.first_touch is None:
        return ()
    return (", on average ", Cited(number(found.first_touch), found.parts.far), " at first touch")


def _half_dram(beyond: Beyond | None) -> Sentence:
    if beyond is None:
        return ()
    share = Cited(f"{100 * beyond.share:.0f} %", beyond.counted)
    return (
        "; ", cited(beyond.row), *walked(beyond.first, beyond.last, " over "),
        ", of whose loads memory serves ", share, " and the far part the rest",
    )  # fmt: skip


def _chain(row: Row) -> Cited:
    return Cited(size(row.count("footprint") or 0), row)


def tlb_reach(run: Run) -> Iterator[Sentence]:
    """The memory that can be accessed before address translation takes longer."""
    if found := atlas.tlb_reach(run):
        row, last = found.row, found.last
        reach = Cited(size(found.bytes), row)
        if row is last:
            yield ("The TLB reaches ", reach, " or more: no longer chain could be measured.")
            return
        yield (
            "The TLB reaches ", reach, ": a load that L2 serves takes ", cited(row),
            " over such a chain, and ", cited(last), " over ",
            Cited(size(last.count("footprint") or 0), last), ".",
        )  # fmt: skip


def transfer(run: Run) -> Iterator[Sentence]:
    """The copy rates to and from host memory."""
    found = atlas.transfers(run)
    pinned = {key: row for key, row in found.items() if key[1] == "pinned"}
    chosen = pinned or found
    slow = {key: row for key, row in found.items() if key[1] == "pageable" and pinned}
    if chosen:
        memories = " and ".join(dict.fromkeys(memory for _, memory in chosen))
        told = f"Copies between {memories} host memory and the device: "
        rest = ("; from pageable memory ", *_directions(slow)) if slow else ()
        yield (told, *_directions(chosen), *rest, ".")


def _directions(found: Mapping[tuple[str, str], Row]) -> Sentence:
    """`55.4 GB/s to the device (256 MiB) and 55.2 GB/s to the host (64 MiB)`."""
    parts: list[Sentence] = []
    for (direction, _), row in found.items():
        words = _DIRECTIONS.get(direction, direction)
        parts.append((cited(row), f" {words} (", Cited(size(row.count("bytes") or 0), row), ")"))
    return joined(parts)


PARTS: Mapping[str, Callable[[Run], Iterable[Sentence]]] = {
    "sizes of caches": answers.cache_sizes,
    "latencies": latency,
    "bandwidths": bandwidth,
    "instructions": answers.instructions,
    "arithmetic": arithmetic,
    "the parts of L2": l2_loads,
    "the reach of the TLB": tlb_reach,
    "coalescing": answers.coalescing,
    "bank conflicts": answers.bank_conflicts,
    "atomics": answers.atomics,
    "transfers": transfer,
    "small copies": fstat.sentences,
    "layouts": lambda run: layouts.sentences(run.of("layout_read")),
    "the papers' kernels": lambda run: seeds.sentences(run.of("layout_read")),
    "rungs": best.sentences,
    "rooflines": answers.rooflines,
    "steps between rungs": steps.sentences,
    "clocks": clocks.sentences,
}
"""What is said, in this order."""
