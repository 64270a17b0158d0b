"""What is shown, computed from rows: points of figures, tables, sentences. No files, no drawing.

Whatever a run lacks is simply not there: a missing quantity or axis value means fewer points.
Invalid rows are carried to the figures, which draw them hollow, and never enter a comparison.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.model.units import factor, number, quantity
from strata.run import Case, Context, Row, Run, Verdict

LAYOUTS = ("aos", "soa", "aoas", "soaoas", "aosoa32")
LEVELS = ("shared", "l1", "l2", "l3", "dram", "constant", "host_memory", "peer")
FIELDS = ("all", "posmass")

BASELINE = "aos"
TIMER_TOLERANCE = 0.02
REFERENCE_METHODS = ("clock64_slope", "tsc_slope")

PAPER = "Siegel et al. 2009, III-A"
PAPER_SPEEDUP: Mapping[str, str] = {
    "aos": "1.0× / 1.0×",
    "soa": "≈ 1.1× / –",
    "soaoas": "≈ 1.5× / ≈ 1.3×",
}
"""Speed against aos on an 8800 GTX with CUDA 1.0 and 2.2, as the paper's text states it (III-A)."""

_LEVEL_NAMES = {"l1": "L1", "l2": "L2", "l3": "L3", "dram": "DRAM"}
_FIELD_NAMES = {"all": "all 7 fields", "posmass": "position and mass"}


def level_name(level: str) -> str:
    """`l1` as people write it: L1."""
    return _LEVEL_NAMES.get(level, level.replace("_", " "))


def fields_name(fields: str) -> str:
    """Which fields of a particle are read, in words."""
    return _FIELD_NAMES.get(fields, fields)


def ordered(values: Iterable[str], known: Sequence[str]) -> list[str]:
    """The distinct `values`: known ones first, in their order, then the others by name."""
    present = set(values)
    return [value for value in known if value in present] + sorted(present - set(known))


# --- runs that may stand together -----------------------------------------------------------------


class MergeError(ValueError):
    """Runs that may not be drawn together: the field that differs, and how."""


def _conditions(context: Context) -> dict[str, object]:
    return {
        "device.uuid": context.device.uuid,
        "device.slug": context.device.slug,
        "backend": context.backend,
        "strata.commit": context.build.commit,
        "strata.dirty": context.build.dirty,
        "strata.source_digest": context.build.source_digest,
        "strata.build_type": context.build.build_type,
        "strata.flags": context.build.flags,
    }


def merged(runs: Sequence[Run]) -> tuple[Row, ...]:
    """The rows of runs made on one device by one harness.

    Raises `MergeError` naming the first field that differs, or the case that two runs measured:
    nothing says which of the two is to be drawn.
    """
    if len(runs) == 1:
        return runs[0].rows
    measured: dict[str, Run] = {}
    for run in runs:
        first, other = _conditions(runs[0].context), _conditions(run.context)
        for field, value in first.items():
            if other[field] != value:
                raise MergeError(
                    f"{runs[0].context.run} and {run.context.run} cannot be merged: "
                    f"{field} differs ({value} and {other[field]})"
                )
        for case in dict.fromkeys(row.case for row in run.rows):
            if case in measured:
                raise MergeError(
                    f"{measured[case].context.run} and {run.context.run} cannot be merged: "
                    f"both measured {case}"
                )
            measured[case] = run
    return tuple(row for run in runs for row in run.rows)


# --- points of layout_read ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bar:
    """Latency of one layout at one level with one warp on an SM.

    `cycles` is the median over warps; `p5` and `p95` are the percentiles over warps and
    `arithmetic` the part that is no load, in the unit of `cycles`; None where not measured.
    """

    level: str
    fields: str
    layout: str
    cycles: Row
    p5: Row | None
    p95: Row | None
    arithmetic: Row | None


@dataclass(frozen=True, slots=True)
class Point:
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


