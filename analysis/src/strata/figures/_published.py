"""A line for each GPU, a panel for each level: the run's own number and those of others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, legend_above
from strata.model.units import SPACE, short
from strata.reference.published import GENERATIONS, Mark
from strata.run import Row

OWN, THEIRS = "#D55E00", "#0072B2"
ROOM = 2 * SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""
GAP = 0.45
"""Between two generations, in lines."""
LINE = 0.185
"""Inches."""

COLUMNS = (
    "panel", "gpu", "generation", "value", "low", "high", "unit", "ours", "citation", "source",
    "locator", "tier", "doubt", "case",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Panel:
    """What a panel is called, and its unit."""

    title: str
    unit: str


def _lines(marks: Sequence[Mark]) -> dict[str, float]:
    """Place of each GPU, the run's own on top, generations a little apart."""
    places: dict[str, float] = {}
    order: dict[str, list[str]] = {}
    for mark in marks:
        here = order.setdefault(mark.generation, [])
        if mark.gpu not in here:
            here.append(mark.gpu)
    place = 0.0
    for generation in _generations(marks):
        for gpu in order[generation]:
            places[gpu] = place
            place += 1
        place += GAP
    return places


def _generations(marks: Sequence[Mark]) -> list[str]:
    """In the order of the marks of all panels: the run's own is blank."""
    found = {mark.generation for mark in marks}
    return [one for one in ("", *GENERATIONS) if one in found]


def _panels(marks: Sequence[Mark]) -> list[str]:
    return list(dict.fromkeys(mark.panel for mark in marks))


def grid(marks: Sequence[Mark]) -> Grid:
    """A panel for each level side by side, as high as its GPUs need."""
    lines = max(_lines(marks).values(), default=0) + 1
    return Grid(1, max(1, len(_panels(marks))), width=8.4, height=1.25 + LINE * lines)


def draw(marks: Sequence[Mark], axes: AxesGrid, panels: Mapping[str, Panel]) -> None:
    """Filled: the run's own. Open: published. Grey: published, and in doubt."""
    places = _lines(marks)
    shown = flat(axes)
    bottom = max(places.values()) + 0.7
    for axis, name in zip(shown, _panels(marks), strict=True):
        here = [mark for mark in marks if mark.panel == name]
        _points(here, places, axis)
        axis.set_title(panels[name].title, fontsize=8)
        axis.set_xlabel(panels[name].unit, fontsize=7)
        axis.set_xlim(0, max(mark.high for mark in here) * 1.52)  # room for the citations
        axis.xaxis.set_major_locator(
            FixedLocator([0, 25, 50, 75, 100])
            if panels[name].unit.startswith("%")
            else MaxNLocator(4, integer=True, prune="upper")
        )
        axis.set_ylim(bottom, -0.7)
        axis.set_yticks(list(places.values()))
        axis.yaxis.set_minor_locator(NullLocator())
        axis.tick_params(axis="y", length=0, labelleft=axis is shown[0])
        axis.tick_params(axis="x", labelsize=6.5)
        axis.grid(visible=True, axis="both", linewidth=0.4, color="#e4e4e4")
        axis.set_axisbelow(True)
    names = [ROOM + ("this GPU" if place == 0 else gpu) for gpu, place in places.items()]
    shown[0].set_yticklabels(names, fontsize=6.5)
    _name_generations(marks, places, shown)
    legend_above(shown[0], _handles(marks))


def _name_generations(
    marks: Sequence[Mark], places: Mapping[str, float], shown: Sequence[Axes]
) -> None:
    """Beside the last panel, with a rule between two of them."""
    of: dict[str, list[float]] = {}
    for mark in marks:
        of.setdefault(mark.generation, []).append(places[mark.gpu])
    rules = [max(found) + (1 + GAP) / 2 for found in of.values()]
    for axis in shown:
        axis.hlines(
            rules, 0, 1, transform=axis.get_yaxis_transform(), color="#b8b8b8", linewidth=0.5,
            zorder=0.6,
        )  # fmt: skip
    for generation, found in of.items():
        shown[-1].annotate(
            generation, (1, (min(found) + max(found)) / 2), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", fontsize=6.5, color=INK,
        )  # fmt: skip


