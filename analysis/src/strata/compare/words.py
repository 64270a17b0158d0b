"""A comparison in words and tables: on a terminal, as text for files, and as CSV."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from statistics import median_high
from typing import Any

import numpy as np
import pandas as pd

from strata.compare import devices
from strata.compare.changes import ALARMS, POWER, VERDICTS, Comparison, as_time, records
from strata.compare.conditions import differences, kinship
from strata.compare.noise import FAMILY
from strata.model import Table, level_name, tables, units
from strata.model.units import MINUS
from strata.run import Row, params_text
from strata.run.files import csv_bytes, visible

REPORTED = ("bytes", "_hz", "_bits", "_count", "_theoretical")
"""Ends of the names of facts of devices that are compared."""
SHOWN = 30
"""So many alarms are printed on a terminal; the files have them all."""
EQUAL = 0.01
"""Numbers of two devices that differ by less are folded on a terminal."""
_COLOURS = {"slower": "red", "faster": "green", "changed": "magenta"}
_ROW_COLUMNS = (
    "suite", "benchmark", "case", "quantity", "method", "provenance", "unit", "better", "before",
    "after", "verdict", "change", "change_low", "change_high", "chance_without_change",
    "smallest_change_found", "floor_spread", "floor_shift", "floor_freedom", "floor_shape",
    "floor_rows", "floor_group", "reason",
)  # fmt: skip
_FAMILY_COLUMNS = (
    *FAMILY, "rows", "rows_alike", "verdict", "better", "change", "change_low", "change_high",
    "chance_without_change", "smallest_change_found", "floor_sigma", "repeats",
)  # fmt: skip
_PUBLISHED = {
    "low": "change_low", "high": "change_high", "chance": "chance_without_change",
    "found": "smallest_change_found", "alike": "rows_alike",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """The report of one comparison.

    The first of the `notes` is the summary. On a terminal `alarms`, if there can be any, and
    `folded`, if given, replace all `tables`; `details` are further tables, too long for a paper.
    """

    title: str
    warnings: tuple[str, ...]
    tables: tuple[Table, ...]
    details: tuple[Table, ...] = ()
    alarms: Table | None = None
    notes: tuple[str, ...] = ()
    folded: tuple[str, ...] | None = None


def table_of(
    name: str,
    title: str,
    header: Sequence[str],
    lines: Iterable[Sequence[str]],
    numeric: Iterable[int],
) -> Table:
    """A table of plain words; `numeric` are the indices of its numeric columns."""
    rows = tuple(tuple((cell,) for cell in line) for line in lines)
    return Table(name, title, tuple(header), rows, frozenset(numeric))


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


def share(text: str) -> float:
    """A size such as `2%` or `0.02`; raises ValueError for others, `2` included."""
    size = re.fullmatch(r"(\d*\.?\d+) ?(%?)", text.strip(), re.ASCII)
    if not size or (not size[2] and float(size[1]) >= 1):
        raise ValueError(f"found the size {text!r}; expected one like 2% or 0.02")
    return float(size[1]) / (100 if size[2] else 1)


def name(row: Row) -> str:
    """Benchmark and quantity of a row, and its method."""
    return f"{row.benchmark} {row.quantity} ({row.method})"


def family(line: Any) -> str:
    """A line of families in words: `DRAM latency (latency_vs_footprint load_cycles)`."""
    what = "latency" if line.quantity == "load_cycles" else line.quantity.replace("_", " ")
    named = level_name(line.level) or line.benchmark
    return f"{named} {what} ({line.benchmark} {line.quantity})"


def along(found: Comparison, line: Any) -> str:
    """The rows in which a family moved like the whole: `every footprint`, if in all."""
    if line.alike < line.rows:
        return f"{units.count(line.alike)} of {units.count(line.rows)} rows"
    of = (found.rows[FAMILY] == [getattr(line, name) for name in FAMILY]).all(axis=1)
    rows = [*found.rows.before[of]]
    values = {axis: {row.text(axis) for row in rows} for axis in rows[0].params}
    axis = max(values, key=lambda axis: len(values[axis]), default="row")
    return f"every {axis.replace('_', ' ')} ({units.count(line.rows)} rows)"


def sentence(found: Comparison, line: Any) -> str:
    """The change of a family: `DRAM latency (…) 3.7 % lower in B, every footprint (439 rows)`."""
    way = "higher" if line.change > 0 else "lower"
    much = units.factor(1 + line.change) if line.change >= 1 else size(abs(line.change))
    return f"{family(line)} {much} {way} in {found.after.context.run}, {along(found, line)}"


def sections(
    found: Sequence[Comparison], beside: devices.Devices | None = None
) -> tuple[Section, ...]:
    """The sections: one for each comparison, then one for the devices side by side."""
    parts = [_section(comparison) for comparison in found]
    if beside:
        names = f"Side by side:{units.SPACE}" + ", ".join(beside.names)
        panels = list(devices.panels(beside))
        listed = tuple(_panel(beside, *of) for of in panels)
        changes, equal = _differences(beside, panels)
        notes = devices.notes(beside)
        parts.append(Section(names, beside.warnings, listed, (), changes, notes, equal))
    return tuple(parts)


def _panel(found: devices.Devices, panel: devices.Panel, numbers: pd.DataFrame) -> Table:
    """One panel as a table: one column per device, then each run relative to the first."""
    lines = [cells for cells, _ in _cells(found, numbers)]
    title = f"{panel.title} ({panel.unit}; {panel.better} is better)"
    header = _header(found)
    return table_of(panel.name, title, header, lines, range(1, len(header)))


def _header(found: devices.Devices) -> tuple[str, ...]:
    over = (f"{name}, over the first" for name in found.names[1 : len(found.runs)])
    return ("", *found.names, *over)


def _cells(found: devices.Devices, numbers: pd.DataFrame) -> Iterator[tuple[list[str], float]]:
    """The cells of each line of a panel, and how far its most different device is from the first.

    That is a factor of at least 1; 0 if the first device or all others have no such number.
    """
    for label, here in numbers.groupby("label", sort=False):
        cells = dict(zip(here["at"], map(devices.cell, records(here)), strict=True))
        values = dict(zip(here["at"], here.value, strict=True))
        first = values.pop(0, 0)
        over = {at: value / first for at, value in values.items() if first and value}
        ratios = [f"{over[at]:.3g}×" if at in over else "–" for at in range(1, len(found.runs))]
        shown = [cells.get(at, "–") for at in range(len(found.names))]
        most = max((max(factor, 1 / factor) for factor in over.values()), default=0)
        yield [str(label), *shown, *ratios], most


def _differences(
    found: devices.Devices, panels: Iterable[tuple[devices.Panel, pd.DataFrame]]
) -> tuple[Table, tuple[str, ...]]:
    """The numbers that differ, most first, and in words those of each panel that do not."""
    lines, folded = [*_facts(found)], list[str]()
    for panel, numbers in panels:
        equal = list[str]()
        for (label, *cells), most in _cells(found, numbers):
            if 0 < most <= 1 + EQUAL:
                equal.append(f"{label} {cells[0]}")
            else:
                lines.append((most, [f"{panel.title}, {label} ({panel.unit})", *cells]))
        if equal:
            folded.append(f"{panel.title} ({panel.unit}): {'; '.join(equal)}")
    lines.sort(key=lambda line: -line[0])
    header = ("what differs", *_header(found)[1:])
    table = table_of("differences", "", header, (line for _, line in lines), range(1, len(header)))
    return table, tuple(folded)


def _facts(found: devices.Devices) -> Iterator[tuple[float, list[str]]]:
    """The sizes and clocks that the devices report and that differ, as lines of `_differences`."""
    published = ["–"] * (len(found.names) - len(found.runs))
    for name in found.runs[0].context.device.facts:
        values = [run.context.device.facts.get(name) for run in found.runs]
        known = [value for value in values if isinstance(value, int | float) and value > 0]
        most = max(max(value / known[0], known[0] / value) for value in known) if known else 0
        if name.endswith(REPORTED) and len(known) == len(values) and most > 1 + EQUAL:
            ratios = [f"{value / known[0]:.3g}×" for value in known[1:]]
            cells = [units.fact(name, value) for value in values]
            yield most, [f"{name.replace('_', ' ')}, reported", *cells, *published, *ratios]


def _section(found: Comparison) -> Section:
    alarms, benchmarks = _alarms(found), _benchmarks(found)
    shown = tuple(table for table in (alarms, benchmarks) if table.rows)
    details = tuple(table for table in (_counts(found), _left_out(found)) if table.rows)
    notes = (f"{counts(found)}. {power(found)}.", *_notes(found))
    return Section(title(found), tuple(warnings(found)), shown, details, alarms, notes)


def title(found: Comparison) -> str:
    """The names of the compared runs."""
    before, after = found.before.context, found.after.context
    return f"{before.device.name}: {after.run} against {before.run}"


def counts(found: Comparison) -> str:
    """`12 slower, 3 faster, …`: the timed rows by verdict, then the families."""
    parts = []
    for what, lines in (("timed rows", found.rows), ("families", found.families)):
        verdicts = Counter(lines.verdict)
        listed = ", ".join(f"{units.count(verdicts[verdict])} {verdict}" for verdict in VERDICTS)
        parts.append(f"{units.count(len(lines))} {what}: {listed}")
    return "; ".join(parts)


def power(found: Comparison) -> str:
    """The change that the comparison could have seen, in how many rows."""
    changes, least = found.noticeable(), size(found.settings.power)
    if not changes:
        return f"It could not have seen a change of {least}: both runs have no timed row in common"
    rows = f"{units.count(len(changes))} timed rows"
    seen = units.count(sum(change <= found.settings.power for change in changes))
    middle = median_high(changes)
    alone = units.count(int((found.rows.found <= found.settings.power).sum()))
    half = f"in half of them from {size(middle)}" if middle < math.inf else "not in half of them"
    verdict = "It could have seen" if found.has_power else "It could not have seen"
    caution = "" if found.has_power else ", so it does not show that nothing changed"
    return (
        f"{verdict} a change of {least}{caution}: one is noticed with a probability of {POWER:g} "
        f"in {seen} of {rows}, alone ({alone}) or with their whole family, and {half}"
    )


def without_power(found: Sequence[Comparison]) -> Iterator[str]:
    """The comparisons that could not have seen a change of the size that their settings name."""
    if not found:
        yield "no two runs of one device were compared"
    for comparison in found:
        if not comparison.has_power:
            yield f"{title(comparison)}: {power(comparison)}"


def warnings(found: Comparison) -> Iterator[str]:
    """Warnings about the verdicts, one line each."""
    if kinship(found.before.context, found.after.context) == "model":
        yield "two devices of one model: differences between the chips are part of every change"
    for difference in found.differences:
        yield f"conditions differ, {difference}"
    for first, *later in found.repeats:
        for run in later:
            named = f"{run.context.run} is given as a repeat of {first.context.run}, but differs in"
            yield from [f"{named} {difference}" for difference in differences(first, run)]
        if not any(kinship(first.context, run.context) == "device" for run in found.both):
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
    settings, rows = found.settings, units.count(len(found.rows))
    moved = [sentence(found, line) for line in records(found.moved())]
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
    if len(found.rows):
        names = (", ".join(run.context.run for run in runs) for runs in found.repeats)
        source = f"runs of the same code ({'; '.join(names)})"
        source = source if found.repeats else "the changes themselves"
        smallest = "; ".join(
            f"the smallest change that is noticed in the quietest {kind} is {size(of.found.min())}"
            for kind, of in (("row", found.rows), ("family", found.families))
            if len(of)
        )
        yield (
            f"The noise, how far medians move between runs, is estimated from {source}; {smallest}."
        )
    exact = Counter(found.untimed.verdict)
    yield (
        f"Counted, modelled and published rows, compared exactly: {units.count(exact['same'])} "
        f"same, {units.count(exact['changed'])} changed."
    )
    reasons = sorted(Counter(reason for reason in found.untimed.reason if reason).items())
    listed = "; ".join(f"{units.count(count)} {reason}" for reason, count in reasons)
    left_out = f"{units.count(exact['not compared'])} rows" + (f" ({listed})" if listed else "")
    before, after = map(units.count, found.alone)
    yield f"Not compared: {left_out}; {before} rows only before, {after} only after."


def _alarms(found: Comparison) -> Table:
    """The alarms: families, then rows."""
    lines = [
        (
            line.verdict,
            family(line),
            along(found, line),
            "",
            "",
            percent(line.change),
            _interval(line),
        )
        for line in records(found.moved())
    ]
    for line in records(found.flagged()):
        values = [units.quantity(row.value, row.unit) for row in (line.before, line.after)]
        words = (line.verdict, name(line.before), params_text(line.before.params, " "))
        lines.append((*words, *values, percent(line.change), _interval(line)))
    header = ("verdict", "quantity", "case", "before", "after", "change", "interval")
    return table_of("changes", "What changed", header, lines, (3, 4, 5))


def _interval(line: Any) -> str:
    return f"{percent(line.low)} to {percent(line.high)}"


def _benchmarks(found: Comparison) -> Table:
    """Rows by benchmark: verdicts, median change of time, detectable change."""
    lines = []
    for benchmark, here in found.rows.assign(time=as_time(found.rows, "change")).groupby(
        "benchmark"
    ):
        verdicts = Counter(here.verdict)
        numbers = (len(here), *(verdicts[verdict] for verdict in VERDICTS))
        ends = percent(here.time.median()), size(median_high(here.found))
        lines.append((str(benchmark), *map(units.count, numbers), *ends))
    header = ("benchmark", "rows", *VERDICTS, "median, as a time", "found from (median)")
    return table_of("benchmarks", "By benchmark", header, lines, range(1, len(header)))


def _counts(found: Comparison) -> Table:
    """Counted, modelled and published quantities with a changed row."""
    exact, lines = found.untimed[found.untimed.reason == ""], []
    for kind, here in exact.groupby(["quantity", "method", "provenance"]):
        changed = here[here.verdict == "changed"]
        values = [
            (first.value, second.value)
            for first, second in zip(changed.before, changed.after, strict=True)
        ]
        if values:
            middle = median_high(
                abs(second / first - 1) if first else math.inf for first, second in values
            )
            shown = size(middle) if middle < math.inf else "from 0"
            lines.append((*map(str, kind), units.count(len(here)), units.count(len(values)), shown))
    header = ("quantity", "method", "provenance", "rows", "changed", "median size of a change")
    return table_of("counts", "Counts that are not the same", header, lines, (3, 4, 5))


def _left_out(found: Comparison) -> Table:
    """Common rows that were not compared, by case and reason."""
    lost = found.untimed[found.untimed.reason != ""]
    counted = Counter(zip(lost.case, lost.reason, strict=True))
    lines = ((case, units.count(rows), reason) for (case, reason), rows in counted.items())
    return table_of("left_out", "Not compared", ("case", "rows", "reason"), lines, (1,))


def markdown(section: Section) -> str:
    """The section in GitHub's Markdown."""
    text = tables.markdown_text
    warnings = [f"**Warning:** {text(warning)}" for warning in section.warnings]
    notes = [*map(text, section.notes)]
    shown = (*section.tables, *section.details)
    listed = (f"## {text(table.title)}\n\n{tables.markdown(table)}" for table in shown)
    lines = (f"# {text(section.title)}", *notes[:1], *warnings, *notes[1:], *listed)
    return "\n\n".join(lines).rstrip() + "\n"


