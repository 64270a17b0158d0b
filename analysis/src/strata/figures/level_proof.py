"""Which level of memory served the reads that each case says it times?

Hits and misses were counted, case by case: a case that claims L2 should find nothing in L1 (but for
what its own layout makes it touch twice) and everything in L2.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

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
from strata.model import LEVELS, fields_name, level_name, ordered
from strata.model.counted import SHARES, Share, level_shares
from strata.run import Row

NAMES = {"l1_hit_share": "hit L1", "l2_hit_share": "hit L2", "dram_share": "from DRAM"}

STRIP = 0.17
"""Width of the strip of one layout; shares are 1 apart."""
JITTER = 0.1
"""How far the marks of one strip spread."""

PERCENT = 100


def grid(shares: Sequence[Share]) -> Grid:
    """One panel per level that cases claim."""
    levels = len({share.level for share in shares})
    return Grid(1, levels, width=max(0.5 + 3.0 * levels, 5.6), height=3.3)


def draw(shares: Sequence[Share], axes: AxesGrid) -> None:
    """One mark a case; dashes: predicted."""
    levels = ordered((share.level for share in shares), LEVELS)
    names = ordered((share.name for share in shares), SHARES)
    layouts = present_layouts(share.layout for share in shares)
    top = max(100.0, *(PERCENT * share.counted.value for share in shares))
    panels = flat(axes)
    for panel, level in zip(panels, levels, strict=True):
        here = [share for share in shares if share.level == level]
        for place, name in enumerate(names):
            strip = [share for share in here if share.name == name]
            if strip:
                _strips(strip, place, layouts, panel)
            else:
                panel.text(
                    place, 50, "not counted", rotation=90, ha="center", va="center", color=GREY,
                    fontsize=7,
                )  # fmt: skip
        panel.set_title(f"cases that claim {level_name(level)}")
        panel.set_xlim(-0.5, len(names) - 0.5)
        panel.set_xticks(range(len(names)), [NAMES[name] for name in names])
        panel.tick_params(axis="x", length=0)
        panel.set_ylim(-0.04 * top, 1.04 * top)
        panel.yaxis.set_major_locator(FixedLocator([*range(0, int(top) + 1, 25)]))
        for place in range(1, len(names)):
            panel.axvline(place - 0.5, color="#e3e3e3", linewidth=0.6, zorder=0)
    panels[0].set_ylabel("share of the sectors (%)")
    handles: list[Artist] = [
        Line2D([], [], color=layout_style(x)[0], marker=layout_style(x)[1], linestyle="none",
               markersize=4, label=x)
        for x in layouts
    ]  # fmt: skip
    if any(share.predicted for share in shares):
        handles.append(Line2D([], [], color=INK, linewidth=1.2, label="predicted"))
    if any(not share.counted.valid for share in shares):
        handles.append(hollow_key())
    legend_above(panels[0], handles)


def _strips(shares: Sequence[Share], place: int, layouts: Sequence[str], panel: Axes) -> None:
    """All cases of one share at one level, a strip per layout."""
    by_layout: dict[str, list[Share]] = defaultdict(list)
    for share in shares:
        by_layout[share.layout].append(share)
    for layout, strip in by_layout.items():
        colour, marker = layout_style(layout)
        middle = place + STRIP * (layouts.index(layout) - (len(layouts) - 1) / 2)
        # Spread evenly in the order of the cases: the same picture each time.
        spread = np.linspace(-JITTER / 2, JITTER / 2, len(strip)) if len(strip) > 1 else [0.0]
        xs = [middle + offset for offset in spread]
        for valid in (True, False):
            marks = [
                (x, PERCENT * share.counted.value)
                for x, share in zip(xs, strip, strict=True)
                if share.counted.valid == valid
            ]
            if marks:
                panel.plot(
                    *zip(*marks, strict=True), linestyle="none", marker=marker, markersize=3.4,
                    color=colour, markerfacecolor=colour if valid else "white",
                    markeredgewidth=0.7, alpha=0.8 if valid else 1, zorder=2 if valid else 4,
                    clip_on=False, label="_valid" if valid else "_invalid",
                )  # fmt: skip
        for value in sorted({share.predicted.value for share in strip if share.predicted}):
            panel.plot(
                [middle - 0.4 * STRIP, middle + 0.4 * STRIP], [PERCENT * value] * 2, color=INK,
                linewidth=1.2, solid_capstyle="butt", zorder=3, label="_model",
            )  # fmt: skip


def caption(shares: Sequence[Share]) -> str:
    """What the shares are of, and which cases are not where they say."""
    invalid = invalid_note(
        dict.fromkeys(
            f"{level_name(share.level)} {share.layout}, {fields_name(share.fields)}, "
            f"{share.counted.params.get('warps_per_sm', '?')} warps"
            for share in shares
            if not share.counted.valid
        )
    )
    cases = len({share.counted.case for share in shares})
    return (
        f"Where the reads of layout_read were served, as counted: one mark a case ({cases} cases), "
        "a strip per layout. Hit L1: of the sectors asked of L1; hit L2: of those that L1 passed "
        "on; from DRAM: bytes read from memory over bytes that L1 passed on. Dashes: hits in L1 "
        "that the level and the layout predict, as a layout that touches a sector twice hits L1 by "
        f"itself.{invalid}"
    )


def cells(share: Share) -> tuple[object, ...]:
    """One line of the data file."""
    row = share.counted
    return (
        share.level, share.fields, share.layout, share.name, row.value,
        share.predicted.value if share.predicted else "", row.valid, row.case,
    )  # fmt: skip


def source(share: Share) -> Row:
    """The row behind a mark."""
    return share.counted


FIGURE = Figure(
    name="level_proof",
    title="Proof of the level",
    order=45,
    prepare=level_shares,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level", "fields", "layout", "share", "counted", "predicted", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
