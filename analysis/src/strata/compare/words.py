"""A comparison in words and tables: for a terminal, a page, a paper, and as lines of a CSV file."""

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from statistics import median

from strata.compare.changes import POWER, VERDICTS, Change, Comparison
from strata.model import Table, units
from strata.run import Row, params_text

MINUS = "−"
COLUMNS = (
    "run_before", "run_after", "suite", "benchmark", "case", "quantity", "method", "provenance",
    "unit", "better", "before", "after", "verdict", "change", "change_low", "change_high",
    "chance_without_change", "smallest_change_found", "floor_spread", "floor_shift",
    "floor_shape", "floor_rows", "floor_group", "reason",
)  # fmt: skip
"""Changes, intervals and floors are relative: 0.02 is 2 % more than before."""


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


def title(found: Comparison) -> str:
    """Which runs are compared."""
    before, after = found.before.context, found.after.context
    return f"{before.device.name}: {after.run} against {before.run}"


def counts(found: Comparison) -> str:
    """`12 slower, 3 faster, …`: the timed rows by verdict."""
    verdicts = found.verdicts()
    listed = ", ".join(f"{units.count(verdicts[verdict])} {verdict}" for verdict in VERDICTS)
    return f"{units.count(len(found.changes))} timed rows: {listed}"


def warnings(found: Comparison) -> tuple[str, ...]:
    """What a reader must know before believing a verdict: one line each."""
    result = []
    if found.kinship == "model":
        result.append(
            "two devices of one model: what differs between the chips is inside every change"
        )
    result += [f"conditions differ, {difference}" for difference in found.differences]
    result += [
        f"{run} is given as a run of the same code, yet differs in {difference}"
        for run, difference in found.unlike
    ]
    if not found.same:
        result.append(
            "no runs of the same code are given (--same): how far medians wander is taken from "
            "the changes themselves, of which most are then supposed to be none"
        )
    return tuple(result)


