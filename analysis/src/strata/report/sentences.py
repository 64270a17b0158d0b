"""A run in words: one sentence per result, every number with its row.

Only valid rows are used, and what the run lacks is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from strata.ladder import best, fstat, seeds, steps
from strata.model import atlas, clocks, layouts
from strata.model.cases import by_case
from strata.model.l2 import l2, used
from strata.model.names import level_name
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import number, size
from strata.report.attempt import attempt
from strata.roofline.verdicts import entries, points_of
from strata.run import Row, Run

_INSTRUCTIONS = {
    "ffma": "fp32 multiply-add",
    "dfma": "fp64 multiply-add",
    "iadd3": "int32 addition",
    "rsqrt_approx": "reciprocal square root",
}
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
    return tuple(chain.from_iterable(by_part(run, notices).values()))


def by_part(run: Run, notices: list[str] | None = None) -> Mapping[str, list[Sentence]]:
    """The sentences of each of `PARTS`; a part that fails is left out and named."""
    parts: dict[str, list[Sentence]] = {}
    for what, say in PARTS.items():
        with attempt(f"What the run shows about {what}", notices):
            parts[what] = list(say(run))
    return parts


# --- parts of sentences ---------------------------------------------------------------------------


def percent(row: Row) -> Cited:
    """A ratio as a percentage, linked to its row."""
    return Cited(f"{100 * row.value:.0f} %", row)


def size_of(row: Row) -> Cited:
    """A row of bytes as a size."""
    return Cited(size(round(row.value)), row)


def _chain(row: Row) -> Cited:
    """The footprint of a chain."""
    return Cited(size(row.count("footprint") or 0), row)


def walked(first: Row, last: Row, start: str = ", ") -> Sentence:
    """The footprints of chains."""
    low, high = _chain(first), _chain(last)
    return (start, "chains of ", low, *((" to ", high) if low.text != high.text else ()))


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


def with_commas(*parts: Sentence) -> Sentence:
    """The parts that are not empty, with commas between them."""
    return tuple(chain.from_iterable((", ", *part) for part in parts if part))[1:]


def beside(best: atlas.Best) -> Sentence:
    """The benchmark of a best rate, and a higher rate that only the noise gate rejected."""
    source: Sentence = (f"by {best.source}",) if best.source else ()
    noisy = ("up to ", cited(best.noisy), " in a noisy row") if best.noisy else ()
    return with_commas(source, noisy)


def _bracketed(*parts: Sentence) -> Sentence:
    inside = with_commas(*parts)
    return (" (", *inside, ")") if inside else ()


def _listed(start: str, parts: Sequence[Sentence], end: str = ".") -> Iterator[Sentence]:
    """A sentence that lists its parts; none without any."""
    if parts:
        yield (start, *joined(parts), end)


def _found(run: Run, benchmark: str, quantity: str, **axes: str) -> Row | None:
    """The first valid row of a quantity with these axis values, preferably timed."""
    for case in by_case(run.of(benchmark)):
        if all(case.text(axis, value) == value for axis, value in axes.items()):
            row = case.timed(quantity) or case.of(quantity, "counted") or case.row(quantity)
            if row and row.valid:
                return row
    return None


# --- caches and their loads -----------------------------------------------------------------------


def sizes(run: Run) -> dict[str, tuple[Row | None, Row | None]]:
    """The largest found and reported size of each known cache."""
    rows = {level: atlas.geometry(run, f"{level}_size") for level in ("l1", "l2")}
    both = {level: (of.get("size"), of.get("reported")) for level, of in rows.items()}
    return {level: found for level, found in both.items() if any(found)}


def l2_sizes(run: Run) -> list[Sentence]:
    """What one SM and all SMs use of L2, each under its name; empty on a CPU."""
    seen, found, parts = atlas.geometry(run, "l2_size").get("size"), l2(run), list[Sentence]()
    if run.context.backend != "cuda":
        return []
    if one := seen or (found.one.last if found and found.one else None):
        parts.append((Cited(used(one), one), " of L2 used by one SM"))
    if found and found.all:
        last, after = found.all
        most = _chain(after)
        parts.append((Cited(used(last), last), " used by all SMs", " (", most, " no longer fit)"))
    return parts


def cache_sizes(run: Run) -> Iterator[Sentence]:
    """The size of each cache as found by loads, beside the reported one."""
    parts: list[Sentence] = []
    for level, (seen, reported) in sizes(run).items():
        whole = level == "l2" and run.context.backend == "cuda"
        if seen and not whole:
            parts.append((f"{level_name(level)} ", size_of(seen), " by latency"))
        if reported:
            by = " by the driver" if whole else ""
            parts.append((f"{level_name(level)} ", size_of(reported), f" reported{by}"))
    yield from _listed("Cache sizes: ", parts + l2_sizes(run))


def latency(run: Run) -> Iterator[Sentence]:
    """The latency of a dependent load from each level."""
    parts: list[Sentence] = []
    for level, one in atlas.latencies(run).items():
        over = " (median of the SMs)" if one.over else ""
        chains = walked(one.first, one.last) if level == "dram" else ()
        parts.append((f"{level_name(level)} ", *latency_words(one), over, *chains))
    yield from _listed("Latency of a dependent load: ", parts)


def bandwidth(run: Run) -> Iterator[Sentence]:
    """The peak read bandwidth of each level, relative to its limit."""
    parts = []
    for level, found in atlas.bandwidths(run).items():
        limit = against_limit(level, found)
        if limit and found.share and level != "dram":
            limit += (", ", percent(found.share), f" of {atlas.L1_BYTES_PER_CYCLE}")
        shown = _bracketed(limit, beside(found))
        parts.append((f"{level_name(level)} ", cited(found.row), *shown))
    yield from _listed("Read bandwidth at most: ", parts)


def l2_loads(run: Run) -> Iterator[Sentence]:
    """The parts of L2, what one SM finds in it, and the region beyond, which is half DRAM."""
    found = l2(run)
    if found and found.parts:
        count, near, far, access, memory = found.parts
        first_touch: Sentence = ()
        if found.first_touch is not None:
            mean = Cited(number(found.first_touch), far)
            first_touch = (", on average ", mean, " at first touch")
        behind: Sentence = ()
        if memory:
            own, other = map(cited, memory)
            behind = (" A load from memory takes ", own, " behind the near part and ", other,
                      " behind the far one.")  # fmt: skip
        yield (
            "L2 is cut into ", Cited(f"{count.value:.0f} parts", count), f": {access} takes ",
            cited(near), " from the part near its SM and ", cited(far), " from the far one",
            *first_touch, ".", *behind,
        )  # fmt: skip
    if found and found.load and found.one:
        half_dram: Sentence = ()
        if beyond := found.beyond:
            share = Cited(f"{100 * beyond.share:.0f} %", beyond.counted)
            half_dram = (
                "; ", cited(beyond.row), *walked(beyond.first, beyond.last, " over "),
                ", of whose loads memory serves ", share, " and the far part the rest",
            )  # fmt: skip
        yield (
            "One SM's repeated loads from L2 take ", cited(found.load.row), " up to chains of ",
            _chain(found.one.last), ", because the part near it keeps copies", *half_dram, ".",
        )  # fmt: skip


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
            " over such a chain, and ", cited(last), " over ", _chain(last), ".",
        )  # fmt: skip


# --- access patterns, instructions, copies --------------------------------------------------------


def coalescing(run: Run) -> Iterator[Sentence]:
    """The requests of a warp-load of words, adjacent and far apart."""
    parts: list[Sentence] = []
    for stride in ("1", "32"):
        axes = {"width": "4", "misalignment": "0", "permutation": "identity", "stride": stride}
        sectors = _found(run, "coalescing", "sectors_per_request", **axes)
        cycles = _found(run, "coalescing", "warp_load_cycles", **axes)
        if sectors and cycles:
            moved = Cited(f"{sectors.value:g} sectors", sectors)
            parts.append((moved, " in ", cited(cycles), " at a stride of ", Cited(stride, sectors)))
    yield from _listed("A warp's load of words moves ", parts)


def bank_conflicts(run: Run) -> Iterator[Sentence]:
    """A load from shared memory without conflicts, and with the worst ones."""
    parts: list[Sentence] = []
    for stride in ("1", "32"):
        axes = {"operation": "load", "pattern": "stride", "width": "4", "stride": stride}
        alone = _found(run, "bank_conflicts", "shared_load_latency", **axes)
        among = _found(run, "bank_conflicts", "warp_access_cycles", **axes)
        if alone and among:
            at = (" among others at a stride of ", Cited(stride, alone))
            parts.append((cited(alone), " alone and ", cited(among), *at))
    yield from _listed("A warp's load of words from shared memory takes ", parts)


def instructions(run: Run) -> Iterator[Sentence]:
    """The latency of dependent instructions."""
    alone = {"ilp": "1", "warps_per_sm": "1"}
    rows = {
        name: _found(run, "instruction_cost", "operation_cycles", operation=operation, **alone)
        for operation, name in _INSTRUCTIONS.items()
    }
    parts = [(f"{name} ", cited(row)) for name, row in rows.items() if row]
    yield from _listed("Latency of a dependent instruction: ", parts)


def arithmetic(run: Run) -> Iterator[Sentence]:
    """The highest rate of each kind of arithmetic, relative to lanes times clock."""
    found = atlas.ceilings(run)
    parts: list[Sentence] = []
    for kind, rate in found.items():
        row = rate.row
        form = _FORMS.get(row.text("form", ""), "") if row.backend == "cuda" else ""
        share: Sentence = (percent(rate.share),) if rate.share else ()
        words = _bracketed(share, beside(rate))
        parts.append((f"{_KINDS.get(kind, kind)} ", cited(row), f" {form}".rstrip(), *words))
    shared = any(one.share for one in found.values())
    end = "; in brackets the share of the limit by lanes and clock" if shared else ""
    yield from _listed("Arithmetic: ", parts, f"{end}.")


def atomics(run: Run) -> Iterator[Sentence]:
    """An addition that returns the old value, uncontended and with full contention."""
    parts: list[Sentence] = []
    for space in dict.fromkeys(row.text("space") for row in run.of("atomics")):
        axes = {"operation": "add_int", "returns": "yes", "space": space}
        own = _found(run, "atomics", "atomic_latency", target="disjoint", **axes)
        same = _found(run, "atomics", "atomic_latency", target="same", **axes)
        where = f"in {space} memory" if run.context.backend == "cuda" else "on a CPU"
        if own and same:
            one_word = (cited(same), " where all use one word")
            parts.append((f"{where} ", cited(own), " on a separate word and ", *one_word))
    yield from _listed("Latency of an atomic addition: ", parts)


def transfer(run: Run) -> Iterator[Sentence]:
    """The copy rates to and from host memory."""
    found = atlas.transfers(run)
    pinned = {key: row for key, row in found.items() if key[1] == "pinned"}
    chosen = pinned or found
    slow = {key: row for key, row in found.items() if key[1] == "pageable" and pinned}
    memories = " and ".join(dict.fromkeys(memory for _, memory in chosen))
    start = f"Copies between {memories} host memory and the device: "
    rest = ("; from pageable memory ", *joined(_directions(slow))) if slow else ()
    yield from ((*sentence, *rest, ".") for sentence in _listed(start, _directions(chosen), ""))


def _directions(found: Mapping[tuple[str, str], Row]) -> list[Sentence]:
    """`55.4 GB/s to the device (256 MiB)` for each."""
    return [
        (cited(row), f" {_DIRECTIONS.get(direction, direction)} (",
         Cited(size(row.count("bytes") or 0), row), ")")
        for (direction, _), row in found.items()
    ]  # fmt: skip


def rooflines(run: Run) -> Iterator[Sentence]:
    """The kernel closest to its roof."""
    counted = [one for one in points_of(entries([run])) if one.basis == "counted" and one.share]
    if top := max(counted, key=lambda one: one.share or 0, default=None):
        kernels = len({one.name for one in counted})
        share = Cited(f"{100 * (top.share or 0):.0f} %", top.row)
        start = f"Of {kernels} kernels whose operations were counted, {top.name} is nearest to its"
        yield (f"{start} roof: ", share, " of it.")


PARTS: Mapping[str, Callable[[Run], Iterable[Sentence]]] = {
    "sizes of caches": cache_sizes,
    "latencies": latency,
    "bandwidths": bandwidth,
    "instructions": instructions,
    "arithmetic": arithmetic,
    "the parts of L2": l2_loads,
    "the reach of the TLB": tlb_reach,
    "coalescing": coalescing,
    "bank conflicts": bank_conflicts,
    "atomics": atomics,
    "transfers": transfer,
    "small copies": fstat.sentences,
    "layouts": lambda run: layouts.sentences(run.of("layout_read")),
    "the papers' kernels": lambda run: seeds.sentences(run.of("layout_read")),
    "rungs": best.sentences,
    "rooflines": rooflines,
    "steps between rungs": steps.sentences,
    "clocks": clocks.sentences,
}
"""What is said, in this order."""