class _Cases:
    """The rows of `layout_read`, by case and by quantity."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in rows:
            if row.benchmark == "layout_read":
                self._rows[row.case].setdefault(row.quantity, row)

    def get(self, case: str, name: str) -> Row | None:
        return self._rows[case].get(name)

    def having(self, name: str) -> list[Row]:
        return [rows[name] for rows in self._rows.values() if name in rows]


def _integer(row: Row, axis: str) -> int:
    text = row.params.get(axis, "")
    return int(text) if text.isdecimal() else 0


def _place(row: Row) -> tuple[str, str, str]:
    params = row.params
    return params.get("residency", "?"), params.get("fields", "?"), params.get("layout", "?")


def _on_cores(rows: Sequence[Row], preferred: str) -> list[Row]:
    """The rows with the preferred value of `cores`, or, without any, those with another."""
    present = {row.params.get("cores", "?") for row in rows}
    order = [preferred, "all", "one", *sorted(present)]
    chosen = next((value for value in order if value in present), "?")
    return [row for row in rows if row.params.get("cores", "?") == chosen]


def _sort_key(level: str, fields: str, layout: str) -> tuple[tuple[int, str], ...]:
    return tuple(
        (known.index(value) if value in known else len(known), value)
        for value, known in ((fields, FIELDS), (level, LEVELS), (layout, LAYOUTS))
    )


def _widest(rows: Iterable[Row]) -> str:
    """The value of `cores` with a row for the most places; "all" where several have."""
    places: dict[str, set[tuple[str, str, str]]] = {"all": set()}
    for row in rows:
        places.setdefault(row.params.get("cores", "?"), set()).add(_place(row))
    return max(places, key=lambda value: (len(places[value]), value == "all"))


def latency_bars(rows: Iterable[Row]) -> tuple[Bar, ...]:
    """Latency with one warp per SM, in the smallest blocks.

    With every core at work where that was measured: the spread over them is where cores differ.
    """
    cases = _Cases(rows)
    single = [row for row in cases.having("warp_read_cycles") if _integer(row, "warps_per_sm") == 1]
    chosen: dict[tuple[str, str, str], Row] = {}
    for row in sorted(_on_cores(single, _widest(single)), key=lambda r: _integer(r, "block_size")):
        chosen.setdefault(_place(row), row)
    return tuple(
        Bar(
            *place,
            cycles=row,
            p5=cases.get(row.case, "warp_read_cycles_p5"),
            p95=cases.get(row.case, "warp_read_cycles_p95"),
            arithmetic=cases.get(row.case, "arithmetic_cycles"),
        )
        for place, row in sorted(chosen.items(), key=lambda item: _sort_key(*item[0]))
    )


def curves(rows: Iterable[Row], name: str) -> tuple[Point, ...]:
    """`name` against warps per SM with every core at work, at the block size of best bandwidth.

    A valid case beats an invalid one; without bandwidths the smallest block size stands. The spread
    is the 5th to 95th percentile over warps where the case has them, else the range of the samples.
    """
    cases = _Cases(rows)

    def rank(row: Row) -> tuple[bool, float, int]:
        bandwidth = cases.get(row.case, "useful_bandwidth")
        return (row.valid, bandwidth.value if bandwidth else 0.0, -_integer(row, "block_size"))

    best: dict[tuple[str, str, str, int], Row] = {}
    for row in _on_cores(cases.having(name), "all"):
        point = (*_place(row), _integer(row, "warps_per_sm"))
        if point[-1] > 0 and (point not in best or rank(row) > rank(best[point])):
            best[point] = row
    result = []
    for (level, fields, layout, warps), row in best.items():
        low, high = cases.get(row.case, f"{name}_p5"), cases.get(row.case, f"{name}_p95")
        result.append(
            Point(
                level=level,
                fields=fields,
                layout=layout,
                warps=warps,
                block_size=_integer(row, "block_size"),
                row=row,
                low=low.value if low else row.minimum,
                high=high.value if high else row.maximum,
            )
        )
    return tuple(sorted(result, key=lambda p: (_sort_key(p.level, p.fields, p.layout), p.warps)))


# --- two clocks, one time -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """One quantity of one case by two independent methods."""

    level: str | None
    reference: Row
    other: Row

    @property
    def ratio(self) -> float:
        """The other method over the reference; 1 when they agree."""
        return self.other.value / self.reference.value

    @property
    def valid(self) -> bool:
        """Whether both rows are."""
        return self.reference.valid and self.other.valid


def agreements(rows: Sequence[Row]) -> tuple[Agreement, ...]:
    """Every quantity that a case holds by an in-kernel clock and by another method, in one unit.

    In the order of the rows.
    """
    # The rows of a quantity that an in-kernel clock saw; of a counted run they are few.
    by_quantity: dict[tuple[str, str], list[Row]] = {
        (row.case, row.quantity): [] for row in rows if row.method in REFERENCE_METHODS
    }
    for row in rows:
        group = by_quantity.get((row.case, row.quantity))
        if group is not None:
            group.append(row)
    result = []
    for group in by_quantity.values():
        reference = next((row for row in group if row.method in REFERENCE_METHODS), None)
        if reference is None or reference.value <= 0:
            continue
        result += [
            Agreement(level=row.params.get("residency"), reference=reference, other=row)
            for row in group
            if row is not reference and row.unit == reference.unit
        ]
    return tuple(result)


# --- the summary ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cited:
    """A number in a sentence or a table, and the row that it comes from."""

    text: str
    row: Row


Sentence = tuple[str | Cited, ...]


def plain(sentence: Sentence) -> str:
    """The sentence without its links."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)


