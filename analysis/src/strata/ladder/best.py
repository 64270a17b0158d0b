"""The n-body ladder as measured: each rung by its best case."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from strata import reference
from strata.ladder import rungs as ladder
from strata.ladder.rungs import (
    GIGA,
    PROBLEMS,
    RATE,
    Place,
    place_of,
    place_rank,
    rung_name,
    size,
    size_words,
)
from strata.model import Cited, Sentence
from strata.model.cases import ratio
from strata.model.units import factor, number
from strata.run import Row, Run, grouped


class Best(NamedTuple):
    """A rung by its best case: the rate, and what it changed.

    `limit` is the rate of the case if a warp issued in every cycle; `other` the best case of the
    other problem (many systems, or a single one), `second` that at the other of the two sizes that
    most rungs have of this one. `chosen` are the values of the axes over which the best case was
    selected. `before` is the best case of the nearest measured rung below, and `after` that of this
    rung: at the largest place that both have, or both None.
    """

    row: Row
    limit: Row | None
    other: Row | None
    second: Row | None
    chosen: str
    before: Row | None
    after: Row | None

    @property
    def rung(self) -> str:
        """The name of the rung."""
        return self.row.benchmark

    @property
    def speedup(self) -> float | None:
        """The speed-up over the previous rung; None if either is invalid."""
        return ratio(self.after, self.before)


def best_cases(run: Run, *, alike: bool = False) -> tuple[Best, ...]:
    """Every timed rung, in order, by the largest single system that it computed.

    By many systems if few rungs computed a single one; a rung without the common problem is
    represented by another. All that are `alike` are of one size, that of most rungs.
    """
    cases = ladder.Cases(run)
    by_rung = ladder.by_place(cases.having(RATE))
    have = Counter(one for places in by_rung.values() for one in {place[0] for place in places})
    most = max(PROBLEMS, key=lambda one: have[one])
    main = "single" if 2 * have["single"] > len(by_rung) else most

    def rank(place: Place) -> tuple[bool, tuple[bool, int]]:
        return place[0] == main, place_rank(place)

    every = Counter(at for places in by_rung.values() for at in places if alike and at[0] == main)
    common = ladder.common_places(
        rows[0] for places in by_rung.values() for at, rows in places.items() if at[0] == main
    )
    same = max(every, key=lambda place: (every[place], rank(place)), default=("", 0, 0))
    result = []
    for rung, places in by_rung.items():
        shown = same if same in places else max(places, key=rank)
        row = ladder.best(places[shown])
        others = (place for place in places if place[0] not in (shown[0], "gravit"))
        beside = max(others, key=rank, default=None)
        below = by_rung.get(cases.below(rung, by_rung), {})
        both = (place for place in places if place in below)
        shared = shown if shown in below else max(both, key=rank, default=None)
        values = {
            axis: {case.text(axis) for case in places[shown]} for axis in ladder.own_axes(row)
        }
        varied = [axis for axis, found in values.items() if axis == "gpus" or len(found) > 1]
        other = ladder.best(places[beside]) if beside else None
        apart = next((place for place in common if place in places and place != shown), None)
        second = ladder.best(places[apart]) if apart else None
        step = [ladder.best(cells[shared]) if shared else None for cells in (below, places)]
        words = ladder.axis_words(row, varied)
        result.append(Best(row, cases.get(row, "issue_limit"), other, second, words, *step))
    return tuple(result)


def common_size(found: Sequence[Best]) -> str:
    """The size of most rungs, in words."""
    return Counter(size_words(one.row) for one in found).most_common(1)[0][0]


def published(device: str, bodies: int = 0) -> tuple[reference.PublishedRate, ...]:
    """Published rates of one system on the chip, one per implementation, at this or most bodies."""
    theirs = (one for one in reference.nbody() if reference.is_of(one, device))
    single = (one for one in theirs if (one.problem, one.precision) == ("single", "fp32"))
    by_code = grouped(single, lambda one: one.implementation)

    def rank(one: reference.PublishedRate) -> tuple[bool, int]:
        return one.bodies == bodies, one.bodies or 0

    return tuple(max(rates, key=rank) for rates in by_code.values())


def sentences(run: Run) -> tuple[Sentence, ...]:
    """The result of the ladder on one device: one sentence; empty without a valid rung."""
    measured = [one for one in best_cases(run) if one.row.valid and ladder.gpus(one.row) == 1]
    if not measured:
        return ()
    top, first = max(measured, key=lambda one: one.row.value), measured[0]
    words = f"n-body, {size_words(top.row)}: the fastest rung is {rung_name(top.rung)} with {{}}"
    numbers = [Cited(f"{number(top.row.value / GIGA)} × 10⁹ interactions/s", top.row)]
    if first is not top and place_of(first.row) == place_of(top.row):
        words += f", {{}} {rung_name(first.rung)}"
        numbers.append(Cited(factor(top.row.value / first.row.value), first.row))
    if top.limit:
        words += " and {} of what it could reach if a warp issued in every cycle"
        numbers.append(Cited(f"{100 * top.row.value / top.limit.value:.0f} %", top.limit))
    return (ladder.sentence(f"{words}.", *numbers),)


# --- one axis of a rung, copies, errors -----------------------------------------------------------


class AxisPoint(NamedTuple):
    """A rung at one value of one of its axes, and at the least; `occupancy` is in per cent."""

    problem: str
    value: int
    row: Row
    first: Row
    occupancy: Row | None

    @property
    def gain(self) -> float:
        """The rate relative to that at the least value."""
        return self.row.value / self.first.value

    @property
    def efficiency(self) -> float | None:
        """The gain over the ideal multiple of the single rate; None if either is invalid."""
        return self.gain / self.value if self.row.valid and self.first.valid else None


def along(run: Run, rung: str, axis: str) -> tuple[AxisPoint, ...]:
    """The rates of a rung along an axis, by problem; the best case if others vary as well.

    For each problem, the size that was measured at most values, the largest of several; nothing for
    a problem measured at one value only.
    """
    cases = ladder.Cases(run)
    of_rung = (row for row in cases.having(RATE) if row.benchmark == rung)
    by_place = grouped((row for row in of_rung if row.count(axis) is not None), ladder.place_of)
    places = {at: grouped(by_place[at], lambda row: row.count(axis) or 0) for at in by_place}
    ranked = sorted(places.items(), key=lambda item: (len(item[1]), place_rank(item[0])))
    chosen = {place[0]: by_value for place, by_value in ranked if len(by_value) > 1}
    points = []
    for problem in PROBLEMS:
        best = {value: ladder.best(rows) for value, rows in sorted(chosen.get(problem, {}).items())}
        for value, row in best.items():
            first, occupancy = best[min(best)], cases.get(row, "achieved_occupancy")
            if first.value > 0:
                points.append(AxisPoint(problem, value, row, first, occupancy))
    return tuple(points)


class Copied(NamedTuple):
    """A step of `gravit` including copies, in seconds, and that of its kernel."""

    rung: str
    bodies: int
    row: Row
    kernel: Row | None

    @property
    def outside(self) -> float | None:
        """The share of time outside the kernel; None if either is invalid."""
        inside = ratio(self.kernel, self.row)
        return None if inside is None else 1 - inside


def copied(run: Run) -> tuple[Copied, ...]:
    """Every rung at every number of particles, by its fastest case."""
    cases = ladder.Cases(run)
    found = ladder.by_place(cases.having("copied_step_time"))
    return tuple(
        Copied(rung, place[2], row, cases.get(row, "step_time"))
        for rung, places in found.items()
        for place, rows in sorted(places.items())
        for row in [min(rows, key=lambda row: (not row.valid, row.value))]
    )


class Accuracy(NamedTuple):
    """The relative root mean square error of one case, and its bound in the harness."""

    rung: str
    problem: str
    order: int
    """The position of the rung in the ladder."""
    row: Row
    bound: float


def accuracies(run: Run) -> tuple[Accuracy, ...]:
    """Every case of the largest sizes."""
    cases = ladder.Cases(run)
    found = (row for row in cases.having("relative_rms_error") if row.value >= 0)
    errors = [row for row in found if not ladder.unshared(row)]
    order = list(dict.fromkeys(row.benchmark for row in errors))
    return tuple(
        Accuracy(name, problem, order.index(name), row, bound)
        for problem in PROBLEMS
        for name, rows in ladder.at_size(errors, problem).items()
        for row in rows
        for bound in [ladder.rms_bound(cases.rungs[name], size(row)[1])]
    )
