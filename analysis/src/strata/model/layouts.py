"""The cost of a particle layout, alone and under load, measured by `layout_read`.

Invalid rows are passed to the figures, which draw them hollow, and are never compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from strata.model.cases import CaseRows, by_case, only_noisy, ratio
from strata.model.names import FIELDS, LAYOUTS, LEVELS, level_name, ordered, rank
from strata.model.text import Cited, Sentence, cited
from strata.model.units import factor
from strata.run import Row, grouped

BASELINE = "aos"

Place = tuple[str, str, str]
"""Level, set of fields, layout."""


class Bar(NamedTuple):
    """Latency of one layout at one level with one warp per SM, all in the unit of `cycles`.

    `cycles` is the median over warps, `p5` and `p95` percentiles, `arithmetic` the part without
    loads.
    """

    level: str
    fields: str
    layout: str
    cycles: Row
    p5: Row | None
    p95: Row | None
    arithmetic: Row | None


class Point(NamedTuple):
    """One quantity of one layout at one level and number of warps, at its best block size.

    `low` and `high` bound the spread, in the unit of `row`.
    """

    level: str
    fields: str
    layout: str
    warps: int
    block_size: int
    row: Row
    low: float
    high: float
    counted: Mapping[str, Row] = {}
    """The valid counts of the same case, by name: those of `COUNTED`."""


class LayoutResult(NamedTuple):
    """The cost of one layout at one level by its valid rows; factors over `aos`, > 1 if faster.

    `latency` is with one warp per SM; `bandwidth` is the best over warps per SM and block size;
    `noisy` is a higher one that only the noise gate rejected.
    """

    level: str
    fields: str
    layout: str
    latency: Bar | None
    latency_factor: float | None
    bandwidth: Point | None
    bandwidth_factor: float | None
    noisy: Row | None = None


COUNTED = {
    "sectors_per_request": "sectors per request",
    "l1_hit_share": "hits in L1",
    "l2_hit_share": "hits in L2",
    "active_warps": "active warps per SM",
    "active_blocks": "active blocks per SM",
}
"""What is counted of the case of a layout and shown together, in words."""


def count_text(row: Row) -> str:
    """A count, or a share of hits in per cent."""
    return f"{100 * row.value:.0f} %" if row.quantity.endswith("_share") else f"{row.value:.3g}"


def _counts_by_layout(points: Iterable[Point]) -> Sentence:
    """The counts of each layout, `28 sectors per request, 86 % hits in L1`; empty without any."""
    parts: list[str | Cited] = []
    for point in points:
        for place, (name, row) in enumerate(point.counted.items()):
            parts += [", "] if place else ["; " if parts else "", f"{point.layout} "]
            parts += [Cited(count_text(row), row), f" {COUNTED[name]}"]
    return tuple(parts)


def _cases(rows: Iterable[Row], quantity: str) -> list[tuple[CaseRows, Row]]:
    """The cases of `layout_read` that have a quantity, and its row, small blocks first."""
    cases = by_case(row for row in rows if row.benchmark == "layout_read")
    found = [(case, row) for case in cases if (row := case.row(quantity))]
    return sorted(found, key=lambda item: item[0].count("block_size"))


def place_of(case: CaseRows) -> Place:
    """The place of a case of `layout_read`."""
    return case.text("residency"), case.text("fields"), case.text("layout")


def _rank(place: Place) -> tuple[tuple[int, str], ...]:
    level, fields, layout = place
    return rank(fields, FIELDS), rank(level, LEVELS), rank(layout, LAYOUTS)


def latency_bars(rows: Iterable[Row]) -> tuple[Bar, ...]:
    """Latency with one warp per SM, in the smallest blocks, by the most common `cores`.

    Of equal ones by all cores: the spread over them shows how cores differ.
    """
    found = _cases(rows, "warp_read_cycles")
    single = [(case, row) for case, row in found if case.count("warps_per_sm") == 1]
    by_cores = grouped(single, lambda item: item[0].text("cores"))
    places = {cores: {place_of(case) for case, _ in here} for cores, here in by_cores.items()}
    widest = max(places, key=lambda cores: (len(places[cores]), cores == "all"), default="all")
    beside = ("warp_read_cycles_p5", "warp_read_cycles_p95", "arithmetic_cycles")
    bars: dict[Place, Bar] = {}
    for case, row in by_cores.get(widest, ()):
        place = place_of(case)
        bars.setdefault(place, Bar(*place, row, *map(case.row, beside)))
    return tuple(bars[place] for place in sorted(bars, key=_rank))


def curves(rows: Iterable[Row], name: str) -> tuple[Point, ...]:
    """`name` against warps per SM with every core at work, at the block size of best bandwidth.

    A valid case precedes an invalid one, then a small block a large one. The spread is the 5th to
    95th percentile over warps and the value, otherwise the range of the samples.
    """

    def merit(item: tuple[CaseRows, Row]) -> tuple[bool, float]:
        bandwidth = item[0].row("useful_bandwidth")
        return item[1].valid, bandwidth.value if bandwidth else 0.0

    by_cores = grouped(_cases(rows, name), lambda item: item[0].text("cores"))
    found = by_cores[ordered(by_cores, ("all", "one"))[0]] if by_cores else []
    spots = grouped(found, lambda item: (place_of(item[0]), item[0].count("warps_per_sm")))
    points = []
    for (place, warps), here in spots.items():
        case, row = max(here, key=merit)
        p5, p95 = case.row(f"{name}_p5"), case.row(f"{name}_p95")
        low, high = p5.value if p5 else row.minimum, p95.value if p95 else row.maximum
        # The mean of warps that wait for each other exceeds what the clock of a served warp shows.
        low, high = min(low, row.value), max(high, row.value)
        found_here = {name: case.of(name, "counted") for name in COUNTED}
        counted = {name: one for name, one in found_here.items() if one and one.valid}
        points.append(Point(*place, warps, case.count("block_size"), row, low, high, counted))
    return tuple(sorted(points, key=lambda point: (_rank(point[:3]), point.warps)))


def layout_results(rows: Sequence[Row]) -> tuple[LayoutResult, ...]:
    """One result per level, set of fields and layout with a valid row."""
    cycles = {bar[:3]: bar for bar in latency_bars(rows) if bar.cycles.valid}
    valid = (one for one in curves(rows, "useful_bandwidth") if one.row.valid)
    at_place = grouped(valid, lambda point: point[:3])
    best = {at: max(here, key=lambda one: one.row.value) for at, here in at_place.items()}
    noisy: dict[Place, Row] = {}
    for case, row in sorted(_cases(rows, "useful_bandwidth"), key=lambda item: -item[1].value):
        if only_noisy(row):
            noisy.setdefault(place_of(case), row)
    result = []
    for place in sorted(cycles.keys() | best.keys(), key=_rank):
        bar, base_bar = (cycles.get(key) for key in (place, (*place[:2], BASELINE)))
        load, base_load = (best.get(key) for key in (place, (*place[:2], BASELINE)))
        speed = ratio(base_bar and base_bar.cycles, bar and bar.cycles)
        gain = ratio(load and load.row, base_load and base_load.row)
        above = noisy.get(place)
        above = above if above and load and above.value > load.row.value else None
        result.append(LayoutResult(*place, bar, speed, load, gain, above))
    return tuple(result)


# --- in words -------------------------------------------------------------------------------------


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """What the run shows about reading particles, by level, for all fields; empty without data.

    A level with only invalid rows gets a sentence about that.
    """
    results = [one for one in layout_results(rows) if one.fields == "all"]
    alone = {bar[:3] for bar in latency_bars(rows) if bar.fields == "all"}
    loaded = {point[:3] for point in curves(rows, "useful_bandwidth") if point.fields == "all"}
    found = []
    for level in ordered((place[0] for place in alone | loaded), LEVELS):
        here = [one for one in results if one.level == level]
        invalid = []
        for setting, measured, valid in (
            ("alone", alone, {one.layout for one in here if one.latency}),
            ("under load", loaded, {one.layout for one in here if one.bandwidth}),
        ):
            if missing := {place[2] for place in measured if place[0] == level} - valid:
                names = ", ".join(ordered(missing, LAYOUTS)) if valid else "every layout"
                invalid.append(f"{names} {setting}")
        left_out = f" Left out, invalid: {'; '.join(invalid)}." if invalid else ""
        found.append((f"{level_name(level)}:", *_alone(here), *_under_load(here), left_out))
    return tuple(found)


def _alone(results: Sequence[LayoutResult]) -> Sentence:
    timed = {result.layout: result.latency.cycles for result in results if result.latency}
    layouts = sorted(timed, key=lambda layout: timed[layout].value)
    if not layouts:
        return ()
    cheap, dear = (timed[layout] for layout in (layouts[0], layouts[-1]))
    if len(layouts) == 1:
        return (f" {layouts[0]} takes ", cited(cheap), " per warp-read.")
    single = "chain per core" if cheap.backend == "host" else "warp per SM"
    alike = [name for name in layouts[1:] if timed[name].interval[0] <= cheap.interval[1]]
    ties = f"; {' and '.join(alike)} cannot be distinguished from it" if alike else ""
    speeds: list[str | Cited] = []
    for result in results:
        if result.layout != BASELINE and result.latency and result.latency_factor is not None:
            speeds += [", " if speeds else f" Speed against {BASELINE}: ", f"{result.layout} "]
            speeds.append(Cited(factor(result.latency_factor), result.latency.cycles))
    return (
        f" With one {single}, {layouts[0]} is the cheapest layout (", cited(cheap),
        f" per warp-read{ties}) and {layouts[-1]} the most expensive (", cited(dear), ").",
        *speeds, "." if speeds else "",
    )  # fmt: skip


def _under_load(results: Sequence[LayoutResult]) -> Sentence:
    loaded = [result.bandwidth for result in results if result.bandwidth]
    if not loaded:
        return ()
    best, worst = (pick(loaded, key=lambda point: point.row.value) for pick in (max, min))
    counts = _counts_by_layout(loaded)
    counted = (" Counted there: ", *counts, ".") if counts else ()
    if best is worst:
        return (
            f" Under load, {best.layout} delivers ",
            cited(best.row),
            " of useful data.",
            *counted,
        )
    return (
        f" Under load, {best.layout} delivers the most useful data, ", cited(best.row),
        f", and {worst.layout} the least, ", cited(worst.row), ".", *counted,
    )  # fmt: skip
