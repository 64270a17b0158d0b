"""Write the roofline of one or several runs.

    roofline.png|svg|pdf               the figure: operations against bytes
    roofline.csv                       every ceiling and every point of it, with its case
    roofline.txt                       its caption
    roofline_instructions.*            the same of instructions against sectors, where counted

The same runs give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata import figures
from strata.figures import roofline as of_operations
from strata.figures import roofline_instructions as of_instructions
from strata.model import Table
from strata.roofline import roofline
from strata.roofline.roofline import FLOP, INSTRUCTION, Entry
from strata.run import Device, Run, RunError
from strata.run.validate import refuse_repeated

MEASURE = "measure those as well (strata run)"
BORROW = f"{MEASURE}, or name a run of this device that has ceilings with --ceilings"


UNKNOWN = "unknown"
"""The name of a device that a profiler's file does not tell."""


@dataclass(frozen=True, slots=True)
class Written:
    """A roofline of one form (FLOP or INSTRUCTION), and the figure's file."""

    form: str
    entries: tuple[Entry, ...]
    path: Path

    @property
    def table(self) -> Table:
        """The kernels, for a terminal, below a line that names the columns."""
        made = roofline.table(self.entries, self.form)
        return replace(made, rows=(tuple((word,) for word in made.header), *made.rows))

    @property
    def problems(self) -> tuple[str, ...]:
        """Of every point above a roof: which, by how much, why."""
        return roofline.problems(self.entries)

    @property
    def impossible(self) -> bool:
        """Whether a point that was counted is above a roof; nominal operations prove nothing."""
        points = roofline.points_of(self.entries)
        return any(point.above is not None and point.basis == "counted" for point in points)


def write(
    runs: Sequence[Run], out: Path, *, ceilings: Run | None = None, nominal: bool = True
) -> tuple[Written, ...]:
    """Write the rooflines of `runs` into the folder `out`: a panel for each, on the same axes.

    A run without ceilings takes those of the run `ceilings`. Raises `RunError`, before anything is
    written, when a run is given twice, lacks what a roofline needs, or is of another device than
    `ceilings`; OSError when a file cannot be written.
    """
    borrowed = ceilings.rows if ceilings else ()
    _check(runs, ceilings)
    rows = [row for run in runs for row in run.rows]
    drawn = []
    for form, figure in ((FLOP, of_operations.FIGURE), (INSTRUCTION, of_instructions.FIGURE)):
        found = roofline.entries(rows, form, nominal=nominal, borrowed=borrowed)
        if not found:
            continue
        with figures.style():
            files = figures.images(figures.render(figure, found))
        files["csv"] = roofline.data(found, form)
        files["txt"] = f"{_caption(figure, found, runs)}\n".encode()
        drawn.append((form, found, figure.name, files))
    out.mkdir(parents=True, exist_ok=True)
    for _, _, name, files in drawn:
        for suffix, content in files.items():
            (out / f"{name}.{suffix}").write_bytes(content)
    return tuple(Written(form, found, out / f"{name}.svg") for form, found, name, _ in drawn)


def _caption(figure: figures.Figure[Entry], entries: Sequence[Entry], runs: Sequence[Run]) -> str:
    """The caption, and what was measured by which commit."""
    first, *others = runs
    words = figures.full_caption(figure, entries, first.context)
    lenders = {one.lender for one in roofline.ceilings_of(entries)} - {""}
    if lenders:
        words += f" Ceilings of the run {', '.join(sorted(lenders))}."
    for run in others:
        words += f" {run.context.device.name}, commit {run.context.build.commit[:12]}."
    return words


def _check(runs: Sequence[Run], ceilings: Run | None) -> None:
    refuse_repeated(runs)
    for run in runs:
        if ceilings and not _may_be_one(ceilings.context.device, run.context.device):
            raise RunError(
                ceilings.folder,
                found=f"ceilings of the device {_words(ceilings.context.device)}",
                expected=f"those of {_words(run.context.device)}, as in {run.context.run}",
                mend="name a run of the same device",
            )
        lacks = roofline.lacking(run.rows, ceilings.rows if ceilings else ())
        if lacks:
            raise RunError(
                run.folder,
                found=lacks,
                expected="ceilings of arithmetic and bandwidth, and kernels under them",
                mend=MEASURE if lacks == roofline.NO_KERNEL else BORROW,
            )


def _may_be_one(one: Device, other: Device) -> bool:
    """Whether nothing says that two devices are of different kinds."""
    names = {one.name, other.name} - {UNKNOWN}
    capabilities = {device.facts.get("compute_capability") for device in (one, other)} - {None}
    return len(names) < 2 and len(capabilities) < 2


def _words(device: Device) -> str:
    capability = device.facts.get("compute_capability")
    return f"{device.name} ({capability})" if capability else device.name