def notes(found: Comparison) -> tuple[str, ...]:
    """What the verdicts promise, what was found beside them, and what was left out."""
    settings = found.settings
    rows = units.count(len(found.changes))
    promise = (
        f"Alarms (slower, faster, changed): Holm's procedure over all {rows} timed rows, so that "
        f"without any change even one false alarm has a probability of at most "
        f"{size(settings.false_alarm)}; and at least {size(settings.min_change)}, the smallest "
        f"change of interest. Same: the row's own 95{units.SPACE}% interval lies within that. "
        "Everything else is undecided."
    )
    result = [promise]
    source = (
        f"from runs of the same code ({', '.join(found.same)})"
        if found.same
        else "from the changes themselves"
    )
    found_sizes = sorted(change.found for change in found.changes)
    if found_sizes:
        middle = found_sizes[len(found_sizes) // 2]
        sure = sum(value <= 0.02 for value in found_sizes)
        result.append(
            f"How far medians wander between runs is taken {source}; a change is found with a "
            f"power of {POWER:g} from {size(middle)} on in half of the rows, and of "
            f"2{units.SPACE}% in {units.count(sure)} of {rows}."
        )
    exact = Counter(one.verdict for one in found.exact)
    result.append(
        f"Counted, modelled and published rows, compared to the last digit: "
        f"{units.count(exact['same'])} same, {units.count(exact['changed'])} changed."
    )
    reasons = Counter(one.reason for one in found.left_out)
    listed = "; ".join(f"{units.count(reasons[why])} {why}" for why in sorted(reasons))
    result.append(
        f"Not compared: {units.count(len(found.left_out))} rows"
        + (f" ({listed})" if listed else "")
        + f"; {units.count(found.only_before)} rows only before, "
        f"{units.count(found.only_after)} only after."
    )
    return tuple(result)


# --- tables ---------------------------------------------------------------------------------------


def _cells(change: Change) -> tuple[str, ...]:
    before, after = change.before, change.after
    return (
        change.verdict,
        name(before),
        params_text(before.params, " "),
        units.quantity(before.value, before.unit),
        units.quantity(after.value, after.unit),
        percent(change.change),
        f"{percent(change.low)} to {percent(change.high)}",
    )


def flagged_table(found: Comparison, most: int | None = None) -> Table:
    """What is slower, faster or changed, `most` lines of it."""
    shown = found.flagged()[:most]
    return Table(
        name="changes",
        title="What changed",
        header=("verdict", "quantity", "case", "before", "after", "change", "interval"),
        rows=tuple(tuple((cell,) for cell in _cells(change)) for change in shown),
        numeric=frozenset({3, 4, 5}),
    )


def benchmark_table(found: Comparison) -> Table:
    """A line for each benchmark: its rows by verdict, its median change, what would be found.

    Changes are as of times: a rate that falls counts as slower, like a time that grows.
    """
    grouped: dict[str, list[Change]] = defaultdict(list)
    for change in found.changes:
        grouped[change.before.benchmark].append(change)
    lines = []
    for benchmark in sorted(grouped):
        here = grouped[benchmark]
        verdicts = Counter(change.verdict for change in here)
        middle = median(math.expm1(worse(change)) for change in here)
        cells = (
            benchmark,
            units.count(len(here)),
            *(units.count(verdicts[verdict]) for verdict in VERDICTS),
            percent(middle),
            size(sorted(change.found for change in here)[len(here) // 2]),
        )
        lines.append(tuple((cell,) for cell in cells))
    return Table(
        name="benchmarks",
        title="By benchmark",
        header=("benchmark", "rows", *VERDICTS, "median, as a time", "found from (median)"),
        rows=tuple(lines),
        numeric=frozenset(range(1, 4 + len(VERDICTS))),
    )


def counts_table(found: Comparison) -> Table:
    """The counted, modelled and published quantities of which a row changed."""
    grouped: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for one in found.exact:
        key = (one.before.quantity, one.before.method, one.before.provenance)
        grouped[key].append((one.before.value, one.after.value))
    lines = []
    for (quantity, method, provenance), values in sorted(grouped.items()):
        differ = [(before, after) for before, after in values if before != after]
        if not differ:
            continue
        moved = sorted(abs(after / before - 1) if before else math.inf for before, after in differ)
        cells = (
            quantity,
            method,
            provenance,
            units.count(len(values)),
            units.count(len(differ)),
            size(moved[len(moved) // 2]) if moved[len(moved) // 2] < math.inf else "from 0",
        )
        lines.append(tuple((cell,) for cell in cells))
    return Table(
        name="counts",
        title="Counts that are not the same",
        header=("quantity", "method", "provenance", "rows", "changed", "median size of a change"),
        rows=tuple(lines),
        numeric=frozenset({3, 4, 5}),
    )


def left_out_table(found: Comparison) -> Table:
    """The rows that both runs have and that were not compared, by case and reason."""
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for one in found.left_out:
        grouped[one.before.case, one.reason].append(one.before)
    return Table(
        name="left_out",
        title="Not compared",
        header=("case", "rows", "reason"),
        rows=tuple(
            ((case,), (units.count(len(rows)),), (reason,))
            for (case, reason), rows in grouped.items()
        ),
        numeric=frozenset({1}),
    )


def tables_of(found: Comparison) -> tuple[Table, ...]:
    """The tables that have a row."""
    made = (
        flagged_table(found),
        benchmark_table(found),
        counts_table(found),
        left_out_table(found),
    )
    return tuple(table for table in made if table.rows)


def worse(change: Change) -> float:
    """The change as the logarithm of a ratio of times: above 0 where it is for the worse."""
    ratio = math.log(change.after.value / change.before.value)
    return -ratio if change.better == "higher" else ratio


# --- lines of a CSV file --------------------------------------------------------------------------


def data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each timed row, each count that changed, and each row that was left out."""
    listed = (line for found in comparisons for line in _lines(found))
    cells = ([_cell(line.get(column, "")) for column in COLUMNS] for line in listed)
    return as_csv(COLUMNS, cells)


def as_csv(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> bytes:
    """The lines below their header, by RFC 4180."""
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(columns)
    writer.writerows(lines)
    return buffer.getvalue().encode()


def _cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _lines(found: Comparison) -> Iterator[dict[str, object]]:
    runs = (found.before.context.run, found.after.context.run)
    for change in found.changes:
        floor = change.floor
        yield _line(runs, change.before, change.after) | {
            "better": change.better,
            "verdict": change.verdict,
            "change": change.change,
            "change_low": change.low,
            "change_high": change.high,
            "chance_without_change": change.chance,
            "smallest_change_found": change.found,
            "floor_spread": floor.spread,
            "floor_shift": floor.shift,
            "floor_shape": floor.shape,
            "floor_rows": floor.rows,
            "floor_group": "/".join(word for word in floor.group if word) or "all",
        }
    for one in found.exact:
        if one.verdict != "same":
            yield _line(runs, one.before, one.after) | {"better": "neither", "verdict": "changed"}
    for out in found.left_out:
        line = _line(runs, out.before, out.after)
        yield line | {"verdict": "not compared", "reason": out.reason}


def _line(runs: tuple[str, str], before: Row, after: Row) -> dict[str, object]:
    return {
        "run_before": runs[0],
        "run_after": runs[1],
        "suite": before.suite,
        "benchmark": before.benchmark,
        "case": before.case,
        "quantity": before.quantity,
        "method": before.method,
        "provenance": before.provenance,
        "unit": before.unit,
        "before": repr(before.value),
        "after": repr(after.value),
    }
