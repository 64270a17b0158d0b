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

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from msgspec.structs import replace as changed

from strata import figures
from strata.compare import devices, words
from strata.compare.changes import Comparison
from strata.compare.output import sections
from strata.compare.sections import Section, latex, markdown
from strata.figures import _compare_changes, _compare_devices
from strata.figures._chart import Chart
from strata.figures._draw import draw
from strata.figures._drawing import Picture, Spot, hits, picture, spots_of
from strata.figures._figure import Figure
from strata.figures._heading import headed, heading_of
from strata.figures._images import FORMATS
from strata.figures._images import files as images
from strata.figures._plot import Plot, published
from strata.model import plain
from strata.model.units import quantity
from strata.report import all_rows
from strata.report.attempt import attempt
from strata.report.page import environment, inline_svg
from strata.run import Row, Run
from strata.run.files import write_files
from strata.run.private import without_paths
from strata.run.rows import Places


def _runs(found: Sequence[Comparison], beside: devices.Devices | None) -> Sequence[Run]:
    return beside.runs if beside else (found[0].before, *(one.after for one in found))


def _compared(
    figure: Figure[Any], found: Sequence[Comparison], beside: devices.Devices | None
) -> Sequence[Any]:
    """The content of a figure for the compared runs."""
    return figure.beside(_runs(found, beside)) if figure.beside else ()


def _key(row: Row) -> tuple[str, ...]:
    return (row.run, *row.key)


def _rows(spots: Iterable[Spot], found: Sequence[Comparison]) -> Mapping[tuple[str, ...], Row]:
    """Every row of the drawings, with its run among its parameters, and how it changed."""
    changes = {_key(one.after): one for comparison in found for one in comparison.changes}
    rows = {_key(one.shown): one.shown for one in spots if isinstance(one.shown, Row)}
    for key, row in rows.items():
        params = {**row.params, "run": row.run}
        if one := changes.get(key):
            params["change"] = words.percent(one.change)
            params["before"] = quantity(one.before.value, one.before.unit)
        rows[key] = changed(row, case=f"{row.run}/{row.case}", params=params)
    return dict(sorted(rows.items()))  # so that those of a case follow each other


def write(  # noqa: C901, PLR0915  (one branch less for each figure that is ported)
    found: Sequence[Comparison], beside: devices.Devices | None, out: Path, *, headings: bool = True
) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Without `headings` the figures do not identify their runs. Everything is made before anything is
    written. Raises OSError if writing fails.
    """
    of = {run.context.run: run for one in found for run in (one.before, one.after)}
    runs = beside.runs if beside else [*of.values()]
    parts = sections(found, beside)
    files: dict[str, bytes] = {}
    drawings: list[tuple[str, str, Picture]] = []

    def told(stem: str, data: bytes, parts: Sequence[Section]) -> None:
        files[f"{stem}.csv"] = data
        for kind, text in (("md", markdown), ("tex", latex)):
            files[f"{stem}.{kind}"] = "\n".join(map(text, parts)).encode()

    def drawn(stem: str, title: str, make: Callable[[], Chart | None], runs: Sequence[Run]) -> None:
        with attempt(f"The figure {stem!r}"):
            if chart := make():
                sheet = draw(chart)
                sheet = headed(sheet, heading_of(title, runs)) if headings else sheet
                made = images(sheet)
                size, spots = (sheet.width, sheet.height), spots_of(sheet)
                add(stem, title, Picture(made, made["svg"].decode(), *size, spots))

    def add(stem: str, title: str, made: Picture) -> None:
        files.update({f"{stem}.{kind}": file for kind, file in made.files.items()})
        drawings.append((stem, title, made))

    def plotted(plot: Plot, data: pd.DataFrame) -> None:
        with attempt(f"The figure {plot.name!r}"):
            add(plot.name, plot.title, picture(plot, data, runs, FORMATS, headings=headings))

    of_figures: list[Plot] = []
    if found:
        files["families.csv"] = words.families_data(found)
        told("compare", words.data(found), parts[: len(found)])
        of_figures.append(_compare_changes.plot_of(found))
    if beside:
        told("devices", devices.data(beside), parts[-1:])
        of_figures += _compare_devices.plots_of(beside)
    for plot in of_figures:
        if not (data := plot.data(runs[0])).empty:
            plotted(plot, data)
    for figure in figures.discover():
        if isinstance(figure, Plot):
            if figure.beside and not (data := figure.beside(_runs(found, beside))).empty:
                files[f"{figure.name}.csv"] = published(data)
                plotted(figure, data)
        elif items := _compared(figure, found, beside):
            files[f"{figure.name}.csv"] = figure.data(items)
            drawn(figure.name, figure.title, partial(figure.chart, items), runs)
    templates = environment()
    templates.filters["plain"] = plain
    page = templates.get_template("compare.html.j2")
    rows = _rows((spot for *_, made in drawings for spot in made.spots), found)
    places, shown = Places([*rows.values()]), dict[str, Markup]()
    for stem, title, made in drawings:
        known = [
            one._replace(shown=rows[_key(one.shown)]) if isinstance(one.shown, Row) else one
            for one in made.spots
        ]
        where = hits(known, made.height, places)
        shown[stem] = inline_svg(made.inline, f"{stem}-", title, where)
    first = shown.pop("hierarchy_map", None) if beside else None  # how devices differ, at a glance
    text = page.render(
        title="Strata: comparison", parts=parts, first=first, drawings=[*shown.values()],
        rows=len(rows), packed=all_rows.pack([*rows.values()], without_paths),
    )  # fmt: skip
    write_files(out, files | {"compare.html": text.encode()})
