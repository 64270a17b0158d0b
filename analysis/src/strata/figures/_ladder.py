"""One drawing for the ladders of gravity, of the F-statistic and of neighbours."""

from collections.abc import Iterable, Iterator
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._style import COLUMN, bars, beside_marks, listed, plain_log, points, stacked
from strata.model.cases import ratio
from strata.model.units import factor, short
from strata.run import Row, Run

SCALES = {1e12: "10¹²/s", 1e9: "10⁹/s", 1e6: "10⁶/s", 1e3: "10³/s", 1.0: "1/s"}
FAR = 30
"""A ratio of rates beyond which bars from zero would vanish: the axis is logarithmic."""


def scale_of(rates: Iterable[float]) -> float:
    """The largest scale that the largest rate reaches."""
    most = max(rates)
    return next((scale for scale in SCALES if most >= scale), 1.0)


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
    figure: Figure, data: pd.DataFrame, what: str = "", label: str = ""
) -> Iterator[tuple[Axes, pd.DataFrame, float]]:
    """A panel for each `_panel` with a line for each rung: rate, range, and words at `_end`.

    Yields the panel, its data with the place `at` of each line, and its scale. The axis has room
    for the rates `_beside` too.
    """
    wide = figure.get_figwidth() > COLUMN
    parts = [*data.groupby("_panel", sort=False)]
    for ax, (title, here) in zip(
        stacked(figure, [len(here) for _, here in parts], 0.27), parts, strict=True
    ):
        scale = scale_of(here.per_second)
        shown = here.assign(at=range(len(here)), rate=here.per_second / scale)
        ends = here["_end"] / scale
        drawn = here.reindex(columns=["per_second", "_end", "_beside"]).astype(float) / scale
        low, high = drawn.min().min(), drawn.max().max()
        if high > FAR * low:
            points(ax, shown, "rate", "at", c="#0072B2", marker="o", ms=5, ls="", label=label)
            plain_log(ax, "x", (1,))
            ax.set_xlim(low / 1.5, 1.5 * high * (high / low) ** (0.7 if wide else 0.35))
        else:
            bars(ax, shown, "_name", "rate", color="#0072B2", label=label)
            ax.set_xlim(0, (1.7 if wide else 1.3) * high)
        listed(ax, here["_name"])
        ax.hlines(shown["at"], here.low / scale, here.high / scale, color="k", lw=0.8)
        words = [
            f"{short(rate)}   {more}" if wide else short(rate)
            for rate, more in zip(shown.rate, here["_words"], strict=True)
        ]
        beside_marks(ax, words, ends, shown["at"])
        ax.set_title(fill(f"{title}", 70 if wide else 26))
        ax.set_xlabel(f"{what or here['_what'].iloc[0]} ({SCALES[scale]})")
        yield ax, shown, scale
