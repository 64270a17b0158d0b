"""What does each rung of the F-statistic's ladder bring, from a call a sum to lanes and vectors?"""

from dataclasses import dataclass
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, hover, listed, plain_log, points, stacked
from strata.ladder import fstat
from strata.model import units
from strata.model.cases import ratio
from strata.run import Row, Run


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


COLUMNS = (
    attributes("rung")
    | params(*fstat.AXES, of="row")
    | attributes(of="row", per_second="value", low="minimum", high="maximum")
    | attributes(of="before", rung_before="benchmark")
    | attributes(speedup_over_it="speedup", _core="core", _place="place")
)


def data(run: Run) -> pd.DataFrame:
    """A line for each rung at each place that it has, in the order of the ladder."""
    before = {story.name: story.before for story in run.context.ladders.get(fstat.SUITE, ())}
    found = fstat.best(run)
    steps = []
    for (place, name), case in found.items():
        other = found.get((place, before[name]))
        row = case.row(fstat.RATE)
        if row:
            core = case.row("core_seconds_per_sft")
            steps.append(Step(place, row, other.row(fstat.RATE) if other else None, core))
    return table(steps, COLUMNS, label=lambda step: f"{step.rung}, {fstat.title(step.place)}")


SCALES = ((1e9, "10⁹/s"), (1e6, "10⁶/s"), (1e3, "10³/s"), (1.0, "1/s"))
FAR = 30
"""A ratio of rates beyond which the axis only has room for powers of ten."""


def caption(data: pd.DataFrame) -> str:
    """The measures."""
    return prose(
        "Terms of the F-statistic in a second: one signal's spectrum for one template, 16 bins. "
        "Marks: medians of the best case of each rung; lines: range of the samples.",
        data.speedup_over_it.notna().any() and "Then the step over the rung that it changes.",
        data["_core"].notna().any()
        and "Dashed: one core of the GPU's host, as fstat_serial has it.",
    )


@figure("fstat_ladder", "The ladder of the F-statistic", order=205, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel for each part of the observation, in the order of the ladder."""
    wide = figure.get_figwidth() > COLUMN
    places = sorted(data.groupby(data["_place"].map(tuple)), key=lambda place: place[0])
    panels = stacked(figure, [len(here) for _, here in places])
    for ax, (place, lines) in zip(panels, places, strict=True):
        scale, unit = next((one for one in SCALES if lines.per_second.max() >= one[0]), SCALES[-1])
        here = lines.assign(rate=lines.per_second / scale, at=range(len(lines)))
        look = {"c": "#0072B2", "marker": "o", "ms": 5, "ls": ""}
        points(ax, here, "rate", "at", **look)
        ax.hlines(here["at"], here.low / scale, here.high / scale, color="#0072B2", lw=0.9)
        for at, rate, gain, before, high in zip(
            here["at"], here.rate, here.speedup_over_it, here.rung_before, here.high / scale,
            strict=True,
        ):  # fmt: skip
            words = units.significant(rate)
            if pd.notna(gain) and wide:
                words += f"   {units.factor(gain)} {fstat.short(before)}"
            ax.annotate(words, (high, at), (7, 0), textcoords="offset points", va="center")
        core = next((core for core in here["_core"].dropna() if core.valid), None)
        far = bool(core) or here.rate.max() > FAR * here.rate.min()
        plain_log(ax, "x", (1,) if far else (1, 2, 5))
        if core:
            rule = ax.axvline(
                1 / core.value / scale, color="#D55E00", ls="--", label="one core of the host"
            )
            hover(rule, [core, core])
        listed(ax, here.rung)
        ax.margins(x=0.3)
        ax.set(xlabel=f"terms ({unit})", title=fill(fstat.title(place), 70 if wide else 26))