def _points(here: Sequence[Mark], places: Mapping[str, float], axis: Axes) -> None:
    own = [mark for mark in here if mark.published is None]
    for mark in own:
        axis.axvline(mark.value, color=OWN, linewidth=0.8, alpha=0.5, zorder=1, label="_own")
        axis.hlines(places[mark.gpu], mark.low, mark.high, color=OWN, linewidth=1.2)
        axis.plot(
            [mark.value], [places[mark.gpu]], linestyle="none", marker="D", markersize=4.4,
            color=OWN, label="_valid", zorder=4,
        )  # fmt: skip
    for doubtful, colour, marker in ((False, THEIRS, "o"), (True, GREY, "v")):
        some = [mark for mark in here if mark.published and bool(mark.doubt) == doubtful]
        ranges = [mark for mark in some if mark.low < mark.high]
        axis.hlines(
            [places[mark.gpu] for mark in ranges], [mark.low for mark in ranges],
            [mark.high for mark in ranges], color=colour, linewidth=1, zorder=2,
        )  # fmt: skip
        axis.plot(
            [mark.value for mark in some], [places[mark.gpu] for mark in some], linestyle="none",
            marker=marker, markersize=3.8, color=colour, markerfacecolor="white",
            markeredgewidth=0.9, label="_doubtful" if doubtful else "_published", zorder=3,
        )  # fmt: skip
    for gpu in dict.fromkeys(mark.gpu for mark in here):
        of_it = [mark for mark in here if mark.gpu == gpu]
        words = short(of_it[0].value) if of_it[0].published is None else citations(of_it)
        axis.annotate(
            words, (max(mark.high for mark in of_it), places[gpu]), xytext=(4.5, 0),
            textcoords="offset points", va="center", fontsize=5.6, color=INK, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
        )  # fmt: skip


def citations(marks: Sequence[Mark]) -> str:
    """Of several marks in one pair of brackets: `[8, 20]`."""
    numbers = {int(mark.citation.strip("[]")) for mark in marks if mark.citation}
    return f"[{', '.join(map(str, sorted(numbers)))}]"


def _handles(marks: Sequence[Mark]) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], color=OWN, marker="D", markersize=4.4, linestyle="none", label="this GPU")
    ]
    for doubtful, colour, marker, label in (
        (False, THEIRS, "o", "published"),
        (True, GREY, "v", "published, in doubt"),
    ):
        if any(mark.published and bool(mark.doubt) == doubtful for mark in marks):
            handles.append(
                Line2D([], [], color=colour, marker=marker, markersize=4.2, linestyle="none",
                       markerfacecolor="white", label=label)
            )  # fmt: skip
    return handles


def sources(marks: Sequence[Mark]) -> str:
    """The sentences of a caption that list the sources, and tell why marks are grey."""
    if not any(mark.published for mark in marks):
        return ""
    return f" Sources: {citations(marks)}.{_doubts(marks)}"


def _doubts(marks: Sequence[Mark]) -> str:
    reasons: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.doubt:
            reasons.setdefault(mark.doubt, []).append(mark)
    if not reasons:
        return ""
    listed = "; ".join(f"{reason} {citations(found)}" for reason, found in reasons.items())
    return f" In doubt: {listed}."


def figure(
    *,
    name: str,
    title: str,
    order: int,
    panels: Mapping[str, Panel],
    prepare: Callable[[Sequence[Row]], Sequence[Mark]],
    caption: str,
) -> Figure[Mark]:
    """The figure of these panels; its sources and their doubts come behind the caption."""
    return Figure(
        name=name,
        title=title,
        order=order,
        prepare=prepare,
        grid=grid,
        draw=lambda marks, axes: draw(marks, axes, panels),
        caption=lambda marks: caption + sources(marks),
        columns=COLUMNS,
        cells=lambda mark: cells(mark, panels[mark.panel].unit),
        source=source,
    )


def cells(mark: Mark, unit: str) -> tuple[object, ...]:
    """One line of the data file."""
    origin = mark.published.origin if mark.published else None
    return (
        mark.panel, mark.gpu, mark.generation, mark.value, mark.low, mark.high, unit,
        mark.published is None, mark.citation, origin.text if origin else "",
        origin.locator if origin else "", origin.tier if origin else "", mark.doubt,
        mark.own.case,
    )  # fmt: skip


def source(mark: Mark) -> Row:
    """The run's own row of the panel."""
    return mark.own
