"""Points and their ceilings: what roofs allow, which points are impossible, and possible causes.

Williams, Waterman and Patterson (2009) draw the rate of a kernel against its operations per byte,
Yang, Kurth and Williams (2020) at every memory level at once, Ding and Williams (2019) warp
instructions against sectors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from strata.model import Cited, Sentence, Table, ordered
from strata.model.text import NONE
from strata.model.units import SPACE, quantity, significant
from strata.roofline.ceilings import WITHOUT_FMA, Ceiling, ceilings, peaks
from strata.roofline.forms import FLOP, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.points import NOMINAL, Lack, Point, lack_of_points, points
from strata.run import Run, grouped

TOLERANCE = 0.02
"""How far a point may lie above a roof, beyond the intervals of both: two runs of one benchmark
agree that well (the timers of a case must)."""
BORROW = (
    "measure ceilings as well (strata run), or give a run of this device that has ceilings with "
    "--ceilings"
)

Entry = Ceiling | Point
Clocks = Mapping[str, float]


def entries(
    runs: Iterable[Run], form: Form = FLOP, *, nominal: bool = True, lender: Run | None = None
) -> tuple[Entry, ...]:
    """Ceilings and judged points of every run, run by run, ceilings first.

    Nothing for a run without a bandwidth, a peak or a kernel. `nominal` adds the points at 20
    operations per interaction. A run without ceilings uses those of `lender`, of the same device.
    """
    result: list[Entry] = []
    for run in runs:
        found, timed = ceilings(run, form), run.rows
        if not found and lender:
            timed = (*run.rows, *lender.rows)
            found = [
                replace(one, run=run.context.run, how=f"{one.how}; of the run {one.run}")
                for one in ceilings(lender, form)
            ]
        mine = points(run, form, nominal=nominal) if found else []
        clocks = {row.case: row.value for row in timed if row.quantity == "core_clock"}
        counted = {one.name: one.value for one in mine if one.basis == "counted"}
        judged = [_judged(one, found, clocks, counted.get(one.name)) for one in mine]
        result += [*found, *judged] if judged else []
    return tuple(result)


def ceilings_of(entries: Iterable[Entry]) -> list[Ceiling]:
    """The ceilings among them."""
    return [one for one in entries if isinstance(one, Ceiling)]


def points_of(entries: Iterable[Entry]) -> list[Point]:
    """The points among them."""
    return [one for one in entries if isinstance(one, Point)]


def lacking(run: Run, lender: Run | None = None, *, nominal: bool = True) -> list[Lack]:
    """What a run and `lender` lack for a roofline."""
    lacks = []
    if not any(ceilings(one, FLOP) for one in (run, lender) if one):
        found = "no valid rate of multiply-adds in fp32 (the benchmark ceilings)"
        if any(one.roof for one in peaks(lender or run, FLOP)):
            found = "no valid bandwidth of any level (the benchmark bandwidth)"
        lacks.append(Lack(found, BORROW))
    return lacks if points(run, FLOP, nominal=nominal) else [*lacks, lack_of_points(run)]


def _judged(point: Point, found: Sequence[Ceiling], clocks: Clocks, counted: float | None) -> Point:
    at = point.intensity
    level = "l1" if point.level == LOADS else point.level
    slopes = [one for one in found if one.roof and one.level == level]
    peaks = [one for one in found if one.bounds and one.level == point.arithmetic]
    over = [*slopes, *(one for one in peaks if one.name != WITHOUT_FMA)]
    margin = 1 + TOLERANCE
    passed = [one for one in over if point.low > margin * replace(one, value=one.high).at(at)]
    roof = min(passed, key=lambda one: one.at(at), default=None)
    return replace(
        point,
        share=point.value / min(one.at(at) for one in over) if slopes else None,
        above=roof,
        above_by=point.value / roof.at(at) if roof else None,
        reason=_cause(point, roof, found, clocks, counted) if roof else "",
    )


def _cause(
    point: Point, roof: Ceiling, found: Sequence[Ceiling], clocks: Clocks, counted: float | None
) -> str:
    """Why a point may be above a roof, as far as the rows show, in words."""
    if point.basis == "nominal":
        words = f"{NOMINAL} operations of an interaction are nominal, and "
        if counted is None or counted >= point.value:
            return f"{words}fewer may be executed"
        return f"{words}{significant(NOMINAL * counted / point.value)} were executed"
    theirs, ours = clocks.get(point.row.case), clocks.get(roof.row.case)
    if theirs and ours and theirs > (1 + TOLERANCE) * ours:
        return f"its clock was {100 * (theirs / ours - 1):.1f}{SPACE}% higher than the roof's"
    wanted = ("theoretical", roof.name, roof.level)
    limits = (one for one in found if (one.basis, one.name, one.level) == wanted)
    if limit := next(limits, None):
        if point.low <= (1 + TOLERANCE) * limit.at(point.intensity):
            return "no measured launch reached the chip's limit, so the roof is too low"
        wrong = "it is above the theoretical limit too, so its time or its counts are wrong"
        return f"{wrong}, or do not belong to the same work"
    if roof.sloped:
        return "no measured launch reached the level's limit, or not all traffic was counted"
    return "no measured launch reached the limit, or more operations were counted than timed"


def problems(entries: Iterable[Entry]) -> tuple[str, ...]:
    """A sentence for each point above a roof: the point, the roof, the factor, the cause.

    A peak is the same at all levels, so a kernel above it is reported once; a nominal point beside
    a counted one that is also above adds nothing.
    """
    above = [(one, one.above) for one in points_of(entries) if one.above]
    counted = {(one.run, one.name, one.level) for one, _ in above if one.basis == "counted"}
    sentences: dict[str, None] = {}
    for one, roof in above:
        if one.basis == "counted" or (one.run, one.name, one.level) not in counted:
            where = f" at {level_words(one.level, one.row.backend)}" if roof.sloped else ""
            excess = f"{100 * (one.value / roof.at(one.intensity) - 1):.1f}{SPACE}%"
            words = f"{one.name} ({one.basis}){where} is {excess} above {roof.name}"
            sentences[f"{words} ({one.row.case}): {one.reason}"] = None
    return tuple(sentences)


def impossible(entries: Iterable[Entry]) -> bool:
    """Whether a counted point is above a roof; nominal operations prove nothing."""
    return any(one.above and one.basis == "counted" for one in points_of(entries))


def table(entries: Sequence[Entry], form: Form) -> Table:
    """One line per kernel: rates, intensities, largest share of a roof (as counted, if it was)."""
    every = points_of(entries)
    levels = ordered((point.level for point in every), (*LEVELS, ONCE, LOADS))
    bases = ordered(["counted", *(point.basis for point in every)], ("counted",))
    named = [f"{level_words(level, every[0].row.backend)} ({form.intensity})" for level in levels]
    of = ("run", "kernel") if len({point.run for point in every}) > 1 else ("kernel",)
    header = (*of, *bases, *named, "of its roof", "doubt")
    lines = []
    for names, mine in grouped(every, lambda one: (one.run, one.name)[-len(of) :]).items():
        # Counted points come first.
        mine.sort(key=lambda one: one.basis != "counted")
        cells: dict[str, Sentence] = {}
        for one in mine:
            cells.setdefault(one.level, (Cited(brief(one.intensity), one.row),))
            if one.level != LOADS:
                # GIPS: 10⁹ warp instructions per second.
                gips = f"{brief(one.value / 1e9)}{SPACE}GIPS"
                rate = quantity(one.value, form.rate) if form is FLOP else gips
                cells.setdefault(one.basis, (Cited(rate, one.row),))
        shares = [(one.basis, one.share) for one in mine if one.share]
        share = max((share for basis, share in shares if basis == shares[0][0]), default=None)
        of_roof = (f"{100 * share:.1f}{SPACE}%",) if share else NONE
        doubt = ("above a roof",) if any(one.above for one in mine) else NONE
        numbers = (cells.get(column, NONE) for column in (*bases, *levels))
        lines.append((*((name,) for name in names), *numbers, of_roof, doubt))
    numeric = frozenset(range(len(of), len(header) - 1))
    return Table(form.name, form.title, header, tuple(lines), numeric)
