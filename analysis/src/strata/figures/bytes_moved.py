"""How many bytes move for each byte that is used, in each layout, on each generation of GPU?

What Figures 10 and 11 of Siegel et al. 2009 saw as time, said as traffic: the rules for global
memory that held on their 8800 GTX (compute capability 1.0), and those that came after. On the
generation at hand the hardware's own count stands beside the rule.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import (
    GREY,
    INK,
    hollow_key,
    invalid_note,
    layout_style,
    legend_above,
    present_layouts,
)
from strata.model import FIELDS, fields_name, ordered
from strata.model.counted import COUNTING, GENERATIONS, Moved, moved
from strata.run import Row

BAR_WIDTH = 0.86
GAP = 0.9
"""Room between generations, in bars."""


def _generations(items: Sequence[Moved]) -> list[str]:
    return ordered((item.generation for item in items), GENERATIONS)


def grid(items: Sequence[Moved]) -> Grid:
    """One panel per set of fields, one below the other: they share the generations."""
    panels = len({item.fields for item in items})
    layouts = len({item.layout for item in items})
    width = 0.9 + 0.235 * (layouts + GAP) * len(_generations(items))
    return Grid(panels, 1, width=min(max(width, 5.6), 9.6), height=0.9 + 2.0 * panels)


def draw(items: Sequence[Moved], axes: AxesGrid) -> None:
    """Bars: by the rules of each generation. Diamonds: counted, with the range over cases."""
    groups = ordered((item.fields for item in items), FIELDS)
    layouts = present_layouts(item.layout for item in items)
    generations = _generations(items)
    for panel, fields in zip(flat(axes), groups, strict=True):
        here = [item for item in items if item.fields == fields]
        _panel(here, layouts, generations, panel)
        panel.set_title(fields_name(fields))
        panel.set_ylabel("bytes moved ÷ bytes used")
    axes[-1][0].set_xlabel("compute capability")
    handles: list[Artist] = [Patch(facecolor=layout_style(x)[0], label=x) for x in layouts]
    if any(item.counted and item.row.valid for item in items):
        handles.append(_counted_key())
    if any(not item.row.valid for item in items):
        handles.append(hollow_key("D"))
    legend_above(axes[0][0], handles)


def _counted_key() -> Line2D:
    return Line2D(
        [], [], color=INK, marker="D", markersize=4, linestyle="none", label="counted here"
    )


def _panel(
    items: Sequence[Moved], layouts: Sequence[str], generations: Sequence[str], panel: Axes
) -> None:
    pitch = len(layouts) + GAP
    highest = max(item.high for item in items)
    places = {
        (item.generation, item.layout): generations.index(item.generation) * pitch
        + layouts.index(item.layout)
        for item in items
    }
    tops: dict[float, float] = {}
    for item in items:
        x = places[item.generation, item.layout]
        tops[x] = max(tops.get(x, 0.0), item.high)
        if item.counted:
            _mark(item, x, panel)
        else:
            _bar(item, x, panel)
    for item in items:
        x = places[item.generation, item.layout]
        if not item.counted:
            over = 4.5 if tops[x] > item.ratio or _marked(items, item) else 1.5
            panel.annotate(
                f"{item.ratio:.3g}", (x, tops[x]), (0, over), textcoords="offset points",
                ha="center", va="bottom", fontsize=5.8, color=INK if item.row.valid else GREY,
            )  # fmt: skip
    panel.axhline(1, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0.9)
    panel.set_ylim(0, 1.16 * max(highest, 1))
    panel.set_xlim(-1, pitch * len(generations) - GAP)
    middle = (len(layouts) - 1) / 2
    panel.set_xticks([middle + pitch * place for place in range(len(generations))], [*generations])
    panel.tick_params(axis="x", length=0)


def _marked(items: Sequence[Moved], bar: Moved) -> bool:
    """Whether a count stands on top of the bar."""
    return any(
        item.counted and (item.generation, item.layout) == (bar.generation, bar.layout)
        for item in items
    )


def _bar(item: Moved, x: float, panel: Axes) -> None:
    colour, _ = layout_style(item.layout)
    valid = item.row.valid
    panel.bar(
        x, item.ratio, BAR_WIDTH, facecolor=colour if valid else "none", edgecolor=colour,
        linestyle="-" if valid else "--", linewidth=0.8,
    )  # fmt: skip


def _mark(item: Moved, x: float, panel: Axes) -> None:
    valid = item.row.valid
    if item.high > item.low:
        panel.errorbar(
            x, item.ratio, yerr=[[item.ratio - item.low], [item.high - item.ratio]],
            color=INK, elinewidth=0.8, capsize=1.6, capthick=0.8, zorder=2.5,
        )  # fmt: skip
    panel.plot(
        [x], [item.ratio], linestyle="none", marker="D", markersize=3.6, color=INK,
        markerfacecolor=INK if valid else "white", markeredgewidth=0.7, zorder=3,
        label="_valid" if valid else "_invalid",
    )  # fmt: skip


def caption(items: Sequence[Moved]) -> str:
    """What moves, what is used, and what was counted."""
    counts = [item for item in items if item.counted]
    told = (
        f" Diamonds: 32 bytes for each sector that the loads of layout_read asked of L1, counted "
        f"on this device in its L2 cases (median; whiskers: range over cases) and drawn at "
        f"{COUNTING}."
        if counts
        else " Nothing was counted to stand beside them."
    )
    invalid = invalid_note(f"{item.layout}, {fields_name(item.fields)}" for item in items
                           if not item.row.valid)  # fmt: skip
    return (
        "Bytes moved for each byte used by a warp that reads 32 particles, by memory layout. Bars: "
        "by the published rules of each generation; 1.0-1.1 is that of the 8800 GTX of Siegel et "
        f"al. 2009 (Figures 10 and 11). Dashed: nothing moves in vain.{told}{invalid}"
    )


def cells(item: Moved) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        item.fields, item.generation, item.layout, item.row.provenance, item.row.method,
        item.ratio, item.low, item.high, item.row.valid, item.row.case,
    )  # fmt: skip


def source(item: Moved) -> Row:
    """The row behind a bar or a mark."""
    return item.row


FIGURE = Figure(
    name="bytes_moved",
    title="Bytes moved for each byte used",
    order=50,
    prepare=moved,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "fields", "generation", "layout", "provenance", "method", "moved_over_used", "low", "high",
        "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
