"""What does an instruction of another unit cost a scheduler among multiply-adds?

Cycles that a group of multiply-adds takes more with one such instruction behind it, against the
multiply-adds of a group. The slot that any instruction needs is one cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, hollow_key, invalid_note, legend_above
from strata.model.units import short
from strata.run import Row

BENCHMARK = "issue_mix"

PARTNERS: Mapping[str, tuple[str, str, str]] = {
    "rsqrt": ("reciprocal square root", "#D55E00", "o"),
    "shuffle": ("shuffle", "#0072B2", "s"),
    "shared_load": ("load, shared", "#009E73", "^"),
    "integer_add": ("add, int32", "#CC79A7", "D"),
}
"""How a partner is called, its colour and its marker."""
APART = 1.012
"""From one partner's mark to the next at the same size: ranges would lie on each other."""


@dataclass(frozen=True, slots=True)
class Mix:
    """One partner among groups of one size."""

    partner: str
    size: int
    cost: Row
    group: Row | None
    """The whole group, multiply-adds and partner."""


def prepare(rows: Sequence[Row]) -> Sequence[Mix]:
    """One item per partner and size, in the order of the legend."""
    own = [row for row in rows if row.benchmark == BENCHMARK]
    groups = {
        row.case: row
        for row in own
        if (row.quantity, row.method) == ("group_cycles", "clock64_slope")
    }
    mixes = [
        Mix(row.params["partner"], int(row.params["multiply_adds"]), row, groups.get(row.case))
        for row in own
        if row.quantity == "partner_cycles" and row.params.get("partner") in PARTNERS
    ]
    order = list(PARTNERS)
    return sorted(mixes, key=lambda one: (order.index(one.partner), one.size))


def grid(mixes: Sequence[Mix]) -> Grid:  # noqa: ARG001  (the shape of Figure.grid)
    """One panel."""
    return Grid(1, 1, width=6.4, height=3.6)


def draw(mixes: Sequence[Mix], axes: AxesGrid) -> None:
    """A line for each partner, and one for the slot of an instruction."""
    (panel,) = flat(axes)
    handles: list[Artist] = []
    for place, (partner, (words, colour, marker)) in enumerate(PARTNERS.items()):
        here = [one for one in mixes if one.partner == partner]
        if not here:
            continue
        handles.append(Line2D([], [], color=colour, marker=marker, label=words))
        shift = APART ** (place - (len(PARTNERS) - 1) / 2)
        for valid in (True, False):
            some = [one for one in here if one.cost.valid == valid]
            if not some:
                continue
            panel.vlines(
                [one.size * shift for one in some], [one.cost.minimum for one in some],
                [one.cost.maximum for one in some], color=colour, linewidth=1.0,
            )  # fmt: skip
            panel.plot(
                [one.size * shift for one in some], [one.cost.value for one in some],
                color=colour, linestyle="-" if valid else "none", linewidth=1.1, marker=marker,
                markersize=4.4, markerfacecolor=colour if valid else "white",
                label="_valid" if valid else "_invalid",
            )  # fmt: skip
    panel.axhline(1, color=GREY, linestyle=":", linewidth=1, label="_slot")
    handles.append(Line2D([], [], color=GREY, linestyle=":", label="its slot"))
    if any(not one.cost.valid for one in mixes):
        handles.append(hollow_key())
    sizes = sorted({one.size for one in mixes})
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_locator(FixedLocator(sizes))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_ylim(min([0.0, *(one.cost.minimum * 1.1 for one in mixes)]), None)
    panel.set_xlabel("multiply-adds between two such instructions")
    panel.set_ylabel("cycles of a scheduler for one more instruction")
    legend_above(panel, handles)


def caption(mixes: Sequence[Mix]) -> str:
    """What is drawn, and what of it is no unit's own limit."""
    busiest = [one for one in mixes if one.cost.valid]
    most = max(busiest, key=lambda one: one.cost.value, default=None)
    largest = (
        f" The most is {short(most.cost.value)} cycles: {PARTNERS[most.partner][0]} among "
        f"{most.size} multiply-adds."
        if most
        else ""
    )
    invalid = invalid_note(one.cost.case.partition("/")[2] for one in mixes if not one.cost.valid)
    return (
        "Groups of multiply-adds (fp32) with one instruction of another unit behind each, by eight "
        "warps a scheduler, every SM at work: cycles of a group less those of the same "
        "multiply-adds alone, measured beside it. Marks: medians; lines: range of the samples. "
        "Where groups are small, a unit that takes fewer instructions than a scheduler issues is "
        "the limit, and not what the instruction costs among others."
        f"{largest}{invalid}"
    )


def cells(mix: Mix) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        mix.partner,
        mix.size,
        mix.cost.value,
        mix.cost.minimum,
        mix.cost.maximum,
        mix.group.value if mix.group else "",
        mix.cost.valid,
        mix.cost.case,
    )


def source(mix: Mix) -> Row:
    """The row of the cost."""
    return mix.cost


FIGURE = Figure(
    name="issue_mix",
    title="Instructions of other units among multiply-adds",
    order=92,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "partner", "multiply_adds", "partner_cycles", "minimum", "maximum", "group_cycles", "valid",
        "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
