"""Comparisons as files and on a terminal.

    compare.csv           every timed row, every count that changed, every row that was left out
    compare.md|tex        what changed, in words and tables
    compare.svg|png|pdf   every row of every benchmark as a dot
    devices.*             the same for runs of different devices, in normalised units
    compare.html          all of it as one self-contained page

The same runs give the same bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from strata.compare import devices, words
from strata.compare.changes import Comparison, Settings, compare
from strata.compare.conditions import kinship
from strata.model import Table, plain
from strata.report import formats as tables
from strata.run import Run, RunError
from strata.run.validate import refuse_repeated

SHOWN = 30
"""So many alarms stand on a terminal; the files have them all."""


def only(run: Run, names: Sequence[str]) -> Run:
    """The run with the rows of the benchmarks or suites `names` alone, all of it without names.

    Raises `RunError` where it has no row of one of them.
    """
    if not names:
        return run
    for name in names:
        if not any(name in (row.benchmark, row.suite) for row in run.rows):
            known = ", ".join(sorted({row.benchmark for row in run.rows}))
            raise RunError(
                run.folder,
                found=f"no row of {name}",
                expected=f"a benchmark of the run ({known}) or a suite",
                mend="name another",
            )
    kept = tuple(row for row in run.rows if row.benchmark in names or row.suite in names)
    return structs.replace(run, rows=kept)


def comparisons(
    runs: Sequence[Run], settings: Settings, *, same: Sequence[Run] = ()
) -> tuple[Comparison, ...]:
    """The first run against each later one of its device or model, in their order.

    False alarms come at the declared rate in all of them together. Raises `RunError` where runs are
    given twice or have no row in common.
    """
    refuse_repeated([*runs, *same])
    first, *later = runs
    related = [run for run in later if kinship(first.context, run.context) != "other"]
    if not related:
        return ()
    each = replace(settings, false_alarm=settings.false_alarm / len(related))
    return tuple(compare(first, run, each, same=same) for run in related)


def side_by_side(runs: Sequence[Run]) -> devices.Devices | None:
    """All runs in normalised units, where they are of different devices; None where of one.

    Raises `RunError` where runs are given twice or have nothing in common.
    """
    refuse_repeated(runs)
    if all(kinship(runs[0].context, run.context) != "other" for run in runs[1:]):
        return None
    return devices.side_by_side(runs)


# --- files ----------------------------------------------------------------------------------------


def write(found: Sequence[Comparison], beside: devices.Devices | None, out: Path) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Everything is made before anything is written. OSError where that fails.
    """
    # What brings matplotlib and jinja2, which only the files need.
    from strata.compare import drawing, drawing_devices, page

    files: dict[str, bytes] = {}
    if found:
        files["compare.csv"] = words.data(found)
        files["compare.md"] = "\n".join(map(_markdown, found)).encode()
        files["compare.tex"] = "\n".join(map(_latex, found)).encode()
        files |= {f"compare.{kind}": data for kind, data in drawing.images(found).items()}
    if beside:
        files["devices.csv"] = words.as_csv(devices.COLUMNS, devices.lines(beside))
        files["devices.md"] = _devices_markdown(beside).encode()
        files["devices.tex"] = _devices_latex(beside).encode()
        images = drawing_devices.images(beside)
        files |= {f"devices.{kind}": data for kind, data in images.items()}
    drawings = [data for name, data in files.items() if name.endswith(".svg")]
    files["compare.html"] = page.page(found, beside, drawings)
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)


def _markdown(found: Comparison) -> str:
    lines = [f"# {words.title(found)}", "", f"{words.counts(found)}."]
    lines += [f"\n**Warning:** {warning}" for warning in words.warnings(found)]
    lines += [f"\n{note}" for note in words.notes(found)]
    lines += [f"\n## {table.title}\n\n{tables.markdown(table)}" for table in words.tables_of(found)]
    return "\n".join(lines).rstrip() + "\n"


def _latex(found: Comparison) -> str:
    source = [words.title(found), words.counts(found)]
    source += [f"warning: {warning}" for warning in words.warnings(found)]
    shown = (words.flagged_table(found), words.benchmark_table(found))
    return "\n".join(tables.latex(table, "\n% ".join(source)) for table in shown if table.rows)


def _devices_markdown(found: devices.Devices) -> str:
    lines = [f"# {devices.title(found)}"]
    lines += [f"\n**Warning:** {warning}" for warning in devices.warnings(found)]
    for table in (devices.table(found, group) for group in found.groups):
        lines.append(f"\n## {table.title}\n\n{tables.markdown(table)}")
    return "\n".join(lines).rstrip() + "\n"


def _devices_latex(found: devices.Devices) -> str:
    source = [devices.title(found), *(f"warning: {one}" for one in devices.warnings(found))]
    shown = [devices.table(found, group) for group in found.groups]
    return "\n".join(tables.latex(table, "\n% ".join([table.title, *source])) for table in shown)


# --- terminal -------------------------------------------------------------------------------------


def warnings(found: Sequence[Comparison], beside: devices.Devices | None) -> tuple[str, ...]:
    """What a reader must know before believing a verdict or a ratio, each thing once."""
    listed = [warning for one in found for warning in words.warnings(one)]
    return tuple(dict.fromkeys([*listed, *(devices.warnings(beside) if beside else ())]))


def show(
    found: Sequence[Comparison],
    beside: devices.Devices | None,
    say: Callable[[str], None],
    *,
    drawn: bool,
) -> None:
    """All comparisons, then the devices side by side; as `drawn` tables, or in plain lines."""
    for one in found:
        show_changes(one, say, drawn=drawn)
    if beside:
        show_devices(beside, say, drawn=drawn)


def show_changes(found: Comparison, say: Callable[[str], None], *, drawn: bool) -> None:
    """What changed, then how many rows have each verdict; as a `drawn` table, or in plain lines."""
    say(words.title(found))
    table = words.flagged_table(found, SHOWN)
    if table.rows and drawn:
        _draw(table)
    elif table.rows:
        say(tables.terminal(table).rstrip("\n"))
    more = len(found.flagged()) - len(table.rows)
    if more > 0:
        say(f"and {more} more")
    say(words.counts(found))
    for note in words.notes(found):
        say(note)


def show_devices(found: devices.Devices, say: Callable[[str], None], *, drawn: bool) -> None:
    """The normalised numbers, a table for each unit."""
    say(devices.title(found))
    for table in (devices.table(found, group) for group in found.groups):
        say(f"\n{table.title}")
        if drawn:
            _draw(table)
        else:
            heads: tuple[tuple[str, ...], ...] = tuple((name,) for name in table.header)
            say(tables.terminal(replace(table, rows=(heads, *table.rows))).rstrip("\n"))


def _draw(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn

    colours = {"slower": "red", "faster": "green", "changed": "magenta"}
    drawn = Drawn(title_justify="left")
    for place, name in enumerate(table.header):
        drawn.add_column(name, justify="right" if place in table.numeric else "left")
    for row in table.rows:
        cells = [plain(cell) for cell in row]
        drawn.add_row(*cells, style=colours.get(cells[0]))
    Console().print(drawn)
