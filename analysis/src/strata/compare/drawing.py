"""How far did every row of every benchmark move, and which of them are alarms?

One strip for each benchmark and one dot for each timed row, so that it reads the same with ten
rows and with ten thousand.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata import figures
from strata.compare import words
from strata.compare.changes import VERDICTS, Change, Comparison, Verdict
from strata.figures._palette import GREY, INK
from strata.model import units
from strata.run import params_text

_STYLE: Mapping[Verdict, tuple[str, str]] = {
    "slower": ("#D55E00", "^"),
    "faster": ("#009E73", "v"),
    "changed": ("#CC79A7", "D"),
    "same": ("#0072B2", "o"),
    "undecided": ("#b0b0b0", "o"),
}
_TICKS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_LINEAR = 0.003
"""Around no change the axis is linear, beyond it logarithmic."""
_MANY = 2000
"""More dots than this are an image inside the drawing, or an SVG grows to many megabytes."""
NAMED = 12
"""So many alarms are named below the strips; the table has them all."""
_GOLDEN = 0.6180339887498949
ROOM = 4 * units.SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""


def images(comparisons: Sequence[Comparison]) -> dict[str, bytes]:
    """The figure as png, svg and pdf; the same comparisons give the same bytes."""
    with figures.style():
        canvas = draw(comparisons)
        return figures.images(canvas)


def draw(comparisons: Sequence[Comparison]) -> Canvas:
    """A panel for each comparison, strips in common; below, what differs and which rows changed.

    Call within `strata.figures.style`.
    """
    benchmarks = sorted({c.before.benchmark for found in comparisons for c in found.changes})
    width = 2.2 + 6.2 * len(comparisons)
    below = _below(comparisons, width)
    strips = 0.27 * max(2, len(benchmarks)) + 0.9
    canvas = with_words(width, strips, below)
    grid = canvas.subplots(1, len(comparisons), squeeze=False)
    for place, found in enumerate(comparisons):
        panel = grid[0][place]
        _strips(panel, found, benchmarks, named=place == 0)
        if len(comparisons) > 1:
            panel.set_title(found.after.context.run)
    canvas.legend(handles=_handles(comparisons), loc="outside upper center", ncols=7)
    return laid_out(canvas)


def with_words(width: float, height: float, lines: Sequence[str]) -> Canvas:
    """A canvas with `lines` of words below; `height` is left for what is drawn, in inches."""
    low = 0.125 * len(lines) + 0.12 if lines else 0.0
    canvas = Canvas(figsize=(width, height + low), layout="constrained")
    FigureCanvasAgg(canvas)
    share = low / (height + low)
    layout = canvas.get_layout_engine()
    if isinstance(layout, ConstrainedLayoutEngine):
        layout.set(rect=(0, share, 1, 1 - share))
    if lines:
        canvas.text(
            0.15 / width, share, "\n".join(lines), va="top", ha="left", fontsize=6.5, color=INK,
            linespacing=1.35, in_layout=False,
        )  # fmt: skip
    return canvas


def laid_out(canvas: Canvas) -> Canvas:
    """The canvas, laid out once and for all."""
    layout = canvas.get_layout_engine()
    if layout is not None:
        layout.execute(canvas)
    canvas.set_layout_engine("none")
    return canvas


def _strips(panel: Axes, found: Comparison, benchmarks: Sequence[str], *, named: bool) -> None:
    dots: dict[Verdict, list[tuple[float, float]]] = defaultdict(list)
    limits: dict[str, list[float]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    places: dict[tuple[str, str, str], float] = {}
    for change in found.changes:
        benchmark = change.before.benchmark
        # Dots of a strip are spread evenly over its height, in an order that has no pattern.
        seen[benchmark] += 1
        place = benchmarks.index(benchmark) + 0.7 * ((seen[benchmark] * _GOLDEN) % 1 - 0.5)
        places[change.before.key] = place
        dots[change.verdict].append((math.expm1(words.worse(change)), place))
        limits[benchmark].append(change.found)
    for verdict in reversed(VERDICTS):
        _dots(panel, verdict, dots[verdict])
    for change, _ in _numbered(found):
        _interval(panel, change, places[change.before.key])
    least = found.settings.min_change
    panel.axvspan(-least / (1 + least), least, color="#eeeeee", zorder=0, label="_band")
    panel.axvline(0, color=GREY, linewidth=0.7, zorder=1)
    for benchmark, values in limits.items():
        strip, middle = benchmarks.index(benchmark), sorted(values)[len(values) // 2]
        if middle <= _reach(found):
            ends = (strip - 0.4, strip + 0.4)
            panel.vlines(middle, *ends, color=INK, linewidth=1.2, label="_found")
    _axes(panel, _reach(found), benchmarks, seen, named=named)
    _numbers(panel, found, benchmarks)


def _dots(panel: Axes, verdict: Verdict, dots: Sequence[tuple[float, float]]) -> None:
    colour, marker = _STYLE[verdict]
    flagged = verdict in ("slower", "faster", "changed")
    panel.plot(
        [x for x, _ in dots], [y for _, y in dots], marker=marker, linestyle="none",
        markersize=5 if flagged else 2.2, color=colour, markeredgewidth=0,
        alpha=1 if flagged else 0.5, rasterized=len(dots) > _MANY, label=f"_{verdict}",
        zorder=3 if flagged else 2,
    )  # fmt: skip


def _numbered(found: Comparison) -> list[tuple[Change, int]]:
    return [(change, place) for place, change in enumerate(found.flagged()[:NAMED], start=1)]


def _interval(panel: Axes, change: Change, place: float) -> None:
    """The interval of an alarm, as of a time."""
    ends = [change.low, change.high]
    if change.better == "higher":
        ends = [1 / (1 + end) - 1 for end in reversed(ends)]
    panel.hlines(
        place, ends[0], ends[1], color=_STYLE[change.verdict][0], linewidth=0.9, zorder=2.5
    )


def _numbers(panel: Axes, found: Comparison, benchmarks: Sequence[str]) -> None:
    """The numbers of the alarms above their strip; of alarms close to each other in one text."""

    def across(change: Change) -> float:
        """Where it lies between the left edge of the panel, 0, and the right one, 1."""
        scaled = panel.transScale.transform((math.expm1(words.worse(change)), 0.0))
        return float(panel.transLimits.transform(scaled)[0])

    close: dict[int, list[tuple[float, list[int]]]] = defaultdict(list)
    for change, number in sorted(_numbered(found), key=lambda item: across(item[0])):
        here = close[benchmarks.index(change.before.benchmark)]
        if here and across(change) - here[-1][0] < 0.08:
            here[-1][1].append(number)
        else:
            here.append((across(change), [number]))
    for strip, groups in close.items():
        for left, numbers in groups:
            panel.annotate(
                ", ".join(map(str, sorted(numbers))), (left, strip - 0.42),
                xycoords=("axes fraction", "data"), ha="right" if left > 0.8 else "left",
                va="bottom", xytext=(4 if left > 0.8 else -4, 0), textcoords="offset points",
                fontsize=6, color=INK, in_layout=False,
            )  # fmt: skip


def _reach(found: Comparison) -> float:
    """How far the axis goes to both sides: ten times the smallest change of interest, or more."""
    far = max((abs(math.expm1(words.worse(change))) for change in found.changes), default=0.0)
    return min(max(1.25 * far, 10 * found.settings.min_change), 20.0)


def _axes(
    panel: Axes, reach: float, benchmarks: Sequence[str], seen: Mapping[str, int], *, named: bool
) -> None:
    panel.set_xscale("symlog", linthresh=_LINEAR, linscale=0.5)
    panel.set_xlim(-min(reach, 0.95), reach)
    ticks = [tick for tick in _TICKS if tick <= reach]
    places = [*(-tick for tick in reversed(ticks) if tick < 0.95), 0.0, *ticks]
    panel.xaxis.set_major_locator(FixedLocator(places))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(_tick))
    panel.set_xlabel("change, as of a time (%): left faster, right slower")
    panel.set_ylim(max(1, len(benchmarks) - 1) + 0.6, -0.7)
    labels = [ROOM + (f"{name} ({seen[name]})" if seen[name] else name) for name in benchmarks]
    panel.set_yticks(range(len(benchmarks)), labels if named else [""] * len(labels))
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=True, axis="x")
    panel.grid(visible=False, axis="y")


def _tick(value: float, _: int) -> str:
    """A share in per cent with its sign, without the unit."""
    if value == 0:
        return "0"
    return f"{100 * value:+.3g}".replace("-", words.MINUS)


def _handles(comparisons: Sequence[Comparison]) -> list[Artist]:
    present = {c.verdict for found in comparisons for c in found.changes}
    handles: list[Artist] = [
        Line2D([], [], color=_STYLE[verdict][0], marker=_STYLE[verdict][1], markersize=4.5,
               linestyle="none", label=verdict)
        for verdict in VERDICTS
        if verdict in present
    ]  # fmt: skip
    least = words.size(comparisons[0].settings.min_change)
    handles.append(Patch(color="#e4e4e4", label=f"below {least}"))
    handles.append(
        Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.2, linestyle="none",
               label="found from (median row)")
    )  # fmt: skip
    return handles


def _below(comparisons: Sequence[Comparison], width: float) -> list[str]:
    """What differs and what changed, in lines that fit the width in inches."""
    lines = []
    for found in comparisons:
        lines.append(f"{words.title(found)}. {words.counts(found)}.")
        differ = [f"{difference}" for difference in found.differences]
        if differ:
            lines.append("WARNING, conditions differ: " + "; ".join(differ))
        for change, number in _numbered(found):
            row = change.before
            lines.append(
                f"{number}  {change.verdict}, {words.percent(change.change)}: {words.name(row)}, "
                f"{params_text(row.params, ' ')}"
            )
        more = len(found.flagged()) - NAMED
        if more > 0:
            lines.append(f"and {more} more, in the table")
    return [part for line in lines for part in wrapped(line, width)]


def wrapped(line: str, width: float) -> list[str]:
    """A line of words in pieces that fit `width` inches, the later ones set in."""
    most = max(30, int((width - 0.3) / 0.056))
    result = [""]
    for word in line.split(" "):
        if result[-1].strip() and len(result[-1]) + len(word) + 1 > most:
            result.append("    " + word)
        else:
            result[-1] += word if not result[-1] else f" {word}"
    return result
