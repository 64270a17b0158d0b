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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from msgspec.structs import replace as changed

from strata import figures
from strata.compare import Comparison, devices, words
from strata.compare.changes import records
from strata.figures import _compare_changes, _compare_devices
from strata.figures._drawing import Picture, Spot, hits, picture
from strata.figures._plot import FORMATS, Plot, published
from strata.model import plain
from strata.model.units import quantity
from strata.report import all_rows
from strata.report.attempt import attempt
from strata.report.page import environment, inline_svg
from strata.run import Row, Run
from strata.run.files import write_files
from strata.run.private import without_paths
from strata.run.rows import Places


def _key(row: Row) -> tuple[str, ...]:
    return (row.run, *row.key)


def _rows(spots: Iterable[Spot], found: Sequence[Comparison]) -> Mapping[tuple[str, ...], Row]:
    """Every row of the drawings, with its run among its parameters, and how it changed."""
    changes = {_key(line.after): line for one in found for line in records(one.rows)}
    rows = {_key(one.shown): one.shown for one in spots if isinstance(one.shown, Row)}
    for key, row in rows.items():
        params = {**row.params, "run": row.run}
        if line := changes.get(key):
            params["change"] = words.percent(line.change)
            params["before"] = quantity(line.before.value, line.before.unit)
        rows[key] = changed(row, case=f"{row.run}/{row.case}", params=params)
    return dict(sorted(rows.items()))  # so that those of a case follow each other


def _plots(
    found: Sequence[Comparison], beside: devices.Devices | None, runs: Sequence[Run]
) -> Iterator[tuple[Plot, pd.DataFrame]]:
    """The figures of changes and of devices, and those of single runs that show several."""
    plots = [_compare_changes.plot_of(found)] if found else []
    plots += _compare_devices.plots_of(beside) if beside else []
    drawn = [(plot, plot.data(runs[0])) for plot in plots]
    several = runs if beside else (found[0].before, *(one.after for one in found))
    drawn += [(plot, plot.beside(several)) for plot in figures.discover() if plot.beside]
    return ((plot, data) for plot, data in drawn if not data.empty)


def write(
    found: Sequence[Comparison], beside: devices.Devices | None, out: Path, *, headings: bool = True
) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Without `headings` the figures do not identify their runs. Everything is made before anything is
    written. Raises OSError if writing fails.
    """
    of = {run.context.run: run for one in found for run in (one.before, one.after)}
    runs = beside.runs if beside else [*of.values()]
    parts, files = words.sections(found, beside), dict[str, bytes]()
    if found:
        files |= {"families.csv": words.families_data(found), "compare.csv": words.data(found)}
    if beside:
        files["devices.csv"] = words.devices_data(beside)
    for stem, of_stem in (("compare", parts[: len(found)]), ("devices", parts[len(found) :])):
        for kind, write_as in (("md", words.markdown), ("tex", words.latex)) if of_stem else ():
            files[f"{stem}.{kind}"] = "\n".join(map(write_as, of_stem)).encode()
    drawings: dict[str, tuple[str, Picture]] = {}
    for plot, data in _plots(found, beside, runs):
        if plot.beside:
            files[f"{plot.name}.csv"] = published(data)
        with attempt(f"The figure {plot.name!r}"):
            made = picture(plot, data, runs, FORMATS, headings=headings)
            files |= {f"{plot.name}.{kind}": file for kind, file in made.files.items()}
            drawings[plot.name] = plot.title, made
    rows = _rows((spot for _, made in drawings.values() for spot in made.spots), found)
    places, shown = Places([*rows.values()]), {}
    for stem, (title, made) in drawings.items():
        known = [
            one._replace(shown=rows[_key(one.shown)]) if isinstance(one.shown, Row) else one
            for one in made.spots
        ]
        shown[stem] = inline_svg(made.inline, f"{stem}-", title, hits(known, made.height, places))
    first = shown.pop("hierarchy_map", None) if beside else None  # how devices differ, at a glance
    templates = environment()
    templates.filters["plain"] = plain
    text = templates.get_template("compare.html.j2").render(
        title="Strata: comparison", parts=parts, first=first, drawings=[*shown.values()],
        rows=len(rows), packed=all_rows.pack([*rows.values()], without_paths),
    )  # fmt: skip
    write_files(out, files | {"compare.html": text.encode()})
