"""Write comparisons of runs.

    families.csv          every family of rows
    compare.csv           every timed row, every count that changed, every row that was left out
    compare.md|tex        what changed, in words and tables
    compare.svg|png|pdf   every row of every benchmark as a dot
    kernel_access.*       lines of kernels before and after, of runs of strata access
    devices.*             the same for runs of different devices, in normalised units
    hierarchy_map.*       the levels of memory of all runs, where they are all of GPUs or of CPUs
    latency_curves.*      their dependent loads over the footprint, in cycles and in time
    compare.html          all of it as one self-contained page

The same runs give the same bytes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from strata import figures
from strata.compare import devices, words
from strata.compare.changes import Comparison
from strata.compare.output import sections
from strata.compare.sections import Section, latex, markdown
from strata.figures import _compare_changes, _compare_devices
from strata.figures._chart import Chart
from strata.figures._figure import Figure
from strata.figures._heading import heading_of
from strata.figures._images import images
from strata.model import plain
from strata.report.attempt import attempt
from strata.report.page import environment, inline_svg
from strata.run import Run
from strata.run.files import write_files

TITLES = {
    "compare": "Changes of every row between runs",
    "latency_curves": "Dependent loads over the footprint",
    "devices": "Devices side by side",
}
"""Of the figures of a comparison."""


def _compared(
    figure: Figure[Any], found: Sequence[Comparison], beside: devices.Devices | None
) -> Sequence[Any]:
    """What a figure shows of the runs that are compared."""
    if figure.beside:
        runs = beside.runs if beside else (found[0].before, *(one.after for one in found))
        return figure.beside(runs)
    pairs = [(one.before, one.after) for one in found] if figure.both else []
    return [item for pair in pairs if figure.both for item in figure.both(*pair)]


def write(
    found: Sequence[Comparison], beside: devices.Devices | None, out: Path, *, headings: bool = True
) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Without `headings` the figures do not say what they show. Everything is made before anything is
    written. OSError where that fails.
    """
    of = {run.context.run: run for one in found for run in (one.before, one.after)}
    compared = [*of.values()]
    parts = sections(found, beside)
    files: dict[str, bytes] = {}

    def drawn(title: str, chart: Chart, runs: Sequence[Run]) -> dict[str, bytes]:
        return images(chart, heading_of(title, runs) if headings else None)

    def add(
        stem: str, data: bytes, chart: Callable[[], Chart], runs: Sequence[Run],
        parts: Sequence[Section],
    ) -> None:  # fmt: skip
        made = {"csv": data}
        with attempt(f"The figure {stem!r}"):
            made |= drawn(TITLES[stem], chart(), runs)
        for kind, text in (("md", markdown), ("tex", latex)):
            made[kind] = "\n".join(map(text, parts)).encode()
        files.update({f"{stem}.{kind}": file for kind, file in made.items()})

    if found:
        files["families.csv"] = words.families_data(found)
        chart = partial(_compare_changes.chart, found)
        add("compare", words.data(found), chart, compared, parts[: len(found)])
    if beside:
        with attempt("The figure 'latency_curves'"):
            if curves := _compare_devices.latency(beside):
                made = drawn(TITLES["latency_curves"], curves, beside.runs)
                files.update({f"latency_curves.{kind}": file for kind, file in made.items()})
        chart = partial(_compare_devices.chart, beside)
        add("devices", devices.data(beside), chart, beside.runs, parts[-1:])
    titles = dict(TITLES)
    for figure in figures.discover():
        if items := _compared(figure, found, beside):
            titles[figure.name] = figure.title
            files[f"{figure.name}.csv"] = figure.data(items)
            with attempt(f"The figure {figure.name!r}"):
                made = drawn(figure.title, figure.chart(items), beside.runs if beside else compared)
                files.update({f"{figure.name}.{kind}": file for kind, file in made.items()})
    drawings = [
        inline_svg(files[f"{name}.svg"].decode(), f"{name}-", title)
        for name, title in titles.items()
        if f"{name}.svg" in files
    ]
    templates = environment()
    templates.filters["plain"] = plain
    page = templates.get_template("compare.html.j2")
    text = page.render(title="Strata: comparison", parts=parts, drawings=drawings)
    write_files(out, files | {"compare.html": text.encode()})
