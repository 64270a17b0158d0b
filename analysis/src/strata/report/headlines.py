"""The ten numbers that a person wants first, and how many cases they come from.

One small function for each; a run that lacks a number has others take its place. `strata summary`
and `strata report` print them, and they stand at the top of the page.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from strata import model
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import Cited, Sentence, Table, atlas, level_name
from strata.model.units import factor, number, quantity, size
from strata.report.sentences import cited, percent
from strata.run import Row, Run

NAME = "headlines"
MOST = 10


@dataclass(frozen=True, slots=True)
class Headline:
    """One of the numbers that a person wants first: what it is, the number, a remark to it."""

    what: str
    value: Sentence
    remark: Sentence = field(default=("",))


def headlines(run: Run) -> tuple[Headline, ...]:
    """At most ten numbers, those of the chip first, how far to trust them last; then the cases."""
    trust = [*timers(run), valid_rows(run)]
    numbers: list[Headline] = []
    for one in CHIP:
        numbers += one(run)
    if not numbers:
        numbers += layouts(run)
    if len(numbers) + len(trust) < MOST:
        numbers += core_clock(run)
    return (*numbers[: MOST - len(trust)], *trust, cases(run))


def table(run: Run) -> Table:
    """The headlines of a run as a table."""
    return Table(
        name=NAME,
        title="First numbers",
        header=("what", "value", "remark"),
        rows=tuple(((one.what,), one.value, one.remark) for one in headlines(run)),
        numeric=frozenset({1}),
    )


# --- the chip -------------------------------------------------------------------------------------


def latencies(run: Run) -> Iterator[Headline]:
    """A dependent load out of each level; shared memory beside L1."""
    found = {one.level: one for one in atlas.latencies(run)}
    parts = atlas.partitions(run)
    shared = found.pop("shared", None) if "l1" in found else None
    for level in model.ordered(found, model.LEVELS):
        one = found[level]
        remark: Sentence = ("a chain through ", Cited(size(one.footprint), one.row))
        if level == "l1" and shared:
            remark = ("shared memory ", cited(shared.row))
        elif level == "l2" and parts:
            near, far = (Cited(number(row.value), row) for row in (parts.near, parts.far))
            remark = ("near part ", near, ", far part ", far)
        yield Headline(f"{level_name(level)} latency", (cited(one.row),), remark)


def bandwidths(run: Run) -> Iterator[Headline]:
    """The best read of each level; shared memory is not among the first numbers."""
    for one in atlas.bandwidths(run):
        if one.level == "shared":
            continue
        remark: Sentence = ("",)
        core = "core" if one.row.backend == "host" else "SM"
        if one.level == "dram" and one.share:
            remark = (percent(one.share), " of what its pins allow")
        elif one.per_cycle:
            unit = "TSC cycle" if "tsc" in one.per_cycle.unit else "cycle"
            rate = Cited(f"{one.per_cycle.value:.1f} B", one.per_cycle)
            remark = (rate, f" a {unit} of each {core}")
        yield Headline(f"{level_name(one.level)} bandwidth, reading", (cited(one.row),), remark)


def fp32_ceiling(run: Run) -> Iterator[Headline]:
    """The highest rate of fp32 multiply-adds."""
    for one in atlas.ceilings(run):
        if one.kind == "fp32":
            share = one.share
            remark: Sentence = (percent(share), " of lanes × clock") if share else ("",)
            yield Headline("fp32 multiply-adds", (cited(one.row),), remark)


def nbody(run: Run) -> Iterator[Headline]:
    """The fastest rung of the n-body ladder on one device."""
    measured = [step for step in best_cases(run) if step.row.valid and ladder.gpus(step.row) == 1]
    if measured:
        top = max(measured, key=lambda step: step.row.value)
        rate = top.row.value / ladder.GIGA
        words = f"{number(rate) if rate >= 1 else f'{rate:.3f}'} × 10⁹/s"
        remark = f"{ladder.rung_name(top.rung)}, {ladder.size_words(top.row)}"
        yield Headline("n-body interactions", (Cited(words, top.row),), (remark,))


CHIP: tuple[Callable[[Run], Iterator[Headline]], ...] = (
    latencies,
    bandwidths,
    fp32_ceiling,
    nbody,
)
"""What is told of a chip, in this order."""


# --- where the chip was not asked -----------------------------------------------------------------


def layouts(run: Run) -> Iterator[Headline]:
    """Of each level the cheapest layout and the one of best bandwidth."""
    whole = [one for one in model.layout_results(run.rows) if one.fields == "all"]
    for level in model.ordered((one.level for one in whole), model.LEVELS):
        here = [one for one in whole if one.level == level]
        timed = [(one.latency.cycles, one) for one in here if one.latency]
        if timed:
            row, best = min(timed, key=lambda item: item[0].value)
            what = f"{level_name(level)} latency, cheapest layout"
            yield Headline(what, (cited(row),), _over(best.layout, best.latency_factor))
        loaded = [(one.bandwidth.row, one) for one in here if one.bandwidth]
        if loaded:
            row, best = max(loaded, key=lambda item: item[0].value)
            what = f"{level_name(level)} useful bandwidth, best layout"
            yield Headline(what, (cited(row),), _over(best.layout, best.bandwidth_factor))


def _over(layout: str, against: float | None) -> Sentence:
    if against is None or layout == model.BASELINE:
        return (layout,)
    return (f"{layout}, {factor(against)} {model.BASELINE}",)


def core_clock(run: Run) -> Iterator[Headline]:
    """The clock that the cores held, and its range over all cases."""
    clocks: list[Row] = sorted(
        (row for row in run.rows if row.quantity == "core_clock" and row.valid),
        key=lambda row: row.value,
    )
    if clocks:
        ends = " to ".join(quantity(row.value, row.unit) for row in (clocks[0], clocks[-1]))
        yield Headline("core clock", (cited(clocks[len(clocks) // 2]),), (ends,))


# --- how far to trust it --------------------------------------------------------------------------


def timers(run: Run) -> Iterator[Headline]:
    """How far two independent timers of one thing lie apart at the most."""
    pairs = model.agreements(run.rows)
    if pairs:
        worst = max(pairs, key=lambda pair: abs(pair.ratio - 1))
        apart = sum(abs(pair.ratio - 1) > model.TIMER_TOLERANCE for pair in pairs)
        beyond = f"{apart} of {len(pairs)} pairs beyond {100 * model.TIMER_TOLERANCE:g} %"
        value = Cited(f"{100 * (worst.ratio - 1):+.2f} %", worst.other)
        yield Headline("timers, largest disagreement", (value,), (beyond,))


def valid_rows(run: Run) -> Headline:
    """How many rows no gate failed."""
    valid = sum(row.valid for row in run.rows)
    invalid = len(run.rows) - valid
    flagged = f"{invalid} flagged by a gate" if invalid else "no gate failed"
    return Headline("valid rows", (f"{valid} of {len(run.rows)}",), (flagged,))


def cases(run: Run) -> Headline:
    """How many cases of the sweep were measured."""
    statuses = Counter(case.status for case in run.cases)
    return Headline(
        "cases measured",
        (f"{statuses['measured']} of {len(run.context.sweep.cases)}",),
        (f"{statuses['skipped']} skipped, {statuses['failed']} failed",),
    )