def latex(section: Section) -> str:
    """The tables of the section for LaTeX, each after comments that identify it."""
    warnings = [f"warning: {warning}" for warning in section.warnings]
    source = (section.title, *section.notes[:1], *warnings)
    return "\n".join(tables.latex(table, table.title, *source) for table in section.tables)


def show(section: Section, say: Callable[[str], None], *, drawn: bool) -> None:
    """Print the section, with `drawn` tables or in plain lines."""

    def put(table: Table, *, head: bool) -> None:
        plain = tables.terminal(table, head=head)
        say((tables.drawn(table, colours=_COLOURS) if drawn else plain).rstrip("\n"))

    say(visible(section.title))
    if section.alarms is None:
        for table in section.tables:
            say(f"\n{visible(table.title)}")
            put(table, head=True)
    elif section.alarms.rows:
        most = SHOWN if section.folded is None else len(section.alarms.rows)
        put(
            replace(section.alarms, rows=section.alarms.rows[:most]),
            head=section.folded is not None,
        )
        if (more := len(section.alarms.rows) - most) > 0:
            say(f"and {more} more")
    if section.folded:
        say(f"\nEqual within {100 * EQUAL:g} %, with the number of the first:")
        for line in section.folded:
            say(f"  {visible(line)}")
    for note in section.notes:
        say(visible(note))


