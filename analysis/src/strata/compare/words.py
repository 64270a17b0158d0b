"""What changed between two runs in words and tables, and as lines of a CSV file."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter
from statistics import median, median_high

from strata.compare.changes import ALARMS, POWER, VERDICTS, Change, Comparison, Pair
from strata.compare.conditions import differences, kinship
from strata.compare.sections import Section, as_csv, table_of
from strata.model import Table, units
from strata.run import Row, grouped, params_text

MINUS = "−"
COLUMNS = {
    "run_before": "before.run", "run_after": "after.run",
    **{name: f"before.{name}" for name in (
        "suite", "benchmark", "case", "quantity", "method", "provenance", "unit",
    )},
    "better": "better", "before": "before.value", "after": "after.value", "verdict": "verdict",
    "change": "change", "change_low": "low", "change_high": "high",
    "chance_without_change": "chance", "smallest_change_found": "found",
    **{f"floor_{name}": f"floor.{name}" for name in ("spread", "shift", "shape", "rows")},
    "floor_group": "floor.name", "reason": "reason",
}  # fmt: skip
"""What the columns of the CSV file are of a change or a pair.

Changes, intervals and floors are relative: 0.02 is 2 % more than before.
"""


def percent(share: float) -> str:
    """A relative change with its sign: +2.5 %, −31 %; as a factor where it more than doubles."""
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
    """Benchmark and quantity of a row, and by what it was measured."""
    return f"{row.benchmark} {row.quantity} ({row.method})"


def section(found: Comparison) -> Section:
    """All that there is to say of a comparison."""
    alarms, benchmarks = _alarms(found), _benchmarks(found)
    tables = tuple(table for table in (alarms, benchmarks) if table.rows)
    details = tuple(table for table in (_counts(found), _left_out(found)) if table.rows)
    notes = (f"{counts(found)}.", *_notes(found))
    return Section(title(found), tuple(warnings(found)), tables, details, alarms, notes)


def title(found: Comparison) -> str:
    """Which runs are compared."""
    before, after = found.before.context, found.after.context
    return f"{before.device.name}: {after.run} against {before.run}"


def counts(found: Comparison) -> str:
    """`12 slower, 3 faster, …`: the timed rows by verdict."""
    verdicts = found.verdicts()
    listed = ", ".join(f"{units.count(verdicts[verdict])} {verdict}" for verdict in VERDICTS)
    return f"{units.count(len(found.changes))} timed rows: {listed}"


def warnings(found: Comparison) -> Iterator[str]:
    """What a reader must know before believing a verdict: one line each."""
    if kinship(found.before.context, found.after.context) == "model":
        yield "two devices of one model: what differs between the chips is inside every change"
    for difference in found.differences:
        yield f"conditions differ, {difference}"
    for run in found.same:
        told = f"{run.context.run} is given as a run of the same code, yet differs in"
        yield from [f"{told} {difference}" for difference in differences(found.before, run)]
    if not found.same:
        yield (
            "no runs of the same code are given (--same): how far medians wander is taken from "
            "the changes themselves, of which most are then supposed to be none"
        )


def _notes(found: Comparison) -> Iterator[str]:
    """What the verdicts promise, what was found beside them, and what was left out."""
    settings, rows = found.settings, units.count(len(found.changes))
    yield (
        f"Alarms ({', '.join(ALARMS)}): Holm's procedure over all {rows} timed rows, so that "
        f"without any change even one false alarm has a probability of at most "
        f"{size(settings.false_alarm)}; and at least {size(settings.min_change)}, the smallest "
        f"change of interest. Same: the row's own 95{units.SPACE}% interval lies within that. "
        "Everything else is undecided."
    )
    if found.changes:
        runs = f"runs of the same code ({', '.join(run.context.run for run in found.same)})"
        smallest = [change.found for change in found.changes]
        yield (
            f"How far medians wander between runs is taken from "
            f"{runs if found.same else 'the changes themselves'}; a change is found with a "
            f"power of {POWER:g} from {size(median_high(smallest))} on in half of the rows, and of "
            f"2{units.SPACE}% in {units.count(sum(value <= 0.02 for value in smallest))} of {rows}."
        )
    exact = Counter(one.verdict for one in found.exact)
    yield (
        f"Counted, modelled and published rows, compared to the last digit: "
        f"{units.count(exact['same'])} same, {units.count(exact['changed'])} changed."
    )
    reasons = sorted(Counter(one.reason for one in found.left_out).items())
    listed = "; ".join(f"{units.count(count)} {reason}" for reason, count in reasons)
    left_out = f"{units.count(len(found.left_out))} rows" + (f" ({listed})" if listed else "")
    before, after = map(units.count, found.alone)
    yield f"Not compared: {left_out}; {before} rows only before, {after} only after."


def _alarms(found: Comparison) -> Table:
    """What is slower, faster or changed."""
    lines = []
    for change in found.flagged():
        before, after = change.before, change.after
        values = [units.quantity(row.value, row.unit) for row in (before, after)]
        moved = (percent(change.change), f"{percent(change.low)} to {percent(change.high)}")
        words = (change.verdict, name(before), params_text(before.params, " "))
        lines.append((*words, *values, *moved))
    header = ("verdict", "quantity", "case", "before", "after", "change", "interval")
    return table_of("changes", "What changed", header, lines, (3, 4, 5))


def _benchmarks(found: Comparison) -> Table:
    """Each benchmark's rows by verdict, its median change as of a time, what would be found."""
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
    """The counted, modelled and published quantities of which a row changed."""
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
    """The rows that both runs have and that were not compared, by case and reason."""
    counted = Counter((one.before.case, one.reason) for one in found.left_out)
    lines = ((case, units.count(rows), reason) for (case, reason), rows in counted.items())
    return table_of("left_out", "Not compared", ("case", "rows", "reason"), lines, (1,))


def data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each timed row, each count that changed, and each row that was left out."""
    listed: list[Change | Pair] = []
    for found in comparisons:
        listed += found.changes
        listed += (one for one in (*found.exact, *found.left_out) if one.verdict != "same")
    return as_csv(COLUMNS, ([_cell(one, path) for path in COLUMNS.values()] for one in listed))


def _cell(one: Change | Pair, path: str) -> object:
    """What lies at `path`, values of rows with all their digits; empty where a pair has it not."""
    found: object = one
    for name in path.split("."):
        found = getattr(found, name, "")
    return repr(found) if path.endswith(".value") else found
