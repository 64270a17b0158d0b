"""The n-body ladder as measured: each rung by its best case."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from strata import reference
from strata.ladder import rungs as ladder
from strata.model import Cited, Sentence
from strata.model.cases import ratio
from strata.model.units import factor, number
from strata.run import Row, Run, grouped, tidy

if TYPE_CHECKING:
    import pandas as pd


class Best(NamedTuple):
    """A rung by its best case: the rate, and what it changed.

    `limit` is the rate of the case if a warp issued in every cycle; `other` the best case of the
    other problem (many systems, or a single one), `second` that at the other of the two sizes that
    most rungs have of this one. `chosen` are the values of the axes over which the best case was
    selected. `before` is the best case of the nearest measured rung below, and `after` that of this
    rung: at the largest place that both have, or both None; `speedup` is None if one is invalid.
    """

    row: Row
    limit: Row | None
    other: Row | None
    second: Row | None
    chosen: str
    before: Row | None
    after: Row | None
    rung: str
    speedup: float | None


def best_cases(run: Run, *, alike: bool = False) -> tuple[Best, ...]:
    """Every timed rung, in order, by the largest single system that it computed.

    By many systems if few rungs computed a single one; a rung without the common problem is
    represented by another. All that are `alike` are of one size, that of most rungs.
    """
    cases = ladder.Cases(run)
    by_rung = ladder.by_place(cases.having(ladder.RATE))
    have = Counter(problem for places in by_rung.values() for problem in {at[0] for at in places})
    most = max(ladder.PROBLEMS, key=lambda problem: have[problem])
    main = "single" if 2 * have["single"] > len(by_rung) else most

    def rank(place: ladder.Place) -> tuple[bool, tuple[bool, int]]:
        return place[0] == main, ladder.place_rank(place)

    def largest(places: Iterable[ladder.Place]) -> ladder.Place | None:
        return max(places, key=rank, default=None)

    every = Counter(at for places in by_rung.values() for at in places if alike and at[0] == main)
    common = ladder.common_places(
        rows[0] for places in by_rung.values() for at, rows in places.items() if at[0] == main
    )
    same = max(every, key=lambda place: (every[place], rank(place)), default=("", 0, 0))
    result = []
    for rung, places in by_rung.items():
        shown = same if same in places else max(places, key=rank)
        row = ladder.best(places[shown])
        below = by_rung.get(cases.below(rung, by_rung), {})
        shared = shown if shown in below else largest(places.keys() & below.keys())
        other = largest(place for place in places if place[0] not in (shown[0], "gravit"))
        second = next((place for place in common if place in places and place != shown), None)
        values = {axis: {r.text(axis) for r in places[shown]} for axis in ladder.own_axes(row)}
        varied = [axis for axis, found in values.items() if axis == "gpus" or len(found) > 1]
        chosen = ladder.axis_words(row, varied)
        others = ((places, other), (places, second), (below, shared), (places, shared))
        beside, apart, before, after = (
            ladder.best(rows[at]) if at else None for rows, at in others
        )
        limit, step = cases.get(row, "issue_limit"), (before, after, rung, ratio(after, before))
        result.append(Best(row, limit, beside, apart, chosen, *step))
    return tuple(result)


def common_size(found: Sequence[Best]) -> str:
    """The size of most rungs, in words."""
    return Counter(ladder.size_words(one.row) for one in found).most_common(1)[0][0]


def published(device: str, bodies: int = 0) -> tuple[reference.Published, ...]:
    """Published rates of one system on the chip, one per implementation, at this or most bodies."""
    theirs = (one for one in reference.nbody() if reference.is_of(one, device))
    single = (one for one in theirs if (one.problem, one.precision) == ("single", "fp32"))
    by_code = grouped(single, lambda one: one.implementation)

    def rank(one: reference.Published) -> tuple[bool, int]:
        return one.bodies == bodies, one.bodies or 0

    return tuple(max(rates, key=rank) for rates in by_code.values())


def sentences(run: Run) -> tuple[Sentence, ...]:
    """The result of the ladder on one device: one sentence; empty without a valid rung."""
    measured = [one for one in best_cases(run) if one.row.valid and ladder.gpus(one.row) == 1]
    if not measured:
        return ()
    top, first = max(measured, key=lambda one: one.row.value), measured[0]
    size, name = ladder.size_words(top.row), ladder.rung_name(top.rung)
    words = f"n-body, {size}: the fastest rung is {name} with {{}}"
    numbers = [Cited(f"{number(top.row.value / ladder.GIGA)} × 10⁹ interactions/s", top.row)]
    if first is not top and ladder.place_of(first.row) == ladder.place_of(top.row):
        words += f", {{}} {ladder.rung_name(first.rung)}"
        numbers.append(Cited(factor(top.row.value / first.row.value), first.row))
    if top.limit:
        words += " and {} of what it could reach if a warp issued in every cycle"
        numbers.append(Cited(f"{100 * top.row.value / top.limit.value:.0f} %", top.limit))
    return (ladder.sentence(f"{words}.", *numbers),)


# --- one axis of a rung, copies, errors -----------------------------------------------------------


class AxisPoint(NamedTuple):
    """A rung at one value of one of its axes, and at the least; `occupancy` is in per cent.

    `gain` is over the rate at the least value, `efficiency` that over the ideal multiple of it;
    None if either is invalid.
    """

    problem: str
    value: int
    row: Row
    first: Row
    occupancy: Row | None
    gain: float
    efficiency: float | None


def along(run: Run, rung: str, axis: str) -> tuple[AxisPoint, ...]:
    """The rates of a rung along an axis, by problem; the best case if others vary as well.

    For each problem, the size that was measured at most values, the largest of several; nothing for
    a problem measured at one value only.
    """
    cases, points = ladder.Cases(run), []
    rows = [row for row in cases.having(ladder.RATE) if row.benchmark == rung and row.count(axis)]
    for problem in ladder.PROBLEMS:
        here = grouped((r for r in rows if r.text("problem") == problem), ladder.place_of)
        places = {at: grouped(here[at], lambda row: row.count(axis) or 0) for at in here}
        most = max(places, key=lambda at: (len(places[at]), ladder.place_rank(at)), default=None)
        best = {value: ladder.best(rates) for value, rates in places[most].items()} if most else {}
        for value, row in sorted(best.items() if len(best) > 1 else ()):
            first, occupancy = best[min(best)], cases.get(row, "achieved_occupancy")
            if first.value > 0:
                gain, valid = row.value / first.value, row.valid and first.valid
                efficiency = gain / value if valid else None
                point = AxisPoint(problem, value, row, first, occupancy, gain, efficiency)
                points.append(point)
    return tuple(points)


def copied(run: Run) -> "pd.DataFrame":
    """The fastest case of every rung at every number of particles: a step of `gravit` with copies.

    In seconds; `kernel` is the row of its kernel alone, and `outside` the share of time outside of
    it, None if either is invalid.
    """
    import pandas as pd

    cases, found = ladder.Cases(run), list[Row]()
    for places in ladder.by_place(cases.having("copied_step_time")).values():
        for _, rows in sorted(places.items()):
            found.append(min(rows, key=lambda row: (not row.valid, row.value)))
    lines = tidy(found)
    kernels = [cases.get(row, "step_time") for row in found]
    inside = [ratio(kernel, row) for kernel, row in zip(kernels, found, strict=True)]
    outside = [None if share is None else 1 - share for share in inside]
    lines["outside"] = pd.Series(outside, dtype=float)
    return lines.assign(kernel=pd.Series(kernels, dtype=object))


def accuracies(run: Run) -> "pd.DataFrame":
    """The relative root mean square errors of all cases of the largest sizes.

    With the `bound` in the harness, and the position of the rung in the ladder as `_order`.
    """
    cases = ladder.Cases(run)
    rows = [row for row in cases.having("relative_rms_error") if row.value >= 0]
    errors = [row for row in rows if not ladder.unshared(row)]
    order = list(dict.fromkeys(row.benchmark for row in errors))
    by_rung = [ladder.at_size(errors, problem) for problem in ladder.PROBLEMS]
    lines = tidy(row for rungs in by_rung for rows in rungs.values() for row in rows)
    bound = ladder.rms_bound
    lines["bound"] = [bound(cases.rungs[r.benchmark], ladder.size(r)[1]) for r in lines["_row"]]
    lines["_order"] = [order.index(rung) for rung in lines.benchmark]
    return lines
