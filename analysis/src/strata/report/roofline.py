"""Write the roofline of one or several runs.

    roofline.png|svg|pdf               the figure: operations against bytes; svg has tooltips
    roofline.csv                       every ceiling and every point of it, with its case
    roofline.txt                       its caption
    roofline_instructions.*            the same of instructions against sectors, where counted

The same runs give the same bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from strata.figures import _style, named
from strata.figures._plot import FORMATS, published
from strata.figures.roofline import data_of
from strata.roofline.forms import FLOP, INSTRUCTION, Form
from strata.roofline.points import Point
from strata.roofline.verdicts import Entry, ceilings_of, chosen, entries, lacking, points_of
from strata.run import Device, Run, RunError, write_files
from strata.run.files import visible
from strata.run.validate import refuse_repeated

UNKNOWN = "unknown"
"""The name or slug of a device that a profiler's file lacks."""


def write(
    runs: Sequence[Run],
    out: Path,
    *,
    ceilings: Run | None = None,
    before: Run | None = None,
    kernel: str = "",
    top: int | None = None,
    nominal: bool = True,
    headings: bool = True,
) -> dict[Form, tuple[Entry, ...]]:
    """Write the rooflines of `runs` into the folder `out`: one panel each, on the same axes.

    A run without ceilings uses those of the run `ceilings`; arrows lead from the kernels of the run
    `before` to those of the only run. Of the kernels, those that match the pattern `kernel`, and of
    these the `top` that take most time. Without `headings` the figures do not identify their runs.
    Returns what each shows. Raises `RunError`, before anything is written, if a run is given twice,
    lacks what a roofline needs, or is of another device than `ceilings`; ValueError if no kernel
    matches; OSError if a file cannot be written.
    """
    refuse_repeated(runs)
    for run in (*runs, *([before] if before else [])):
        _check(run, ceilings, nominal=nominal)
    shown: dict[Form, tuple[Entry, ...]] = {}
    files: dict[str, bytes] = {}
    for form in (FLOP, INSTRUCTION):
        found, figure = entries(runs, form, nominal=nominal, lender=ceilings), named(form.name)
        if not found or not figure:
            continue
        found = chosen(found, kernel, top)
        earlier = _before(before, runs[0], form, ceilings) if before else ()
        shown[form], data = found, data_of(form, found, earlier)
        words = [figure.full_caption(data, runs[0].context)]
        if ceilings and any(one.row.run != one.run for one in ceilings_of(found)):
            words.append(f"Ceilings of the run {ceilings.context.run}.")
        others = (run.context for run in runs[1:])
        words += [f"{one.device.name}, commit {one.build.commit[:12]}." for one in others]
        with _style.styled():
            drawn = figure.plot(data)
            images = figure.files(drawn, runs, FORMATS, headings=headings)
            images["svg"] = _with_tooltips(images["svg"], drawn)
        contents = {**images, "csv": published(data), "txt": f"{' '.join(words)}\n".encode()}
        files |= {f"{form.name}.{suffix}": content for suffix, content in contents.items()}
    write_files(out, files)
    return shown


def _before(before: Run, run: Run, form: Form, lender: Run | None) -> tuple[Point, ...]:
    """The counted points of a run `before`, for the panel of `run`."""
    found = points_of(entries([before], form, nominal=False, lender=lender))
    return tuple(replace(point, run=run.context.run) for point in found)


def _with_tooltips(svg: bytes, figure: Any) -> bytes:
    """The image with words at its marks, which a browser shows when they are pointed at."""
    text = svg.decode()
    size = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', text)
    height = float(size[1]) if size else 0

    def spots() -> Iterable[str]:
        for box, words in _style.hits(figure):
            if isinstance(words, str):
                x, y = float(box.x0), height - float(box.y0)
                title = f"<title>{escape(visible(words))}</title>"
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5">{title}</circle>'

    marks = f'<g fill="none" pointer-events="all">{"".join(spots())}</g></svg>'
    return marks.join(text.rsplit("</svg>", 1)).encode()


def _check(run: Run, ceilings: Run | None, *, nominal: bool) -> None:
    """Raises `RunError` for a run without the needed rows, or of another device than `ceilings`."""
    if ceilings and not _alike(ceilings.context.device, run.context.device):
        found, expected = (_words(one.context.device) for one in (ceilings, run))
        found, expected = f"ceilings of the device {found}", f"those of {expected}"
        fix = f"give a run of the same device as {run.context.run}"
        raise RunError(ceilings.folder, found=found, expected=expected, fix=fix)
    if lacks := lacking(run, ceilings, nominal=nominal):
        found, fix = ", and ".join(one.found for one in lacks), "; ".join(one.fix for one in lacks)
        expected = "a ceiling, and of each kernel a time, operations and traffic"
        raise RunError(run.folder, found=found, expected=expected, fix=fix)


def _alike(*devices: Device) -> bool:
    """Whether devices may be the same: a profiler's file or a table lacks parts."""
    capabilities = {one.facts.get("compute_capability") for one in devices} - {None, ""}
    slugs, names = ({getattr(one, key) for one in devices} for key in ("slug", "name"))
    unknown = UNKNOWN in slugs | names
    return len(capabilities) < 2 and (unknown or len(slugs) == 1 or len(names) == 1)


def _words(device: Device) -> str:
    capability = device.facts.get("compute_capability")
    return f"{device.name} ({capability})" if capability else device.name
