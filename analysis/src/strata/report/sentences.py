"""A run in words: one sentence per result, every number with its row.

Only valid rows are used, and what the run lacks is left out.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from string import Formatter

import msgspec

from strata.ladder import best, fstat, seeds, steps
from strata.model import atlas, clocks, layouts
from strata.model.cases import CaseRows, by_case
from strata.model.l2 import l2, used
from strata.model.names import level_name
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import SPACE, number, size
from strata.report.attempt import attempt
from strata.roofline.verdicts import entries, points_of
from strata.run import Row, Run
from strata.run.files import resource

Part = Row | Cited | Sentence | str


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


def words(template: str, *parts: Part) -> Sentence:
    """`template` with a part in place of each `{}`; a row is its value with its unit."""
    first, *rest = template.split("{}")
    found: list[str | Cited] = [first]
    for part, text in zip(parts, rest, strict=True):
        found += (
            [cited(part)] if isinstance(part, Row) else part if isinstance(part, tuple) else [part]
        )
        found.append(text)
    return tuple(filter(None, found))


def percent(row: Row) -> Cited:
    """A ratio as a percentage, linked to its row; as in the map."""
    return Cited(f"{100 * row.value:.1f}{SPACE}%", row)


def size_of(row: Row) -> Cited:
    """A row of bytes as a size."""
    return Cited(size(round(row.value)), row)


def _chain(row: Row) -> Cited:
    """The footprint of a chain."""
    return Cited(size(row.count("footprint") or 0), row)


def walked(first: Row, last: Row) -> Sentence:
    """The footprints of chains."""
    low, high = _chain(first), _chain(last)
    return words("chains of {} to {}", low, high) if low.text != high.text else ("chains of ", low)


def against_limit(level: str, best: atlas.Best) -> Sentence:
    """A bandwidth relative to its limit: a share of the pins, or bytes per cycle and core."""
    if level == "dram" and best.share:
        return words("{} of the pin bandwidth", percent(best.share))
    if best.per_cycle is None:
        return ()
    clock = "B/TSC cycle" if "tsc" in best.per_cycle.unit else "B/cycle"
    core = "core" if best.row.backend == "host" else "SM"
    rate = f"{number(best.per_cycle.value)}{SPACE}{clock}"
    return words(f"{{}} per {core}", Cited(rate, best.per_cycle))


def latency_words(one: atlas.Latency) -> Sentence:
    """In cycles, and in seconds if timed: `667 cycles (337 ns)`."""
    timed = one.time and not one.over
    return words("{} ({})", one.row, one.time) if timed and one.time else (cited(one.shown),)


def with_commas(*parts: Sentence) -> Sentence:
    """The parts that are not empty, with commas between them."""
    return tuple(chain.from_iterable((", ", *part) for part in parts if part))[1:]


def beside(best: atlas.Best) -> Sentence:
    """The benchmark of a best rate, and a higher rate that only the noise gate rejected."""
    source: Sentence = (f"by {best.source}",) if best.source else ()
    return with_commas(source, words("up to {} in a noisy row", best.noisy) if best.noisy else ())


def _bracketed(*parts: Sentence) -> Sentence:
    inside = with_commas(*parts)
    return words(" ({})", inside) if inside else ()


def _listed(template: str, parts: Sequence[Sentence]) -> Iterator[Sentence]:
    """A sentence that lists its parts; none without any."""
    if parts:
        yield words(template, joined(parts))


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
        all_sms = "{} used by all SMs ({} no longer fit)"
        parts.append(words(all_sms, Cited(used(last), last), _chain(after)))
    return parts


def _cache_sizes(run: Run) -> Iterator[Sentence]:
    parts: list[Sentence] = []
    for level, (seen, reported) in sizes(run).items():
        name, whole = level_name(level), level == "l2" and run.context.backend == "cuda"
        if seen and not whole:
            parts.append(words(f"{name} {{}} by latency", size_of(seen)))
        if reported:
            by = " by the driver" if whole else ""
            parts.append(words(f"{name} {{}} reported{by}", size_of(reported)))
    yield from _listed("Cache sizes: {}.", parts + l2_sizes(run))


def _latencies(run: Run) -> Iterator[Sentence]:
    parts = []
    for level, one in atlas.latencies(run).items():
        over: Sentence = (" (median of the SMs)",) if one.over else ()
        chains = (", ", *walked(one.first, one.last)) if level == "dram" else ()
        parts.append((f"{level_name(level)} ", *latency_words(one), *over, *chains))
    yield from _listed("Latency of a dependent load: {}.", parts)


def _bandwidths(run: Run) -> Iterator[Sentence]:
    parts = []
    for level, found in atlas.bandwidths(run).items():
        limit = against_limit(level, found)
        if limit and found.share and level != "dram":
            of_limit = f"{{}}, {{}} of {atlas.L1_BYTES_PER_CYCLE}"
            limit = words(of_limit, limit, percent(found.share))
        shown = _bracketed(limit, beside(found))
        parts.append((f"{level_name(level)} ", cited(found.row), *shown))
    yield from _listed("Read bandwidth at most: {}.", parts)


def _l2_loads(run: Run) -> Iterator[Sentence]:
    """The parts of L2, what one SM finds in it, and the region beyond, which is half DRAM."""
    found = l2(run)
    if found and found.parts:
        count, near, far, access, memory = found.parts
        mean: Sentence = ()
        if found.first_touch is not None:
            first_touch = Cited(number(found.first_touch), far)
            mean = words(", on average {} at first touch", first_touch)
        behind = " A load from memory takes {} behind the near part and {} behind the far one."
        yield words(
            f"L2 is cut into {{}}: {access} takes {{}} from the part near its SM and {{}} from the "
            "far one{}.{}", Cited(f"{count.value:.0f} parts", count), near, far, mean,
            words(behind, *memory) if memory else (),
        )  # fmt: skip
    if found and found.load and found.one:
        half_dram: Sentence = ()
        if beyond := found.beyond:
            share = Cited(f"{100 * beyond.share:.0f} %", beyond.counted)
            shared = "; {} over {}, of whose loads memory serves {} and the far part the rest"
            half_dram = words(shared, beyond.row, walked(beyond.first, beyond.last), share)
        yield words(
            "One SM's repeated loads from L2 take {} up to chains of {}, because the part near it "
            "keeps copies{}.", found.load.row, _chain(found.one.last), half_dram,
        )  # fmt: skip


def _tlb_reach(run: Run) -> Iterator[Sentence]:
    if found := atlas.tlb_reach(run):
        row, last, reach = found.row, found.last, Cited(size(found.bytes), found.row)
        slower = ": a load that L2 serves takes {} over such a chain, and {} over {}"
        known = words(slower, row, last, _chain(last))
        more = (" or more: no longer chain could be measured",)
        yield words("The TLB reaches {}{}.", reach, more if row is last else known)


# --- access patterns, instructions, copies --------------------------------------------------------


class Pattern(msgspec.Struct, frozen=True):
    """An entry of `patterns.toml`, which describes its members."""

    name: str
    sentence: str
    part: str
    benchmark: str
    where: dict[str, str]
    each: dict[str, dict[str, str]]
    rows: dict[str, str]
    of: dict[str, dict[str, str]] = {}
    on_host: str = ""

    def __call__(self, run: Run) -> Iterator[Sentence]:
        """The sentence of a run; a part that lacks a valid row is left out."""
        cases, parts = by_case(run.of(self.benchmark)), list[Sentence]()
        ((axis, values),) = self.each.items()
        for value, name in values.items():
            rows, here = dict[str, Row](), [case for case in cases if case.text(axis) == value]
            for key, quantity in self.rows.items():
                if row := _first_valid(here, quantity, self.where | self.of.get(key, {})):
                    rows[key] = row
            if rows.keys() == self.rows.keys():
                first = next(iter(rows.values()))
                named = Cited(name, first) if name == value else name
                named = (first.backend == "host" and self.on_host) or named
                parts.append(tuple(self._part(rows, named)))
        yield from _listed(self.sentence, parts)

    def _part(self, rows: Mapping[str, Row], value: str | Cited) -> Iterator[str | Cited]:
        for text, field, form, _ in Formatter().parse(self.part):
            yield text
            if row := rows.get(field or ""):
                yield Cited(format(row.value, form), row) if form else cited(row)
            elif field:
                yield value


def _first_valid(cases: Iterable[CaseRows], quantity: str, axes: Mapping[str, str]) -> Row | None:
    """The first valid row of a quantity with these axis values, preferably timed."""
    for case in cases:
        if all(case.text(axis, value) == value for axis, value in axes.items()):
            row = case.timed(quantity) or case.of(quantity, "counted") or case.row(quantity)
            if row and row.valid:
                return row
    return None


_ENTRIES = tomllib.loads(resource(__package__, "patterns.toml"))["pattern"]
PATTERNS = {one.name: one for one in msgspec.convert(_ENTRIES, list[Pattern])}


_KINDS = {"fp16x2": "packed fp16", "bf16x2": "packed bf16", "int8_dp4a": "int8 (dp4a)"}
_FORMS = {
    "alternating": "with operands that change",
    "steady": "with operands that stay",
    "square": "for x·x − c",
    "uniform": "with a factor of all lanes",
}
"""The operands of a multiply-add: the same arithmetic may be slower with others."""


def _arithmetic(run: Run) -> Iterator[Sentence]:
    found = atlas.ceilings(run)
    parts: list[Sentence] = []
    for kind, rate in found.items():
        form = _FORMS.get(rate.row.text("form", ""), "") if rate.row.backend == "cuda" else ""
        shown = _bracketed((percent(rate.share),) if rate.share else (), beside(rate))
        parts.append((f"{_KINDS.get(kind, kind)} ", cited(rate.row), f" {form}".rstrip(), *shown))
    shared = any(one.share for one in found.values())
    end = "; in brackets the share of the limit by lanes and clock" if shared else ""
    yield from _listed(f"Arithmetic: {{}}{end}.", parts)


_DIRECTIONS = {"to_device": "to the device", "to_host": "to the host", "both": "both ways at once"}


def _transfers(run: Run) -> Iterator[Sentence]:
    found = atlas.transfers(run)
    pinned = {key: row for key, row in found.items() if key[1] == "pinned"}
    chosen = pinned or found
    slow = {key: row for key, row in found.items() if key[1] == "pageable" and pinned}
    memories = " and ".join(dict.fromkeys(memory for _, memory in chosen))
    rest = words("; from pageable memory {}", joined(_copies(slow))) if slow else ()
    start = f"Copies between {memories} host memory and the device: {{}}"
    yield from (words("{}{}.", one, rest) for one in _listed(start, _copies(chosen)))


def _copies(found: Mapping[tuple[str, str], Row]) -> list[Sentence]:
    """`55.4 GB/s to the device (256 MiB)` for each."""
    ways = [(_DIRECTIONS.get(way, way), row) for (way, _), row in found.items()]
    return [words(f"{{}} {way} ({{}})", row, Cited(size(row.count("bytes") or 0), row))
            for way, row in ways]  # fmt: skip


def _rooflines(run: Run) -> Iterator[Sentence]:
    counted = [one for one in points_of(entries([run])) if one.basis == "counted" and one.share]
    if top := max(counted, key=lambda one: one.share or 0, default=None):
        kernels = len({one.name for one in counted})
        start = f"Of {kernels} kernels whose operations were counted, {top.name} is nearest to its"
        yield (f"{start} roof: ", Cited(f"{100 * (top.share or 0):.0f} %", top.row), " of it.")


PARTS: Mapping[str, Callable[[Run], Iterable[Sentence]]] = {
    "sizes of caches": _cache_sizes,
    "latencies": _latencies,
    "bandwidths": _bandwidths,
    "instructions": PATTERNS["instructions"],
    "arithmetic": _arithmetic,
    "the parts of L2": _l2_loads,
    "the reach of the TLB": _tlb_reach,
    **{name: PATTERNS[name] for name in ("coalescing", "bank conflicts", "atomics")},
    "transfers": _transfers,
    "small copies": fstat.sentences,
    "layouts": lambda run: layouts.sentences(run.of("layout_read")),
    "the papers' kernels": lambda run: seeds.sentences(run.of("layout_read")),
    "rungs": best.sentences,
    "rooflines": _rooflines,
    "steps between rungs": steps.sentences,
    "clocks": clocks.sentences,
}
"""The sentences, in this order."""
