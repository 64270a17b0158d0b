"""Write the roofline of one or several runs.

    roofline.png|svg|pdf               the figure: operations against bytes
    roofline.csv                       every ceiling and every point of it, with its case
    roofline.txt                       its caption
    roofline_instructions.*            the same of instructions against sectors, where counted

The same runs give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

from strata.figures import _style, named
from strata.figures._plot import FORMATS, published
from strata.figures.roofline import data_of
from strata.roofline.forms import FLOP, INSTRUCTION, Form
from strata.roofline.verdicts import Entry, ceilings_of, entries, lacking
from strata.run import Device, Run, RunError, write_files
from strata.run.validate import refuse_repeated

UNKNOWN = "unknown"
"""The name of a device that a profiler's file lacks."""


def write(
    runs: Sequence[Run],
    out: Path,
    *,
    ceilings: Run | None = None,
    nominal: bool = True,
    headings: bool = True,
) -> dict[Form, tuple[Entry, ...]]:
    """Write the rooflines of `runs` into the folder `out`: one panel each, on the same axes.

    A run without ceilings uses those of the run `ceilings`; without `headings` the figures do not
    identify their runs. Returns what each shows. Raises `RunError`, before anything is written, if
    a run is given twice, lacks what a roofline needs, or is of another device than `ceilings`;
    OSError if a file cannot be written.
    """
    refuse_repeated(runs)
    for run in runs:
        _check(run, ceilings, nominal=nominal)
    shown: dict[Form, tuple[Entry, ...]] = {}
    files: dict[str, bytes] = {}
    for form in (FLOP, INSTRUCTION):
        found, figure = entries(runs, form, nominal=nominal, lender=ceilings), named(form.name)
        if not found or not figure:
            continue
        shown[form], data = found, data_of(form, found)
        words = [figure.full_caption(data, runs[0].context)]
        if ceilings and any(one.row.run != one.run for one in ceilings_of(found)):
            words.append(f"Ceilings of the run {ceilings.context.run}.")
        others = (run.context for run in runs[1:])
        words += [f"{one.device.name}, commit {one.build.commit[:12]}." for one in others]
        with _style.styled():
            images = figure.files(figure.plot(data), runs, FORMATS, headings=headings)
        contents = {**images, "csv": published(data), "txt": f"{' '.join(words)}\n".encode()}
        files |= {f"{form.name}.{suffix}": content for suffix, content in contents.items()}
    write_files(out, files)
    return shown


def _check(run: Run, ceilings: Run | None, *, nominal: bool) -> None:
    """Raises `RunError` for a run without the needed rows, or of another device than `ceilings`."""
    if ceilings:
        lent, own = (_device(one.context.device) for one in (ceilings, run))
        if any(one and other and one != other for one, other in zip(lent, own, strict=True)):
            found = f"ceilings of the device {ceilings.context.device.name} {lent[1]}".rstrip()
            borrower = f"{run.context.device.name} {own[1]}".rstrip()
            expected = f"those of {borrower}, as in {run.context.run}"
            fix = "give a run of the same device"
            raise RunError(ceilings.folder, found=found, expected=expected, fix=fix)
    if lacks := lacking(run, ceilings, nominal=nominal):
        found, fix = ", and ".join(one.found for one in lacks), "; ".join(one.fix for one in lacks)
        expected = "ceilings of arithmetic and bandwidth, and kernels under them"
        raise RunError(run.folder, found=found, expected=expected, fix=fix)


def _device(device: Device) -> tuple[str, str]:
    """The name and the compute capability; empty if a profiler's file lacks them."""
    capability = device.facts.get("compute_capability", "")
    return "" if device.name == UNKNOWN else device.name, capability and f"({capability})"
