"""The ten most important numbers of a run, and how many cases they come from.

One small function each; if a run lacks a number, others take its place. `strata summary` and
`strata report` print them, and they are at the top of the page.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from strata.ladder import rungs
from strata.ladder.best import best_cases
from strata.model import atlas, layouts
from strata.model.cases import TIME_STAMPS
from strata.model.names import LEVELS, level_name, ordered
from strata.model.text import Cited, Sentence, Table, cited
from strata.model.timers import TIMER_TOLERANCE, agreements
from strata.model.units import MINUS, factor, number, quantity
from strata.report.answers import size_of, sizes
from strata.report.attempt import attempt
from strata.report.sentences import against_limit, latency_words, percent, walked
from strata.run import Row, Run

MOST = 10


class Headline(NamedTuple):
    """A headline number: what it is, the number, and a remark."""

    what: str
    value: Sentence
    remark: Sentence = ()
    trust: bool = False
    """Whether it tells how far to trust the others."""


def headlines(run: Run, notices: list[str] | None = None) -> tuple[Headline, ...]:
    """At most ten numbers; then how far to trust them."""

    def told(*parts: Callable[[Run], Iterator[Headline]]) -> list[Headline]:
        found: list[Headline] = []
        for part in parts:
            with attempt(f"The first number of {part.__name__}", notices):
                found += part(run)
        return found

    chip = told(latencies, bandwidths, cache_sizes), told(fp32_ceiling, nbody)
    numbers = [*chip[0], *told(best_layout), *chip[1]] if any(chip) else told(best_layouts)
    if len(numbers) < MOST:
        numbers += told(core_clock)
    return (*numbers[:MOST], *told(timers, valid_rows, cases))


def table(run: Run, found: Sequence[Headline] | None = None) -> Table:
    """The headlines of a run, or the given ones, as a table."""
    told = headlines(run) if found is None else found
    rows = tuple(((one.what,), one.value, one.remark) for one in told)
    return Table("headlines", "First numbers", ("what", "value", "remark"), rows, frozenset({1}))


def as_data(run: Run) -> dict[str, object]:
    """The headlines for programs: values by name, then how many rows and cases are good."""
    statuses = Counter(case.status for case in run.cases)
    counters = run.context.counters
    return {
        "run": run.context.run,
        "device": run.context.device.slug,
        "numbers": {
            name: {"value": row.value, "unit": row.unit}
            for one in headlines(run)
            if not one.trust
            for name, row in _named(one).items()
        },
        "rows": len(run.rows),
        "valid_rows": sum(row.valid for row in run.rows),
        "cases": len(run.context.sweep.cases),
        "measured_cases": statuses["measured"],
        "failed_cases": statuses["failed"],
        "counters": counters.state if counters else "unavailable",
    }


def _named(one: Headline) -> dict[str, Row]:
    """The rows of a headline, by its name and the words that precede the number."""
    found: dict[str, Row] = {}
    words = ""
    for part in one.value:
        if isinstance(part, str):
            words = part.strip(" ,()")
        else:  # The same number in another unit follows it.
            found.setdefault(f"{one.what} {words}".strip(), part.row)
    return found


def latencies(run: Run) -> Iterator[Headline]:
    """A dependent load from each level; shared memory beside L1."""
    found = dict(atlas.latencies(run))
    parts = atlas.partitions(run)
    shared = found.pop("shared", None) if "l1" in found else None
    for level in ordered(found, LEVELS):
        remark = walked(found[level], "")
        if level == "l1" and shared:
            remark = ("shared memory ", cited(shared.row))
            if neighbour := atlas.neighbour(run):
                remark = (*remark, ", another SM's ", cited(neighbour))
        elif level == "l2" and parts:
            near, far = (Cited(number(part.value), part) for part in (parts.near, parts.far))
            remark = (f"{parts.access}: near part ", near, ", far part ", far)
        yield Headline(f"{level_name(level)} latency", latency_words(found[level]), remark)


def bandwidths(run: Run) -> Iterator[Headline]:
    """The best read bandwidth of each level; shared memory is not a headline."""
    for level, best in atlas.bandwidths(run).items():
        if level != "shared":
            what = f"{level_name(level)} bandwidth, reading"
            yield Headline(what, (cited(best.row),), against_limit(level, best))


def fp32_ceiling(run: Run) -> Iterator[Headline]:
    """The highest rate of fp32 multiply-adds."""
    if best := atlas.ceilings(run).get("fp32"):
        remark = (percent(best.share), " of lanes × clock") if best.share else ()
        yield Headline("fp32 multiply-adds", (cited(best.row),), remark)


def nbody(run: Run) -> Iterator[Headline]:
    """The fastest rung of the n-body ladder on one device."""
    steps = (step for step in best_cases(run) if step.row.valid and rungs.gpus(step.row) == 1)
    if top := max(steps, key=lambda step: step.row.value, default=None):
        rate = top.row.value / rungs.GIGA
        words = f"{number(rate) if rate >= 1 else f'{rate:.3f}'} × 10⁹/s"
        remark = f"{rungs.rung_name(top.rung)}, {rungs.size_words(top.row)}"
        yield Headline("n-body interactions", (Cited(words, top.row),), (remark,))


def cache_sizes(run: Run) -> Iterator[Headline]:
    """The cache sizes: as found by loads, for a divided L2 as reported."""
    value: list[str | Cited] = []
    remark: list[str | Cited] = []
    for level, (seen, reported) in sizes(run).items():
        whole = run.context.backend == "cuda" and level == "l2"
        first, second = (reported or seen, seen) if whole else (seen or reported, reported)
        if first:
            value += [", " if value else "", f"{level_name(level)} ", size_of(first)]
        if first and second and first is not second:
            said = " of L2 as one SM sees it" if whole else f" of {level_name(level)} reported"
            remark += [", " if remark else "", size_of(second), said]
    if value:
        yield Headline("cache sizes", tuple(value), tuple(remark))


def best_layout(run: Run) -> Iterator[Headline]:
    """The layout with the most useful bandwidth from the farthest level that has one; only that."""
    found = {(pick.kind, pick.level): pick for pick in _best_layouts(run)}
    if loaded := next((found[key] for key in reversed(found) if key[0] == "bandwidth"), None):
        remark: Sentence = (cited(loaded.row), " of useful data", loaded.against)
        if alone := found.get(("latency", loaded.level)):
            remark = (*remark, "; alone: ", Cited(alone.layout, alone.row))
        if loaded.level != "dram":
            remark = (*remark, "; none of DRAM")
        what = f"best layout in {level_name(loaded.level)}"
        yield Headline(what, (Cited(loaded.layout, loaded.row),), remark)


def best_layouts(run: Run) -> Iterator[Headline]:
    """The cheapest layout and the one of best bandwidth for each level."""
    whats = {"latency": "latency, cheapest", "bandwidth": "useful bandwidth, best"}
    for pick in _best_layouts(run):
        what = f"{level_name(pick.level)} {whats[pick.kind]} layout"
        yield Headline(what, (cited(pick.row),), (pick.layout + pick.against,))


class _Pick(NamedTuple):
    """The best layout of a level by its latency or its bandwidth, `against` the baseline."""

    level: str
    kind: str
    row: Row
    layout: str
    against: str


def _best_layouts(run: Run) -> Iterator[_Pick]:
    whole = [one for one in layouts.layout_results(run.of("layout_read")) if one.fields == "all"]
    for level in ordered((one.level for one in whole), LEVELS):
        here = [one for one in whole if one.level == level]
        timed = [(one.latency.cycles, one, one.latency_factor) for one in here if one.latency]
        loaded = [(one.bandwidth.row, one, one.bandwidth_factor) for one in here if one.bandwidth]
        for kind, found, pick in (("latency", timed, min), ("bandwidth", loaded, max)):
            if found:
                row, best, gain = pick(found, key=lambda item: item[0].value)
                told = gain and best.layout != layouts.BASELINE
                against = f", {factor(gain)} {layouts.BASELINE}" if gain and told else ""
                yield _Pick(level, kind, row, best.layout, against)


def core_clock(run: Run) -> Iterator[Headline]:
    """The clock of the cores, and its range over all cases."""
    found = [row for row in run.rows if row.quantity == "core_clock" and row.method != TIME_STAMPS]
    if clocks := sorted((row for row in found if row.valid), key=lambda row: row.value):
        ends = " to ".join(quantity(row.value, row.unit) for row in (clocks[0], clocks[-1]))
        yield Headline("core clock", (cited(clocks[len(clocks) // 2]),), (ends,))


def timers(run: Run) -> Iterator[Headline]:
    """The largest difference between two independent timers."""
    if pairs := agreements(run.rows):
        worst = max(pairs, key=lambda pair: abs(pair.ratio - 1))
        apart = sum(abs(pair.ratio - 1) > TIMER_TOLERANCE for pair in pairs)
        beyond = f"{apart} of {len(pairs)} pairs beyond {100 * TIMER_TOLERANCE:g} %"
        value = Cited(f"{100 * (worst.ratio - 1):+.2f} %".replace("-", MINUS), worst.other)
        yield Headline("timers, largest disagreement", (value,), (beyond,), trust=True)


def valid_rows(run: Run) -> Iterator[Headline]:
    """The number of rows that passed all gates."""
    invalid = sum(not row.valid for row in run.rows)
    flagged = f"{invalid} flagged by a gate" if invalid else "no gate failed"
    found = f"{len(run.rows) - invalid} of {len(run.rows)}"
    yield Headline("valid rows", (found,), (flagged,), trust=True)


def cases(run: Run) -> Iterator[Headline]:
    """The number of measured cases of the sweep."""
    statuses = Counter(case.status for case in run.cases)
    measured = f"{statuses['measured']} of {len(run.context.sweep.cases)}"
    rest = f"{statuses['skipped']} skipped, {statuses['failed']} failed"
    yield Headline("cases measured", (measured,), (rest,), trust=True)