@dataclass(frozen=True, slots=True)
class LayoutResult:
    """What one layout costs at one level: only valid rows, None where there is none.

    `latency` is with one warp per SM; `bandwidth` is the best over warps per SM and block size.
    The factors compare with `aos` at the same level, more than 1 meaning faster.
    """

    level: str
    fields: str
    layout: str
    latency: Bar | None
    latency_factor: float | None
    bandwidth: Point | None
    bandwidth_factor: float | None


def layout_results(rows: Sequence[Row]) -> tuple[LayoutResult, ...]:
    """One result per level, set of fields and layout that has a valid row."""
    bars = {(b.level, b.fields, b.layout): b for b in latency_bars(rows) if b.cycles.valid}
    best: dict[tuple[str, str, str], Point] = {}
    for point in curves(rows, "useful_bandwidth"):
        place = (point.level, point.fields, point.layout)
        if point.row.valid and (place not in best or point.row.value > best[place].row.value):
            best[place] = point
    result = []
    for place in sorted(bars.keys() | best.keys(), key=lambda place: _sort_key(*place)):
        level, fields, layout = place
        bar, loaded = bars.get(place), best.get(place)
        base, base_loaded = bars.get((level, fields, BASELINE)), best.get((level, fields, BASELINE))
        result.append(
            LayoutResult(
                level=level,
                fields=fields,
                layout=layout,
                latency=bar,
                latency_factor=_ratio(base.cycles, bar.cycles) if base and bar else None,
                bandwidth=loaded,
                bandwidth_factor=_ratio(loaded.row, base_loaded.row)
                if loaded and base_loaded
                else None,
            )
        )
    return tuple(result)


def _ratio(numerator: Row, denominator: Row) -> float | None:
    return numerator.value / denominator.value if denominator.value > 0 else None


def overlap(one: Row, two: Row) -> bool:
    """Whether the 95 % intervals of two rows (ranges, where there is none) have a point in common.

    Then the run does not say which of the two is smaller.
    """
    (low, high), (other_low, other_high) = (
        (row.minimum, row.maximum)
        if row.ci_low is None or row.ci_high is None
        else (row.ci_low, row.ci_high)
        for row in (one, two)
    )
    return low <= other_high and other_low <= high


def _cited(row: Row) -> Cited:
    return Cited(quantity(row.value, row.unit), row)


def _listed(results: Sequence[LayoutResult]) -> list[str | Cited]:
    """'soa 1.10×, aoas 1.52×': latency against the baseline, each linked to its row."""
    parts: list[str | Cited] = []
    for result in results:
        if result.layout == BASELINE or result.latency is None or result.latency_factor is None:
            continue
        parts += [", " if parts else "", f"{result.layout} "]
        parts.append(Cited(factor(result.latency_factor), result.latency.cycles))
    return parts


def sentences(rows: Sequence[Row]) -> tuple[Sentence, ...]:
    """What the run says about reading particles, level by level, all fields; empty without data.

    A level whose rows are all invalid gets a sentence that says no more than that.
    """
    whole = [result for result in layout_results(rows) if result.fields == "all"]
    alone = {(b.level, b.layout) for b in latency_bars(rows) if b.fields == "all"}
    loaded = {(p.level, p.layout) for p in curves(rows, "useful_bandwidth") if p.fields == "all"}
    result = []
    for level in ordered((level for level, _ in alone | loaded), LEVELS):
        here = [found for found in whole if found.level == level]
        timed = {found.layout for found in here if found.latency}
        fast = {found.layout for found in here if found.bandwidth}
        left_out = [
            *_left_out("alone", {layout for at, layout in alone if at == level}, timed),
            *_left_out("under load", {layout for at, layout in loaded if at == level}, fast),
        ]
        told = f" Left out, invalid: {'; '.join(left_out)}." if left_out else ""
        result.append((*_level_sentence(level, here), told))
    return tuple(result)


def _left_out(setting: str, measured: set[str], valid: set[str]) -> Sequence[str]:
    """The layouts that were measured but are not valid, in words; nothing if there is none."""
    missing = measured - valid
    if not missing:
        return ()
    return (f"{', '.join(ordered(missing, LAYOUTS)) if valid else 'every layout'} {setting}",)


