"""What does each rung of the F-statistic's ladder bring, from a call a sum to lanes and vectors?"""

from collections.abc import Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.ladder import fstat
from strata.model import units
from strata.model.cases import ratio
from strata.run import Row, Run, grouped

LOOK = c.Look("#0072B2", marker="o", size=5)
CORE = c.Look("#D55E00", line="--")


@dataclass(frozen=True, slots=True)
class Step:
    """The best case of a rung at a place, that of the rung that it changes, and its host's core."""

    place: fstat.Place
    row: Row
    before: Row | None
    core: Row | None
    """Seconds of a term on one core of a GPU's host."""

    @property
    def speedup(self) -> float | None:
        """By which factor the rung is faster; None where either is not valid, or it is alone."""
        return ratio(self.row, self.before)

    @property
    def rung(self) -> str:
        """The rung without its suite."""
        return fstat.short(self.row.benchmark)


def items(run: Run) -> Sequence[Step]:
    """A step for each rung at each place that it has, in the order of the ladder."""
    before = {story.name: story.before for story in run.context.ladders.get(fstat.SUITE, ())}
    found = fstat.best(run)
    steps = []
    for (place, name), case in found.items():
        other = found.get((place, before[name]))
        row = case.row(fstat.RATE)
        if row:
            core = case.row("core_seconds_per_sft")
            steps.append(Step(place, row, other.row(fstat.RATE) if other else None, core))
    return steps


SCALES = ((1e9, "10⁹/s"), (1e6, "10⁶/s"), (1e3, "10³/s"), (0.0, "1/s"))


def _scale(steps: Sequence[Step]) -> tuple[float, str]:
    """The scale and the unit name for the rates of a panel."""
    most = max(step.row.value for step in steps)
    scale, unit = next(one for one in SCALES if most >= one[0])
    return scale or 1.0, unit


def _words(step: Step, scale: float) -> str:
    """What stands beside a mark: the rate, and the step."""
    words = units.significant(step.row.value / scale)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {fstat.short(step.before.benchmark)}"
    return words


def _panel(steps: Sequence[Step]) -> c.Panel:
    scale, unit = _scale(steps)
    marks = [
        c.mark(at, step.row, scale, words=_words(step, scale)) for at, step in enumerate(steps)
    ]
    layers: list[c.Layer] = [c.Series(marks, LOOK, spread="caps", words_size=7.0)]
    cores = [step.core for step in steps if step.core and step.core.valid]
    if cores:
        core = 1 / cores[0].value / scale
        ends = [c.Mark(at, core, row=cores[0]) for at in (-0.5, len(steps) - 0.5)]
        layers.append(c.Series(ends, CORE, "one core of the host"))
    rates = c.Axis(f"terms ({unit})", scale="log", room=0.3)
    names = c.names_axis([step.rung for step in steps])
    return c.Panel(layers, names, rates, fstat.title(steps[0].place), sideways=True)


def chart(steps: Sequence[Step]) -> c.Chart:
    """A panel for each part of the observation, in the order of the ladder."""
    panels = [_panel(here) for _, here in sorted(grouped(steps, lambda step: step.place).items())]
    heights = [len(panel.places.names or ()) + 2.0 for panel in panels]
    return c.Chart([[panel] for panel in panels], 8.4, 1.0 + 0.3 * sum(heights), heights=heights)


def _caption(steps: Sequence[Step]) -> str:
    return prose(
        "Terms of the F-statistic in a second: one signal's spectrum for one template, 16 bins. "
        "Marks: medians of the best case of each rung; lines: range of the samples.",
        any(step.speedup for step in steps) and "Then the step over the rung that it changes.",
        any(step.core for step in steps)
        and "Dashed: one core of the GPU's host, as fstat_serial has it.",
    )


FIGURE = Figure(
    "fstat_ladder", "The ladder of the F-statistic", 205, items, chart, _caption,
    attributes("rung")
    | params(*fstat.AXES, of="row")
    | attributes(of="row", per_second="value", low="minimum", high="maximum")
    | attributes(of="before", rung_before="benchmark")
    | attributes(speedup_over_it="speedup"),
    label=lambda step: f"{step.rung}, {fstat.title(step.place)}",
)  # fmt: skip
