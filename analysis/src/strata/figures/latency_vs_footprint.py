"""How long does a dependent load take as its data grow from the first cache to all of memory?

Every level of the hierarchy is a step; where the curve bends, the level is full. Plateaus are
found by `strata.model.plateaus`, and of the curve that has most of them they are labelled.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log

from matplotlib.axes import Axes

from strata.figures import AxesGrid, Figure, Grid, _chase, flat
from strata.figures._chase import Point
from strata.figures._palette import INK
from strata.model import ordered, plateaus
from strata.model.plateaus import Plateau
from strata.model.units import SPACE, count, quantity, short, size, unit_name
from strata.run import Row
from strata.run.statistics import median

_COLOUR = {
    "global_ca": "#0072B2",
    "global_cg": "#D55E00",
    "global_nc": "#56B4E9",
    "shared": "#009E73",
    "constant": "#E69F00",
    "texture": "#CC79A7",
    "mapped": "#666666",
    "memory": "#0072B2",
}
_NAME = {
    "global_ca": "global, cached in L1",
    "global_cg": "global, past L1",
    "global_nc": "global, read-only",
    "mapped": "host memory, mapped",
    "memory": "memory",
}
_SPACES = tuple(_COLOUR)


def prepare(rows: Sequence[Row]) -> Sequence[Point]:
    """Every space, at the stride that most cases have."""
    found = _chase.points(rows, "latency_vs_footprint", "space")
    if not found:
        return ()
    stride = _chase.usual_stride(found)
    drawn = [point for point in found if point.stride == stride]
    levels = {
        point.row.key: plateau.level
        for points in curves(drawn).values()
        for plateau in _plateaus(points)
        for point in points[plateau.start : plateau.stop + 1]
    }
    return [replace(point, plateau=levels.get(point.row.key)) for point in drawn]


def curves(points: Sequence[Point]) -> dict[str, list[Point]]:
    """The valid points of each space that one core walks, by ascending footprint.

    Of several points of one footprint the first is kept: a curve has one.
    """
    found: dict[str, dict[int, Point]] = {}
    for point in sorted(points, key=lambda one: one.footprint):
        if point.row.valid and point.cores == "one" and point.row.value > 0:
            found.setdefault(point.curve, {}).setdefault(point.footprint, point)
    return {name: list(found[name].values()) for name in ordered(found, _SPACES)}


def _plateaus(points: Sequence[Point]) -> tuple[Plateau, ...]:
    """Those of one curve: footprints in bytes, levels in the unit of the rows."""
    return plateaus.find(
        [float(point.footprint) for point in points], [point.row.value for point in points]
    )


def _seconds(points: Sequence[Point], plateau: Plateau) -> float | None:
    """The median time of a load on it, None where no timer outside is valid there."""
    times = [
        point.seconds
        for point in points[plateau.start : plateau.stop + 1]
        if point.seconds is not None
    ]
    return median(times) if times else None


def grid(points: Sequence[Point]) -> Grid:  # noqa: ARG001  (every figure is asked alike)
    """One panel, whatever the points."""
    return Grid(1, 1, width=8.4, height=3.6)


def _colour(space: str) -> str:
    return _COLOUR.get(space, "#000000")


def _name(space: str) -> str:
    return _NAME.get(space, space)


def draw(points: Sequence[Point], axes: AxesGrid) -> None:
    """Both axes logarithmic: levels are a decade apart in time, and three of them in size."""
    (panel,) = flat(axes)
    spaces = ordered((point.curve for point in points), _SPACES)
    _chase.draw(points, panel, spaces, _colour, _name)
    _chase.draw_marks(points, panel)
    _label(points, panel)


FOOT = 0.17
"""Of the height of the panel: the room that a label takes."""
ALIKE = 0.02
"""Of the height: a curve that is closer lies on the plateau too."""
BROAD = 3.5
"""Octaves that a label needs to stand in the middle of its plateau."""


def _label(points: Sequence[Point], panel: Axes) -> None:
    """Cycles, time and end of every plateau of the curve that has most of them."""
    of = curves(points)
    found = {name: _plateaus(here) for name, here in of.items()}
    if not any(found.values()):
        return
    name = _labelled(points)
    bottom, top = (log(value) for value in panel.get_ylim())
    for plateau in found[name]:
        panel.hlines(
            plateau.level, plateau.first, plateau.last, color=INK, linewidth=0.8,
            linestyle=(0, (1, 1)), zorder=3.5, label="_plateau",
        )  # fmt: skip
        gaps = [
            (log(point.row.value) - log(plateau.level)) / (top - bottom)
            for point in points
            if plateau.first <= point.footprint <= plateau.last
        ]
        others = [gap for gap in gaps if abs(gap) > ALIKE]
        height = (log(plateau.level) - bottom) / (top - bottom)
        over = min((gap for gap in others if gap > 0), default=1 - height)
        under = min((-gap for gap in others if gap < 0), default=height)
        below = under >= min(over, FOOT)
        broad = plateau.last / plateau.first >= 2**BROAD
        middle = (plateau.first * plateau.last) ** 0.5 if broad else plateau.first
        panel.annotate(
            "{}, {}\n{}".format(*_words(of[name], plateau)).replace(", \n", "\n"),
            (middle, plateau.level),
            xytext=(0, -3 if below else 3),
            textcoords="offset points",
            ha="center" if broad else "left",
            va="top" if below else "bottom",
            fontsize=6.5,
            linespacing=1.15,
            color=INK,
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.6},
        )


def _labelled(points: Sequence[Point]) -> str:
    """The curve that has most plateaus; the first of them."""
    counts = {name: len(_plateaus(here)) for name, here in curves(points).items()}
    return max(counts, key=lambda name: counts[name])


def _words(points: Sequence[Point], plateau: Plateau) -> tuple[str, str, str]:
    """Its cycles, its time (empty where nobody knows it), and where it ends or begins."""
    level = short(plateau.level) if plateau.level >= 99.95 else count(plateau.level)
    seconds = _seconds(points, plateau)
    last = plateau.stop == len(points) - 1
    if last and plateau.start == 0:
        where = "throughout"
    elif last:
        where = f"from {size(round(plateau.first))} on"
    else:
        where = f"to {size(round(plateau.last))}"
    return (
        f"{level}{SPACE}{unit_name(points[0].row.unit)}",
        "" if seconds is None else quantity(seconds, "s"),
        where,
    )


def _told(points: Sequence[Point]) -> str:
    """The plateaus of every curve in words."""
    parts = []
    for name, here in curves(points).items():
        words = [_words(here, plateau) for plateau in _plateaus(here)]
        found = [
            f"{level} ({time}) {where}" if time else f"{level} {where}"
            for level, time, where in words
        ]
        if found:
            parts.append(f"{_name(name)} {', '.join(found)}")
    if not parts:
        return ""
    return f" Plateaus (labelled: {_name(_labelled(points))}): {'; '.join(parts)}."


def caption(points: Sequence[Point]) -> str:
    """What is walked, and what bands are."""
    bands = "bands: range of the samples"
    if any(point.cores == "several" for point in points):
        bands += ", or nearest to farthest SM where every SM walks, each with one load in flight"
    return (
        "Time of one load whose address the load before it gave, in random order over slots of "
        f"{size(points[0].stride)}, against the bytes that the chain spans. Lines: medians; "
        f"{bands}.{_told(points)}{_marked(points)}{_chase.invalid(points)}"
    )


def _marked(points: Sequence[Point]) -> str:
    names = [name for name, _ in _chase.marks(points)]
    words = ""
    if "L2" in names or "shared memory of an SM" in names:
        words += " Dotted: sizes as the driver reports them."
    if "evicted before" in names:
        words += (
            " A walk starts from what two laps left in the caches; right of the mark (several "
            "times the L2) all was evicted instead, and every page visited."
        )
    return words


def cells(point: Point) -> tuple[object, ...]:
    """One line of the data file."""
    seconds = "" if point.seconds is None else point.seconds
    return (*_chase.cells(point), seconds, "" if point.plateau is None else point.plateau)


FIGURE = Figure(
    name="latency_vs_footprint",
    title="Latency of every level of the hierarchy",
    order=5,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(*_chase.COLUMNS, "load_seconds", "plateau"),
    cells=cells,
    source=_chase.source,
)
