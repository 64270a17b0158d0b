"""Comparisons as files and on a terminal.

    compare.csv           every timed row, every count that changed, every row that was left out
    compare.md|tex        what changed, in words and tables
    compare.svg|png|pdf   every row of every benchmark as a dot
    devices.*             the same for runs of different devices, in normalised units
    compare.html          all of it as one self-contained page

The same runs give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from strata.compare import devices, words
from strata.compare.changes import Comparison, Settings, compare
from strata.compare.conditions import kinship
from strata.compare.sections import Section, latex, markdown
from strata.model import plain
from strata.run import Run, RunError
from strata.run.files import write_files
from strata.run.validate import refuse_repeated


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


def compared(
    runs: Sequence[Run], settings: Settings, *, same: Sequence[Run] = ()
) -> tuple[tuple[Comparison, ...], devices.Devices | None]:
    """The first run against each later one of its device or model, and all runs side by side.

    The latter is None where they are of one model. False alarms come at the declared rate in all
    comparisons together. Raises `RunError` where runs are given twice or have nothing in common.
    """
    refuse_repeated([*runs, *same])
    first, *later = runs
    related = [run for run in later if kinship(first.context, run.context) != "other"]
    each = replace(settings, false_alarm=settings.false_alarm / max(len(related), 1))
    found = tuple(compare(first, run, each, same=same) for run in related)
    return found, devices.side_by_side(runs) if len(related) < len(later) else None


def sections(found: Sequence[Comparison], beside: devices.Devices | None) -> tuple[Section, ...]:
    """What there is to say: of each comparison, then of the devices side by side."""
    changes = tuple(words.section(one) for one in found)
    return (*changes, devices.section(beside)) if beside else changes


# --- files ----------------------------------------------------------------------------------------


def write(found: Sequence[Comparison], beside: devices.Devices | None, out: Path) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Everything is made before anything is written. OSError where that fails.
    """
    write_files(out, _files(found, beside))


def _files(found: Sequence[Comparison], beside: devices.Devices | None) -> dict[str, bytes]:
    # What brings matplotlib and jinja2, which only the files need.
    from strata import figures
    from strata.figures import _chart, _compare_changes, _compare_devices, _draw
    from strata.report.page import environment, inline_svg

    parts = sections(found, beside)
    files: dict[str, bytes] = {}

    def add(stem: str, data: bytes, chart: _chart.Chart, parts: Sequence[Section]) -> None:
        made = {"csv": data, **figures.images(_draw.draw(chart))}
        for kind, text in (("md", markdown), ("tex", latex)):
            made[kind] = "\n".join(map(text, parts)).encode()
        files.update({f"{stem}.{kind}": file for kind, file in made.items()})

    with figures.style():
        if found:
            add("compare", words.data(found), _compare_changes.chart(found), parts[: len(found)])
        if beside:
            add("devices", devices.data(beside), _compare_devices.chart(beside), parts[-1:])
    drawings = [
        inline_svg(files[name].decode(), f"{name[:7]}-", "Comparison")
        for name in ("compare.svg", "devices.svg")
        if name in files
    ]
    templates = environment()
    templates.filters["plain"] = plain
    page = templates.get_template("compare.html.j2")
    text = page.render(title="Strata: comparison", parts=parts, drawings=drawings)
    return files | {"compare.html": text.encode()}