def show_all(sections: Iterable[Section], say: Callable[[str], None], *, drawn: bool) -> None:
    """Print each section."""
    for section in sections:
        show(section, say, drawn=drawn)


def as_csv(columns: Iterable[str], lines: Iterable[Iterable[object]]) -> bytes:
    """The lines with their header, by RFC 4180; numbers with six digits."""
    rounded = (
        [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in line] for line in lines
    )
    return csv_bytes(columns, rounded)


def data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each timed row, each changed count, and each row that was left out.

    Values have all digits. Changes, intervals and floors are relative: 0.02 is 2 % more.
    """
    shown = []
    for found in comparisons:
        exact = found.untimed[found.untimed.verdict != "same"]
        exact = exact.sort_values("reason", key=lambda reason: reason != "", kind="stable")
        shown.append(_of_runs(found, pd.concat([found.rows, exact], ignore_index=True)))
    lines = pd.concat(shown, ignore_index=True)
    for run in ("before", "after"):
        lines[run] = [repr(row.value) for row in lines[run]]
    return _csv(lines, _ROW_COLUMNS)


def families_data(comparisons: Sequence[Comparison]) -> bytes:
    """One line for each family; change and floor are relative, the floor is one sigma."""
    shown = [_of_runs(found, found.families) for found in comparisons]
    lines = pd.concat(shown, ignore_index=True)
    return _csv(lines.assign(floor_sigma=np.expm1(lines.scale)), _FAMILY_COLUMNS)


def _of_runs(found: Comparison, lines: pd.DataFrame) -> pd.DataFrame:
    names = {"run_before": found.before.context.run, "run_after": found.after.context.run}
    return lines.assign(**names)


def _csv(lines: pd.DataFrame, columns: Sequence[str]) -> bytes:
    columns = ("run_before", "run_after", *columns)
    lines = lines.rename(columns=_PUBLISHED).reindex(columns=columns).astype(object)
    return as_csv(columns, lines.where(lines.notna(), "").itertuples(index=False))


def as_data(found: Sequence[Comparison], beside: devices.Devices | None) -> dict[str, Any]:
    """The comparisons for programs: what the CSV files have, with numbers as numbers."""

    def read(table: bytes) -> list[dict[Any, Any]]:
        lines = pd.read_csv(BytesIO(table)).replace([np.inf, -np.inf], np.nan).astype(object)
        return lines.where(lines.notna(), None).to_dict("records")

    return {
        "comparisons": [
            {"title": title(one), "counts": counts(one), "power": power(one),
             "families": read(families_data([one])), "rows": read(data([one]))}
            for one in found
        ],
        "devices": read(devices_data(beside)) if beside else [],
    }  # fmt: skip


def devices_data(found: devices.Devices) -> bytes:
    """The numbers of all panels as CSV, one line each."""
    columns = (
        "panel", "label", "unit", "run", "device", "value", "case", "quantity", "method", "low",
        "high", "sources",
    )  # fmt: skip
    names = [*(run.context.device.name for run in found.runs), *found.names[len(found.runs) :]]
    lines = (
        (
            panel.name, line.label, panel.unit, getattr(line.row, "run", ""), names[line.at],
            line.value, *(getattr(line.row, of, "") for of in ("case", "quantity", "method")),
            "" if line.row else line.low, "" if line.row else line.high, line.cited,
        )
        for panel, numbers in devices.panels(found)
        for line in records(numbers)
    )  # fmt: skip
    return as_csv(columns, lines)
