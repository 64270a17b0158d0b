"""Points and their ceilings: what roofs allow, which points are impossible, and possible causes.

Williams, Waterman and Patterson (2009) draw the rate of a kernel against its operations per byte,
Yang, Kurth and Williams (2020) at every memory level at once, Ding and Williams (2019) warp
instructions against sectors.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from strata.model import Cited, Sentence, Table, ordered
from strata.model.text import NONE
from strata.model.units import SPACE, quantity, significant
from strata.roofline.ceilings import WITHOUT_FMA, Ceiling, ceilings
from strata.roofline.forms import FLOP, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.kernels import COMMAND, bare_name
from strata.roofline.points import NOMINAL, Point, points, profiled, timed_whole
from strata.run import Run, grouped

TOLERANCE = 0.02
"""How far a point may lie above a roof, beyond the intervals of both: two runs of one benchmark
agree that well (the timers of a case must)."""

Entry = Ceiling | Point
Clocks = Mapping[str, float]


def entries(
    runs: Iterable[Run], form: Form = FLOP, *, nominal: bool = True, lender: Run | None = None
) -> tuple[Entry, ...]:
    """Ceilings and judged points of every run, run by run, ceilings first.

    Nothing for a run without a ceiling; instructions need kernels too. `nominal` adds the points at
    20 operations per interaction. A run without bandwidths or without peaks uses the ceilings of
    `lender`, of the same device.
    """
    result: list[Entry] = []
    for run in runs:
        found, timed = ceilings(run, form), run.rows
        if lender and len({one.sloped for one in found if one.roof}) < 2:
            timed = (*run.rows, *lender.rows)
            found = [
                replace(one, run=run.context.run, how=f"{one.how}; of the run {one.run}")
                for one in ceilings(lender, form)
            ]
        mine = points(run, form, nominal=nominal) if found else []
        clocks = {row.case: row.value for row in timed if row.quantity == "core_clock"}
        counted = {one.name: one.value for one in mine if one.basis == "counted"}
        judged = [_judged(one, found, clocks, counted.get(one.name)) for one in mine]
        result += [*found, *judged] if judged or form is FLOP else []
    return tuple(result)


def ceilings_of(entries: Iterable[Entry]) -> list[Ceiling]:
    """The ceilings among them."""
    return [one for one in entries if isinstance(one, Ceiling)]


def points_of(entries: Iterable[Entry]) -> list[Point]:
    """The points among them."""
    return [one for one in entries if isinstance(one, Point)]


class Lack(NamedTuple):
    """What a run lacks for a roofline, and a remedy, both in words."""

    found: str
    fix: str


def lacking(run: Run, lender: Run | None = None, *, nominal: bool = True) -> list[Lack]:
    """What a run and `lender` lack for a roofline, or for the points of its kernels."""
    lacks = []
    if not any(ceilings(one, FLOP) for one in (run, lender) if one):
        found = "no valid ceiling: no bandwidth and no rate of arithmetic"
        fix = "give a run of this device that has some with --ceilings (strata run ceilings)"
        lacks.append(Lack(found, fix))
    kernels = profiled(run)
    if kernels and not points(run, FLOP, nominal=nominal):
        missing = dict.fromkeys(lack for kernel in kernels for lack in kernel.lacks())
        lacks.append(Lack(f"kernels without {' and '.join(missing)}", COMMAND))
    return lacks


def notes(run: Run, found: Iterable[Entry]) -> tuple[str, ...]:
    """Kernels that are not drawn, points that are lower bounds, types without a ceiling."""
    result = []
    launched = profiled(run)
    kernels = [*launched, *timed_whole(run)]
    for lacks, lost in grouped(kernels, lambda kernel: tuple(kernel.lacks())).items():
        if lacks:
            words = f"not drawn, without {' and '.join(lacks)}"
            result.append(f"{words}: {_listed([kernel.name for kernel in lost])}")
    mine = [one for one in points_of(found) if one.run == run.context.run]
    if low := {one.full or one.name: one.lacks for one in mine if one.lacks}:
        metrics = ", ".join(dict.fromkeys(metric for lacks in low.values() for metric in lacks))
        result.append(f"lower bounds, executed but not collected {metrics}: {_listed([*low])}")
    if result:
        result.append(f"to collect all: {COMMAND if launched else 'strata run --counters auto'}")
    peaks = {one.level for one in ceilings_of(found) if one.bounds}
    if lost_peaks := {one.arithmetic for one in mine if one.work} - peaks:
        result.append(f"no ceiling of {', '.join(sorted(lost_peaks))}; kernels of it have no share")
    return tuple(result)


def chosen(found: Iterable[Entry], pattern: str, top: int | None) -> tuple[Entry, ...]:
    """Ceilings, and the kernels whose full names match, or the `top` of these by time.

    Raises ValueError if none matches.
    """
    kept = tuple(found)
    mine = [one for one in points_of(kept) if re.search(pattern, one.full or one.name)]
    if pattern and not mine:
        raise ValueError(f"no kernel matches {pattern!r}")
    shares = {(one.run, one.name): one.time_share or 0 for one in mine}
    names = sorted(shares, key=lambda name: -shares[name])[:top]
    return (*ceilings_of(kept), *(one for one in mine if (one.run, one.name) in names))


def pairs(before: Sequence[Point], after: Sequence[Point]) -> list[tuple[Point, Point]]:
    """The points of one kernel at one level in two runs, the nearest match alone.

    By full name and launch, otherwise by full name, otherwise by function, each if unique.
    """
    olds, news = ({id(one): one for one in some if one.basis == "counted"}
                  for some in (before, after))  # fmt: skip
    found: dict[int, tuple[Point, Point]] = {}
    keys: tuple[Callable[[Point], Hashable], ...] = (
        lambda one: (one.full or one.name, one.shape, one.level),
        lambda one: (one.full or one.name, one.level),
        lambda one: (bare_name(one.full or one.name).partition("<")[0], one.level),
    )
    for key in keys:
        old, new = grouped(olds.values(), key), grouped(news.values(), key)
        for here in old.keys() & new.keys():
            if len(old[here]) == len(new[here]) == 1:
                pair = old[here][0], new[here][0]
                found[id(pair[1])] = pair
                del olds[id(pair[0])], news[id(pair[1])]
    return [found[id(one)] for one in after if id(one) in found]


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names[:3])}{'…' * (len(names) > 3)})"


def _judged(point: Point, found: Sequence[Ceiling], clocks: Clocks, counted: float | None) -> Point:
    level = "l1" if point.level == LOADS else point.level
    slopes = [one for one in found if one.roof and one.level == level]
    flat = [one for one in found if one.bounds and one.level == point.arithmetic]
    over = [*slopes, *(one for one in flat if one.name != WITHOUT_FMA)]
    passed = [
        one for one in over
        if point.share_of(replace(one, value=one.high), point.interval[1]) > 1 + TOLERANCE
    ]  # fmt: skip
    above = max(passed, key=point.share_of, default=None)
    limits = bool(slopes) and (bool(flat) or not point.work)
    roof = max(over, key=point.share_of) if limits else None
    return replace(
        point,
        share=point.share_of(roof) if roof else None,
        limit=roof,
        above=above,
        reason=_cause(point, above, found, clocks, counted) if above else "",
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
        if point.share_of(limit, point.interval[1]) <= 1 + TOLERANCE:
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
            excess = f"{100 * (one.share_of(roof) - 1):.1f}{SPACE}%"
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
    timed = ("launch", "time", "of all") if any(point.time_share for point in every) else ()
    header = (*of, *timed, *bases, *named, "of its roof", "roof", "doubt")
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
                least = "≥ " if one.lacks else ""
                cells.setdefault(one.basis, (Cited(f"{least}{rate}", one.row),))
        first = mine[0]
        cells |= {
            "launch": (first.shape,) if first.shape else NONE,
            "time": (quantity(first.seconds, "s"),),
            "of all": (f"{100 * (first.time_share or 0):.1f}{SPACE}%",),
        }
        judged = [one for one in mine if one.share and one.basis == first.basis]
        if top := max(judged, key=lambda one: one.share or 0, default=None):
            least = "≥ " if top.lacks else ""
            cells["of its roof"] = (f"{least}{100 * (top.share or 0):.1f}{SPACE}%",)
            cells["roof"] = (top.limit.name,) if top.limit else NONE
        doubts = ["above a roof"] if any(one.above for one in mine) else []
        doubts += [f"lower bound: without {metric}" for metric in first.lacks]
        doubts += [first.doubt] if first.doubt else []
        doubts += [] if first.work else ["no floating-point operations"]
        cells["doubt"] = ("; ".join(doubts),) if doubts else NONE
        columns = (*timed, *bases, *levels, "of its roof", "roof", "doubt")
        lines.append((*((name,) for name in names), *(cells.get(key, NONE) for key in columns)))
    numeric = frozenset(range(len(of) + bool(timed), len(header) - 2))
    return Table(form.name, form.title, header, tuple(lines), numeric)
