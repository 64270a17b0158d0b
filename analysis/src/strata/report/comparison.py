"""Write comparisons of runs.

    families.csv          every family of rows
    compare.csv           every timed row, every count that changed, every row that was left out
    compare.md|tex        what changed, in words and tables
    compare.svg|png|pdf   every row of every benchmark as a dot
    kernel_access.*       lines of kernels before and after, of runs of strata access
    devices.*             the same for runs of different devices, in normalised units
    latency_curves.*      their dependent loads over the footprint, in cycles and in time
    compare.html          all of it as one self-contained page

The same runs give the same bytes.
"""

from collections.abc import Callable, Sequence
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
from strata.figures._images import images
from strata.model import plain
from strata.report.attempt import attempt
from strata.report.page import environment, inline_svg
from strata.run.files import write_files


def _of_both(figure: Figure[Any], found: Comparison) -> Sequence[Any]:
    """What a figure shows of two runs."""
    return figure.both(found.before, found.after) if figure.both else ()


def write(found: Sequence[Comparison], beside: devices.Devices | None, out: Path) -> None:
    """Write the files of comparisons and of devices into the folder `out`.

    Everything is made before anything is written. OSError where that fails.
    """
    parts = sections(found, beside)
    files: dict[str, bytes] = {}

    def add(stem: str, data: bytes, chart: Callable[[], Chart], parts: Sequence[Section]) -> None:
        made = {"csv": data}
        with attempt(f"The figure {stem!r}"):
            made |= images(chart())
        for kind, text in (("md", markdown), ("tex", latex)):
            made[kind] = "\n".join(map(text, parts)).encode()
        files.update({f"{stem}.{kind}": file for kind, file in made.items()})

    if found:
        files["families.csv"] = words.families_data(found)
        add(
            "compare", words.data(found), lambda: _compare_changes.chart(found), parts[: len(found)]
        )
    if beside:
        if curves := _compare_devices.latency(beside):
            with attempt("The figure 'latency_curves'"):
                made = images(curves)
                files.update({f"latency_curves.{kind}": file for kind, file in made.items()})
        add("devices", devices.data(beside), lambda: _compare_devices.chart(beside), parts[-1:])
    drawn = {"compare": "Comparison", "latency_curves": "A dependent load", "devices": "Comparison"}
    for figure in figures.discover():
        items = [item for one in found for item in _of_both(figure, one)]
        if items:
            drawn[figure.name] = figure.title
            files[f"{figure.name}.csv"] = figure.data(items)
            with attempt(f"The figure {figure.name!r}"):
                made = images(figure.chart(items))
                files.update({f"{figure.name}.{kind}": file for kind, file in made.items()})
    drawings = [
        inline_svg(files[f"{name}.svg"].decode(), f"{name}-", title)
        for name, title in drawn.items()
        if f"{name}.svg" in files
    ]
    templates = environment()
    templates.filters["plain"] = plain
    page = templates.get_template("compare.html.j2")
    text = page.render(title="Strata: comparison", parts=parts, drawings=drawings)
    write_files(out, files | {"compare.html": text.encode()})
