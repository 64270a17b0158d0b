"""The changes between two runs in words and tables, and as lines of a CSV file."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter
from statistics import median, median_high

from strata.compare.changes import ALARMS, POWER, VERDICTS, Change, Comparison, Family, Judged, Pair
from strata.compare.conditions import differences, kinship
from strata.compare.sections import Section, as_csv, table_of
from strata.model import Table, level_name, units
from strata.model.units import MINUS
from strata.run import Row, grouped, params_text

COLUMNS = {
    "run_before": "before.run", "run_after": "after.run",
    **{name: f"before.{name}" for name in (
        "suite", "benchmark", "case", "quantity", "method", "provenance", "unit",
    )},
    "better": "better", "before": "before.value", "after": "after.value", "verdict": "verdict",
    "change": "change", "change_low": "low", "change_high": "high",
    "chance_without_change": "chance", "smallest_change_found": "found",
    **{f"floor_{name}": f"floor.{name}" for name in (
        "spread", "shift", "freedom", "shape", "rows",
    )},
    "floor_group": "floor.name", "reason": "reason",
}  # fmt: skip
"""What the columns of the CSV file are of a change or a pair.

Changes, intervals and floors are relative: 0.02 is 2 % more than before.
"""


def percent(share: float) -> str:
    """A relative change with its sign: +2.5 %, −31 %; a factor if it more than doubles."""
    if math.isnan(share) or share > 1e4:
        return "no limit"
    if share >= 1:
        return units.factor(1 + share)
    size = abs(100 * share)
    digits = 0 if size >= 19.95 else 1 if size >= 0.995 else 2
    text = f"{size:.{digits}f}"
    sign = "" if float(text) == 0 else "+" if share > 0 else MINUS
    return f"{sign}{text}{units.SPACE}%"


def size(share: float) -> str:
    """A relative size without a sign: 2.5 %."""
    return percent(share).removeprefix("+")


def name(row: Row) -> str:
    """Benchmark and quantity of a row, and its method."""
    return f"{row.benchmark} {row.quantity} ({row.method})"


def family(found: Family) -> str:
    """A family in words: `DRAM latency (latency_vs_footprint load_cycles)`."""
    _, benchmark, quantity, level = found.key
    what = "latency" if quantity == "load_cycles" else quantity.replace("_", " ")
    return f"{level_name(level) or benchmark} {what} ({benchmark} {quantity})"


def along(found: Family) -> str:
    """The rows in which a family moved like the whole: `every footprint`, if in all."""
    if found.alike < len(found.rows):
        return f"{units.count(found.alike)} of {units.count(len(found.rows))} rows"
    values = {axis: {row.text(axis) for row in found.rows} for axis in found.rows[0].params}
    axis = max(values, key=lambda axis: len(values[axis]), default="row")
    return f"every {axis.replace('_', ' ')} ({units.count(len(found.rows))} rows)"


def sentence(found: Family, run: str) -> str:
    """The change of a family: `DRAM latency (…) 3.7 % lower in B, every footprint (439 rows)`."""
    way = "higher" if found.change > 0 else "lower"
    much = units.factor(1 + found.change) if found.change >= 1 else size(abs(found.change))
    return f"{family(found)} {much} {way} in {run}, {along(found)}"


def section(found: Comparison) -> Section:
    """The complete report of a comparison."""
    alarms, benchmarks = _alarms(found), _benchmarks(found)
    tables = tuple(table for table in (alarms, benchmarks) if table.rows)
    details = tuple(table for table in (_counts(found), _left_out(found)) if table.rows)
    notes = (f"{counts(found)}. {power(found)}.", *_notes(found))
    return Section(title(found), tuple(warnings(found)), tables, details, alarms, notes)


def title(found: Comparison) -> str:
    """The names of the compared runs."""
    before, after = found.before.context, found.after.context
    return f"{before.device.name}: {after.run} against {before.run}"


def counts(found: Comparison) -> str:
    """`12 slower, 3 faster, …`: the timed rows by verdict, then the families."""
    return f"{_counted(found.changes, 'timed rows')}; {_counted(found.families, 'families')}"


def power(found: Comparison) -> str:
    """The change that the comparison could have seen, in how many rows."""
    changes, least = found.noticeable(), size(found.settings.power)
    if not changes:
        return f"It could not have seen a change of {least}: both runs have no timed row in common"
    rows = f"{units.count(len(changes))} timed rows"
    seen = units.count(sum(change <= found.settings.power for change in changes))
    middle = median_high(changes)
    alone = units.count(sum(one.found <= found.settings.power for one in found.changes))
    known = math.isfinite(middle)
    half = f"in half of them from {size(middle)}" if known else "not in half of them"
    verdict = "It could have seen" if found.has_power else "It could not have seen"
    caution = "" if found.has_power else ", so it does not show that nothing changed"
    return (
        f"{verdict} a change of {least}{caution}: one is noticed with a probability of {POWER:g} "
        f"in {seen} of {rows}, alone ({alone}) or with their whole family, and {half}"
    )


def _counted(judged: Sequence[Judged], what: str) -> str:
    verdicts = Counter(one.verdict for one in judged)
    listed = ", ".join(f"{units.count(verdicts[verdict])} {verdict}" for verdict in VERDICTS)
    return f"{units.count(len(judged))} {what}: {listed}"


def warnings(found: Comparison) -> Iterator[str]:
    """Warnings about the verdicts, one line each."""
    if kinship(found.before.context, found.after.context) == "model":
        yield "two devices of one model: differences between the chips are part of every change"
    for difference in found.differences:
        yield f"conditions differ, {difference}"
    for first, *later in found.repeats:
        for run in later:
            told = f"{run.context.run} is given as a repeat of {first.context.run}, but differs in"
            yield from [f"{told} {difference}" for difference in differences(first, run)]
        if not any(kinship(first.context, one.context) == "device" for one in found.both):
            yield (
                f"the noise runs are of another chip ({first.context.device.uuid}) than those "
                "compared"
            )
    if not found.repeats:
        yield (
            "no runs of the same code are given (--same): the noise is estimated from the "
            "changes themselves, assuming that most of them are none"
        )


def _notes(found: Comparison) -> Iterator[str]:
    """Notes: what the verdicts guarantee, what else was found, and what was left out."""
    settings, rows = found.settings, units.count(len(found.changes))
    moved = [sentence(one, found.after.context.run) for one in found.moved()]
    if moved:
        yield f"Families of rows that moved together: {'; '.join(moved)}."
    yield (
        f"Alarms ({', '.join(ALARMS)}): without any change, the probability of even one false "
        f"alarm is at most {size(settings.false_alarm)}, one half spent by Holm's procedure on "
        f"all {rows} timed rows, the other on {units.count(len(found.families))} families (the "
        "rows of one benchmark, quantity and level, as one observation); and the change is at "
        f"least {size(settings.min_change)}, the smallest change of interest. Same: its own 95"
        f"{units.SPACE}% interval lies within that. Everything else is undecided."
    )
    if found.clock:
        yield (
            f"The clock of the second run is {size(abs(math.expm1(found.clock)))} "
            f"{'higher' if found.clock > 0 else 'lower'}: of each family, only what lies beyond a "
            "change by none, part or all of that is tested."
        )
    if found.changes:
        names = (", ".join(run.context.run for run in runs) for runs in found.repeats)
        source = f"runs of the same code ({'; '.join(names)})"
        source = source if found.repeats else "the changes themselves"
        kinds = {"row": found.changes, "family": found.families}
        smallest = "; ".join(
            f"the smallest change that is noticed in the quietest {kind} is "
            f"{size(min(one.found for one in judged))}"
            for kind, judged in kinds.items()
            if judged
        )
        yield (
            f"The noise, how far medians move between runs, is estimated from {source}; {smallest}."
        )
    exact = Counter(one.verdict for one in found.exact)
    yield (
        f"Counted, modelled and published rows, compared exactly: {units.count(exact['same'])} "
        f"same, {units.count(exact['changed'])} changed."
    )
    reasons = sorted(Counter(one.reason for one in found.left_out).items())
    listed = "; ".join(f"{units.count(count)} {reason}" for reason, count in reasons)
    left_out = f"{units.count(len(found.left_out))} rows" + (f" ({listed})" if listed else "")
    before, after = map(units.count, found.alone)
    yield f"Not compared: {left_out}; {before} rows only before, {after} only after."


def _alarms(found: Comparison) -> Table:
    """The alarms: families, then rows."""
    lines: list[tuple[str, ...]] = [
        (one.verdict, family(one), along(one), "", "", percent(one.change), _interval(one))
        for one in found.moved()
    ]
    for change in found.flagged():
        before, after = change.before, change.after
        values = [units.quantity(row.value, row.unit) for row in (before, after)]
        words = (change.verdict, name(before), params_text(before.params, " "))
        lines.append((*words, *values, percent(change.change), _interval(change)))
    header = ("verdict", "quantity", "case", "before", "after", "change", "interval")
    return table_of("changes", "What changed", header, lines, (3, 4, 5))


def _interval(one: Judged) -> str:
    return f"{percent(one.low)} to {percent(one.high)}"


def _benchmarks(found: Comparison) -> Table:
    """Rows by benchmark: verdicts, median change of time, detectable change."""
    lines = []
    by_benchmark = grouped(found.changes, lambda one: one.before.benchmark)
    for benchmark, here in sorted(by_benchmark.items()):
        verdicts = Counter(change.verdict for change in here)
        numbers = (len(here), *(verdicts[verdict] for verdict in VERDICTS))
        middle = median(change.as_time(change.change) for change in here)
        smallest = median_high(change.found for change in here)
        lines.append((benchmark, *map(units.count, numbers), percent(middle), size(smallest)))
    header = ("benchmark", "rows", *VERDICTS, "median, as a time", "found from (median)")
    return table_of("benchmarks", "By benchmark", header, lines, range(1, len(header)))


def _counts(found: Comparison) -> Table:
    """Counted, modelled and published quantities with a changed row."""
    lines = []
    kind = attrgetter("quantity", "method", "provenance")
    for words, here in sorted(grouped(found.exact, lambda one: kind(one.before)).items()):
        changed = [(one.before.value, one.after.value) for one in here if one.verdict == "changed"]
        if changed:
            middle = median_high(abs(two / one - 1) if one else math.inf for one, two in changed)
            shown = size(middle) if middle < math.inf else "from 0"
            lines.append((*words, units.count(len(here)), units.count(len(changed)), shown))
    header = ("quantity", "method", "provenance", "rows", "changed", "median size of a change")
    return table_of("counts", "Counts that are not the same", header, lines, (3, 4, 5))


def _left_out(found: Comparison) -> Table:
    """Common rows that were not compared, by case and reason."""
    counted = Counter((one.before.case, one.reason) for one in found.left_out)
    lines = ((case, units.count(rows), reason) for (case, reason), rows in counted.items())
    return table_of("left_out", "Not compared", ("case", "rows", "reason"), lines, (1,))


def data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each timed row, each changed count, and each row that was left out."""
    listed: list[Change | Pair] = []
    for found in comparisons:
        listed += found.changes
        listed += (one for one in (*found.exact, *found.left_out) if one.verdict != "same")
    return as_csv(COLUMNS, ([_cell(one, path) for path in COLUMNS.values()] for one in listed))


def families_data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each family; change and floor are relative, the floor is one sigma."""
    columns = (
        "run_before", "run_after", "suite", "benchmark", "quantity", "level", "rows", "rows_alike",
        "verdict", "better", "change", "change_low", "change_high", "chance_without_change",
        "smallest_change_found", "floor_sigma", "repeats",
    )  # fmt: skip
    lines = (
        (
            *(run.context.run for run in found.both), *one.key, len(one.rows), one.alike,
            one.verdict, one.better, one.change, one.low, one.high, one.chance, one.found,
            math.expm1(one.law.scale), one.repeats,
        )
        for found in comparisons
        for one in found.families
    )  # fmt: skip
    return as_csv(columns, lines)


def _cell(one: Change | Pair, path: str) -> object:
    """The value at `path`, values of rows with all digits; empty if a pair lacks it."""
    found: object = one
    for name in path.split("."):
        found = getattr(found, name, "")
    return repr(found) if path.endswith(".value") else found
