"""One drawing for the ladders of gravity, of the F-statistic and of neighbours."""

from collections.abc import Iterator
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures import _style
from strata.figures._style import bars, beside_marks, in_column, listed, points, si_axis
from strata.model.cases import ratio
from strata.model.units import factor, quantity
from strata.run import Row, Run

FAR = 30
"""A ratio of rates beyond which bars from zero would vanish: the axis is logarithmic."""


def rung_name(row: Row) -> str:
    """`fstat_per_call` of the suite `fstat` as shown: per call."""
    return row.benchmark.removeprefix(f"{row.suite}_").replace("_", " ")


def with_steps(run: Run, lines: pd.DataFrame) -> pd.DataFrame:
    """The lines with the step of each over the line at its `_place` of the rung before it."""
    before = {story.name: story.before for story in run.context.ladders[lines.suite.iloc[0]]}
    places = [*zip(lines["_place"], lines.benchmark, strict=True)]
    known = dict(zip(places, lines["_row"], strict=True))
    others = [known.get((place, before[rung])) for place, rung in places]
    gains = [ratio(row, other) for row, other in zip(lines["_row"], others, strict=True)]
    return lines.assign(
        rung=lines["_row"].map(rung_name),
        rung_before=[other.benchmark if other else "" for other in others],
        speedup_over_it=pd.Series(gains, lines.index, dtype=float),
        _words=[
            f"{factor(gain)} {rung_name(other)}" if gain and other else ""
            for gain, other in zip(gains, others, strict=True)
        ],
    )


def panels(
    figure: Figure, data: pd.DataFrame, label: str = ""
) -> Iterator[tuple[Axes, pd.DataFrame]]:
    """A panel for each `_panel` with a line for each rung: rate, range, and words at `_end`.

    Yields the panel, and its data with the place `at` of each line. The axis has room for the rates
    `_beside` too.
    """
    wide, sections = not in_column(figure), _style.parts(data, "_panel")
    axes = _style.stacked(figure, [len(here) for _, here in sections], 0.27)
    for ax, (title, here) in zip(axes, sections, strict=True):
        shown = here.assign(at=range(len(here)))
        drawn = here.reindex(columns=["per_second", "_end", "_beside"]).astype(float)
        low, high = drawn.min().min(), drawn.max().max()
        if high > FAR * low:
            points(ax, shown, "per_second", "at", c="#0072B2", marker="o", ls="", label=label)
            ax.set(xscale="log", xlim=(low / 1.5, high * (high / low) ** (0.7 if wide else 0.35)))
            ax.xaxis.set_minor_formatter("")
        else:
            bars(ax, shown, "_name", "per_second", color="#0072B2", label=label)
            ax.set_xlim(0, (1.7 if wide else 1.3) * high)
        listed(ax, here["_name"])
        ax.hlines(shown["at"], here.low, here.high, color="k", lw=0.8)
        rates = [quantity(rate, "1/s") for rate in here.per_second]
        words = [f"{rate}   {more}" for rate, more in zip(rates, here["_words"], strict=True)]
        beside_marks(ax, words if wide else rates, here["_end"], shown["at"])
        si_axis(ax, "x")
        ax.set(title=fill(f"{title}", 70 if wide else 26), xlabel=f"{here['_what'].iloc[0]} (1/s)")
        yield ax, shown