def _level_sentence(level: str, results: Sequence[LayoutResult]) -> Sentence:
    parts: list[str | Cited] = []
    timed = sorted(
        ((r.latency.cycles, r.layout) for r in results if r.latency),
        key=lambda item: item[0].value,
    )
    if len(timed) > 1:
        (cheap, cheapest), (dear, dearest) = timed[0], timed[-1]
        single = "chain per core" if cheap.backend == "host" else "warp per SM"
        parts += [f" With one {single}, {cheapest} is the cheapest layout (", _cited(cheap)]
        parts.append(" per warp-read")
        ties = [layout for row, layout in timed[1:] if overlap(cheap, row)]
        if ties:
            parts.append(f"; {' and '.join(ties)} cannot be told apart from it")
        parts += [f") and {dearest} the dearest (", _cited(dear), ")."]
        listed = _listed(results)
        parts += [f" Speed against {BASELINE}: ", *listed, "."] if listed else []
    elif timed:
        parts += [f" {timed[0][1]} takes ", _cited(timed[0][0]), " per warp-read."]
    loaded = [r.bandwidth for r in results if r.bandwidth]
    if loaded:
        best, worst = (pick(loaded, key=lambda point: point.row.value) for pick in (max, min))
        if best is worst:
            parts += [f" Under load, {best.layout} delivers ", _cited(best.row), " of useful data."]
        else:
            parts += [f" Under load, {best.layout} delivers the most useful data, "]
            parts += [_cited(best.row), f", and {worst.layout} the least, ", _cited(worst.row), "."]
    return (f"{level_name(level)}:", *parts)


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people; a cell is a sentence, so that its numbers know the rows behind them."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Sentence, ...], ...]
    numeric: frozenset[int]


_NONE: Sentence = ("–",)


def layout_table(rows: Sequence[Row]) -> Table | None:
    """Latency and best bandwidth of every layout at every level; None without `layout_read`.

    A dash stands where no valid row is.
    """
    lines = []
    for result in layout_results(rows):
        paper = PAPER_SPEEDUP.get(result.layout, "–") if result.fields == "all" else "–"
        words = (level_name(result.level), fields_name(result.fields), result.layout)
        lines.append(
            (
                *((word,) for word in words),
                *_latency_cells(result.latency, result.latency_factor),
                *_bandwidth_cells(result.bandwidth, result.bandwidth_factor),
                (paper,),
            )
        )
    if not lines:
        return None
    return Table(
        name="layout_read",
        title="Latency alone and best useful bandwidth by layout",
        header=(
            "level", "fields", "layout", "latency", "p5–p95", "vs aos", "useful bandwidth",
            "warps × block", "vs aos", "paper: CUDA 1.0 / 2.2",
        ),
        rows=tuple(lines),
        numeric=frozenset({3, 4, 5, 6, 7, 8}),
    )  # fmt: skip


def _latency_cells(bar: Bar | None, against: float | None) -> tuple[Sentence, ...]:
    """Median, spread and factor of one layout alone, each number linked to its row."""
    if bar is None:
        return (_NONE,) * 3
    spread = _NONE
    if bar.p5 and bar.p95:
        spread = (Cited(number(bar.p5.value), bar.p5), "–", Cited(number(bar.p95.value), bar.p95))
    speed = (Cited(factor(against), bar.cycles),) if against else _NONE
    return ((_cited(bar.cycles),), spread, speed)


def _bandwidth_cells(point: Point | None, against: float | None) -> tuple[Sentence, ...]:
    """Median, where it was reached, and factor of one layout under load."""
    if point is None:
        return (_NONE,) * 3
    where = Cited(f"{point.warps} × {point.block_size}", point.row)
    gain = (Cited(factor(against), point.row),) if against else _NONE
    return ((_cited(point.row),), (where,), gain)


# --- what to trust --------------------------------------------------------------------------------


def gate_counts(run: Run) -> Mapping[str, Counter[Verdict]]:
    """How often each gate gave each verdict: cases for case gates, rows for the noise gate."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for case in run.cases:
        for gate in case.gates:
            counts[gate.name][gate.verdict] += 1
        for measurement in case.measurements:
            counts[measurement.noise.name][measurement.noise.verdict] += 1
    return {name: counts[name] for name in sorted(counts)}


def unmeasured(run: Run) -> tuple[Case, ...]:
    """The cases that were skipped or failed, each with its reason."""
    return tuple(case for case in run.cases if case.status != "measured")


def pending(run: Run) -> tuple[str, ...]:
    """The case ids of the sweep that the run has not come to yet."""
    done = {case.id for case in run.cases}
    return tuple(case for case in run.context.sweep.cases if case not in done)
