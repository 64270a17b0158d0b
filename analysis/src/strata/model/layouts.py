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


def counts(point: Point) -> Sentence:
    """The counts of a point in words: `28 sectors per request, 86 % hits in L1`."""
    parts: list[str | Cited] = []
    for name, row in point.counted.items():
        parts += [", " if parts else "", Cited(count_text(row), row), f" {COUNTED[name]}"]
    return tuple(parts)


def count_text(row: Row) -> str:
    """A count, or a share of hits in per cent."""
    return f"{100 * row.value:.0f} %" if row.quantity.endswith("_share") else f"{row.value:.3g}"


def counts_by_layout(points: Iterable[Point]) -> Sentence:
    """The counts of each layout at its best bandwidth; empty without counts."""
    parts: list[str | Cited] = []
    for point in points:
        if words := counts(point):
            parts += ["; " if parts else "", f"{point.layout} ", *words]
    return tuple(parts)


def best_points(points: Iterable[Point]) -> dict[Place, Point]:
    """The valid point of the highest value at each place."""
    at_place = grouped((one for one in points if one.row.valid), lambda point: point[:3])
    return {place: max(here, key=lambda one: one.row.value) for place, here in at_place.items()}


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
    best = best_points(curves(rows, "useful_bandwidth"))
    noisy: dict[Place, Row] = {}
    for case, row in _cases(rows, "useful_bandwidth"):
        known = noisy.get(place_of(case))
        if only_noisy(row) and (known is None or row.value > known.value):
            noisy[place_of(case)] = row
    result = []
    for place in sorted(cycles.keys() | best.keys(), key=_rank):
        bar, base_bar = (cycles.get(key) for key in (place, (*place[:2], BASELINE)))
        load, base_load = (best.get(key) for key in (place, (*place[:2], BASELINE)))
        speed = ratio(base_bar and base_bar.cycles, bar and bar.cycles)
        gain = ratio(load and load.row, base_load and base_load.row)
        above = noisy.get(place) if load else None
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
    told = []
    for level in ordered((place[0] for place in alone | loaded), LEVELS):
        here = [one for one in results if one.level == level]
        invalid = []
        for setting, measured, valid in (
            ("alone", alone, {one.layout for one in here if one.latency}),
            ("under load", loaded, {one.layout for one in here if one.bandwidth}),
        ):
            missing = {place[2] for place in measured if place[0] == level} - valid
            if missing:
                names = ", ".join(ordered(missing, LAYOUTS)) if valid else "every layout"
                invalid.append(f"{names} {setting}")
        left_out = f" Left out, invalid: {'; '.join(invalid)}." if invalid else ""
        told.append((f"{level_name(level)}:", *_alone(here), *_under_load(here), left_out))
    return tuple(told)


def _alone(results: Sequence[LayoutResult]) -> Sentence:
    """The cheapest and the most expensive layout with one warp, and speeds against `aos`."""
    found = ((result.latency.cycles, result) for result in results if result.latency)
    timed = sorted(found, key=lambda item: item[0].value)
    if not timed:
        return ()
    (cheap, cheapest), (dear, dearest) = timed[0], timed[-1]
    if len(timed) == 1:
        return (f" {cheapest.layout} takes ", cited(cheap), " per warp-read.")
    single = "chain per core" if cheap.backend == "host" else "warp per SM"
    ties = " and ".join(result.layout for row, result in timed[1:] if _overlap(cheap, row))
    speeds: list[str | Cited] = []
    for result in results:
        if result.layout != BASELINE and result.latency and result.latency_factor is not None:
            speeds += [", " if speeds else f" Speed against {BASELINE}: ", f"{result.layout} "]
            speeds.append(Cited(factor(result.latency_factor), result.latency.cycles))
    return (
        f" With one {single}, {cheapest.layout} is the cheapest layout (", cited(cheap),
        f" per warp-read{f'; {ties} cannot be distinguished from it' if ties else ''}) and ",
        f"{dearest.layout} the most expensive (", cited(dear), ").", *speeds, "." if speeds else "",
    )  # fmt: skip


def _overlap(one: Row, two: Row) -> bool:
    """Whether the 95 % intervals (or ranges) of two rows overlap."""
    (low, high), (other_low, other_high) = one.interval, two.interval
    return low <= other_high and other_low <= high


def _under_load(results: Sequence[LayoutResult]) -> Sentence:
    """The layouts with the most and the least useful bandwidth."""
    loaded = [result.bandwidth for result in results if result.bandwidth]
    if not loaded:
        return ()
    best, worst = (pick(loaded, key=lambda point: point.row.value) for pick in (max, min))
    counted = counts_by_layout(loaded)
    counted = (" Counted there: ", *counted, ".") if counted else ()
    if best is worst:
        return (
            f" Under load, {best.layout} delivers ", cited(best.row), " of useful data.", *counted
        )  # fmt: skip
    return (
        f" Under load, {best.layout} delivers the most useful data, ", cited(best.row),
        f", and {worst.layout} the least, ", cited(worst.row), ".", *counted,
    )  # fmt: skip
